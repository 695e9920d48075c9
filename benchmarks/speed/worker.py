"""One run in a fresh process: ``python -m benchmarks.speed.worker JOB.json RESULT.json``."""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.memory import PeakMemory
from benchmarks.paper.runners import RoundClock, make_xgboost_clock
from benchmarks.speed.cases import Matrix, Options, Table

LEAST_FITS, FIT_SECONDS = 5, 1.5
WARM_UP_ROWS = 500
_XGBOOST_OBJECTIVES = {
    "binary": "binary:logistic",
    "multiclass": "multi:softprob",
    "regression": "reg:squarederror",
}


def save_table(table: Table, folder: Path) -> None:
    """Writes a table into a folder."""
    if isinstance(table.x, np.ndarray):
        np.save(folder / "x.npy", table.x)
    else:
        sp.save_npz(folder / "x.npz", table.x, compressed=False)
    np.save(folder / "y.npy", table.y)
    if table.group is not None:
        np.save(folder / "group.npy", table.group)


def load_table(folder: Path) -> Table:
    """Reads what `save_table` wrote."""
    dense, group = folder / "x.npy", folder / "group.npy"
    x: Matrix = np.load(dense) if dense.is_file() else sp.load_npz(folder / "x.npz")
    return Table(x, np.load(folder / "y.npy"), np.load(group) if group.is_file() else None)


class LikeLightGBM:
    """Gossamer or LightGBM, which have the same functions."""

    def __init__(self, name: str, options: Options, threads: int) -> None:
        self._library: Any = importlib.import_module(name)
        self._options = {"verbosity": -1, "num_threads": threads, **options}

    def build(self, table: Table) -> Any:
        """Makes the data set."""
        options = {"group": table.group} if table.group is not None else {}
        return self._library.Dataset(table.x, table.y, params=self._options, **options).construct()

    def train(self, data: Any, rounds: int, clock: RoundClock | None) -> Any:
        """Trains a model."""
        callbacks = clock.callbacks() if clock is not None else None
        return self._library.train(self._options, data, rounds, callbacks=callbacks)

    def predict(self, model: Any, x: Matrix) -> Any:
        """Predicts."""
        return model.predict(x, num_threads=self._options["num_threads"])


class LikeXGBoost:
    """XGBoost, leaf by leaf on histograms."""

    def __init__(self, options: Options, threads: int) -> None:
        self._library: Any = importlib.import_module("xgboost")
        objective = options["objective"]
        self._options = {
            "objective": _XGBOOST_OBJECTIVES.get(objective, objective),
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": options.get("num_leaves", 31),
            "max_bin": 255,
            "learning_rate": 0.1,
            "min_child_weight": 20 if objective == "regression" else 1e-3,
            "reg_lambda": 0.0,
            "nthread": threads,
            "verbosity": 0,
        }
        if "num_class" in options:
            self._options["num_class"] = options["num_class"]

    def build(self, table: Table) -> Any:
        """Makes the data set."""
        threads = self._options["nthread"]
        data = self._library.QuantileDMatrix(table.x, table.y, max_bin=255, nthread=threads)
        if table.group is not None:
            data.set_group(table.group)
        return data

    def train(self, data: Any, rounds: int, clock: RoundClock | None) -> Any:
        """Trains a model."""
        callbacks = [make_xgboost_clock(self._library, clock)] if clock is not None else None
        return self._library.train(self._options, data, rounds, callbacks=callbacks)

    def predict(self, model: Any, x: Matrix) -> Any:
        """Predicts in place, which is the faster way."""
        return model.inplace_predict(x)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Times one contender.

    Args:
        job: "contender", "options", "threads", "rounds", "skipped", "timed", and "folder" of the
            table.

    Returns:
        "seconds" of what counts, "build_s" of the data set, and the peak of memory over the input.
    """
    library = job["contender"].split("_")[0]
    make: Callable[..., Any] = LikeXGBoost if library == "xgboost" else LikeLightGBM
    names = () if library == "xgboost" else (library,)
    runner = make(*names, job["options"], job["threads"])
    table = load_table(Path(job["folder"]))
    few = Table(table.x[:WARM_UP_ROWS], table.y[:WARM_UP_ROWS])
    if table.group is None:
        runner.train(runner.build(few), 2, None)
    gc.collect()
    memory = PeakMemory()
    found: dict[str, Any] = {"build_s": None}
    if job["timed"] == "total":
        found["seconds"] = _best(lambda: runner.train(runner.build(table), job["rounds"], None))
    else:
        start = time.perf_counter()
        data = runner.build(table)
        found["build_s"] = time.perf_counter() - start
        clock = RoundClock()
        model = runner.train(data, job["rounds"], clock)
        found["seconds"] = clock.ends[-1] - clock.ends[job["skipped"] - 1]
        if job["timed"] == "predict":
            found["seconds"] = _best(lambda: runner.predict(model, table.x))
    found["peak_over_input_bytes"] = memory.over_base()
    return found


def _best(act: Callable[[], object]) -> float:
    took: list[float] = []
    while len(took) < LEAST_FITS or sum(took) < FIT_SECONDS:
        start = time.perf_counter()
        act()
        took.append(time.perf_counter() - start)
    return min(took)


def main(job_file: str, result_file: str) -> None:
    """Reads a job, measures it, writes the result."""
    result = measure(json.loads(Path(job_file).read_text()))
    Path(result_file).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
