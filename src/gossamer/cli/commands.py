"""The commands and their options."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gossamer.cli.demo import run_demo
from gossamer.cli.version import version_text

# What the shell is told; 2 for wrong options comes from argparse.
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: What stands behind `gossamer` on the command line; None: what the user typed.

    Returns:
        The exit code: 0 if all went well, 1 if the command failed, 130 if it was interrupted.

    Example:
        >>> main(["--version"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        SystemExit: 0
    """
    parser = _make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help(sys.stderr)
        return WRONG_USAGE
    try:
        run_demo(options.out, n_rounds=options.rounds, quiet=options.quiet)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on (`gossamer demo | head`): not even the flush at exit may complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (OSError, ImportError, ValueError) as error:
        print(f"gossamer {options.command}: {error}", file=sys.stderr)
        return FAILED
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gossamer", description="Gradient boosted decision trees, fast and deterministic."
    )
    parser.add_argument("--version", action="version", version=version_text())
    commands = parser.add_subparsers(dest="command", metavar="command")
    demo = commands.add_parser(
        "demo",
        help="train on a small data set and show what comes out",
        description="Train on a small data set, show the progress, and write the model and a "
        "picture of the learning curve.",
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("gossamer-demo"),
        metavar="DIR",
        help="folder for the files it writes (default: ./gossamer-demo)",
    )
    demo.add_argument(
        "--rounds",
        type=_positive,
        default=300,
        metavar="N",
        help="most rounds to train; early stopping may end sooner (default: 300)",
    )
    demo.add_argument("--quiet", action="store_true", help="print the result only, in one line")
    return parser


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected an integer >= 1")
    return number
