"""What the command lines of the benchmarks share: results are kept, pages are written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.launch import say
from benchmarks.paper.report import update_page
from benchmarks.paper.store import Document, keep_others, read_document, write_document

Command = Callable[[argparse.Namespace], int]


# Options that several commands have; the default is what a command gives, or this one's.
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "threads": {"type": int, "default": 2},
    "rounds": {"type": int, "default": 100},
    "seeds": {"type": int, "default": 5, "help": "random splits, or runs"},
    "repeats": {"type": int, "default": 3, "help": "runs of which the fastest counts"},
    "scale": {"type": float, "default": 1.0, "help": "factor on the number of rows"},
    "timeout": {"type": float, "default": 3600.0, "help": "seconds for one process"},
    "out": {"help": "folder for the results"},
    "keep": {"action": "store_true", "help": "keep earlier results of what is not run again"},
    "quick": {"action": "store_true", "help": "few rows and rounds: does it work? not for figures"},
    "list": {"action": "store_true", "help": "list what can be run"},
    "libraries": {"nargs": "+"},
    "data": {"nargs": "+"},
    "cases": {"nargs": "+", "metavar": "CASE"},
    "contenders": {"nargs": "+", "help": "names or families"},
    "page": {"help": "Markdown file with the places"},
}


class CommandLine:
    """The command line of a group of benchmarks: commands, and the options they share.

    Args:
        module: What `python -m` runs.
        about: What the group is for.
        needs_command: Whether a command must be named.
        **shared: Options of all commands but `report`, see `add_options`.
    """

    def __init__(
        self, module: str, about: str | None, *, needs_command: bool = True, **shared: Any
    ) -> None:
        self.parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
        self.shared = argparse.ArgumentParser(add_help=False)
        add_options(self.shared, **shared)
        self._commands = self.parser.add_subparsers(required=needs_command)

    def add(
        self, name: str, command: Command, about: str, **options: Any
    ) -> argparse.ArgumentParser:
        """Adds a command with the shared options, and with options of its own."""
        parser = self._commands.add_parser(name, parents=[self.shared], help=about)
        add_options(parser, **options)
        parser.set_defaults(command=command)
        return parser

    def add_report(self, command: Command, about: str, **options: Any) -> argparse.ArgumentParser:
        """Adds the command that shows earlier results: it has its own options alone."""
        parser = self._commands.add_parser("report", help=about)
        add_options(parser, **options)
        parser.set_defaults(command=command)
        return parser

    def run(self, argv: list[str] | None, show_lists: Callable[[], None] | None = None) -> int:
        """Runs the command that the arguments name.

        Args:
            argv: Arguments; None means those of the process.
            show_lists: What `--list` does instead.

        Returns:
            Exit status of the command.
        """
        args = self.parser.parse_args(argv)
        if show_lists is not None and getattr(args, "list", False):
            show_lists()
            return 0
        status: int = args.command(args)
        return status


def add_options(parser: argparse.ArgumentParser, **options: Any) -> None:
    """Adds options of the table.

    Args:
        parser: Gets them.
        **options: By name: None, the default, or a collection of the choices, all of which are the
            default.
    """
    for name, value in options.items():
        facts = dict(_OPTIONS[name])
        if name in ("libraries", "data", "cases", "contenders") and value:
            facts |= {"choices": list(value), "default": list(value)}
        elif value is not None:
            facts["default"] = value
        parser.add_argument(f"--{name}", **facts)


def write_with_earlier(
    path: Path, document: Document, earlier: Document | None, keys: Iterable[str]
) -> None:
    """Writes a document, with those runs of an earlier one that it does not replace.

    Args:
        path: The file.
        document: What has been run so far.
        earlier: What is kept; None: nothing.
        keys: What tells a run from others.
    """
    whole: Document = {**document}
    if earlier is not None:
        try:
            keep_others(whole, earlier, tuple(keys))
        except ValueError as error:
            raise SystemExit(f"error: {error}; leave out --keep") from None
    write_document(path, whole)


def finish(document: Document, path: Path, format_text: Callable[[Document], str]) -> int:
    """Prints what was measured; returns the exit status: 1 when a run failed, or none was done."""
    if not document["runs"]:
        say("nothing was run")
        return 1
    print(format_text(document))
    say(f"written to {path}")
    return 1 if any("error" in run for run in document["runs"]) else 0


def read_results(folder: Path, kinds: Iterable[str], command: str) -> dict[str, Document]:
    """Returns the documents of a folder by kind.

    Args:
        folder: Where `KIND.json` are.
        kinds: The kinds.
        command: What makes some, for the message.
    """
    found = {kind: read_document(folder / f"{kind}.json") for kind in kinds}
    documents = {kind: document for kind, document in found.items() if document is not None}
    if not documents:
        raise SystemExit(f"error: no results in {folder}; run `{command}`")
    return documents


def write_page(page: Path, blocks: Mapping[str, str], prefix: str) -> int:
    """Writes tables into a page of the docs; returns the exit status."""
    if not page.is_file():
        raise SystemExit(f"error: no page {page} to write the tables into")
    for name in update_page(page, dict(blocks), prefix):
        say(f"{page} has no place for {name}")
    say(f"written to {page}")
    return 0
