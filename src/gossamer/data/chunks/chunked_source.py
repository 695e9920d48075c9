"""`ChunkedSource`: the rows of a source, read in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.level_finder import LevelFinder, levels_found
from gossamer.data.categories.levels import Levels
from gossamer.data.chunks.chunked_table import CHUNK_VALUES, NamedChunkedTable
from gossamer.data.chunks.row_stack import RowStack
from gossamer.data.chunks.source import ColumnsChanged, Source, n_rows_of, rows_changed, slices_of
from gossamer.data.labels.roles import values_of
from gossamer.data.table.columns import Column, LevelKind, plain_values, read_objects
from gossamer.data.table.dtypes import check_shape
from gossamer.data.table.frames import (
    is_frame,
    is_pandas,
    read_column,
    read_dictionary,
    take_rows_of,
)
from gossamer.data.table.large_integers import warn_of_large_integers
from gossamer.data.table.matrix import Table, Values, as_table, without_mask
from gossamer.data.table.sparse import is_sparse
from gossamer.data.table.time_columns import TimeKinds, check_times
from gossamer.errors import DataError

# Values of sampled rows that are in memory at a time where each look costs a whole pass.
_SAMPLE_VALUES: Final = 2**24
# The same where columns are read one by one, which costs nothing.
_COLUMN_VALUES: Final = 2**20


class ChunkedSource(NamedChunkedTable):
    """The rows of a source; its levels and fields are found in a first pass.

    Args:
        source: Where the rows come from.
        columns: Columns of it that are features, in order; None: all.
        fields: Field -> its columns in the source.
        levels: The training data's levels; None: this is training data, and they are found.
        times: The training data's dates and times; None: not known.

    Attributes:
        names: Names of the columns; None: they have none.
        levels: What the codes in some columns stand for; empty: all columns are numbers.
        kinds: For training data: what kind of levels a column has.
        fields: Field -> its values, one per row, or rows x several.
        files: The files that all of it is in; empty: it comes from elsewhere.
    """

    files: Sequence[Path] = ()

    def __init__(
        self,
        source: Source,
        columns: Sequence[int] | None = None,
        fields: Mapping[str, Sequence[int]] | None = None,
        levels: Levels | None = None,
        times: TimeKinds | None = None,
    ) -> None:
        self._source, self._columns, self._known_times = source, columns, times
        order = range(source.n_columns) if columns is None else columns
        self._order = list(order)
        self.n_columns = len(self._order)
        self.n_file_columns = self.n_columns if source.is_columnar else 0
        self.names = None if source.names is None else [source.names[c] for c in order]
        self.kinds: Mapping[int, LevelKind] = {}
        self.fields: dict[str, Any] = dict(source.take_fields())
        self._fields = fields or {}
        self.levels = Levels({}) if levels is None else levels
        self._looks_at_integers = levels is None
        self._look(find_levels=levels is None)

    def _where(self, column: int) -> str:
        """What errors call a column of the source."""
        names = self._source.names
        return f"column {column if names is None else repr(names[column])} of {self._source.what}"

    # ---- the first pass ----

    def _look(self, *, find_levels: bool) -> None:
        """Count rows, collect fields and levels; again if a column turns out to be another."""
        while True:
            try:
                self._look_once(find_levels=find_levels)
                return
            except ColumnsChanged:
                continue

    def _look_once(self, *, find_levels: bool) -> None:
        source = self._source
        in_fields = [column for columns in self._fields.values() for column in columns]
        finders = {
            i: LevelFinder(self._where(c), in_order=source.is_in_order(c))
            for i, c in enumerate(self._order)
            if find_levels and source.may_have_levels(c)
        }
        wanted = [*in_fields, *(self._order[i] for i in finders)]
        if source.can_change:
            wanted = [*in_fields, *self._order]
        self.n_rows = 0 if source.n_rows is None else source.n_rows
        if not wanted and source.n_rows is not None:
            return
        wanted = sorted(set(wanted or self._order[:1]))
        place = {column: i for i, column in enumerate(wanted)}
        fields = {column: _FieldValues(source.n_rows) for column in in_fields}
        n_rows = 0
        for chunk in source.read(None if source.names is None else wanted):
            n_rows += n_rows_of(chunk)
            at = place if source.names is not None else {c: c for c in wanted}
            for column, values in fields.items():
                values.add(column_of(chunk, at[column], self._where(column)))
            for i, finder in finders.items():
                if may_be_text(chunk):
                    column = self._order[i]
                    finder.add(
                        column_of(
                            chunk, at[column], self._where(column), source.is_in_order(column)
                        )
                    )
        if source.n_rows is None:
            self.n_rows = n_rows
        self._check_rows(n_rows)
        for field, columns in self._fields.items():
            self.fields[field] = values_of(field, [fields[c].join() for c in columns])
        if find_levels:
            self.levels, self.kinds = levels_found(finders)

    def _check_rows(self, n_rows: int) -> None:
        if n_rows != self.n_rows:
            raise rows_changed(self._source, n_rows, self.n_rows)

    # ---- further passes ----

    def _chunks(self, columns: Sequence[int] | None) -> Iterator[tuple[int, Any]]:
        """All chunks, each with the number of rows before it."""
        before = 0
        for chunk in self._source.read(columns):
            yield before, chunk
            before += n_rows_of(chunk)
        self._check_rows(before)

    def read(self) -> Iterator[Values]:
        """Read all rows, piece by piece."""
        step = max(CHUNK_VALUES // self.n_columns, 1)
        for _, chunk in self._chunks(self._columns):
            for part in slices_of(chunk, step):
                yield self._values(part, 0, self.n_columns)

    def read_columns(self, columns: Sequence[int]) -> Iterator[tuple[Values, Sequence[int]]]:
        """Read some columns of all rows, piece by piece."""
        if self._source.names is None:
            yield from super().read_columns(columns)
            return
        levels = self.levels.by_column
        known = Levels({i: levels[c] for i, c in enumerate(columns) if c in levels})
        for _, chunk in self._chunks([self._order[column] for column in columns]):
            for part in slices_of(chunk, CHUNK_VALUES // len(columns)):
                yield self._checked(self._as_table(part, known), columns), range(len(columns))

    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Read some rows, which increase."""
        return self.take_columns(rows, 0, self.n_columns)

    def take_by_columns(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, Values]]:
        """Read some rows, a few columns at a time."""
        most = _COLUMN_VALUES if self._source.is_columnar else _SAMPLE_VALUES
        step = max(most // max(len(rows), 1), 1)
        if self._source.names is None or step >= self.n_columns:
            step = self.n_columns
        for first in range(0, self.n_columns, step):
            yield first, self.take_columns(rows, first, min(first + step, self.n_columns))

    def take_columns(self, rows: npt.NDArray[np.int64], first: int, last: int) -> Values:
        """Read consecutive columns of some rows, which increase; not of sparse chunks."""
        some, are_named = self._columns, self._source.names is not None
        if last - first < self.n_columns and are_named:
            some = self._order[first:last]
        stack = RowStack(len(rows), last - first)
        for before, chunk in self._chunks(some):
            n_rows = n_rows_of(chunk)
            if last - first < self.n_columns and not are_named:
                chunk = chunk[:, first:last]
            begin, end = np.searchsorted(rows, [before, before + n_rows])
            if end - begin == n_rows:
                stack.add(self._values(chunk, first, last))
            elif end > begin:
                taken = take_chunk_rows(chunk, rows[begin:end] - before)
                stack.add(self._values(taken, first, last))
        return stack.finish()

    def _values(self, chunk: Any, first: int, last: int) -> Values:
        levels = {c - first: v for c, v in self.levels.by_column.items() if first <= c < last}
        table = self._as_table(chunk, Levels(levels))
        width = table.n_columns
        if width != last - first:
            raise DataError.because(
                f"chunks of {self._source.what} differ in columns",
                got=width,
                expected=f"{last - first}",
            )
        return self._checked(table, range(first, last))

    def _as_table(self, chunk: Any, levels: Levels) -> Table:
        if self._looks_at_integers:  # of the first rows: long ids are long in all of them
            self._looks_at_integers = False
            warn_of_large_integers(chunk)
        return as_table(chunk, levels, what=self._source.what)

    def _checked(self, table: Table, columns: Sequence[int]) -> Values:
        """Return the values of some columns; dates must be where the training data had dates."""
        if table.times is None:
            return table.values
        self.times = {**(self.times or {}), **{columns[i]: v for i, v in table.times.items()}}
        known = self._known_times
        if known is not None:
            check_times(
                {i: known[c] for i, c in enumerate(columns) if c in known},
                table.times,
                table.values,
                [c if self.names is None else self.names[c] for c in columns],
                [i for i, c in enumerate(columns) if c in self.levels.by_column],
                f" of {self._source.what}",
                is_text_file=self._source.is_text,
            )
        return table.values


def may_be_text(chunk: Any) -> bool:
    """Whether a chunk may hold text or categories."""
    if is_frame(chunk):
        return True
    return not is_sparse(chunk) and np.asanyarray(chunk).dtype.kind in "OUT"


def column_of(chunk: Any, column: int, where: str, in_order: bool = False) -> Column:
    """Read one column of a chunk of any kind; `in_order`: categories of pyarrow as they come."""
    if is_frame(chunk):
        native = chunk.column(column) if in_order and not is_pandas(chunk) else None
        if native is not None and str(native.type).startswith("dictionary"):
            return read_dictionary(native, where, in_order=True)
        return read_column(chunk, column, where)
    if is_sparse(chunk):
        return np.asarray(chunk[:, [column]].toarray()).ravel()
    array = without_mask(np.asanyarray(chunk))
    check_shape(array.shape)
    values = array[:, column]
    return read_objects(values, where) if values.dtype.kind in "OUT" else values


def take_chunk_rows(chunk: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some rows of a chunk of any kind."""
    if not is_frame(chunk) or is_pandas(chunk):
        return take_rows_of(chunk, rows) if is_frame(chunk) else chunk[rows]
    if hasattr(chunk, "take"):  # pyarrow
        return chunk.take(rows)
    return take_rows_of(chunk, rows)


class _FieldValues:
    """The values of a field in all rows; levels as what they stand for.

    Args:
        n_rows: Rows of the source; None: not known. Where it is, numbers are in memory once only.
    """

    def __init__(self, n_rows: int | None) -> None:
        self._n_rows, self._n_added = n_rows, 0
        self._whole: npt.NDArray[Any] | None = None
        self._parts: list[npt.NDArray[Any]] = []

    def add(self, column: Column) -> None:
        """Add the values of the next rows."""
        part = plain_values(column)
        begin, end = self._n_added, self._n_added + len(part)
        self._n_added = end
        fits = self._n_rows is not None and end <= self._n_rows
        if self._parts or not fits or part.dtype.kind not in "biuf":
            self._parts = [*self._take_whole(begin), *self._parts, part]
            return
        if self._whole is None:
            self._whole = np.empty(cast(int, self._n_rows), part.dtype)
        # As `np.concatenate` would have it.
        dtype = np.result_type(self._whole.dtype, part.dtype)
        self._whole = self._whole.astype(dtype, copy=False)
        self._whole[begin:end] = part

    def _take_whole(self, end: int) -> list[npt.NDArray[Any]]:
        """What is in one array so far, which becomes the first part."""
        whole, self._whole = self._whole, None
        return [] if whole is None else [whole[:end]]

    def join(self) -> npt.NDArray[Any]:
        """Return all values."""
        if self._whole is not None:
            return self._whole[: self._n_added]
        return np.concatenate(self._parts) if self._parts else np.empty(0)
