from __future__ import annotations

from typing import Any

import numpy as np
import pytest

Rows = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


@pytest.fixture(scope="session")
def binary_rows() -> Rows:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4))
    y = (x[:, 0] + x[:, 1] ** 2 + 0.3 * rng.normal(size=300) > 0.5).astype(int)
    x[::11, 2] = np.nan
    return x, y


@pytest.fixture(scope="session")
def class_rows() -> Rows:
    """Three classes."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 4))
    return x, np.digitize(x[:, 0] + 0.2 * rng.normal(size=300), [-0.5, 0.5])


@pytest.fixture(scope="session")
def number_rows() -> Rows:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 4))
    return x, 3 * x[:, 0] + x[:, 1] ** 2 + 0.1 * rng.normal(size=300)
