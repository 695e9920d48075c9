"""Command line: ``python -m benchmarks quality accuracy | intervals | folds | pack``.

`accuracy` and `intervals` train every model in a process of its own and write each result as soon
as it is there. Called again with the same `--out`, they go on where they stopped. `folds` times the
members of an ensemble side by side and one after another. `pack` copies small parts of the tables
to a folder, for machines without the whole ones.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.launch import say
from benchmarks.machine import describe_machine, find_versions
from benchmarks.quality.contenders import CONTENDERS, module_of
from benchmarks.quality.intervals import METHODS
from benchmarks.quality.jobs import Job, Run, run_all, run_job
from benchmarks.quality.side_by_side import format_folds, measure_folds
from benchmarks.quality.summary import format_intervals, format_quality
from benchmarks.quality.tables import MADE, REAL, is_available, pack
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
    commands = parser.add_subparsers(dest="command", required=True)
    for command, contenders in (("accuracy", CONTENDERS), ("intervals", METHODS)):
        words = commands.add_parser(command)
        words.add_argument("--tables", nargs="+", metavar="TABLE", choices=[*REAL, *MADE])
        words.add_argument("--contenders", nargs="+", choices=list(contenders))
        words.add_argument("--splits", type=int, default=3)
        words.add_argument("--rows", type=int, default=15_000, help="most rows to train on")
        words.add_argument("--threads", type=int, default=2, help="of each process")
        words.add_argument("--jobs", type=int, default=1, help="processes side by side")
        words.add_argument("--seconds", type=float, default=float("inf"), help="most time in all")
        words.add_argument("--out", default=DEFAULT_OUT)
    words = commands.add_parser("folds")
    words.add_argument("--threads", type=int, default=2)
    words.add_argument("--out", default=DEFAULT_OUT)
    words = commands.add_parser("pack")
    words.add_argument("folder", type=Path)
    words.add_argument("--rows", type=int, default=20_000, help="most rows of a table")
    commands.add_parser("job").add_argument("job", type=json.loads)
    args = parser.parse_args(argv)
    if args.command == "job":
        print(json.dumps(run_job(Job(**args.job))))
        return 0
    if args.command == "folds":
        runs = measure_folds(args.threads)
        text = format_folds(runs)
        document = {"machine": describe_machine(), "versions": find_versions(), "runs": runs}
        write_json(Path(args.out) / "quality_folds.json", document)
        print(text)
        return 0 if all(run["same_members"] and run["same_trees"] for run in runs) else 1
    if args.command == "pack":
        size = sum(pack(name, args.folder, args.rows) for name in REAL)
        print(f"{len(REAL)} tables, {size / 2**20:.1f} MiB")
        return 0
    return _compare(args)


def _compare(args: argparse.Namespace) -> int:
    """Runs what has not been run, and prints the table of all runs."""
    is_accuracy = args.command == "accuracy"
    known = CONTENDERS if is_accuracy else METHODS
    contenders = [
        name for name in args.contenders or known if find_spec(module_of(name)) is not None
    ]
    tables = args.tables or ([*REAL, *MADE] if is_accuracy else NUMBERS)
    for name in (missing := [name for name in tables if not is_available(name)]):
        say(f"{name}: skipped, it is not in the folder of data sets")
    path = Path(args.out) / f"quality_{args.command}.json"
    document: dict[str, Any] = {"machine": describe_machine(), "versions": find_versions()}
    document["runs"] = runs = json.loads(path.read_text())["runs"] if path.is_file() else []
    jobs = [
        Job(table, seed, name, args.rows, args.threads)
        for seed in range(args.splits)
        for table in tables
        if table not in missing
        for name in contenders
    ]

    def add(new: list[Run]) -> None:
        runs.extend(new)
        write_json(path, document)

    left = [job for job in jobs if not job.is_done(runs)]
    run_all(left, args.jobs, args.seconds, add)
    text = (format_quality if is_accuracy else format_intervals)(runs)
    n_left = sum(not job.is_done(runs) for job in left)
    text += f"\n\n{n_left} of {len(jobs)} jobs are left: run the command again" if n_left else ""
    path.with_suffix(".md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 1 if not runs or any("error" in run for run in runs) else 0
