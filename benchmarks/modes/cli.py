"""Command line: ``python -m benchmarks.modes [categories | cardinality | monotone | ...]``."""

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
from benchmarks.modes import data
from benchmarks.modes.launch import LIBRARIES, Limits, run_case
from benchmarks.modes.plan import (
    BOOSTERS,
    CARDINALITY_DATA,
    METHODS,
    Case,
    plan_boosters,
    plan_cardinality,
    plan_categories,
    plan_cv,
    plan_monotone,
)
from benchmarks.modes.report import KINDS, format_blocks
from benchmarks.paper.store import new_document, read_document

DEFAULT_OUT = "benchmarks/results/modes"
DEFAULT_PAGE = "docs/modes.md"
_CV_ROWS = 100_000
_KEYS = ("mode", "data", "contender", "seed", "fold", "repeat")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    return run_command(_parser(), argv)


def _categories(args: argparse.Namespace) -> int:
    return _measure(args, "categories", plan_categories(args.seeds, args.leaves))


def _cardinality(args: argparse.Namespace) -> int:
    return _measure(args, "cardinality", plan_cardinality(args.data))


def _monotone(args: argparse.Namespace) -> int:
    return _measure(args, "monotone", plan_monotone(args.data, args.methods, args.seeds))


def _boosters(args: argparse.Namespace) -> int:
    return _measure(args, "boosters", plan_boosters(args.boosters, args.data, args.seeds))


def _cv(args: argparse.Namespace) -> int:
    return _measure(args, "cv", plan_cv(args.rows or _CV_ROWS))


def _measure(args: argparse.Namespace, kind: str, cases: Iterator[Case]) -> int:
    """Runs the cases, writing the document after every one."""
    document = new_document(kind, threads=args.threads, rounds=args.rounds, rows=args.rows)
    path = Path(args.out) / f"{kind}.json"
    earlier = read_document(path)
    limits = Limits(
        args.threads,
        args.rounds,
        args.rows,
        getattr(args, "repeats", 1),
        args.timeout,
        tuple(args.libraries),
        earlier["runs"] if earlier is not None and not getattr(args, "fresh", True) else [],
        getattr(args, "catboost_rounds", 0),
    )
    for case in cases:
        for run in run_case(case, limits):
            document["runs"].append(run)
        if document["runs"]:
            kept = earlier if args.keep else None
            write_with_earlier(path, document, kept, _KEYS)  # should a later case be stopped
    return finish(document, path, lambda found: format_blocks({kind: found})[kind])


def _report(args: argparse.Namespace) -> int:
    documents = read_results(Path(args.out), KINDS, "python -m benchmarks.modes cv")
    return write_page(Path(args.page), format_blocks(documents), "modes")


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--threads", type=int, default=2)
    common.add_argument("--rounds", type=int, default=100)
    common.add_argument("--rows", type=int, default=0, help="most training rows; 0 for all")
    common.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    common.add_argument("--timeout", type=float, default=3600.0, help="seconds for one process")
    common.add_argument("--out", default=DEFAULT_OUT, help="folder for the results")
    common.add_argument(
        "--keep", action="store_true", help="keep earlier results of what is not run again"
    )

    parser = argparse.ArgumentParser(prog="python -m benchmarks.modes", description=__doc__)
    commands = parser.add_subparsers(required=True)
    categories = commands.add_parser("categories", parents=[common], help="flights3m: time, AUC")
    categories.add_argument("--seeds", type=int, default=2, help="random splits")
    categories.add_argument("--leaves", type=int, default=255)
    categories.set_defaults(command=_categories)

    cardinality = commands.add_parser("cardinality", parents=[common], help="beside CatBoost")
    names = list(CARDINALITY_DATA)
    cardinality.add_argument("--data", nargs="+", choices=names, default=names)
    cardinality.add_argument(
        "--fresh", action="store_true", help="train CatBoost again where there are results of it"
    )
    cardinality.add_argument(
        "--catboost-rounds", type=int, default=0, help="rounds of CatBoost; 0 for its default"
    )
    cardinality.set_defaults(command=_cardinality)

    monotone = commands.add_parser("monotone", parents=[common], help="RMSE, violations, time")
    names = list(data.MONOTONE)
    monotone.add_argument("--data", nargs="+", choices=names, default=names)
    monotone.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    monotone.add_argument("--seeds", type=int, default=10, help="random splits")
    monotone.set_defaults(command=_monotone)

    boosters = commands.add_parser("boosters", parents=[common], help="dart, rf, linear_tree")
    boosters.add_argument("--boosters", nargs="+", choices=BOOSTERS, default=list(BOOSTERS))
    boosters.add_argument(
        "--data", nargs="+", choices=data.BOOSTERS, help="instead of each booster's three"
    )
    boosters.add_argument("--seeds", type=int, default=5, help="random splits; dart has twice")
    boosters.set_defaults(command=_boosters)

    cv = commands.add_parser("cv", parents=[common], help="five folds: time, memory")
    cv.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    cv.set_defaults(command=_cv)

    report = commands.add_parser("report", help="writes the tables of earlier results into a page")
    report.add_argument("--out", default=DEFAULT_OUT, help="folder with the results")
    report.add_argument("--page", default=DEFAULT_PAGE, help="Markdown file with the places")
    report.set_defaults(command=_report)
    return parser
