"""Real data sets as problems; read from the folder that GOSSAMER_DATA names.

The held-out rows are the same in every run: seeds vary what the libraries draw, not the data.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.paper.problem import Problem
from benchmarks.real import CaseUnavailableError
from benchmarks.real import _folder as data_folder
from benchmarks.split import Array, Task

FLIGHT_CATEGORIES = ("month", "day", "dow", "hour", "minute", "origin", "destination")
LATE_MINUTES = 15
_SPLIT_SEED = 0


def flights() -> Problem:
    """Flight delays, one-hot: is a flight more than 15 minutes late? A tenth is held out."""
    table = _read_parquet("flights3m")
    groups = [_codes(table[name]) for name in FLIGHT_CATEGORIES]
    x = one_hot(groups, [table["distance"].to_numpy().astype(np.float32)])
    y = (table["delay"].to_numpy() > LATE_MINUTES).astype(np.float32)
    held_out = np.random.default_rng(_SPLIT_SEED).random(len(y)) < 0.1
    return _divide(x, y, held_out, n_classes=2)


def kdd04_bio() -> Problem:
    """Protein homology, dense, binary and skewed; a fifth of the blocks is held out."""
    table = _read_parquet("kdd04_bio")
    block = table["qid"].to_numpy()
    blocks = np.unique(block)
    n_test = len(blocks) // 5
    chosen = np.random.default_rng(_SPLIT_SEED).permutation(blocks)[:n_test]
    y = table["target"].to_numpy().astype(np.float32)
    return _divide(_columns(table), y, np.isin(block, chosen), n_classes=2)


def mslr() -> Problem:
    """A sample of MSLR-WEB30K, with the split it came with; labels 0 to 4 as numbers."""
    table = _read_parquet("mslr_sample10k")
    held_out = np.asarray(table["split"].to_numpy() == "test")
    return _ranked(table, held_out, ~held_out)


def mq2008() -> Problem:
    """LETOR's MQ2008, first fold: parts 1 to 3 train, 5 tests; 4 would be for early stopping."""
    table = _read_parquet("mq2008")
    part = table["fold_part"].to_numpy()
    return _ranked(table, part == 5, part <= 3)


def news20() -> Problem:
    """Word counts of 20 newsgroups, with the split by date that it came with."""
    folder = data_folder("news20")
    with np.load(folder / "data.npz") as archive:
        values = archive["data"].astype(np.float32)
        columns, row_begin = archive["indices"], archive["indptr"].astype(np.int32)
        x = sp.csr_matrix((values, columns, row_begin), shape=tuple(archive["shape"]))
        y, is_train = archive["y"].astype(np.float32), archive["is_train"].astype(bool)
    x.sort_indices()
    return _divide(x, y, ~is_train, n_classes=20)


def one_hot(groups: list[Array], numbers: list[Array]) -> sp.csr_matrix:
    """Encodes categorical variables.

    Args:
        groups: Codes 0, 1, ... of each variable (n_rows,).
        numbers: Columns that are kept as they are, after the categories; zeros are not stored.

    Returns:
        One column for each category that occurs, and one for each column of numbers.
    """
    n_rows, offset = len((groups or numbers)[0]), 0
    width = len(groups) + len(numbers)
    columns = np.empty((n_rows, width), np.int32)
    values = np.ones((n_rows, width), np.float32)
    for place, codes in enumerate(groups):
        columns[:, place] = codes + offset
        offset += int(codes.max()) + 1
    for place, number in enumerate(numbers, len(groups)):
        columns[:, place] = offset
        values[:, place] = number
        offset += 1
    row_begin = np.arange(0, n_rows * width + 1, width)
    x = sp.csr_matrix((values.ravel(), columns.ravel(), row_begin), shape=(n_rows, offset))
    x.eliminate_zeros()
    return x


def _codes(column: Any) -> Array:
    """Codes of the values that occur, in sorted order; texts by their dictionary."""
    if not str(column.type).startswith("dictionary"):
        return np.asarray(np.unique(column.to_numpy(), return_inverse=True)[1])
    encoded = column.unify_dictionaries().combine_chunks()
    texts = np.array(encoded.dictionary.to_pylist())
    place = np.argsort(np.argsort(texts))
    return np.asarray(np.unique(place[encoded.indices.to_numpy()], return_inverse=True)[1])


def _columns(table: Any) -> Array:
    """The columns f1, f2, ... as one array."""
    names = [name for name in table.column_names if name[0] == "f" and name[1:].isdigit()]
    return np.column_stack([table[name].to_numpy().astype(np.float32) for name in names])


def _ranked(table: Any, is_test: Array, is_train: Array) -> Problem:
    x, y = _columns(table), table["label"].to_numpy().astype(np.float32)
    query = table["qid"].to_numpy()
    return Problem(
        "regression", x[is_train], y[is_train], x[is_test], y[is_test], query_test=query[is_test]
    )


def _divide(x: Any, y: Array, is_test: Array, n_classes: int) -> Problem:
    task: Task = "binary" if n_classes == 2 else "multiclass"
    return Problem(task, x[~is_test], y[~is_test], x[is_test], y[is_test], n_classes)


def _read_parquet(name: str) -> Any:
    folder = data_folder(name)
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise CaseUnavailableError(f"{name} is a parquet file; needs pyarrow") from None
    return parquet.read_table(folder / "data.parquet")
