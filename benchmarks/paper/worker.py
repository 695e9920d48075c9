"""One measured run in a fresh process: ``python -m benchmarks.paper.worker JOB.json RESULT.json``.

Nothing is evaluated during training: accuracy over time comes from predictions with the first
rounds, made afterwards.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.load import OtherLoad
from benchmarks.memory import PeakMemory
from benchmarks.paper.metrics import evaluate
from benchmarks.paper.problem import load_facts, load_queries, load_rows
from benchmarks.paper.runners import RoundClock, make_runner
from benchmarks.runners import Settings
from benchmarks.split import Array

WARM_UP_ROWS = 1_000
WARM_UP_ROUNDS = 2


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Warms up, then builds, trains, predicts and scores.

    Args:
        job: "library", "options", "settings", "folder" of the problem, "curve" (rounds after
            which accuracy is wanted), "digests" (rounds after which the model is compared),
            "metric" (of the curve).

    Returns:
        Times in seconds, peak memory over the input in bytes, metrics on the held-out rows.
    """
    settings, folder = Settings(**job["settings"]), Path(job["folder"])
    _warm_up(job, settings, load_facts(folder)["is_sparse"])
    runner = make_runner(job["library"], settings, job["options"])
    x, y = load_rows(folder, "train")
    gc.collect()

    memory, others, clock = PeakMemory(), OtherLoad(), RoundClock()
    start = time.perf_counter()
    data = runner.build(x, y)
    built = time.perf_counter()
    peak_build = memory.over_base()
    cpu = time.process_time()
    model = runner.train_timed(data, clock)
    trained = time.perf_counter()
    train_cpu = time.process_time() - cpu
    peak, other_cpus = memory.over_base(), others.cpus()
    del data, x, y

    x_test, y_test = load_rows(folder, "test")
    query = load_queries(folder)

    def judge(rounds: int) -> dict[str, float]:
        prediction = runner.predict_first(model, x_test, rounds)
        return evaluate(settings.task, y_test, prediction, query)

    n_rounds = len(clock.ends)
    curve = [
        {"round": k, "seconds": clock.ends[k - 1] - built, job["metric"]: judge(k)[job["metric"]]}
        for k in job["curve"]
        if k <= n_rounds
    ]
    digests = {str(k): runner.digest(model, k) for k in job["digests"] if k <= n_rounds}
    return {
        "build_s": built - start,
        "train_s": trained - built,
        "train_cpu_s": train_cpu,
        "round_s": [round(seconds, 6) for seconds in clock.seconds()],
        "peak_over_input_bytes": peak,
        "peak_build_bytes": peak_build,
        "peak_how": memory.how,
        "other_cpus": other_cpus,
        "metrics": judge(n_rounds),
        "curve": curve,
        "digests": digests,
    }


def _warm_up(job: dict[str, Any], settings: Settings, is_sparse: bool) -> None:
    """Fits tiny data of the same kind, so that imports, threads and lazy set-up are not timed."""
    rng = np.random.default_rng(0)
    x: Any = rng.standard_normal((WARM_UP_ROWS, 5), dtype=np.float32)
    y: Array = (np.arange(WARM_UP_ROWS) % max(2, settings.n_classes)).astype(np.float32)
    if is_sparse:
        x = sp.csr_matrix(np.where(x > 0.5, x, 0.0).astype(np.float32))
    runner = make_runner(job["library"], replace(settings, rounds=WARM_UP_ROUNDS), job["options"])
    model = runner.train_timed(runner.build(x, y), RoundClock())
    runner.predict_first(model, x, WARM_UP_ROUNDS)


def limit_memory(n_bytes: int) -> None:
    """Lets allocations beyond a limit fail, so that a neighbour is not killed instead."""
    if sys.platform == "linux" and n_bytes > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    job = json.loads(Path(job_file).read_text())
    limit_memory(job["memory_bytes"])
    Path(result_file).write_text(json.dumps(measure(job)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
