"""Runs workers: one fresh process for every run, round robin over the contenders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.real import CaseUnavailableError
from benchmarks.runners import Contender, Settings


@dataclass(frozen=True)
class Plan:
    """What to run and under which limits.

    Attributes:
        contenders: Who runs.
        threads: Threads for each of them.
        repeats: Fresh processes for each contender and case.
        scale: Factor on the rows of each case.
        timeout_s: Limit on one process.
        budget_s: No process starts, and none goes on, after this many seconds in all.
    """

    contenders: list[Contender]
    threads: int
    repeats: int = 1
    scale: float = 1.0
    timeout_s: float = 3600.0
    budget_s: float = float("inf")
    started: float = field(default_factory=time.monotonic)

    def seconds_left(self) -> float:
        """Seconds until the budget is spent."""
        return self.budget_s - (time.monotonic() - self.started)


def run_case(plan: Plan, case: Case, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Runs all contenders on one case, interleaved, and yields every run as it ends.

    Args:
        plan: Who runs, how often.
        case: What is run.
        seed: Seed of the data.

    Yields:
        Raw results; a failed run has the key "error" instead of figures.
    """
    try:
        split = case.load(seed, plan.scale)
    except CaseUnavailableError as error:
        say(f"skipped case {case.name}: {error}")
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-benchmark-") as name:
        folder = Path(name)
        split.save(folder)
        settings = Settings(split.task, split.n_classes, case.num_leaves, case.rounds, plan.threads)
        del split  # a large parent would show in a child's ru_maxrss
        for repeat in range(plan.repeats):
            # Each round starts with another contender, so that none is always first.
            shift = repeat % len(plan.contenders)
            for contender in plan.contenders[shift:] + plan.contenders[:shift]:
                if plan.seconds_left() <= 0:
                    say(f"budget spent: {case.name} stops before {contender.name}")
                    return
                head = {"case": case.name, "contender": contender.name, "seed": seed}
                result = _run_worker(plan, contender, case, settings, folder)
                say(_one_line(case, contender, repeat, result))
                yield {**head, "repeat": repeat, "settings": asdict(settings), **result}


def _run_worker(
    plan: Plan, contender: Contender, case: Case, settings: Settings, folder: Path
) -> dict[str, Any]:
    job = {
        "contender": contender.name,
        "settings": asdict(settings),
        "folder": str(folder),
        "fits": case.fits,
    }
    job_file, result_file = folder / "job.json", folder / "result.json"
    job_file.write_text(json.dumps(job))
    result_file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.worker", str(job_file), str(result_file)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(plan.threads)}
    limit = min(plan.timeout_s, plan.seconds_left())
    try:
        done = subprocess.run(
            command,
            cwd=Path(__file__).resolve().parent.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=None if limit == float("inf") else limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {limit:.0f} s"}
    if done.returncode != 0 or not result_file.is_file():
        lines = done.stderr.strip().splitlines() or ["no message"]
        return {"error": f"exit {done.returncode}: {lines[-1]}", "stderr": done.stderr[-4000:]}
    loaded: dict[str, Any] = json.loads(result_file.read_text())
    return loaded


def _one_line(case: Case, contender: Contender, repeat: int, result: dict[str, Any]) -> str:
    start = f"{case.name:20} {contender.name:24} #{repeat + 1}"
    if "error" in result:
        return f"{start}  FAILED {result['error']}"
    scores = "  ".join(f"{name} {value:.6g}" for name, value in result["metrics"].items())
    build, train = min(result["build_s"]), min(result["train_s"])
    return f"{start}  build {build:8.4f} s  train {train:8.4f} s  {scores}"


def say(message: str) -> None:
    """Prints progress to stderr, so that stdout holds only the tables."""
    print(message, file=sys.stderr, flush=True)
