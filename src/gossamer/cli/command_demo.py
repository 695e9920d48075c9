"""`gossamer demo`."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli.options import debug_option

_EPILOG = """\
\b
Examples:
  gossamer demo
  gossamer demo --rounds 50 --out somewhere --quiet
"""


@click.command("demo", epilog=_EPILOG)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("gossamer-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the files that the demo writes.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    metavar="N",
    help="Maximum number of rounds; early stopping may end training sooner.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print the result only, in one line.")
@debug_option
def command(out: Path, rounds: int, quiet: bool) -> None:
    """Train on a small data set and show the results.

    It shows the progress, and writes the model, a plot of the learning curve and a report.
    """
    from gossamer.cli.demo import run_demo

    run_demo(out, n_rounds=rounds, quiet=quiet)
