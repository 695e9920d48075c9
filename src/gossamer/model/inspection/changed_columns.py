"""Tables in which some columns have other values, block by block: never a copy of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Table
from gossamer.data.table.sparse import by_row, read_sparse
from gossamer.errors import DataError
from gossamer.model.model import Model
from gossamer.params.suggest import did_you_mean

_BLOCK: Final = 65_536  # rows that are copied at a time


def row_blocks(n_rows: int) -> Iterator[slice]:
    """Return the blocks of rows, in order.

    Example:
        >>> [(block.start, block.stop) for block in row_blocks(100_000)]
        [(0, 65536), (65536, 100000)]
    """
    for begin in range(0, n_rows, _BLOCK):
        yield slice(begin, min(begin + _BLOCK, n_rows))


def change_columns(matrix: Any, rows: slice, columns: Mapping[int, npt.NDArray[Any]]) -> Table:
    """Return some rows with other values in some columns.

    Args:
        matrix: An array, or a matrix of compressed rows.
        rows: Which rows.
        columns: Column -> its values in these rows, or one value for all of them.

    Example:
        >>> table = np.arange(6).reshape(3, 2)
        >>> change_columns(table, slice(1, 3), {1: np.array([0.5, 7.5])}).values
        array([[2. , 0.5],
               [4. , 7.5]])
    """
    part: Any = matrix[rows]
    if isinstance(part, np.ndarray):
        dtype = np.result_type(part, *columns.values())
        changed = np.array(part, dtype=dtype, order="C")
        for column, values in columns.items():
            changed[:, column] = values
        return Table(changed)
    import scipy.sparse  # not needed by most, and slow to import

    part = part.tocoo()
    row, column_of = part.coords
    is_kept = ~np.isin(column_of, list(columns))
    entries, coords = [part.data[is_kept]], [np.array([row[is_kept], column_of[is_kept]])]
    for column, values in columns.items():
        whole = np.broadcast_to(values, part.shape[:1])
        places = np.flatnonzero(whole)  # NaN is not zero
        entries.append(whole[places])
        coords.append(np.array([places, np.full(len(places), column)]))
    joined = (np.concatenate(entries), tuple(np.concatenate(coords, axis=1)))
    return Table(by_row(read_sparse(scipy.sparse.csr_array(joined, shape=part.shape))))


def values_of(matrix: Any, column: int) -> npt.NDArray[Any]:
    """Return the values of one column.

    Example:
        >>> import scipy.sparse
        >>> values_of(scipy.sparse.csr_array([[0, 7], [0, 0]]), 1)
        array([7, 0])
    """
    if isinstance(matrix, np.ndarray):
        return matrix[:, column]
    dense: npt.NDArray[Any] = matrix[:, [column]].toarray()[:, 0]
    return dense


def find_column(model: Model, feature: int | str) -> int:
    """Return the number of a column that is given by number or name.

    Raises:
        DataError: If there is no such column.
    """
    if isinstance(feature, str):
        if feature not in model.names:
            raise DataError.because(
                "there is no such column",
                got=feature,
                hint=did_you_mean(feature, model.names) or "See feature_name().",
            )
        return model.names.index(feature)
    if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
        raise DataError.because(
            "this is not a column", got=feature, expected="a column's number or name"
        )
    if not 0 <= feature < model.n_columns:
        raise DataError.because(
            "there is no such column", got=feature, expected=f"0..{model.n_columns - 1}"
        )
    return int(feature)
