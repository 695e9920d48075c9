"""One training each, run as `python -m benchmarks.distributed.runners NAME SIZES...`."""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sizes:
    """How large the problem is."""

    rows: int
    columns: int
    leaves: int
    rounds: int
    workers: int


Found = dict[str, Any]
PARTS_PER_WORKER = 4


def make_rows(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    """Return rows with the target behind the columns."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    signal = table[:, 0] + table[:, 1] * table[:, 2] + np.abs(table[:, 3])
    label = signal + rng.normal(size=n_rows) > 0.8
    return np.column_stack([table, label.astype(np.float32)])


def peak_bytes() -> int:
    """Return the largest memory of this process so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def part_sizes(sizes: Sizes) -> list[int]:
    """Return the rows of each partition."""
    n_parts = PARTS_PER_WORKER * sizes.workers
    ends = np.linspace(0, sizes.rows, n_parts + 1).astype(int)
    return np.diff(ends).tolist()


def all_rows(sizes: Sizes) -> np.ndarray:
    """Return the rows of all partitions."""
    parts = enumerate(part_sizes(sizes))
    return np.concatenate([make_rows(n, sizes.columns, seed) for seed, n in parts])


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


def on_cluster(sizes: Sizes, work: Callable[[Any, Any, Any], Found]) -> Found:
    """Start workers, make the partitions there, and time the work on them."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster, wait

    cluster = LocalCluster(
        n_workers=sizes.workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        parts = [
            da.from_delayed(
                delayed(make_rows)(n, sizes.columns, seed), (n, sizes.columns + 1), np.float32
            )
            for seed, n in enumerate(part_sizes(sizes))
        ]
        rows = da.concatenate(parts).persist()
        wait(rows)
        begin = time.perf_counter()
        found = work(client, rows[:, :-1], rows[:, -1])
        found["seconds"] = time.perf_counter() - begin
        found["peak"] = max(client.run(peak_bytes).values())
    return found


def train_dask(sizes: Sizes) -> Found:
    """Gossamer on the cluster."""
    from gossamer.dask import DaskDataset, train

    def work(client: Any, x: Any, y: Any) -> Found:
        traffic: dict[str, float] = {}
        data = DaskDataset(x, label=y)
        params = gossamer_params(sizes, 1)
        model = train(client, params, data, sizes.rounds, traffic=traffic)
        return {"digest": digest(model), **traffic}

    return on_cluster(sizes, work)


def train_lightgbm(sizes: Sizes) -> Found:
    """LightGBM on the cluster."""
    import lightgbm

    def work(client: Any, x: Any, y: Any) -> Found:
        model = lightgbm.DaskLGBMClassifier(
            client=client, n_estimators=sizes.rounds, num_leaves=sizes.leaves, verbosity=-1
        )
        model.fit(x, y)
        return {}

    return on_cluster(sizes, work)


def train_xgboost(sizes: Sizes) -> Found:
    """XGBoost on the cluster, leaf by leaf."""
    from xgboost import dask as dxgb

    def work(client: Any, x: Any, y: Any) -> Found:
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
        dxgb.train(client, params, data, num_boost_round=sizes.rounds)
        return {}

    return on_cluster(sizes, work)


RUNNERS: dict[str, Callable[[Sizes], Found]] = {
    "gossamer": train_alone,
    "gossamer dask": train_dask,
    "lightgbm dask": train_lightgbm,
    "xgboost dask": train_xgboost,
}


if __name__ == "__main__":
    print(json.dumps(RUNNERS[sys.argv[1]](Sizes(*map(int, sys.argv[2:])))))
