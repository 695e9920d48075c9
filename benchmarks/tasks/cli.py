"""Command line: ``python -m benchmarks.tasks [accuracy | ranking | speed | report]``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.launch import say
from benchmarks.paper.report import update_page
from benchmarks.paper.store import keep_others, new_document, read_document, write_document
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
    args = _parser().parse_args(argv)
    status: int = args.command(args)
    return status


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
    n_failed = 0
    for case in cases:
        for run in run_case(case, limits):
            document["runs"].append(run)
            n_failed += "error" in run
        if document["runs"]:
            whole = {**document}
            if earlier is not None:
                try:
                    keep_others(whole, earlier, _KEYS)
                except ValueError as error:
                    raise SystemExit(f"error: {error}; leave out --keep") from None
            write_document(path, whole)  # kept should a later case be stopped
    if not document["runs"]:
        say("nothing was run")
        return 1
    blocks = format_blocks({kind: document})
    print("\n\n".join(f"{block}" for block in blocks.values() if block != "Not run."))
    say(f"written to {path}")
    return 1 if n_failed else 0


def _report(args: argparse.Namespace) -> int:
    found = {kind: read_document(Path(args.out) / f"{kind}.json") for kind in KINDS}
    documents = {kind: document for kind, document in found.items() if document is not None}
    if not documents:
        raise SystemExit(f"error: no results in {args.out}; run `python -m benchmarks.tasks speed`")
    page = Path(args.page)
    if not page.is_file():
        raise SystemExit(f"error: no page {page} to write the tables into")
    for name in update_page(page, format_blocks(documents), "tasks"):
        say(f"{page} has no place for {name}")
    say(f"written to {page}")
    return 0


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
