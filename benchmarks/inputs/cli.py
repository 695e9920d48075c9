"""Command line: ``python -m benchmarks.inputs``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.command_line import write_page
from benchmarks.inputs.kinds import KINDS
from benchmarks.inputs.try_one import LIBRARIES
from benchmarks.launch import say
from benchmarks.tasks.libraries import is_installed

_WORDS = {"ok": "yes", "error": "error", "wrong": "wrong", "crash": "**crash**", "absent": ""}
DEFAULT_PAGE = "docs/tables.md"


def main(argv: list[str] | None = None) -> int:
    """Tries everything; returns 1 if Gossamer does not take a kind of table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inputs", description=__doc__)
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES), choices=LIBRARIES)
    parser.add_argument("--page", help=f"write the table into this page, such as {DEFAULT_PAGE}")
    args = parser.parse_args(argv)
    libraries = [name for name in args.libraries if is_installed(name)]
    found = {kind: {name: _try(name, kind) for name in libraries} for kind in KINDS}
    table = format_table(found, libraries)
    print(table)
    for kind, results in found.items():
        for name, result in results.items():
            if result["result"] != "ok":
                say(f"{kind}, {name}: {result['result']} ({result['detail']})")
    if args.page:
        write_page(Path(args.page), {"libraries": table}, "inputs")
    own = [results.get("gossamer", {"result": "ok"})["result"] for results in found.values()]
    return 0 if all(result in ("ok", "absent") for result in own) else 1


def _try(library: str, kind: str) -> dict[str, str]:
    command = [sys.executable, "-m", "benchmarks.inputs.try_one", library, kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode < 0:
        return {"result": "crash", "detail": f"signal {-done.returncode}"}
    try:
        result: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"result": "crash", "detail": f"exit status {done.returncode}: {last[:200]}"}
    return result


def format_table(found: dict[str, dict[str, dict[str, str]]], libraries: list[str]) -> str:
    """Returns a table in Markdown: a line for each kind, a column for each library.

    Example:
        >>> print(format_table({"list": {"gossamer": {"result": "ok"}}}, ["gossamer"]))
        | table | gossamer |
        |---|---|
        | list | yes |
    """
    lines = [f"| table | {' | '.join(libraries)} |", "|---" * (len(libraries) + 1) + "|"]
    for kind, results in found.items():
        words = " | ".join(_WORDS[results[name]["result"]] for name in libraries)
        lines.append(f"| {kind} | {words} |")
    return "\n".join(lines)
