"""Time rounds of training on a GPU: `python -m benchmarks.gpu`.

All data is made up. Every model is compared with the CPU's bytes. XGBoost and CatBoost train on the
same data where they are installed. `--json FILE` stores the figures; `docs/figures` draws them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gossamer
from gossamer.model.files.model_file import to_bytes

KINDS = ("uniform", "zeros", "binary", "mixed", "classes")
N_CLASSES = 7
Table = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Case:
    """A table and the size of its trees.

    Attributes:
        n_rows: Rows.
        n_columns: Columns.
        leaves: Leaves of a tree.
        kind: `uniform`: normal numbers and two classes; `zeros`: 80 % of them are zeros; `binary`:
            columns of two values; `mixed`: every tenth column has categories, and a tenth of all
            values is missing; `classes`: seven classes.
    """

    n_rows: int
    n_columns: int
    leaves: int
    kind: str = "uniform"

    @property
    def categories(self) -> list[int]:
        """Columns of categories."""
        return list(range(9, self.n_columns, 10)) if self.kind == "mixed" else []


def make_table(n_rows: int, n_columns: int, kind: str) -> Table:
    """Return columns and labels."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    signal = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3] ** 2 - 1
    if kind == "zeros":
        x[rng.random((n_rows, n_columns), dtype=np.float32) < 0.8] = 0
    elif kind == "binary":
        x = (x > 1.28).astype(np.float32)
    elif kind == "mixed":
        columns = Case(n_rows, n_columns, 0, kind).categories
        x[:, columns] = np.floor(np.abs(20 * x[:, columns]))
        x[rng.random((n_rows, n_columns), dtype=np.float32) < 0.1] = np.nan
    signal += rng.standard_normal(n_rows, dtype=np.float32)
    if kind == "classes":
        bounds = np.quantile(signal, np.arange(1, N_CLASSES) / N_CLASSES)
        return x, np.digitize(signal, bounds).astype(np.float32)
    return x, (signal > 0).astype(np.float32)


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


def params_of(case: Case, device: str) -> dict[str, Any]:
    """Return our parameters."""
    params = {"objective": "binary", "num_leaves": case.leaves, "verbosity": -1}
    if case.kind == "classes":
        params |= {"objective": "multiclass", "num_class": N_CLASSES}
    return {**params, "device_type": device}


def run_gossamer(data: gossamer.Dataset, case: Case, device: str, n_rounds: int) -> float:
    """Return the milliseconds of a round."""
    return time_rounds(gossamer.Booster(params_of(case, device), data).update, n_rounds)


def is_same(data: gossamer.Dataset, case: Case) -> bool:
    """Whether the models of GPU and CPU have the same bytes after three rounds."""
    models = [
        to_bytes(gossamer.train(params_of(case, device), data, 3).model)
        for device in ("cpu", "cuda")
    ]
    return models[0] == models[1]


def run_xgboost(table: Table, case: Case, policy: str, n_rounds: int) -> float:
    """Return the milliseconds of a round of XGBoost."""
    import xgboost

    params: dict[str, Any] = {
        "objective": "binary:logistic",
        "device": "cuda",
        "max_leaves": case.leaves,
        "max_depth": 0 if policy == "lossguide" else int(np.log2(case.leaves + 1)),
        "grow_policy": policy,
        "max_bin": 255,
        "eta": 0.1,
    }
    if case.kind == "classes":
        params |= {"objective": "multi:softprob", "num_class": N_CLASSES}
    types = ["c" if i in case.categories else "q" for i in range(case.n_columns)]
    options = {"feature_types": types, "enable_categorical": True} if case.categories else {}
    data = xgboost.QuantileDMatrix(*table, max_bin=255, **options)
    booster = xgboost.Booster(params, [data])
    rounds = iter(range(10**6))
    return time_rounds(lambda: booster.update(data, next(rounds)), n_rounds)


def run_catboost(table: Table, case: Case, n_rounds: int) -> float:
    """Return the milliseconds of a round of CatBoost, from trainings of different length."""
    import catboost

    took = {}
    for n in (2, n_rounds, 3 * n_rounds):  # the first one loads its kernels
        model = catboost.CatBoostClassifier(
            iterations=n,
            task_type="GPU",
            grow_policy="Lossguide",
            max_leaves=case.leaves,
            max_depth=16,
            border_count=254,
            verbose=False,
        )
        begin = time.perf_counter()
        model.fit(*table)
        took[n] = 1e3 * (time.perf_counter() - begin)
    return (took[3 * n_rounds] - took[n_rounds]) / (2 * n_rounds)


def run_case(case: Case, n_rounds: int, peers: bool) -> dict[str, Any]:
    """Return the milliseconds of a round by contender."""
    table = make_table(case.n_rows, case.n_columns, case.kind)
    data = gossamer.Dataset(*table, categorical_feature=case.categories).construct()
    found: dict[str, Any] = {**asdict(case)}
    found["gpu"] = run_gossamer(data, case, "cuda", n_rounds)
    found["cpu"] = run_gossamer(data, case, "cpu", max(n_rounds // 6, 3))
    found["is_same"] = is_same(data, case)
    if peers and importlib.util.find_spec("xgboost") is not None:
        for policy in ("lossguide", "depthwise"):
            found[f"xgboost_{policy}"] = run_xgboost(table, case, policy, n_rounds)
    if peers and importlib.util.find_spec("catboost") is not None and not case.categories:
        found["catboost"] = run_catboost(table, case, n_rounds)
    return found


def from_matrix(n_rows: int, n_columns: int, n_rounds: int) -> dict[str, float]:
    """Return the seconds from a matrix of the host to the model, data set included."""
    table = make_table(n_rows, n_columns, "uniform")
    params = params_of(Case(n_rows, n_columns, 255), "cuda")
    begin = time.perf_counter()
    gossamer.train(params, gossamer.Dataset(*table), n_rounds)
    return {"from_matrix_s": time.perf_counter() - begin}


def main(argv: list[str] | None = None) -> int:
    """Run all sizes, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 10**6, 10**7])
    parser.add_argument("--columns", type=int, default=28)
    parser.add_argument("--leaves", type=int, nargs="+", default=[31, 255])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--kind", choices=KINDS, default="uniform")
    parser.add_argument("--no-peers", action="store_true", help="Gossamer alone")
    parser.add_argument(
        "--from-matrix", action="store_true", help="time 100 rounds and the data set"
    )
    parser.add_argument("--json", type=Path, help="add the figures to this file, a line each")
    given = parser.parse_args(argv)
    for n_rows in given.rows:
        if given.from_matrix:
            from_matrix(n_rows, given.columns, 2)  # kernels are loaded, memory is warm
            runs = [from_matrix(n_rows, given.columns, 100)]
        else:
            cases = [Case(n_rows, given.columns, leaves, given.kind) for leaves in given.leaves]
            runs = [run_case(case, given.rounds, not given.no_peers) for case in cases]
        for found in runs:
            print(json.dumps(found), flush=True)
            if given.json is not None:
                with given.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
    return 0
