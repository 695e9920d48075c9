"""Command line: ``python -m benchmarks.tasks [accuracy | ranking | speed | report]``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.command_line import (
    CommandLine,
    finish,
    read_results,
    write_page,
    write_with_earlier,
)
from benchmarks.paper.store import Document, new_document, read_document
from benchmarks.tasks.launch import Limits, run_case
from benchmarks.tasks.libraries import LIBRARIES
from benchmarks.tasks.objectives import OBJECTIVES, RANKING_DATA, RANKING_OBJECTIVES
from benchmarks.tasks.plan import SPEED_CASES, Case, plan_accuracy, plan_ranking, plan_speed
from benchmarks.tasks.report import KINDS, format_blocks

DEFAULT_OUT = "benchmarks/results/tasks"
DEFAULT_PAGE = "docs/tasks.md"
_QUICK_ROUNDS, _QUICK_SCALE = 5, 0.02
_KEYS = ("objective", "data", "contender", "seed", "fold", "repeat")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    return _command_line().run(argv)


def _accuracy(args: argparse.Namespace) -> int:
    return _measure(args, "accuracy", plan_accuracy(args.objectives, args.seeds))


def _ranking(args: argparse.Namespace) -> int:
    return _measure(args, "ranking", plan_ranking(args.objectives, args.data, args.seeds))


def _speed(args: argparse.Namespace) -> int:
    return _measure(args, "speed", plan_speed(args.cases))


def _measure(args: argparse.Namespace, kind: str, cases: Iterator[Case]) -> int:
    """Runs the cases, writing the document after every one."""
    if args.quick:
        args.rounds, args.scale = _QUICK_ROUNDS, _QUICK_SCALE
    repeats = getattr(args, "repeats", 1)
    libraries = tuple(args.libraries)
    limits = Limits(
        args.threads, args.rounds, args.scale, repeats, kind == "speed", args.timeout, libraries
    )
    document = new_document(kind, threads=args.threads, rounds=args.rounds, scale=args.scale)
    path = Path(args.out) / f"{kind}.json"
    earlier = read_document(path) if args.keep else None
    for case in cases:
        for run in run_case(case, limits):
            document["runs"].append(run)
        if document["runs"]:
            write_with_earlier(path, document, earlier, _KEYS)  # should a later case be stopped
    return finish(document, path, lambda found: _tables({kind: found}))


def _tables(documents: dict[str, Document]) -> str:
    blocks = format_blocks(documents)
    return "\n\n".join(block for block in blocks.values() if block != "Not run.")


def _report(args: argparse.Namespace) -> int:
    documents = read_results(Path(args.out), KINDS, "python -m benchmarks.tasks speed")
    return write_page(Path(args.page), format_blocks(documents), "tasks")


def _command_line() -> CommandLine:
    line = CommandLine(
        "benchmarks.tasks",
        __doc__,
        **dict.fromkeys(("threads", "rounds", "scale", "quick", "timeout", "keep")),
        libraries=LIBRARIES,
        out=DEFAULT_OUT,
    )
    accuracy = line.add("accuracy", _accuracy, "loss of every objective", seeds=5)
    accuracy.add_argument(
        "--objectives", nargs="+", choices=OBJECTIVES, metavar="NAME", default=list(OBJECTIVES)
    )
    ranking = line.add("ranking", _ranking, "NDCG@10", data=RANKING_DATA, seeds=5)
    ranking.add_argument(
        "--objectives", nargs="+", choices=RANKING_OBJECTIVES, default=["lambdarank"]
    )
    line.add("speed", _speed, "time a round", cases=SPEED_CASES, repeats=3)
    line.add_report(
        _report,
        "writes the tables of earlier results into a page",
        out=DEFAULT_OUT,
        page=DEFAULT_PAGE,
    )
    return line
