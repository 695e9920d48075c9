"""Options that several commands have, and the console they write to."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from gossamer.cli.terminal import printable
from gossamer.data.text import TextOptions
from gossamer.logger import register_logger

F = TypeVar("F", bound=Callable[..., Any])

# Where the context keeps whether tracebacks are wanted.
DEBUG: Final = "gossamer.debug"


def _keep_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().meta[DEBUG] = True


def debug_option(command: F) -> F:
    """`--debug`: errors with the traceback."""
    option = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=_keep_debug,
        help="Show the traceback of an error.",
    )
    return option(command)


def output_options(command: F) -> F:
    """`--json`, `--quiet`, `--debug`."""
    command = debug_option(command)
    command = click.option("--quiet", "-q", is_flag=True, help="Print only the result.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON.")(
        command
    )


def parameter_options(command: F) -> F:
    """`--set`, `--config`, `--threads`, `--seed`, `--header` and `text_options`."""
    options = (
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="KEY=VALUE",
            help="Set any parameter; repeatable. key=value after the file does the same. "
            "See `gossamer params`.",
        ),
        click.option(
            "--config",
            type=click.Path(),
            metavar="FILE",
            help="Read options and parameters from a TOML file, or from a LightGBM config file. "
            "The command line takes precedence.",
        ),
        threads_option,
        click.option("--seed", type=click.IntRange(min=0), help="Random seed."),
        header_option,
        text_options,
    )
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """What commands that read a table share: `header_option`, `text_options`, `output_options`."""
    return header_option(text_options(output_options(command)))


def threads_option(command: F) -> F:
    """`--threads`."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of threads. Default: all CPUs.",
    )(command)


def header_option(command: F) -> F:
    """`--header/--no-header`."""
    return click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a text file has column names. Default: yes, unless all "
        "its values are numbers.",
    )(command)


def text_options(command: F) -> F:
    """`--decimal`, `--parse-dates`, `--na`, `--encoding`: how text files are written."""
    options = (
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            help="Decimal sign of numbers in text files. Default: inferred from the values.",
        ),
        click.option(
            "--parse-dates",
            type=click.Choice(["ymd", "dmy", "mdy", "none"]),
            help="Order of year, month and day in text files; none keeps dates as text. Default: "
            "inferred from the values.",
        ),
        click.option(
            "--na",
            multiple=True,
            metavar="WORD",
            help="More words for missing values; repeatable, or separated by commas.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            callback=_check_encoding,
            help="Encoding of text files. Default: UTF-8, or Windows-1252 if that fails.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _check_encoding(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else codecs.lookup(value).name
    except LookupError:
        raise click.BadParameter(
            f"{value!r} is not an encoding. Examples: utf-8, cp1252, latin-1, utf-16, shift-jis."
        ) from None


def text_options_of(options: Mapping[str, Any]) -> TextOptions:
    """Return what the options of `text_options` say.

    Example:
        >>> text_options_of({"decimal": ",", "na": ("none,-9",)})
        TextOptions(decimal=',', dates=None, na=('none', '-9'), encoding=None)
    """
    return TextOptions(
        options.get("decimal"),
        options.get("parse_dates"),
        tuple(word for item in options.get("na") or () for word in item.split(",") if word),
        options.get("encoding"),
    )


def columns_option(*names: str, help: str) -> Callable[[F], F]:
    """Make an option that names columns: given several times, or once with commas."""
    return click.option(*names, multiple=True, metavar="COL", help=help)


@dataclass(frozen=True)
class Console:
    """Where a command talks: what it does to standard error, what comes out to standard output.

    Attributes:
        is_quiet: Whether it keeps what it does to itself.
        as_json: Whether the result is JSON.
    """

    is_quiet: bool = False
    as_json: bool = False

    def __post_init__(self) -> None:
        register_logger(_Logger(self.is_quiet))

    def say(self, text: str) -> None:
        """Say what is being done."""
        if not self.is_quiet:
            click.echo(printable(text, sys.stderr), err=True)

    def warn(self, text: str) -> None:
        """Say what may be wrong."""
        self.say(f"warning: {text}")

    @property
    def is_watched(self) -> bool:
        """Whether progress is shown: standard error is a terminal."""
        return not self.is_quiet and sys.stderr.isatty()

    def show(self, text: str, facts: Any) -> None:
        """Show the result: a text for people, or facts for programs."""
        if self.as_json or text:
            click.echo(to_json(facts) if self.as_json else printable(text, sys.stdout))


def to_json(facts: Any) -> str:
    """Return JSON for programs; numbers that JSON does not have are null.

    Example:
        >>> print(to_json({"rounds": 3, "auc": float("nan")}))
        {
          "rounds": 3,
          "auc": null
        }
    """
    return json.dumps(_plain(facts), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


class _Logger:
    """Warnings of the library, as lines; what is merely good to know is not shown."""

    def __init__(self, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._shown: set[str] = set()

    def info(self, text: str) -> None:
        pass

    def warning(self, text: str) -> None:
        if not self._is_quiet and text not in self._shown:  # a command may train several times
            self._shown.add(text)
            click.echo(printable(f"warning: {text}", sys.stderr), err=True)
