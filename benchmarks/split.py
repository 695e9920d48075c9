"""One train/test split, and its form on disk: the .npy files a worker loads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["binary", "multiclass", "regression"]
Array = NDArray[Any]


@dataclass(frozen=True)
class Split:
    """Training rows and held-out rows of one data set.

    Features are float32 in row order, labels float32; classes are 0, 1, ..., n_classes - 1.
    """

    task: Task
    x_train: Array
    y_train: Array
    x_test: Array
    y_test: Array
    n_classes: int = 0

    def save(self, folder: Path) -> None:
        """Writes the four arrays as .npy files into a folder."""
        for name in ("x_train", "y_train", "x_test", "y_test"):
            np.save(folder / f"{name}.npy", np.ascontiguousarray(getattr(self, name), np.float32))


def load_part(folder: Path, part: Literal["train", "test"]) -> tuple[Array, Array]:
    """Reads one part of a saved split into memory.

    Args:
        folder: Where `Split.save` wrote it.
        part: Which part.

    Returns:
        Features (n_rows, n_columns) and labels (n_rows,).
    """
    return np.load(folder / f"x_{part}.npy"), np.load(folder / f"y_{part}.npy")
