"""Command line: ``python -m benchmarks.tasks [accuracy | ranking | speed | report]``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.command_line import (
    finish,
    read_results,
    run_command,
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
    return run_command(_parser(), argv)


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


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--threads", type=int, default=2)
    common.add_argument("--rounds", type=int, default=100)
    common.add_argument("--scale", type=float, default=1.0, help="factor on the number of rows")
    common.add_argument(
        "--quick", action="store_true", help="few rows and rounds: does it work? not for figures"
    )
    common.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    common.add_argument("--timeout", type=float, default=3600.0, help="seconds for one process")
    common.add_argument("--out", default=DEFAULT_OUT, help="folder for the results")
    common.add_argument(
        "--keep", action="store_true", help="keep earlier results of what is not run again"
    )

    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    commands = parser.add_subparsers(required=True)
    accuracy = commands.add_parser("accuracy", parents=[common], help="loss of every objective")
    accuracy.add_argument(
        "--objectives", nargs="+", choices=OBJECTIVES, metavar="NAME", default=list(OBJECTIVES)
    )
    accuracy.add_argument("--seeds", type=int, default=5, help="random splits")
    accuracy.set_defaults(command=_accuracy)

    ranking = commands.add_parser("ranking", parents=[common], help="NDCG@10")
    ranking.add_argument(
        "--objectives", nargs="+", choices=RANKING_OBJECTIVES, default=["lambdarank"]
    )
    ranking.add_argument("--data", nargs="+", choices=RANKING_DATA, default=list(RANKING_DATA))
    ranking.add_argument("--seeds", type=int, default=5)
    ranking.set_defaults(command=_ranking)

    speed = commands.add_parser("speed", parents=[common], help="time a round")
    speed.add_argument("--cases", nargs="+", choices=SPEED_CASES, default=list(SPEED_CASES))
    speed.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    speed.set_defaults(command=_speed)

    report = commands.add_parser("report", help="writes the tables of earlier results into a page")
    report.add_argument("--out", default=DEFAULT_OUT, help="folder with the results")
    report.add_argument("--page", default=DEFAULT_PAGE, help="Markdown file with the places")
    report.set_defaults(command=_report)
    return parser
