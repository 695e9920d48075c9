"""The data set of the demonstration, and its split into three parts."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class DemoData:
    """A table with two classes.

    Attributes:
        title: What it is.
        values: Rows x columns.
        label: 0 or 1 per row.
        columns: Names of the columns.
        question: What label 1 means.
        note: What the user may want to know about it.
    """

    title: str
    values: Array
    label: Array
    columns: list[str]
    question: str
    note: str = ""

    def split(self, seed: int = 7) -> dict[str, tuple[Array, Array]]:
        """Split the rows at random: 60 % to train, 20 % to validate, 20 % to test."""
        order = np.random.default_rng(seed).permutation(len(self.label))
        ends = [len(order) * 6 // 10, len(order) * 8 // 10]
        parts = np.split(order, ends)
        names = ("train", "valid", "test")
        return {
            name: (self.values[rows], self.label[rows])
            for name, rows in zip(names, parts, strict=True)
        }


def load_data() -> DemoData:
    """Load the breast cancer data of scikit-learn; make some up where that is not installed.

    Example:
        >>> data = load_data()
        >>> len(data.label) == len(data.values), len(data.columns) == data.values.shape[1]
        (True, True)
    """
    try:
        datasets = import_module("sklearn.datasets")
    except ImportError:
        return make_data()
    found = datasets.load_breast_cancer()
    return DemoData(
        "Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
        found.data,
        1 - found.target,  # scikit-learn counts benign as 1
        [str(name) for name in found.feature_names],
        "is a tumour malignant?",
    )


def make_data(n_rows: int = 2000) -> DemoData:
    """Make data up: half of the columns matter, in a way that is not linear (Friedman, 1991).

    Example:
        >>> make_data(100).values.shape
        (100, 10)
    """
    rng = np.random.default_rng(0)
    x = rng.random((n_rows, 10))
    curve = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    score = curve + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=n_rows)
    return DemoData(
        "made up (Friedman's function)",
        x,
        (score > np.median(score)).astype(int),
        [f"x{i + 1}" for i in range(10)],
        "is the function above its median?",
        'Real data comes with scikit-learn: pip install "gossamer[sklearn]"',
    )
