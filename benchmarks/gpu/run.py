"""Time rounds of training on a GPU: `python -m benchmarks.gpu`.

Data are made up: 28 columns of normal numbers (`--kind uniform`), the same with 80 % zeros
(`zeros`), or two values per column (`binary`). Every model is compared with the CPU's bytes.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import gossamer
from gossamer.model.files.model_file import to_bytes

KINDS = ("uniform", "zeros", "binary")
Table = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def make_table(n_rows: int, n_columns: int, kind: str) -> Table:
    """Return columns and labels of two classes."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] ** 2 - 1
    if kind == "zeros":
        x[rng.random((n_rows, n_columns), dtype=np.float32) < 0.8] = 0
    elif kind == "binary":
        x = (x > 1.28).astype(np.float32)
    noise = rng.standard_normal(n_rows, dtype=np.float32)
    return x, (signal + noise > 0).astype(np.float32)


def time_rounds(update: Callable[[], Any], n_rounds: int) -> float:
    """Return the median of the milliseconds that a round takes; the first five do not count."""
    for _ in range(5):
        update()
    took = []
    for _ in range(n_rounds):
        begin = time.perf_counter()
        update()
        took.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(took)


def run_gossamer(data: gossamer.Dataset, leaves: int, device: str, n_rounds: int) -> float:
    """Return the milliseconds of a round."""
    params = {"objective": "binary", "num_leaves": leaves, "verbosity": -1, "device_type": device}
    return time_rounds(gossamer.Booster(params, data).update, n_rounds)


def is_same(data: gossamer.Dataset, leaves: int) -> bool:
    """Whether the models of GPU and CPU have the same bytes after two rounds."""
    params = {"objective": "binary", "num_leaves": leaves, "verbosity": -1}
    models = [
        to_bytes(gossamer.train({**params, "device_type": device}, data, 2).model)
        for device in ("cpu", "cuda")
    ]
    return models[0] == models[1]


def run_xgboost(table: Table, leaves: int, policy: str, n_rounds: int) -> float:
    """Return the milliseconds of a round of XGBoost."""
    import xgboost

    params = {
        "objective": "binary:logistic",
        "device": "cuda",
        "max_leaves": leaves,
        "max_depth": 0 if policy == "lossguide" else int(np.log2(leaves + 1)),
        "grow_policy": policy,
        "max_bin": 255,
        "eta": 0.1,
    }
    data = xgboost.QuantileDMatrix(*table, max_bin=255)
    booster = xgboost.Booster(params, [data])
    rounds = iter(range(10**6))
    return time_rounds(lambda: booster.update(data, next(rounds)), n_rounds)


def main(argv: list[str] | None = None) -> int:
    """Run all sizes, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 10**6, 10**7])
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--leaves", type=int, nargs="+", default=[31, 255])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--kind", choices=KINDS, default="uniform")
    given = parser.parse_args(argv)
    has_xgboost = importlib.util.find_spec("xgboost") is not None
    print("rows leaves | GPU ms  CPU ms  same bytes" + (" | XGBoost" if has_xgboost else ""))
    for n_rows in given.rows:
        table = make_table(n_rows, given.columns, given.kind)
        data = gossamer.Dataset(*table).construct()
        for leaves in given.leaves:
            gpu = run_gossamer(data, leaves, "cuda", given.rounds)
            cpu = run_gossamer(data, leaves, "cpu", max(given.rounds // 3, 3))
            line = f"{n_rows} {leaves} | {gpu:.3f} {cpu:.3f} {is_same(data, leaves)}"
            if has_xgboost:
                for policy in ("lossguide", "depthwise"):
                    line += f" | {run_xgboost(table, leaves, policy, given.rounds):.3f} {policy}"
            print(line, flush=True)
    return 0
