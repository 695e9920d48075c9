"""One contender in a process of its own: ``python -m benchmarks.out_of_core.worker JOB``.

A job and what comes of it are JSON. The process puts itself into a control group before it loads
anything large.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.memory import PeakMemory
from benchmarks.out_of_core.limit import drop_caches
from benchmarks.out_of_core.make import TEXT

Job = dict[str, Any]
Figures = dict[str, Any]


def run(job: Job) -> Figures:
    """Run a job: build the data set, train round by round, predict the file."""
    kind = job["contender"].partition("_")[0]
    # What the libraries themselves take, also when first used, is not theirs to limit.
    module = __import__(kind)
    import pyarrow.parquet  # noqa: F401

    work = {"gossamer": _gossamer, "xgboost": _xgboost, "lightgbm": _lightgbm}[kind]
    work(module, job | job["warm"])
    if job["group"]:
        Path(job["group"]).write_text("0")
    memory = PeakMemory()
    figures = work(module, job)
    figures["peak_mb"] = memory.over_base() / 1e6
    return figures


def _gossamer(gs: Any, job: Job) -> Figures:
    params: dict[str, Any] = {
        "num_threads": job["threads"],
        "learning_rate": 0.1,
        "verbosity": -1,
        "num_leaves": job["leaves"],
    }
    name = job["contender"]
    if name != "gossamer_in_memory":
        params |= {"max_memory": job["max_memory"], "cache_dir": job["cache"]}
    if name == "gossamer_depthwise":
        params |= {"grow_policy": "depthwise", "max_depth": job["depth"]}
        params["num_leaves"] = 2 ** job["depth"]
    if name == "gossamer_bagging":
        params |= {"bagging_fraction": 0.2}
    start = time.perf_counter()
    data = gs.Dataset(job["path"], label="target", params=params).construct()
    built = time.perf_counter() - start
    if name == "gossamer_valid":
        return {"build_s": built, **_train_to_the_end(gs, params, data, job)}
    booster = gs.Booster(params, data)
    passes = []

    def update(_: int) -> None:
        before = booster.num_passes()
        booster.update()
        passes.append(booster.num_passes() - before)

    figures = _time_rounds(job, update)
    booster.free_dataset()
    del data
    start = time.perf_counter()
    n_predicted = len(booster.predict(job["path"]))
    assert n_predicted == job["rows"]
    predicted = time.perf_counter() - start
    return {"build_s": built, **figures, "passes": passes, "predict_s": predicted}


def _time_rounds(job: Job, update: Callable[[int], object]) -> Figures:
    """Do the rounds of a job; how long each took, and what it took of all processors."""
    seconds, cpu = [], []
    time.sleep(job["rest"])
    for i in range(job["rounds"]):
        if job["drop_caches"]:
            drop_caches()
        start, cpu_start = time.perf_counter(), time.process_time()
        update(i)
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return {"round_s": seconds, "round_cpu_s": cpu}


def _train_to_the_end(gs: Any, params: dict[str, Any], data: Any, job: Job) -> Figures:
    """Train with a validation set and early stopping, and predict."""
    valid = data.create_valid(job["valid"], label="target").construct()
    history: dict[str, Any] = {}
    callbacks = [gs.early_stopping(2, verbose=False), gs.record_evaluation(history)]
    start, before = time.perf_counter(), data.describe().passes
    cpu_start = time.process_time()
    booster = gs.train(params, data, job["rounds"], [valid], callbacks=callbacks)
    n_rounds = len(next(iter(history["valid_0"].values())))
    seconds = (time.perf_counter() - start) / n_rounds
    cpu = (time.process_time() - cpu_start) / n_rounds
    passes = (data.describe().passes - before) / n_rounds
    start = time.perf_counter()
    assert len(booster.predict(job["path"])) == job["rows"]
    predicted = time.perf_counter() - start
    figures = {"round_s": [seconds], "round_cpu_s": [cpu], "passes": [passes]}
    return {**figures, "predict_s": predicted}


def _groups(job: Job) -> Iterator[Any]:
    """The groups of rows of the file without text: arrays with the target in the last column."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(job["path"], pre_buffer=False) as file:
        columns = [name for name in file.schema.names if name != TEXT]
        for i in range(file.num_row_groups):
            table = file.read_row_group(i, columns, use_threads=False)
            yield table.to_pandas(split_blocks=True, self_destruct=True).to_numpy()


def _xgboost(xgb: Any, job: Job) -> Figures:
    class Batches(xgb.DataIter):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(cache_prefix=str(Path(job["cache"], "xgboost")))
            self.reset()

        def reset(self) -> None:
            self._rows = _groups(job)

        def next(self, input_data: Any) -> bool:
            rows = next(self._rows, None)
            if rows is not None:
                input_data(data=rows[:, :-1], label=rows[:, -1])
            return rows is not None

    params: dict[str, Any] = {"nthread": job["threads"], "eta": 0.1, "tree_method": "hist"}
    if job["contender"] == "xgboost_lossguide":
        params |= {"grow_policy": "lossguide", "max_leaves": job["leaves"], "max_depth": 0}
    else:
        params |= {"grow_policy": "depthwise", "max_depth": job["depth"]}
    start = time.perf_counter()
    data = xgb.ExtMemQuantileDMatrix(Batches(), nthread=job["threads"])
    built = time.perf_counter() - start
    booster = xgb.Booster(params, [data])
    return {"build_s": built, **_time_rounds(job, lambda i: booster.update(data, i))}


def _lightgbm(lgb: Any, job: Job) -> Figures:
    import numpy as np

    class Rows(lgb.Sequence):  # type: ignore[misc, name-defined]
        batch_size = 4096

        def __init__(self, n_rows: int) -> None:
            self._n_rows, self._begin, self._rows = n_rows, 0, next(_groups(job))
            self._left = _groups(job)

        def __len__(self) -> int:
            return self._n_rows

        def __getitem__(self, index: Any) -> Any:
            first = index.start if isinstance(index, slice) else index
            if first < self._begin:
                self._begin, self._left = 0, _groups(job)
                self._rows = next(self._left)
            while first >= self._begin + len(self._rows):
                self._begin += len(self._rows)
                self._rows = next(self._left)
            if isinstance(index, slice):
                rows = self._rows[first - self._begin : index.stop - self._begin, :-1]
                return rows.astype(np.float64)
            return self._rows[first - self._begin, :-1].astype(np.float64)

    label = np.concatenate([rows[:, -1] for rows in _groups(job)])
    params = {"num_threads": job["threads"], "num_leaves": job["leaves"], "verbosity": -1}
    start = time.perf_counter()
    data = lgb.Dataset(Rows(job["rows"]), label=label, params=params).construct()
    built = time.perf_counter() - start
    booster = lgb.Booster(params, data)
    return {"build_s": built, **_time_rounds(job, lambda _: booster.update())}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
