"""Command line: ``python -m benchmarks.modes [categories | cardinality | monotone | ...]``."""

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
    return _command_line().run(argv)


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


def _command_line() -> CommandLine:
    line = CommandLine(
        "benchmarks.modes",
        __doc__,
        **dict.fromkeys(("threads", "rounds", "timeout", "keep")),
        libraries=LIBRARIES,
        out=DEFAULT_OUT,
    )
    line.shared.add_argument("--rows", type=int, default=0, help="most training rows; 0 for all")
    categories = line.add("categories", _categories, "flights3m: time, AUC", seeds=2)
    categories.add_argument("--leaves", type=int, default=255)

    cardinality = line.add(
        "cardinality", _cardinality, "compared with CatBoost", data=CARDINALITY_DATA
    )
    cardinality.add_argument(
        "--fresh", action="store_true", help="train CatBoost again where there are results of it"
    )
    cardinality.add_argument(
        "--catboost-rounds", type=int, default=0, help="rounds of CatBoost; 0 for its default"
    )
    monotone = line.add(
        "monotone", _monotone, "RMSE, violations, time", data=data.MONOTONE, seeds=10
    )
    monotone.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))

    boosters = line.add(
        "boosters", _boosters, "dart, rf, linear_tree; dart has twice the seeds", seeds=5
    )
    boosters.add_argument("--boosters", nargs="+", choices=BOOSTERS, default=list(BOOSTERS))
    boosters.add_argument(
        "--data", nargs="+", choices=data.BOOSTERS, help="instead of each booster's three"
    )
    line.add("cv", _cv, "five folds: time, memory", repeats=3)
    line.add_report(
        _report,
        "writes the tables of earlier results into a page",
        out=DEFAULT_OUT,
        page=DEFAULT_PAGE,
    )
    return line
