"""One measured run in a fresh process: ``python -m benchmarks.worker JOB.json RESULT.json``."""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load import OtherLoad
from benchmarks.memory import PeakMemory
from benchmarks.metrics import evaluate
from benchmarks.runners import CONTENDERS, Runner, Settings
from benchmarks.split import Array, load_part

WARM_UP_ROWS = 1_000
WARM_UP_ROUNDS = 2
PREDICT_REPEATS = 3


def measure(contender: str, settings: Settings, folder: Path, fits: int) -> dict[str, Any]:
    """Warms up, then builds, trains, predicts and scores.

    Args:
        contender: Name in the table of contenders.
        settings: Parameters.
        folder: Where the split was saved.
        fits: How many times to build and train; every time is kept.

    Returns:
        Times in seconds, peak memory over the input in bytes, metrics on the test set.
    """
    chosen = CONTENDERS[contender]
    warm_up(chosen.make(_shorter(settings), dict(chosen.options)), settings)
    runner = chosen.make(settings, dict(chosen.options))
    x, y = load_part(folder, "train")
    gc.collect()

    memory, others = PeakMemory(), OtherLoad()
    build_s: list[float] = []
    train_s: list[float] = []
    train_cpu_s: list[float] = []
    model: Any = None
    for _ in range(fits):
        model = data = None  # the model of the last turn is not to be counted in this one
        start = time.perf_counter()
        data = runner.build(x, y)
        built = time.perf_counter()
        cpu = time.process_time()
        model = runner.train(data)
        trained = time.perf_counter()
        inside = runner.build_time_in_training()
        build_s.append(built - start + inside)
        train_s.append(trained - built - inside)
        train_cpu_s.append(time.process_time() - cpu)
    peak, other_cpus = memory.over_base(), others.cpus()
    del data

    x_test, y_test = load_part(folder, "test")
    prediction, predict_s = _time_predict(runner, model, x_test)
    return {
        "build_s": build_s,
        "train_s": train_s,
        "train_cpu_s": train_cpu_s,
        "predict_s": predict_s,
        "peak_over_input_bytes": peak,
        "peak_how": memory.how,
        "other_cpus": other_cpus,
        "n_rows": len(x),
        "n_columns": x.shape[1],
        "n_test_rows": len(x_test),
        "metrics": evaluate(settings.task, y_test, prediction),
    }


def warm_up(runner: Runner, settings: Settings) -> None:
    """Fits tiny data so that imports, threads and lazy set-up are not measured."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((WARM_UP_ROWS, 5), dtype=np.float32)
    y = (np.arange(WARM_UP_ROWS) % max(2, settings.n_classes)).astype(np.float32)
    runner.predict(runner.train(runner.build(x, y)), x)


def _shorter(settings: Settings) -> Settings:
    return Settings(
        settings.task, settings.n_classes, settings.num_leaves, WARM_UP_ROUNDS, settings.threads
    )


def _time_predict(runner: Runner, model: Any, x: Array) -> tuple[Array, list[float]]:
    seconds = []
    for _ in range(PREDICT_REPEATS):
        start = time.perf_counter()
        prediction = runner.predict(model, x)
        seconds.append(time.perf_counter() - start)
    return prediction, seconds


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    job = json.loads(Path(job_file).read_text())
    settings = Settings(**job["settings"])
    result = measure(job["contender"], settings, Path(job["folder"]), job["fits"])
    Path(result_file).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
