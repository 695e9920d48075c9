"""One run in a fresh process: ``python -m benchmarks.modes.worker JOB.json RESULT.json``."""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.load import OtherLoad
from benchmarks.memory import PeakMemory
from benchmarks.metrics import evaluate
from benchmarks.modes.catboost import make_any_library
from benchmarks.paper.runners import RoundClock
from benchmarks.runners.base import Settings, make_lightgbm_params
from benchmarks.split import Array
from benchmarks.tasks.problem import Part, load_part
from benchmarks.tasks.worker import WARM_UP_ROUNDS

_WARM_UP_ROWS = 2_000
_MOVED_ROWS, _STEPS = 200, 101
_LOSSES = {"binary": "logloss", "multiclass": "mlogloss"}


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Builds the data set and trains, or runs ``cv``.

    Args:
        job: "library", "options", "settings", "folder" of the problem, "constraints" (direction of
            each column, to count violations; may be empty), "n_folds" (of ``cv``; 0: train).

    Returns:
        Seconds of construction ("build_s") and training ("train_s"), the peak of memory over the
        input, the held-out "loss" and "metrics", and "violations" where there are constraints.
    """
    train = load_part(Path(job["folder"]), "train")
    assert train is not None
    settings = Settings(**job["settings"])
    few = train.take(np.arange(min(len(train.y), _WARM_UP_ROWS)))
    act = _cross_validate if job["n_folds"] else _train
    if job["library"] != "catboost":  # it is not timed, and may take minutes
        act(job, replace(settings, rounds=WARM_UP_ROUNDS), few)
    gc.collect()
    memory, others = PeakMemory(), OtherLoad()
    result, predict = act(job, settings, train)
    result["peak_over_input_bytes"] = memory.over_base()
    result["other_cpus"] = others.cpus()
    result["n_rows"] = len(train.y)
    result["n_columns"] = int(train.x.shape[1])
    if predict is None:
        return result
    test = load_part(Path(job["folder"]), "test")
    assert test is not None
    metrics = evaluate(settings.task, test.y, predict(test.x))
    loss = metrics["rmse"] ** 2 if "rmse" in metrics else metrics[_LOSSES[settings.task]]
    result.update(metrics=metrics, loss=loss)
    if job["constraints"]:
        result["violations"] = count_violations(predict, test.x, job["constraints"])
    return result


Predict = Callable[[Array], Array]


def _train(
    job: dict[str, Any], settings: Settings, part: Part
) -> tuple[dict[str, Any], Predict | None]:
    library = make_any_library(job["library"], settings, job["options"])
    start = time.perf_counter()
    rows = library.build(part, None)
    built = time.perf_counter()
    fitted = library.train(rows, RoundClock(), 0)
    end = time.perf_counter()
    found = {"build_s": built - start, "train_s": end - built, "n_rounds": fitted.n_rounds}
    return found, lambda x: library.predict(fitted, x, False)


def _cross_validate(
    job: dict[str, Any], settings: Settings, part: Part
) -> tuple[dict[str, Any], Predict | None]:
    """Both libraries have the same function, and name its result alike."""
    library: Any = importlib.import_module(job["library"])
    params = {**make_lightgbm_params(settings), **job["options"]}
    start = time.perf_counter()
    rows = library.Dataset(part.x, part.y, params=params).construct()
    built = time.perf_counter()
    found = library.cv(params, rows, settings.rounds, nfold=job["n_folds"])
    end = time.perf_counter()
    (losses,) = (values for name, values in found.items() if name.endswith("-mean"))
    result = {"build_s": built - start, "train_s": end - built, "n_rounds": len(losses)}
    return {**result, "loss": float(losses[-1])}, None


def count_violations(
    predict: Predict, x: Array, constraints: list[int], n_rows: int = _MOVED_ROWS
) -> int:
    """Moves each constrained column over its range and counts the steps in the wrong direction.

    Args:
        predict: Predictions of rows.
        x: Rows; the first ones are moved, all of them tell the ranges.
        constraints: Direction of each column: 1, -1, or 0 for none.
        n_rows: Rows that are moved.

    Returns:
        Steps, over all rows and columns, at which the prediction went the wrong way.
    """
    rows, found = x[:n_rows], 0
    for column, direction in enumerate(constraints):
        if direction:
            grid = np.unique(np.quantile(x[:, column], np.linspace(0.0, 1.0, _STEPS)))
            moved = np.repeat(rows, len(grid), axis=0)
            moved[:, column] = np.tile(grid, len(rows))
            steps = np.diff(predict(moved).reshape(len(rows), len(grid)), axis=1)
            found += int(np.sum(steps * direction < 0.0))
    return found


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    warnings.simplefilter("ignore")
    job = json.loads(Path(job_file).read_text())
    Path(result_file).write_text(json.dumps(measure(job)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
