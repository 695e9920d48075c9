"""Jobs: every model is trained in a process of its own, several of them side by side."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.launch import say
from benchmarks.quality.contenders import CONTENDERS, loss_of, module_of
from benchmarks.quality.intervals import METHODS
from benchmarks.quality.tables import load

Run = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """What one process does.

    Attributes:
        table: Name of the table.
        seed: Seed of the split.
        contender: Who is trained: one of `CONTENDERS` or of `METHODS`.
        rows: Most rows to train on.
        threads: Threads of the process.
    """

    table: str
    seed: int
    contender: str
    rows: int
    threads: int

    def is_done(self, runs: Iterable[Run]) -> bool:
        """Whether one of these runs came from this job."""
        own = asdict(self)
        return any(own.items() <= run.items() for run in runs)


def run_job(job: Job) -> list[Run]:
    """Trains and tests; times do not include imports and reading.

    Raises:
        CaseUnavailableError: When the table is not on this machine.
    """
    # Intervals hold for rows that can be exchanged: later ones cannot.
    problem = load(job.table, job.seed, job.rows, in_time=job.contender not in METHODS)
    import_module(module_of(job.contender))
    if job.contender in METHODS:
        with _timed() as times:
            found = list(METHODS[job.contender](problem, job.threads))
        return [{**asdict(job), **run, **times} for run in found]
    with _timed() as times:
        predict = CONTENDERS[job.contender](problem, job.threads)
    return [{**asdict(job), "loss": loss_of(problem, predict(problem.x_test)), **times}]


@contextmanager
def _timed() -> Iterator[dict[str, float]]:
    """Fills in seconds, and seconds of all threads on processors ("cpu_seconds")."""
    times: dict[str, float] = {}
    began, used = time.perf_counter(), _cpu_seconds()
    yield times
    times |= {"seconds": time.perf_counter() - began, "cpu_seconds": _cpu_seconds() - used}


def _cpu_seconds() -> float:
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in own)


def run_all(
    jobs: list[Job], n_side_by_side: int, seconds: float, add: Callable[[list[Run]], None]
) -> None:
    """Runs jobs side by side until the time is over.

    Args:
        jobs: In the order in which they are started.
        n_side_by_side: Number of processes at a time.
        seconds: Nothing starts after that many seconds, and what still runs then is stopped and
            left out.
        add: Called with the runs of each job that ended, one call at a time.
    """
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(n_side_by_side) as pool:
        for future in as_completed([pool.submit(_run_process, job, end) for job in jobs]):
            if runs := future.result():
                add(runs)
                say("\n".join(map(json.dumps, runs)))


def _run_process(job: Job, end: float) -> list[Run]:
    left = end - time.monotonic()
    if left <= 0:
        return []
    command = [sys.executable, "-m", "benchmarks.quality", "job", json.dumps(asdict(job))]
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "OMP_NUM_THREADS": str(job.threads)},
            capture_output=True,
            text=True,
            timeout=None if left == float("inf") else left,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return []
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        return [{**asdict(job), "error": f"exit {done.returncode}: {lines[-1]}"[:300]}]
    runs: list[Run] = json.loads(done.stdout.splitlines()[-1])
    return runs
