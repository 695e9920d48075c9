"""What is predicted: models and tables of given sizes, made by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TRAIN_ROWS = 100_000
_SPARSE_TRAIN_ROWS = 50_000
_ENTRIES = 30  # of a sparse row


@dataclass(frozen=True)
class Case:
    """A model and the rows it is to predict.

    Attributes:
        name: How it is called.
        n_trees: Trees of the model.
        n_leaves: Leaves of each.
        n_rows: Rows to predict; 1: over and over again, each call by itself.
        n_columns: Columns.
        is_sparse: Whether tables are compressed rows.
        contenders: Who can do it.
    """

    name: str
    n_trees: int
    n_leaves: int
    n_rows: int
    n_columns: int
    is_sparse: bool
    contenders: tuple[str, ...]


_TABLES = ("gossamer", "lightgbm", "xgboost", "lleaves", "tl2cgen")
CASES = {
    case.name: case
    for case in (
        Case("large_trees", 100, 255, 1_000_000, 28, False, _TABLES),
        Case("many_trees", 1_000, 31, 1_000_000, 28, False, _TABLES),
        Case("one_row", 100, 31, 1, 28, False, ("gossamer_predictor", *_TABLES)),
        Case("sparse", 100, 31, 100_000, 500_000, True, ("gossamer", "lightgbm", "xgboost")),
    )
}


def make_table(case: Case, n_rows: int, seed: int) -> Any:
    """Makes rows: float32, or compressed rows of it.

    Args:
        case: Its columns, and whether they are sparse.
        n_rows: How many.
        seed: Of the random numbers.
    """
    rng = np.random.default_rng(seed)
    if not case.is_sparse:
        return rng.standard_normal((n_rows, case.n_columns), dtype=np.float32)
    from scipy import sparse

    # Some columns have many entries, most have few, as words have.
    columns = (case.n_columns * rng.random((n_rows, _ENTRIES)) ** 3).astype(np.int32)
    values = rng.integers(1, 6, columns.shape).astype(np.float32)
    begin = np.arange(0, columns.size + 1, _ENTRIES)
    shape = (n_rows, case.n_columns)
    table = sparse.csr_matrix((values.ravel(), columns.ravel(), begin), shape=shape)
    table.sum_duplicates()
    return table


def make_training_data(case: Case, n_rows: int = 0) -> tuple[Any, np.ndarray[Any, Any]]:
    """Makes a table and labels that trees find something in; 0 rows: as many as is usual."""
    n_rows = n_rows or (_SPARSE_TRAIN_ROWS if case.is_sparse else TRAIN_ROWS)
    x = make_table(case, n_rows, seed=1)
    rng = np.random.default_rng(2)
    y = x @ (rng.standard_normal(case.n_columns) * (rng.random(case.n_columns) < 0.4))
    if not case.is_sparse:
        y += x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2])
    return x, (y + rng.standard_normal(n_rows)).astype(np.float32)
