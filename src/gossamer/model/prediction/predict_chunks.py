"""Predicting rows that come in chunks: files, sequences, lists of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Table, as_table
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.find_source import find_source
from gossamer.data.chunks.source import ColumnsChanged, Source, rows_changed
from gossamer.data.labels.roles import match_columns
from gossamer.data.storage.budget import Budget
from gossamer.data.table.time_columns import check_times
from gossamer.errors import DataError
from gossamer.logger import info
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


def leave_memory(model: Model, source: Source, row_bytes: int, max_memory: int, held: int) -> None:
    """Have memory for the predictions of a source, see `max_memory`.

    Args:
        model: The model.
        source: Where the rows come from.
        row_bytes: Bytes of a row's predictions.
        max_memory: The limit; 0: there is none.
        held: Bytes of a training that may go on later; its kept pages are given back.

    Raises:
        ParameterError: With the smallest limit that works.
    """
    if max_memory > 0:
        n_columns = model.n_columns if source.is_columnar else 0
        Budget(max_memory).check_prediction(source.n_rows, n_columns, row_bytes, held)
        _native.release_kept_pages()


def by_chunks(
    model: Model,
    source: Source,
    work: Callable[[Table], _T],
    disable_shape_check: bool = False,
) -> list[_T]:
    """Do something with each chunk of a source.

    Columns of files and frames are found by name where the model has names; further ones, such as
    the label, are passed over. Of files without header see `find_features`.

    Raises:
        DataError: If columns are missing.
    """
    while True:
        try:
            done = list(_results(model, source, work, disable_shape_check))
        except ColumnsChanged:
            continue
        if not done:
            raise DataError.because(f"{source.what} has no rows")
        return done


def predict_source(
    model: Model,
    source: Source,
    work: Callable[[Table], Any],
    disable_shape_check: bool = False,
) -> Any:
    """Predict each chunk of a source; where the number of rows is known, results are not copied.

    Raises:
        DataError: If columns are missing.
    """
    n_rows = source.n_rows
    if source.can_change or not n_rows:
        return join(by_chunks(model, source, work, disable_shape_check))
    whole: npt.NDArray[Any] | None = None
    parts: list[Any] = []
    end = 0
    for part in _results(model, source, work, disable_shape_check):
        if not isinstance(part, np.ndarray):
            parts.append(part)
            continue
        if whole is None:
            whole = np.empty((n_rows, *part.shape[1:]), part.dtype)
        begin, end = end, end + len(part)
        if end > n_rows:
            raise rows_changed(source, end, n_rows)
        whole[begin:end] = part
    return join(parts) if whole is None else whole


def _results(
    model: Model, source: Source, work: Callable[[Table], _T], disable_shape_check: bool
) -> Iterator[_T]:
    """Do something with each chunk of a source, and count its rows."""
    source.be_like(model.n_columns)
    columns = None
    if source.names is not None and disable_shape_check:
        columns = list(range(min(source.n_columns, model.n_columns)))
    else:
        columns = find_features(model, source)
    n_rows = 0
    for table in _tables(model, source, columns):
        yield work(table)
        n_rows += table.n_rows
    if source.n_rows not in (None, n_rows):
        raise rows_changed(source, n_rows, source.n_rows)


def find_features(model: Model, source: Source) -> list[int] | None:
    """Return the columns of a source that are the model's features, in its order; None: all.

    Files without header have positions instead of names. Where such a file has one column more
    than the model, which was not trained on a file, the first one is the label, as in LightGBM.

    Raises:
        DataError: If columns are missing, or it is not known which ones are features.
    """
    if source.names is None:
        return None
    every = list(range(source.n_columns))
    if source.is_named:
        known = model.names_for(source.names)
        return match_columns(known, source.names, every, source.what, is_named=True)
    of_file = model.table_names or (model.names if model.has_own_names else None)
    n_surplus = source.n_columns - model.n_columns
    if n_surplus == 0:
        return every
    if of_file is not None and set(of_file) <= set(source.names):
        return [source.names.index(name) for name in of_file]
    if n_surplus == 1:
        info(f"{source.what} has one column more than the model: the first is taken as the label.")
        return every[1:]
    raise DataError.because(
        f"the columns of {source.what} have no names, and are not as many as in training",
        got=source.n_columns,
        expected=f"{model.n_columns}, or {model.n_columns + 1} with the label first",
        hint="Add a header with the names of the columns, or leave other columns out.",
    )


def _tables(model: Model, source: Source, columns: Sequence[int] | None) -> Iterator[Table]:
    for chunk in source.read(columns):
        if chunk.shape[0]:
            levels = model.levels or NO_LEVELS
            table = as_table(chunk, levels, what=source.what)
            check_times(
                model.times,
                table.times,
                table.values,
                model.names,
                levels.columns,
                f" of {source.what}",
                is_text_file=source.is_text,
            )
            yield Table(table.values)


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
