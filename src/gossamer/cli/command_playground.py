"""`gossamer playground`."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any, Final

import click

from gossamer.cli.options import (
    Console,
    debug_option,
    header_option,
    text_options,
    text_options_of,
)
from gossamer.cli.read import find_column, notes_of, open_table, read_table, values_of
from gossamer.errors import DataError
from gossamer.playground import ColumnTable, Playground, make_server, page_address

# Of a longer file, these first rows are read; the page has some of them, chosen at random.
_MOST_ROWS: Final = 200_000

_EPILOG = """\
\b
Examples:
  gossamer playground
  gossamer playground flights.csv --target delayed
  gossamer playground flights.csv --target delayed --columns hour,distance

The page can be opened only on this machine, at an address that cannot be guessed. Ctrl-C stops it.
"""


@click.command("playground", epilog=_EPILOG)
@click.argument("file", required=False, metavar="[FILE]")
@click.option(
    "--target", "-t", metavar="COL", help="Column to predict. Default: the last suitable column."
)
@click.option(
    "--columns",
    metavar="X,Y",
    help="The two columns to draw. Default: the two most important ones.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port of the page. Default: any free port.",
)
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@header_option
@text_options
@debug_option
def command(
    file: str | None,
    target: str | None,
    columns: str | None,
    port: int,
    browser: bool,
    header: bool | None,
    **text: Any,
) -> None:
    """Watch boosting learn, on a page with sliders: two columns of a file, or examples."""
    console = Console()
    if file is None and (target is not None or columns is not None):
        raise click.UsageError("--target and --columns are columns of a file: name the file first.")
    playground = Playground()
    if file is not None:
        source = open_table([file], header, options=text_options_of(text))
        for note in notes_of(source):
            console.say(note)
        if source.names is None:
            raise DataError.because(
                f"the playground cannot use {source.what}",
                expected="a table whose columns have names, such as CSV or Parquet",
            )
        axes = None
        if columns is not None:
            names = columns.split(",")
            if len(names) != 2:
                raise click.UsageError("--columns takes two columns, such as --columns hour,price.")
            x, y = (find_column(source, name.strip(), "--columns") for name in names)
            axes = (x, y)
        if target is not None:
            target = find_column(source, target, "--target")
        rows = read_table(source, n_rows=_MOST_ROWS)
        values = {name: values_of(rows, i) for i, name in enumerate(source.names)}
        playground = Playground(ColumnTable(values, Path(file).name), axes, target)
    server = make_server(playground, port)
    address = page_address(server)
    click.echo(f"The playground is at {address}")
    console.say("Ctrl-C ends it.")
    if browser:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        console.say("\nThe playground has ended.")
    finally:
        server.server_close()
