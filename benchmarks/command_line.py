"""What the command lines of the benchmarks share: results are kept, pages are written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from benchmarks.launch import say
from benchmarks.paper.report import update_page
from benchmarks.paper.store import Document, keep_others, read_document, write_document


def run_command(parser: argparse.ArgumentParser, argv: list[str] | None) -> int:
    """Runs the command that the arguments name.

    Args:
        parser: Its commands set `command`, a function of the arguments.
        argv: Arguments; None means those of the process.

    Returns:
        Exit status of the command.
    """
    args = parser.parse_args(argv)
    status: int = args.command(args)
    return status


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
