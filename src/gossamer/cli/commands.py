"""`gossamer`: which commands there are, and how they end."""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from gossamer.cli.key_values import is_config
from gossamer.cli.options import DEBUG
from gossamer.cli.terminal import printable
from gossamer.errors import GossamerError, ParameterError
from gossamer.logger import register_logger
from gossamer.params.suggest import did_you_mean

# What the shell is told. Wrong options and wrong parameters are usage; the rest is data and models.
FAILED: Final = 1
WRONG_USAGE: Final = 2
INTERRUPTED: Final = 130

# Command: the module with its `command`, which is imported when it is run, and a line of help.
COMMANDS: Final = {
    "train": "train a model on a file",
    "predict": "predict the rows of a file",
    "cv": "cross-validate: train and evaluate on several parts of a file",
    "explain": "what matters in a model, and why a row gets its prediction",
    "report": "write one HTML page about a model",
    "convert": "write a model in another format",
    "describe": "look at a data file or a model file",
    "params": "look up parameters",
    "playground": "watch boosting learn, on a page with sliders",
    "bench": "measure the speed of this machine",
    "demo": "train on a small data set and show what comes out",
    "version": "versions that matter in a report of a problem",
}

# The command behind LightGBM's command line, which names none.
CONFIG: Final = "config"

EXAMPLES: Final = """\
\b
Examples:
  gossamer describe flights.parquet
  gossamer train flights.parquet --target delayed --valid 0.2 --early-stopping 50
  gossamer predict model.gsm new_flights.csv --labels --out predictions.csv
  gossamer explain model.gsm
  gossamer params num_leaves
  gossamer config=train.conf num_trees=50      (LightGBM's config files and tasks)

`gossamer COMMAND --help` says more about each.
"""


class Failed(click.ClickException):
    """What went wrong with data or a model, in a sentence for the user."""

    exit_code = FAILED

    def __init__(self, command: str, error: BaseException) -> None:
        super().__init__(describe_error(error))
        self._command = command

    def show(self, file: Any = None) -> None:
        """Write it to standard error."""
        file = file or sys.stderr
        text = f"gossamer {self._command}: {self.message}"
        if file.isatty():  # not in the middle of words
            text = click.wrap_text(text, shutil.get_terminal_size().columns, "", "  ")
        click.echo(printable(text, file), file=file)


class WrongParameter(Failed):
    """What is wrong with a parameter."""

    exit_code = WRONG_USAGE


class Commands(click.Group):
    """Imports a command when it is asked for, and turns errors into messages and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in (*COMMANDS, CONFIG):
            return None
        found: click.Command = import_module(f"gossamer.cli.command_{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if is_config(args):
            return CONFIG, self.get_command(ctx, CONFIG), args
        if args[0] == "help":  # `gossamer help train` is `gossamer train --help`
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
            args = [args[1], "--help"]
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or f"There are {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, none of which is imported for that."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            click.echo("\ninterrupted", err=True)
            ctx.exit(INTERRUPTED)
        except (OSError, ImportError, ValueError, MemoryError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                raise  # the reader has stopped (`gossamer params | head`): click ends quietly
            if ctx.meta.get(DEBUG) or not is_expected(error):
                raise
            failure = WrongParameter if isinstance(error, ParameterError) else Failed
            raise failure(ctx.invoked_subcommand or "", error) from error
        finally:
            register_logger(None)  # see `Console`


def is_expected(error: BaseException) -> bool:
    """Whether an error is about what the user can put right, rather than a bug."""
    if isinstance(error, ImportError):
        return not (error.name or "").startswith("gossamer")
    return isinstance(error, (GossamerError, OSError, MemoryError))


def describe_error(error: BaseException) -> str:
    """Return what a user should read of an error.

    Example:
        >>> describe_error(FileNotFoundError(2, "No such file or directory", "model.gsm"))
        "No such file or directory: 'model.gsm'"
        >>> describe_error(MemoryError())
        'there is not enough memory'
    """
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename!r}" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error) or ("there is not enough memory" if isinstance(error, MemoryError) else "")


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXAMPLES,
)
@click.option("--version", "shows_version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def cli(ctx: click.Context, shows_version: bool) -> None:
    """Gradient boosted decision trees: fast, and the same bits on any number of threads."""
    if shows_version:
        from gossamer.cli.version import version_text

        click.echo(version_text())
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: What follows `gossamer` on the command line; None: what the user typed.

    Returns:
        The exit code: 0 if all went well, 1 if data or a model cannot be used, 2 for wrong options
        or parameters, 130 if it was interrupted.

    Example:
        >>> main(["params", "num_leaves", "--json"]) == 0  # doctest: +ELLIPSIS
        [...
        True
    """
    try:
        cli.main(None if arguments is None else list(arguments), prog_name="gossamer")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else FAILED
    return 0
