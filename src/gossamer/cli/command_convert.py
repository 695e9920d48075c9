"""`gossamer convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from gossamer.cli.models import load_model
from gossamer.cli.options import Console, output_options
from gossamer.cli.read import check_folder
from gossamer.cli.terminal import format_size
from gossamer.model.formats import COMPLETE, format_of, written

_WRITTEN: Final = tuple(written())
_EPILOG = """\
\b
Examples:
  gossamer convert lightgbm_model.txt --out model.gsm
  gossamer convert model.gsm --to lightgbm --out model.txt
  gossamer convert model.gsm --to c --out model.c
"""


@click.command("convert", epilog=_EPILOG)
@click.argument("model", metavar="MODEL")
@click.option(
    "--to", metavar="FORMAT", help=f"{', '.join(_WRITTEN)}. Default: the ending of --out."
)
@click.option("--out", "-o", required=True, metavar="FILE", help="File to write.")
@click.option(
    "--rounds", type=click.IntRange(min=1), metavar="N", help="Write only the first N rounds."
)
@output_options
def command(
    model: str, to: str | None, out: str, rounds: int | None, as_json: bool, quiet: bool
) -> None:
    """Write a model in another format.

    The input format is detected from the contents of the file.
    """
    console = Console(is_quiet=quiet, as_json=as_json)
    target = (to or format_of(out) or "").lower()
    if not target:
        raise click.UsageError(
            f"The format is not clear from the name {out!r}: add --to ({', '.join(_WRITTEN)})."
        )
    check_folder(out)
    booster: Any = load_model(model)
    booster.save_model(out, num_iteration=rounds, format=target)
    if booster.class_names is not None and target not in COMPLETE:
        console.say(f"{target} does not store class names: {booster.class_names}.")
    size = Path(out).stat().st_size
    facts = {"model": model, "format": target, "out": out, "bytes": size}
    console.show("" if quiet else f"{out}: {target}, {format_size(size)}", facts)
