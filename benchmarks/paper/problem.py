"""One train/test problem, dense or sparse, and its form on disk: what a worker loads.

Problems are made once and kept in a cache folder outside the project, named by the variable
GOSSAMER_BENCH_CACHE or else under the system's temporary folder.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from benchmarks.split import Array, Split, Task

VARIABLE = "GOSSAMER_BENCH_CACHE"
FORMAT = 1  # part of the cache's names: raise it when a generator or a reader changes
Matrix = Any  # float32: an array in row order, or a csr_matrix with sorted indices
Part = Literal["train", "test"]


@dataclass(frozen=True)
class Problem:
    """Training rows and held-out rows of one data set.

    Attributes:
        task: What is learnt.
        x_train: Training rows.
        y_train: Their labels; classes are 0, 1, ..., n_classes - 1.
        x_test: Held-out rows.
        y_test: Their labels.
        n_classes: Number of classes; 0 where there are none.
        query_test: Query of each held-out row, where rows are ranked by query.
    """

    task: Task
    x_train: Matrix
    y_train: Array
    x_test: Matrix
    y_test: Array
    n_classes: int = 0
    query_test: Array | None = None

    @classmethod
    def from_split(cls, split: Split) -> Problem:
        """Takes over a split of the other benchmarks."""
        return cls(
            split.task, split.x_train, split.y_train, split.x_test, split.y_test, split.n_classes
        )

    def shrink(self, scale: float, seed: int = 0) -> Problem:
        """Keeps a random share of the rows, at least 200 of each part, in their order."""
        if scale >= 1.0:
            return self
        rng = np.random.default_rng(seed)
        train = _choose(rng, len(self.y_train), scale)
        test = _choose(rng, len(self.y_test), scale)
        query = None if self.query_test is None else self.query_test[test]
        x_train, x_test = self.x_train[train], self.x_test[test]
        y_train, y_test = self.y_train[train], self.y_test[test]
        return Problem(self.task, x_train, y_train, x_test, y_test, self.n_classes, query)

    def describe(self) -> dict[str, Any]:
        """Size and density, for the table of data sets."""
        x = self.x_train
        is_sparse = sp.issparse(x)
        n_stored = int(x.nnz) if is_sparse else int(x.size)
        return {
            "task": self.task,
            "n_rows": int(x.shape[0]),
            "n_test_rows": len(self.y_test),
            "n_columns": int(x.shape[1]),
            "n_classes": self.n_classes,
            "is_sparse": is_sparse,
            "n_stored": n_stored,
            "has_queries": self.query_test is not None,
        }

    def save(self, folder: Path) -> None:
        """Writes the problem into a folder."""
        for part in ("train", "test"):
            x: Any = getattr(self, f"x_{part}")
            y = np.asarray(getattr(self, f"y_{part}"), np.float32)
            if isinstance(x, sp.csr_matrix):
                sp.save_npz(folder / f"x_{part}.npz", x, compressed=False)
            else:
                np.save(folder / f"x_{part}.npy", np.ascontiguousarray(x, np.float32))
            np.save(folder / f"y_{part}.npy", y)
        if self.query_test is not None:
            np.save(folder / "query_test.npy", self.query_test)
        (folder / "facts.json").write_text(json.dumps(self.describe()))


def load_rows(folder: Path, part: Part) -> tuple[Matrix, Array]:
    """Reads the rows and labels of one part into memory."""
    sparse_file = folder / f"x_{part}.npz"
    x = sp.load_npz(sparse_file) if sparse_file.is_file() else np.load(folder / f"x_{part}.npy")
    return x, np.load(folder / f"y_{part}.npy")


def load_queries(folder: Path) -> Array | None:
    """Reads the queries of the held-out rows, if there are any."""
    path = folder / "query_test.npy"
    return np.load(path) if path.is_file() else None


def load_facts(folder: Path) -> dict[str, Any]:
    """Reads what `Problem.describe` found."""
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    return facts


def cached_folder(name: str, make: Callable[[], Problem]) -> Path:
    """Finds a saved problem, or makes and saves it.

    Args:
        name: Names the problem, its size included.
        make: Makes it.

    Returns:
        The folder that holds it; complete, as it gets its name last.
    """
    folder = cache_root() / f"{name}-{FORMAT}"
    if (folder / "facts.json").is_file():
        return folder
    problem = make()
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    try:
        problem.save(unfinished)
        unfinished.rename(folder)
    except OSError:
        if not (folder / "facts.json").is_file():  # else another process was faster
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def cache_root() -> Path:
    """Where saved problems are."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(tempfile.gettempdir()) / "gossamer-bench-cache"


def _choose(rng: np.random.Generator, n_rows: int, scale: float) -> Array:
    n_kept = min(n_rows, max(200, round(n_rows * scale)))
    return np.sort(rng.choice(n_rows, n_kept, replace=False))
