"""Time predictions on a GPU: `python -m benchmarks.gpu.predict`.

A model of 500 trees with 31 leaves is trained on some of the rows, and predicts all of them: from a
CuPy array (or a torch tensor) on the GPU, and from a NumPy array. XGBoost predicts with a model of
the same size where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gossamer
from benchmarks.gpu.run import make_table

TRAINED_ROWS = 200_000


def time_calls(call: Callable[[], Any], n_calls: int) -> float:
    """Return the median of the milliseconds that a call takes; the first two do not count."""
    took = []
    for _ in range(n_calls + 2):
        begin = time.perf_counter()
        call()
        took.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(took[2:])


def on_gpu(x: np.ndarray) -> tuple[Any, Callable[[], None]]:
    """Return an array on the GPU, and what waits for the GPU."""
    if importlib.util.find_spec("cupy") is not None:
        import cupy

        return cupy.asarray(x), cupy.cuda.Device().synchronize
    import torch

    return torch.as_tensor(x, device="cuda"), torch.cuda.synchronize


def on_host(values: Any) -> np.ndarray:
    """Return a copy of an array of the GPU."""
    return np.asarray(values.get() if hasattr(values, "get") else values.cpu())


def run_gossamer(x: np.ndarray, y: np.ndarray, given: argparse.Namespace) -> None:
    """Print how long our predictions take, and whether they have the bits of the CPU's."""
    params = {"objective": "binary", "num_leaves": given.leaves, "verbosity": -1}
    data = gossamer.Dataset(x[:TRAINED_ROWS], y[:TRAINED_ROWS])
    booster = gossamer.train(params, data, given.trees)
    array, wait = on_gpu(x)
    found = on_host(booster.predict(array))
    some = slice(0, min(len(x), 100_000))
    is_same = np.array_equal(found[some], booster.predict(x[some]))
    print(f"same bits as the CPU: {is_same}")
    for name, call in (
        ("Gossamer, array on the GPU", lambda: (booster.predict(array), wait())),
        ("  raw scores", lambda: (booster.predict(array, raw_score=True), wait())),
        ("Gossamer, array on the host", lambda: booster.predict(x, device="cuda")),
        ("Gossamer on the CPU", lambda: booster.predict(x)),
    ):
        n_calls = given.calls if "GPU" in name or "raw" in name else max(given.calls // 5, 1)
        print(f"{name}: {time_calls(call, n_calls):.2f} ms", flush=True)


def run_xgboost(x: np.ndarray, y: np.ndarray, given: argparse.Namespace) -> None:
    """Print how long XGBoost's predictions take, in place and from its own matrix."""
    import xgboost

    params = {
        "objective": "binary:logistic",
        "device": "cuda",
        "max_leaves": given.leaves,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "max_bin": 255,
        "eta": 0.1,
    }
    data = xgboost.QuantileDMatrix(x[:TRAINED_ROWS], y[:TRAINED_ROWS], max_bin=255)
    booster = xgboost.train(params, data, given.trees)
    booster.set_param({"device": "cuda"})
    array, wait = on_gpu(x)
    in_place = time_calls(lambda: (booster.inplace_predict(array), wait()), given.calls)
    print(f"XGBoost, array on the GPU: {in_place:.2f} ms", flush=True)
    matrix = xgboost.DMatrix(array)
    # predict() keeps results of a matrix that it has seen: ask for a margin in turns.
    turns = iter(range(10**6))
    from_matrix = time_calls(
        lambda: (booster.predict(matrix, output_margin=next(turns) % 2 == 0), wait()), given.calls
    )
    print(f"XGBoost, DMatrix: {from_matrix:.2f} ms", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Print all times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.predict", description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--calls", type=int, default=10)
    given = parser.parse_args(argv)
    x, y = make_table(given.rows, given.columns, "uniform")
    run_gossamer(x, y, given)
    if importlib.util.find_spec("xgboost") is not None:
        run_xgboost(x, y, given)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
