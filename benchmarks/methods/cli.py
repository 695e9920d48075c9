"""Command line: ``python -m benchmarks.methods [speed | accuracy | report]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command_line import (
    CommandLine,
    finish,
    read_results,
    write_page,
    write_with_earlier,
)
from benchmarks.launch import say
from benchmarks.methods import data
from benchmarks.methods.figure import draw_figure
from benchmarks.methods.plan import (
    LIBRARIES,
    Contender,
    accuracy_contenders,
    plan_jobs,
    speed_contenders,
)
from benchmarks.methods.report import KINDS, format_blocks
from benchmarks.paper.launch import Job, Limits, run_jobs
from benchmarks.paper.problem import Problem, cached_folder, load_facts
from benchmarks.paper.store import new_document, read_document
from benchmarks.real import CaseUnavailableError

DEFAULT_OUT = "benchmarks/results/methods"
DEFAULT_PAGE = "docs/tree_methods.md"
FIGURE = "assets/methods/accuracy.svg"  # beside the page
_KEYS = ("case", "variant", "seed", "repeat")
Run = dict[str, Any]
Plan = tuple[str, str, Callable[[], Problem], Iterator[Job]]  # data set, name of the cache, ...


def main(argv: list[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: Arguments; None means those of the process.

    Returns:
        Exit status: 0, or 1 when a run failed or nothing was run.
    """
    return _command_line().run(argv)


def _speed(args: argparse.Namespace) -> int:
    contenders = _installed(speed_contenders(args.depth), args)
    plans = (
        (name, name, partial(data.SPEED[name], 0, args.scale), jobs)
        for name in args.data
        for jobs in [plan_jobs(name, contenders, args.rounds, args.repeats)]
    )
    return _measure(args, "speed", plans)


def _accuracy(args: argparse.Namespace) -> int:
    contenders = _installed(accuracy_contenders(args.depth), args)

    def plan(name: str, seed: int) -> Plan:
        jobs = plan_jobs(
            name, contenders, args.rounds, 1, seed, data.ACCURACY[name][0], has_curve=True
        )
        return name, f"{name}-{seed}", partial(data.real, name, seed, args.scale), jobs

    plans = (
        plan(name, seed)
        for name in args.data
        for seed in range(args.first_seed, args.seeds or data.ACCURACY[name][1])
    )
    return _measure(args, "accuracy", plans)


def _installed(contenders: list[Contender], args: argparse.Namespace) -> list[Contender]:
    return [c for c in contenders if c.library in args.libraries and c.is_installed()]


def _measure(args: argparse.Namespace, kind: str, plans: Iterator[Plan]) -> int:
    """Runs the plans, writing the document after every run."""
    names = ("threads", "rounds", "depth", "scale")
    document = new_document(kind, **{name: getattr(args, name) for name in names})
    path = Path(args.out) / f"{kind}.json"
    earlier = read_document(path) if args.keep else None
    limits = Limits(args.threads, timeout_s=args.timeout)
    for name, cache_name, make, jobs in plans:
        try:
            folder = cached_folder(f"methods-{cache_name}-x{args.scale:g}", make)
        except CaseUnavailableError as error:
            say(f"skipped {name}: {error}")
            continue
        document["data"][name] = load_facts(folder)
        for run in run_jobs(jobs, folder, limits):
            document["runs"].append(without_times(run) if kind == "accuracy" else run)
            write_with_earlier(path, document, earlier, _KEYS)  # should a later run be stopped
    return finish(document, path, lambda found: format_blocks({kind: found})[kind])


def without_times(run: Run) -> Run:
    """A run whose times do not count; its curve has rounded figures, as the file is checked in."""
    if "error" in run:
        return run
    curve = [
        {key: round(value, 6) for key, value in point.items() if key != "seconds"}
        for point in run["curve"]
    ]
    return {**run, "round_s": [], "curve": curve}


def _report(args: argparse.Namespace) -> int:
    documents = read_results(Path(args.out), KINDS, "python -m benchmarks.methods accuracy")
    page = Path(args.page)
    status = write_page(page, format_blocks(documents), "methods")
    if "accuracy" in documents and not draw_figure(documents["accuracy"], page.parent / FIGURE):
        say("no figure: no curves, or matplotlib is not installed")
    return status


def _command_line() -> CommandLine:
    line = CommandLine(
        "benchmarks.methods",
        __doc__,
        **dict.fromkeys(("threads", "scale", "timeout", "keep")),
        libraries=LIBRARIES,
        out=DEFAULT_OUT,
    )
    line.shared.add_argument("--depth", type=int, default=8)
    about = "time and memory compared with XGBoost"
    line.add("speed", _speed, about, data=data.SPEED, rounds=30, repeats=3)

    accuracy = line.add(
        "accuracy", _accuracy, "held-out metric by eps", data=data.ACCURACY, rounds=100
    )
    accuracy.add_argument("--seeds", type=int, default=0, help="random splits; 0: by data set")
    accuracy.add_argument("--first-seed", type=int, default=0, help="with --keep: go on from here")
    line.add_report(
        _report,
        "writes tables and the figure of earlier results",
        out=DEFAULT_OUT,
        page=DEFAULT_PAGE,
    )
    return line
