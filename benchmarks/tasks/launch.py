"""Runs cases: a fresh process for every run, round robin over the contenders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.launch import say
from benchmarks.paper.launch import run_process
from benchmarks.real import CaseUnavailableError
from benchmarks.runners.base import Settings
from benchmarks.split import Task
from benchmarks.tasks.libraries import LIBRARIES, is_installed
from benchmarks.tasks.plan import Case

WORKER = "benchmarks.tasks.worker"
NUM_LEAVES = 31


@dataclass(frozen=True)
class Limits:
    """What holds for all runs.

    Attributes:
        threads: Threads of each library.
        rounds: Boosting rounds.
        scale: Factor on the rows.
        repeats: Runs of each contender.
        is_timed: Whether the times count.
        timeout_s: Limit on one process.
        libraries: Who may take part.
    """

    threads: int = 2
    rounds: int = 100
    scale: float = 1.0
    repeats: int = 1
    is_timed: bool = False
    timeout_s: float = 3600.0
    libraries: tuple[str, ...] = LIBRARIES


def run_case(case: Case, limits: Limits) -> Iterator[dict[str, Any]]:
    """Runs the contenders of one case, interleaved, and yields every run as it ends.

    Args:
        case: What is run; one whose data is not here is skipped.
        limits: What holds for all.

    Yields:
        Raw results; a failed run has the key "error" instead of figures.
    """
    names = [
        name
        for name in case.contenders
        if library_of(name) in limits.libraries and is_installed(library_of(name))
    ]
    try:
        problem = case.make().shrink(limits.scale)
    except CaseUnavailableError as error:
        say(f"skipped {case.objective} on {case.data}: {error}")
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-tasks-") as folder:
        problem.save(Path(folder))
        del problem
        for repeat in range(limits.repeats):
            shift = (repeat + case.seed) % max(1, len(names))  # none is always first
            for name in names[shift:] + names[:shift]:
                result = _run(case, name, folder, limits)
                head = {"objective": case.objective, "data": case.data, "contender": name}
                places = {"seed": case.seed, "fold": case.fold, "repeat": repeat}
                say(_one_line({**head, **places, **result}))
                yield {**head, **places, "options": case.contenders[name], **result}


def library_of(contender: str) -> str:
    """The library that a contender's name begins with."""
    return contender.split("_")[0]


def _run(case: Case, name: str, folder: str, limits: Limits) -> dict[str, Any]:
    # A trial with fewer rows keeps to the command's rounds, even where others would stop early.
    rounds = limits.rounds if limits.scale < 1.0 else case.max_rounds or limits.rounds
    # Only scikit-learn asks for the task: its regressor has the losses compared here. The others'
    # objectives are in the options.
    task: Task = "regression" if library_of(name) == "sklearn" else "binary"
    settings = Settings(task, 0, NUM_LEAVES, rounds, limits.threads)
    order = {
        "library": library_of(name),
        "options": case.contenders[name],
        "settings": asdict(settings),
        "folder": folder,
        "loss": case.loss,
        "loss_options": case.loss_options,
        "is_raw": case.is_raw,
        "patience": case.patience,
        "metric": case.metric,
        "is_timed": limits.is_timed,
    }
    return run_process(WORKER, order, limits.threads, limits.timeout_s)


def _one_line(run: dict[str, Any]) -> str:
    start = f"{run['objective']:20} {run['data']:20} {run['contender']:16}"
    start += f" seed {run['seed']} fold {run['fold']} #{run['repeat'] + 1}"
    if "error" in run:
        return f"{start}  FAILED {run['error']}"
    return f"{start}  train {run['train_s']:8.3f} s  loss {run['loss']:.6g}"
