"""Accuracy and bytes of tree_learner=voting next to data: `python -m benchmarks dask voting`.

Four workers are threads of one process. The data sets are looked for under GOSSAMER_DATA.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

import numpy as np

from benchmarks.metrics import evaluate
from benchmarks.real import CaseUnavailableError, load_real
from benchmarks.split import Split

DATA: Final = ("credit_default", "covertype_93k", "mnist")
N_WORKERS: Final = 4


def train_on_workers(split: Split, learner: dict[str, Any], rounds: int) -> tuple[Any, float]:
    """Return the model, and the bytes that a worker sends for a tree."""
    from gossamer.distributed import Group, ShardData, run_group, train

    objectives = {"binary": "binary", "multiclass": "multiclass", "regression": "l2"}
    params = {
        "objective": objectives[split.task],
        "num_threads": 1,
        "verbosity": -1,
        **({"num_class": split.n_classes} if split.task == "multiclass" else {}),
        **learner,
    }

    def work(group: Group) -> tuple[Any, float]:
        rows = np.array_split(np.arange(len(split.x_train)), group.size)[group.rank]
        shard = ShardData([split.x_train[rows]], label=split.y_train[rows])
        return train(group, params, shard, rounds), group.traffic.bytes_per_tree

    model, n_bytes = run_group(N_WORKERS, work)[0]
    return model, n_bytes


def main(argv: list[str] | None = None) -> int:
    """Print a row for each data set and learner."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks dask voting", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--top-k", nargs="+", type=int, default=[2, 5, 20])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the number of rows")
    given = parser.parse_args(argv)
    for name in given.data:
        try:
            split = load_real(name, 0, given.scale)
        except CaseUnavailableError as error:
            print(f"{name}: {error}")
            continue
        n_rows, n_columns = split.x_train.shape
        print(f"{name}: {n_rows:,} x {n_columns}, {N_WORKERS} workers, {given.rounds} rounds")
        voters = [{"tree_learner": "voting", "top_k": k} for k in given.top_k if k < n_columns]
        learners: list[dict[str, Any]] = [{"tree_learner": "data"}, *voters]
        for learner in learners:
            model, n_bytes = train_on_workers(split, learner, given.rounds)
            found = evaluate(split.task, split.y_test, model.predict(split.x_test))
            metrics = "  ".join(f"{metric} {value:.5f}" for metric, value in found.items())
            label = "data" if "top_k" not in learner else f"voting, top_k={learner['top_k']}"
            print(f"  {label:18} {metrics}  {n_bytes / 1e6:8.3f} MB a tree", flush=True)
    return 0
