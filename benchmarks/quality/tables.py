"""Tables with their categories: real ones of the folder GOSSAMER_DATA, and made ones."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.real import VARIABLE, CaseUnavailableError

_WHOLE: Final = "data.parquet"
_PACKED: Final = "packed.npz"
TEST_SHARE: Final = 0.25
MOST_TESTED: Final = 5000
# Rows of these are in the order of time: the last ones are to be predicted.
IN_TIME: Final = ("bike_sharing_hour", "flights3m")
REAL: Final = (
    *("adult", "amazon_access", "be_mtpl97", "bike_sharing_hour", "california_housing"),
    *("connect4", "covertype_93k", "credit_default", "diamonds", "flights3m", "higgs_small"),
    *("house_16h", "kdd04_bio", "letter", "protein_casp"),
)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to train on, and rows to predict.

    Attributes:
        name: Of the table.
        n_classes: Classes; 0: the label is a number.
    """

    name: str
    n_classes: int
    x: Any
    y: Any
    x_test: Any
    y_test: Any


def load(name: str, seed: int, n_rows: int, *, in_time: bool = True) -> Problem:
    """Reads or makes a table, and splits it: in time, by group, or at random.

    Args:
        name: One of `REAL` and `MADE`.
        seed: Seed of the split.
        n_rows: Most rows to train on; at most `MOST_TESTED` are predicted.
        in_time: Whether rows of `IN_TIME` are split in time; False: at random.

    Raises:
        CaseUnavailableError: When the table is not on this machine.
    """
    rng = np.random.default_rng(seed)
    if name in MADE:
        x, y = MADE[name](rng, n_rows + MOST_TESTED)
        order = np.arange(len(y))
        return _split(name, x, y, order[:n_rows], order[n_rows:])
    x, y, group = _read(name)
    order = rng.permutation(len(y))
    if in_time and name in IN_TIME:
        first = np.flatnonzero(np.arange(len(y)) < (1 - TEST_SHARE) * len(y))
        train, test = rng.permutation(first)[:n_rows], np.arange(len(first), len(y))
    elif group is not None:
        groups = rng.permutation(np.unique(group))
        is_test = np.isin(group, groups[: max(int(TEST_SHARE * len(groups)), 1)])
        train, test = order[~is_test[order]][:n_rows], order[is_test[order]]
    else:
        n_test = int(TEST_SHARE * len(y))
        train, test = order[n_test:][:n_rows], order[:n_test]
    test = rng.permutation(test)[:MOST_TESTED]
    return _split(name, x, y, np.sort(train), np.sort(test))


def is_available(name: str) -> bool:
    """Whether the table is made, or in the folder of data sets."""
    return name in MADE or any((_folder(name) / file).is_file() for file in (_WHOLE, _PACKED))


def pack(name: str, to: Path, n_rows: int) -> int:
    """Copies some rows of a real table, in their order; returns the size in bytes."""
    table = _read_table(name)
    if len(table) > n_rows:
        order = np.random.default_rng(0).permutation(len(table))
        table = table.iloc[np.sort(order[:n_rows])]
    columns = {}
    for column in table.columns:
        values = table[column]
        if not pd.api.types.is_numeric_dtype(values):  # missing text is empty
            values = values.astype(object).where(values.notna(), "").astype(str)
        columns[column] = values.to_numpy(values.dtype if values.dtype.kind in "biuf" else str)
    (to / name).mkdir(parents=True, exist_ok=True)
    np.savez_compressed(to / name / _PACKED, allow_pickle=False, **columns)
    (to / name / "meta.json").write_text((_folder(name) / "meta.json").read_text())
    return (to / name / _PACKED).stat().st_size


def _read_table(name: str) -> Any:
    """Reads a whole table, or what `pack` left of it.

    Raises:
        CaseUnavailableError: When neither is there.
    """
    if (_folder(name) / _WHOLE).is_file():
        return pd.read_parquet(_folder(name) / _WHOLE)
    if (_folder(name) / _PACKED).is_file():
        with np.load(_folder(name) / _PACKED, allow_pickle=False) as columns:
            table = pd.DataFrame(dict(columns))
        return table.replace("", None)
    raise CaseUnavailableError(f"no {name}/{_WHOLE} in the folder named by {VARIABLE}")


def _folder(name: str) -> Path:
    return Path(os.environ.get(VARIABLE, "")) / name


def _split(name: str, x: Any, y: Any, train: Any, test: Any) -> Problem:
    n_classes = 0 if y.dtype.kind == "f" else int(y.max()) + 1
    parts = (x.iloc[train].reset_index(drop=True), y[train])
    return Problem(name, n_classes, *parts, x.iloc[test].reset_index(drop=True), y[test])


def _read(name: str) -> tuple[Any, Any, Any]:
    table = _read_table(name)
    meta = json.loads((_folder(name) / "meta.json").read_text())
    group = table[meta["group"]].to_numpy() if meta.get("group") else None
    left_out = {meta["target"], meta.get("group"), meta.get("split_col"), *meta.get("leaky", [])}
    x = table[[column for column in table.columns if column not in left_out]].copy()
    for column in x.columns:
        if not pd.api.types.is_numeric_dtype(x[column]) or name == "amazon_access":
            x[column] = x[column].astype(str).astype("category")
    target = table[meta["target"]].to_numpy()
    is_number = meta["task"].startswith(("regression", "Poisson"))
    y = target.astype(np.float64) if is_number else np.unique(target, return_inverse=True)[1]
    return x, y, group


def _frame(values: Any) -> Any:
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(values.shape[1])])


def _friedman(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.uniform(size=(n, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    return _frame(x), y + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=n)


def _noisy(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=(n, 20))
    return _frame(x), x[:, 0] + x[:, 1] * x[:, 2] + 3 * rng.normal(size=n)


def _counts(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=(n, 10))
    return _frame(x), rng.poisson(np.exp(0.5 * x[:, 0] + 0.5 * x[:, 1] * (x[:, 2] > 0))).astype(
        float
    )


def _rare(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=(n, 15))
    score = x[:, 0] + x[:, 1] * x[:, 2] - 3.5 + rng.logistic(size=n)
    return _frame(x), (score > 0).astype(np.int64)


def _levels(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """A column of two thousand levels, most of them rare."""
    effect = rng.normal(size=2000)
    level = np.minimum(rng.zipf(1.3, size=n), 2000) - 1
    x = _frame(rng.normal(size=(n, 5)))
    x["level"] = pd.Categorical(level.astype(str))
    score = effect[level] + x["c0"].to_numpy() + rng.logistic(size=n)
    return x, (score > 0).astype(np.int64)


def _rings(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=(n, 8))
    radius = np.hypot(x[:, 0], x[:, 1]) + 0.3 * rng.normal(size=n)
    return _frame(x), np.digitize(radius, [0.7, 1.2, 1.8])


MADE: Final[dict[str, Callable[[np.random.Generator, int], tuple[Any, Any]]]] = {
    "made_friedman": _friedman,
    "made_noisy": _noisy,
    "made_counts": _counts,
    "made_rare": _rare,
    "made_levels": _levels,
    "made_rings": _rings,
}
