"""One training each, run as `python -m benchmarks.dask.runners NAME SIZES...`.

Memory is measured apart from time: for time, the partitions are made and kept on the workers
beforehand, as other work on a cluster would leave them; for memory, they are made for the training
and belong to it alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import higgs_like


@dataclass(frozen=True)
class Sizes:
    """How large the problem is."""

    rows: int
    leaves: int
    rounds: int
    workers: int


Found = dict[str, Any]
PARTS_PER_WORKER = 4
N_COLUMNS = 28  # as Higgs has them
WARM_ROWS = 2_000  # of each partition
MADE_AT_ONCE = 10_000  # rows


def make_rows(n_rows: int, seed: int) -> np.ndarray:
    """Return rows in the shape of Higgs, float32, with the target behind the columns.

    They are made few at a time: what a worker's memory grows by is then due to the training.
    """
    rows = np.empty((n_rows, N_COLUMNS + 1), np.float32)
    for i, begin in enumerate(range(0, n_rows, MADE_AT_ONCE)):
        own = rows[begin : begin + MADE_AT_ONCE]
        split = higgs_like(len(own), seed * 10_000 + i)
        own[:, :-1], own[:, -1] = split.x_train, split.y_train
    return rows


def peak_bytes() -> int:
    """Return the largest memory of this process so far, or since `forget_peak`."""
    return _status_bytes("VmHWM:")


def forget_peak() -> int:
    """Begin to measure the largest memory anew; returns the memory of now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status_bytes("VmRSS:")


def _status_bytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(name)))


def part_sizes(sizes: Sizes) -> list[int]:
    """Return the rows of each partition."""
    n_parts = PARTS_PER_WORKER * sizes.workers
    ends = np.linspace(0, sizes.rows, n_parts + 1).astype(int)
    return np.diff(ends).tolist()


def all_rows(sizes: Sizes) -> np.ndarray:
    """Return the rows of all partitions."""
    parts = enumerate(part_sizes(sizes))
    return np.concatenate([make_rows(n, seed) for seed, n in parts])


# ---- one process ----


def train_alone(sizes: Sizes) -> Found:
    """Gossamer in one process, with as many threads as there are workers."""
    import gossamer

    rows = all_rows(sizes)
    begin = time.perf_counter()
    data = gossamer.Dataset(rows[:, :-1], label=rows[:, -1])
    model = gossamer.train(gossamer_params(sizes, sizes.workers), data, sizes.rounds)
    return {"seconds": time.perf_counter() - begin, "peak": peak_bytes(), "digest": digest(model)}


def gossamer_params(sizes: Sizes, n_threads: int) -> dict[str, Any]:
    """Return the parameters that all of them get, by LightGBM's names."""
    return {
        "objective": "binary",
        "num_leaves": sizes.leaves,
        "num_threads": n_threads,
        "verbosity": -1,
    }


def digest(model: Any) -> str:
    """Return a digest of a model's bytes."""
    return hashlib.sha256(model.model_to_string().encode()).hexdigest()[:16]


# ---- a cluster ----


Work = Callable[[Any, Any, Any, int], Found]  # client, table, label, rounds


def on_cluster(sizes: Sizes, work: Work, *, only_memory: bool = False) -> Found:
    """Start workers, make the partitions there, and time the work on them.

    With `only_memory`, the partitions are made by the work itself, and what the workers' memory
    grows by is measured; a first training on few rows has loaded all code.
    """
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster, wait

    cluster = LocalCluster(
        n_workers=sizes.workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        parts = [
            da.from_delayed(delayed(make_rows)(n, seed), (n, N_COLUMNS + 1), np.float32)
            for seed, n in enumerate(part_sizes(sizes))
        ]
        few = da.concatenate([part[:WARM_ROWS] for part in parts]).persist()
        wait(few)
        work(client, few[:, :-1], few[:, -1], 1)
        rows = da.concatenate(parts)
        if not only_memory:
            rows = rows.persist()
            wait(rows)
        before = client.run(forget_peak)
        begin = time.perf_counter()
        found = work(client, rows[:, :-1], rows[:, -1], sizes.rounds)
        found["seconds"] = time.perf_counter() - begin
        peaks = client.run(peak_bytes)
        found["peak"] = max(peaks.values())
        found["growth"] = max(peaks[worker] - before[worker] for worker in peaks)
    return found


def train_dask(sizes: Sizes, *, only_memory: bool = False) -> Found:
    """Gossamer on the cluster."""
    from gossamer.dask import DaskDataset, train

    def work(client: Any, x: Any, y: Any, rounds: int) -> Found:
        traffic: dict[str, float] = {}
        data = DaskDataset(x, label=y)
        params = gossamer_params(sizes, 1)
        model = train(client, params, data, rounds, traffic=traffic)
        return {"digest": digest(model), **traffic}

    return on_cluster(sizes, work, only_memory=only_memory)


def train_lightgbm(sizes: Sizes, *, only_memory: bool = False) -> Found:
    """LightGBM on the cluster."""
    import lightgbm

    def work(client: Any, x: Any, y: Any, rounds: int) -> Found:
        model = lightgbm.DaskLGBMClassifier(
            client=client, n_estimators=rounds, num_leaves=sizes.leaves, verbosity=-1
        )
        model.fit(x, y)
        return {}

    return on_cluster(sizes, work, only_memory=only_memory)


def train_xgboost(sizes: Sizes) -> Found:
    """XGBoost on the cluster, leaf by leaf."""
    from xgboost import dask as dxgb

    def work(client: Any, x: Any, y: Any, rounds: int) -> Found:
        params = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": sizes.leaves,
            "max_depth": 0,
            "eta": 0.1,
            "nthread": 1,
        }
        data = dxgb.DaskQuantileDMatrix(client, x, y)
        dxgb.train(client, params, data, num_boost_round=rounds)
        return {}

    return on_cluster(sizes, work)


RUNNERS: dict[str, Callable[[Sizes], Found]] = {
    "gossamer": train_alone,
    "gossamer dask": train_dask,
    "lightgbm dask": train_lightgbm,
    "xgboost dask": train_xgboost,
    "gossamer memory": partial(train_dask, only_memory=True),
    "lightgbm memory": partial(train_lightgbm, only_memory=True),
}


if __name__ == "__main__":
    print(json.dumps(RUNNERS[sys.argv[1]](Sizes(*map(int, sys.argv[2:])))))
