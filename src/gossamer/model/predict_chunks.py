"""Predicting rows that come in chunks: files, sequences, lists of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from gossamer.data import Table, as_table
from gossamer.data.levels import NO_LEVELS
from gossamer.data.roles import match_columns
from gossamer.data.source import ColumnsChanged, Source, rows_changed
from gossamer.data.sources import find_source
from gossamer.errors import DataError, message
from gossamer.model.model import Model

_T = TypeVar("_T")


def find_chunks_of(model: Model, data: object, header: bool | None = None) -> Source | None:
    """Return where the rows of a table come from; None: it is in memory as a whole.

    Args:
        model: The model; columns that were text in its training are read as text.
        data: The user's table.
        header: Whether the first line of text files has names; None: found out.
    """
    levels = model.levels or NO_LEVELS
    text = {model.names[column] for column in levels.columns if levels.is_text(column)}
    return find_source(data, header, text)


def by_chunks(
    model: Model,
    source: Source,
    work: Callable[[Table], _T],
    disable_shape_check: bool = False,
) -> list[_T]:
    """Do something with each chunk of a source.

    Columns of files and frames are found by name where the model has names; further ones, such as
    the label, are passed over.

    Raises:
        DataError: If columns are missing.
    """
    source.be_like(model.n_columns)
    columns = None
    if source.names is not None and disable_shape_check:
        columns = list(range(min(source.n_columns, model.n_columns)))
    elif source.names is not None:
        known = model.names if model.has_own_names or not source.is_named else None
        every = list(range(source.n_columns))
        columns = match_columns(known, source.names, every, source.what, is_named=source.is_named)
    while True:
        try:
            n_rows, done = 0, []
            for table in _tables(model, source, columns):
                done.append(work(table))
                n_rows += table.n_rows
        except ColumnsChanged:
            continue
        if not done:
            raise DataError(message(f"{source.what} has no rows"))
        if source.n_rows not in (None, n_rows):
            raise rows_changed(source, n_rows, source.n_rows)
        return done


def _tables(model: Model, source: Source, columns: Sequence[int] | None) -> Iterator[Table]:
    for chunk in source.read(columns):
        if chunk.shape[0]:
            yield Table(as_table(chunk, model.levels or NO_LEVELS).values)


def join(parts: Sequence[Any]) -> Any:
    """Put predictions of chunks on top of each other: arrays, sparse matrices, or lists of them.

    Example:
        >>> join([np.array([1.0]), np.array([2.0, 3.0])])
        array([1., 2., 3.])
    """
    if isinstance(parts[0], list):
        return [join(some) for some in zip(*parts, strict=True)]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import csr_matrix, vstack

    return csr_matrix(vstack(parts, format="csr"))
