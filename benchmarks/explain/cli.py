"""Command line: ``python -m benchmarks.explain [run | report]``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.command_line import CommandLine, finish, write_page
from benchmarks.explain.report import format_table
from benchmarks.launch import say
from benchmarks.paper.launch import run_process
from benchmarks.paper.store import new_document, read_document, write_document
from benchmarks.tasks.libraries import is_installed

LIBRARIES = ("gossamer", "lightgbm")
WHAT = ("values", "background", "interactions")
WORKER = "benchmarks.explain.worker"
DEFAULT_OUT = "benchmarks/results/explain.json"
DEFAULT_PAGE = "docs/explaining.md"
# LightGBM takes milliseconds for a row, and has no other kinds of values.
_PEER_ROWS = 0.1


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed.
    """
    return _command_line().run(argv)


def _run(args: argparse.Namespace) -> int:
    """Every run in a process of its own; libraries take turns."""
    settings = {"threads": args.threads, "rounds": args.rounds, "train_rows": args.train_rows}
    document = new_document("explain", **settings, rows=args.rows)
    libraries = [name for name in args.libraries if is_installed(name)]
    for leaves in args.leaves:
        for what in args.what:
            names = [name for name in libraries if name == "gossamer" or what == "values"]
            for repeat in range(args.repeats):
                shift = repeat % max(1, len(names))  # none is always first
                for name in names[shift:] + names[:shift]:
                    head = {"library": name, "what": what, "leaves": leaves}
                    share = 1.0 if (name, what) == ("gossamer", "values") else _PEER_ROWS
                    order = {**head, **settings, "rows": max(1, int(args.rows * share))}
                    found = run_process(WORKER, order, args.threads, args.timeout)
                    document["runs"].append({**head, "repeat": repeat, **found})
                    say(_one_line(document["runs"][-1]))
                    write_document(Path(args.out), document)
    return finish(document, Path(args.out), format_table)


def _report(args: argparse.Namespace) -> int:
    document = read_document(Path(args.out))
    if document is None:
        raise SystemExit(f"error: no results in {args.out}; run `python -m benchmarks.explain run`")
    return write_page(Path(args.page), {"speed": format_table(document)}, "explain")


def _one_line(run: dict[str, Any]) -> str:
    start = f"{run['what']:12} {run['leaves']:4} leaves  {run['library']:9} #{run['repeat'] + 1}"
    if "error" in run:
        return f"{start}  FAILED {run['error']}"
    return f"{start}  {run['row_us']:10.1f} us/row  off by {run['off']:.1e}"


def _command_line() -> CommandLine:
    line = CommandLine("benchmarks.explain", __doc__)
    run = line.add(
        "run",
        _run,
        "measures, and writes the results",
        **dict.fromkeys(("threads", "rounds", "repeats")),
        libraries=LIBRARIES,
        timeout=1800.0,
    )
    run.add_argument("--leaves", type=int, nargs="+", default=[31, 255])
    run.add_argument("--train-rows", type=int, default=100_000)
    run.add_argument("--rows", type=int, default=20_000, help="rows to explain; LightGBM: a tenth")
    run.add_argument("--what", nargs="+", choices=WHAT, default=list(WHAT))
    run.add_argument("--out", default=DEFAULT_OUT, help="file for the results")
    report = line.add_report(
        _report, "writes the table of earlier results into a page", page=DEFAULT_PAGE
    )
    report.add_argument("--out", default=DEFAULT_OUT, help="file with the results")
    return line
