"""Runs cases: a fresh process for every run, the contenders in turns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.launch import say
from benchmarks.modes.plan import Case
from benchmarks.paper.launch import run_process
from benchmarks.real import CaseUnavailableError
from benchmarks.runners.base import Settings
from benchmarks.tasks.launch import library_of
from benchmarks.tasks.libraries import is_installed
from benchmarks.tasks.problem import LEAST_ROWS, Problem

LIBRARIES = ("gossamer", "lightgbm", "catboost")
WORKER = "benchmarks.modes.worker"
Run = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """What holds for all runs.

    Attributes:
        threads: Threads of each library.
        rounds: Boosting rounds of all but CatBoost, which has its own default.
        rows: Most training rows; 0 for all.
        repeats: Runs of each contender.
        timeout_s: Limit on one process.
        libraries: Who may take part.
        cached: Earlier runs, of which CatBoost's are taken as they are.
        catboost_rounds: Rounds of CatBoost; 0 for its default.
    """

    threads: int = 2
    rounds: int = 100
    rows: int = 0
    repeats: int = 1
    timeout_s: float = 3600.0
    libraries: tuple[str, ...] = LIBRARIES
    cached: list[Run] = field(default_factory=list)
    catboost_rounds: int = 0


def run_case(case: Case, limits: Limits) -> Iterator[Run]:
    """Runs the contenders of one case, in turns, and yields every run as it ends.

    Args:
        case: What is run; one whose data is not here is skipped.
        limits: What holds for all.

    Yields:
        Raw results; a failed run has the key "error" instead of figures.
    """
    allowed = [name for name in case.contenders if library_of(name) in limits.libraries]
    names = [name for name in allowed if is_installed(library_of(name))]
    try:
        problem = _limit_rows(case.make(), limits.rows)
    except CaseUnavailableError as error:
        say(f"skipped {case.mode} on {case.data}: {error}")
        return
    n_rows = len(problem.train.y)
    with tempfile.TemporaryDirectory(prefix="gossamer-modes-") as folder:
        problem.save(Path(folder))
        del problem
        for repeat in range(limits.repeats):
            shift = (repeat + case.seed + case.fold) % max(1, len(names))  # none is always first
            for name in names[shift:] + names[:shift]:
                head: Run = {"mode": case.mode, "data": case.data, "contender": name}
                head |= {"seed": case.seed, "fold": case.fold, "repeat": repeat}
                run = _find_cached(head, n_rows, limits) if case.is_cached else None
                if run is None:
                    run = {**head, **_run(case, name, folder, limits)}
                say(_one_line(run))
                yield run


def _find_cached(head: Run, n_rows: int, limits: Limits) -> Run | None:
    """CatBoost's earlier run of the same rows: its five folds take longer than all the rest."""
    if head["contender"] != "catboost":
        return None
    head = {**head, "n_rows": n_rows}
    for run in limits.cached:
        same = all(run.get(key) == value for key, value in head.items())
        if same and run.get("n_rounds") == (limits.catboost_rounds or run.get("n_rounds")):
            return run
    return None


def _limit_rows(problem: Problem, rows: int) -> Problem:
    n_rows = len(problem.train.y)
    return problem.shrink(max(LEAST_ROWS, rows) / n_rows) if 0 < rows < n_rows else problem


def _run(case: Case, name: str, folder: str, limits: Limits) -> Run:
    rounds = case.rounds or limits.rounds
    settings = Settings(case.task, case.n_classes, case.num_leaves, rounds, limits.threads)
    options = dict(case.contenders[name])
    if name == "catboost" and limits.catboost_rounds:
        options["rounds"] = limits.catboost_rounds
    order = {
        "library": library_of(name),
        "options": options,
        "settings": asdict(settings),
        "folder": folder,
        "constraints": case.constraints,
        "n_folds": case.n_folds,
    }
    return run_process(WORKER, order, limits.threads, limits.timeout_s)


def _one_line(run: Run) -> str:
    start = f"{run['mode']:13} {run['data']:20} {run['contender']:13}"
    start += f" seed {run['seed']} fold {run['fold']} #{run['repeat'] + 1}"
    if "error" in run:
        return f"{start}  FAILED {run['error']}"
    scores = "  ".join(f"{key} {value:.6g}" for key, value in run.get("metrics", {}).items())
    if "violations" in run:
        scores += f"  violations {run['violations']}"
    return f"{start}  train {run['train_s']:8.3f} s  loss {run['loss']:.6g}  {scores}"
