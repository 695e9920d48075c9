"""Builds data sets from others: some of their rows, or the columns of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data.builders.build_columns import provenance
from gossamer.data.built import BuiltData, Columns, RawValues
from gossamer.data.categories.levels import Levels
from gossamer.data.labels.row_fields import check_fields
from gossamer.data.request import Request
from gossamer.data.storage.binned import put_beside
from gossamer.data.storage.on_disk import copy_rows, refuse_on_disk
from gossamer.data.table.frames import is_pandas
from gossamer.data.table.matrix import Table, Values, as_table, stack_columns
from gossamer.data.table.names import join_names
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError, DataTypeError
from gossamer.logger import warn
from gossamer.threads import resolve_threads


def sorted_rows(used_indices: Any) -> npt.NDArray[np.int64]:
    """Return the rows of a subset, increasing.

    Raises:
        DataTypeError: If they are not numbers.

    Example:
        >>> sorted_rows([3, 1, 2])
        array([1, 2, 3])
    """
    try:
        return np.sort(np.asarray(used_indices, dtype=np.int64).ravel())
    except (TypeError, ValueError, OverflowError):
        what = "used_indices must be numbers of rows"
        raise DataTypeError.because(what, got=used_indices) from None


def build(request: Request, parent: BuiltData, rows: npt.NDArray[np.int64]) -> BuiltData:
    """Build a data set of some rows, which increase; fields that were given win.

    Raises:
        DataError: If there are no such rows, or a query is not taken as a whole.
    """
    if len(rows) == 0 or rows.min() < 0 or rows.max() >= parent.n_rows:
        raise DataError.because(
            "used_indices must be rows of the data set",
            got=rows.tolist(),
            expected=f"at least one number from 0 to {parent.n_rows - 1}",
        )
    fields = {"feature_weights": parent.columns.weights}
    given = {name: value for name, value in request.fields.items() if value is not None}
    inherited = replace(parent.rows, group=None) if {"group", "query"} & set(given) else parent.rows
    fields = {**fields, **inherited.take(rows), **given}
    found, weights = check_fields(fields, len(rows), parent.n_columns)
    told = parent.columns.table_names
    columns = replace(
        parent.columns,
        names=tuple(request.choose_names((), parent, parent.n_columns)),
        names_in_table=None if told is None else tuple(told),
        weights=weights,
    )

    def find(user: str) -> Values:
        return Table(parent.raw.get(user)).take_rows(rows).values

    source = provenance("subset", request, parent, taken=parent.source.taken)
    limited = request.params if request.params.max_memory > 0 else parent.source.params
    table = copy_rows(parent.table, rows, limited)
    return BuiltData(columns, found, table, RawValues(find), source)


def put_columns_beside(left: BuiltData, right: BuiltData) -> BuiltData:
    """Return the rows of the first with the columns of both.

    Raises:
        DataError: If they differ in rows or in what is missing, or have columns of one name.
    """
    if left.n_rows != right.n_rows:
        raise DataError.because(
            "the data sets differ in rows", got=right.n_rows, expected=f"{left.n_rows}"
        )
    names = join_names(left.names, right.names)
    n_threads = resolve_threads(left.source.params.num_threads, left.n_rows, len(names))
    kept = left.raw.kept, right.raw.kept
    raw = None if kept[0] is None or kept[1] is None else stack_columns(*kept)
    given = _join_given(left.given, right.given, names)

    access = RawValues(lambda user: as_table(given).values, raw)
    for data in (left, right):
        refuse_on_disk(data.table, "add_features_from()")
    n_before, mine, theirs = left.n_columns, left.columns.levels, right.columns.levels
    levels = None
    if mine is not None or theirs is not None:
        shifted = {} if theirs is None else theirs.by_column
        levels = Levels(
            ({} if mine is None else dict(mine.by_column))
            | {c + n_before: found for c, found in shifted.items()}
        )
    columns = Columns(
        tuple(names),
        None,
        (*left.columns.categorical, *(c + n_before for c in right.columns.categorical)),
        levels,
        left.columns.weights,
    )
    return replace(
        left,
        columns=columns,
        table=put_beside(left.table, right.table, n_threads),
        raw=access if given is not None else access.released(),
        given=given,
    )


def _join_given(left: Any, right: Any, names: Sequence[str]) -> Any:
    """Return the raw data of both as the kind of the first; None: not kept, or of other kinds."""
    if left is None or right is None:
        return None
    joined = stack_columns(left, _of_kind(left, right))
    if joined is None and is_pandas(left):
        joined = _beside_frame(left, right, names)
    if joined is None:
        warn(
            f"Raw data of type {type(left).__name__} and {type(right).__name__} "
            "cannot be put side by side, and is let go: only the bins are kept."
        )
    return joined


def _of_kind(left: Any, right: Any) -> Any:
    """Return a table of numbers as an array or a sparse matrix where the other one is that."""
    if is_pandas(right) and not is_pandas(left):
        values = right.to_numpy()
        right = values if values.dtype.kind in "bfiu" else right
    if isinstance(left, np.ndarray) and is_sparse(right):
        return right.toarray()
    if is_sparse(left) and isinstance(right, np.ndarray) and right.dtype.kind in "bfiu":
        return type(left)(right)
    return right


def _beside_frame(left: Any, right: Any, names: Sequence[str]) -> Any:
    """Return the columns of a data frame and of another table as one frame."""
    import pandas as pd

    if is_sparse(right):
        right = right.toarray()
    if not (is_pandas(right) or isinstance(right, np.ndarray)):
        return None
    parts = [left.reset_index(drop=True), pd.DataFrame(right).reset_index(drop=True)]
    joined = pd.concat(parts, axis=1)
    joined.columns = list(names)
    return joined.set_index(left.index)
