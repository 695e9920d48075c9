"""Command line: ``python -m benchmarks quality accuracy | intervals``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import describe_machine, find_versions
from benchmarks.quality.contenders import CONTENDERS, loss_of
from benchmarks.quality.intervals import measure
from benchmarks.quality.summary import format_intervals, format_quality
from benchmarks.quality.tables import MADE, REAL, Problem, load
from benchmarks.real import CaseUnavailableError
from benchmarks.report import write_json

DEFAULT_OUT: Final = "benchmarks/results/local"
# Tables whose label is a number, for intervals: ten of them.
NUMBERS: Final = (
    *("california_housing", "house_16h", "bike_sharing_hour", "diamonds", "protein_casp"),
    *("be_mtpl97", "flights3m", "made_friedman", "made_noisy", "made_counts"),
)


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("command", choices=["accuracy", "intervals"])
    parser.add_argument("--tables", nargs="+", metavar="TABLE", choices=[*REAL, *MADE])
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20_000, help="most rows to train on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", default=DEFAULT_OUT)
    args = parser.parse_args(argv)
    is_accuracy = args.command == "accuracy"
    tables = args.tables or ([*REAL, *MADE] if is_accuracy else NUMBERS)
    step = _accuracy if is_accuracy else _intervals
    document: dict[str, Any] = {"machine": describe_machine(), "versions": find_versions()}
    document |= {"rows": args.rows, "threads": args.threads, "runs": []}
    path = Path(args.out) / f"quality_{args.command}.json"
    for name in tables:
        for seed in range(args.splits):
            try:
                problem = load(name, seed, args.rows)
            except CaseUnavailableError as error:
                print(f"{name}: {error}", file=sys.stderr)
                break
            step(problem, seed, args, document["runs"].append)
            write_json(path, document)  # kept should a later run be stopped
    text = (format_quality if is_accuracy else format_intervals)(document["runs"])
    path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 1 if not document["runs"] or any("error" in run for run in document["runs"]) else 0


def _accuracy(
    problem: Problem, seed: int, args: argparse.Namespace, add: Callable[[Any], None]
) -> None:
    for name in args.contenders or CONTENDERS:
        run: dict[str, Any] = {"table": problem.name, "seed": seed, "contender": name}
        try:
            began = time.perf_counter()
            predict = CONTENDERS[name](problem, args.threads)
            run["seconds"] = time.perf_counter() - began
            run["loss"] = loss_of(problem, predict(problem.x_test))
        except ImportError:
            continue
        except Exception as error:
            run["error"] = f"{type(error).__name__}: {error}"[:300]
        add(run)
        print(run, file=sys.stderr)


def _intervals(
    problem: Problem, seed: int, args: argparse.Namespace, add: Callable[[Any], None]
) -> None:
    try:
        for run in measure(problem, args.threads):
            add({"seed": seed, **run})
            print(run, file=sys.stderr)
    except Exception as error:
        add(
            {
                "table": problem.name,
                "method": "-",
                "error": f"{type(error).__name__}: {error}"[:300],
            }
        )
