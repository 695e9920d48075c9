"""Scripts that run with XGBoost, where it is installed, and with us."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
import pytest

Array = np.ndarray[Any, Any]


class Rows(NamedTuple):
    x: Array
    y: Array


@pytest.fixture(params=["gossamer", "xgboost"])
def xgb(request: pytest.FixtureRequest) -> Any:
    """The module that a script imports: ours, and theirs."""
    if request.param == "xgboost":
        return pytest.importorskip("xgboost")
    return importlib.import_module("gossamer.compat.xgboost")


@pytest.fixture(scope="session")
def numbers() -> Rows:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5)).astype(np.float32)
    y = 3 * x[:, 0] + x[:, 1] ** 2 + 0.1 * rng.normal(size=400)
    x[::13, 2] = np.nan
    return Rows(x, y.astype(np.float32))


@pytest.fixture(scope="session")
def few_values() -> Rows:
    """Few distinct values and small whole labels: bins and sums are exact in both libraries."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 20, size=(500, 4)).astype(np.float32)
    y = np.rint(x[:, 0] + 0.2 * x[:, 1] ** 2 + 3 * rng.normal(size=500)).astype(np.float32)
    x[::7, 3] = np.nan
    return Rows(x, y)


@pytest.fixture(scope="session")
def queries(numbers: Rows) -> Rows:
    """Relevance of rows; each ten of them are a query."""
    return Rows(numbers.x, np.digitize(numbers.y, [-1, 2, 5]).astype(np.float32))
