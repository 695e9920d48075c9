"""Data frames in pieces: a large one is not made a matrix as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.levels import Levels, levels_of
from gossamer.data.chunks.chunked_table import CHUNK_VALUES, NamedChunkedTable
from gossamer.data.table.columns import LevelColumn, LevelKind
from gossamer.data.table.frames import (
    column_in_frame,
    frame_names,
    is_frame,
    is_pandas,
    read_column,
    select_columns,
    slice_rows,
    take_rows_of,
)
from gossamer.data.table.matrix import Values, as_table
from gossamer.data.table.names import match_names
from gossamer.data.table.table_kinds import as_known
from gossamer.data.table.time_columns import find_times

# Smaller frames are made a matrix: it takes less than what a process needs anyway.
_LARGE: Final = 2**22


class ChunkedFrame(NamedChunkedTable):
    """The rows of a frame, a stretch of them at a time.

    Args:
        frame: A frame of pandas, polars, pyarrow, ...
        levels: The training data's levels; None: this is training data, and they are found.
        names: Names of the columns of the training data, in the order in which they are read.

    Attributes:
        names: Names of the columns.
        levels: What the codes in some columns stand for; empty: all columns are numbers.
        kinds: For training data: what kind of levels a column has.
        times: The columns that are dates or times, or text.

    Example:
        >>> import pandas
        >>> pieces = ChunkedFrame(pandas.DataFrame({"size": [1, 2], "city": ["Rome", "Bern"]}))
        >>> [piece.tolist() for piece in pieces.read()], pieces.levels.by_column
        ([[[1.0, 1.0], [2.0, 0.0]]], {1: ('Bern', 'Rome')})
    """

    names: list[str]

    def __init__(
        self, frame: Any, levels: Levels | None = None, names: Sequence[str] | None = None
    ) -> None:
        self._frame = frame
        found = frame_names(frame)
        self._order = None if names is None else match_names(names, found)
        self.names = found if names is None else list(names)
        self.n_rows, self.n_columns = len(frame), len(found)
        self.kinds: Mapping[int, LevelKind] = {}
        self.levels = self._find_levels() if levels is None else levels
        times = find_times(frame)
        place = range(len(found)) if self._order is None else self._order
        self.times = {i: times[c] for i, c in enumerate(place) if c in times}

    def _find_levels(self) -> Levels:
        """Look at the columns that are not numbers, one at a time."""
        found, kinds = {}, {}
        for i, name in enumerate(self.names or []):
            where = column_in_frame(name)
            column = read_column(self._frame, i, where)
            if isinstance(column, LevelColumn):
                found[i], kinds[i] = levels_of(column, where), column.kind
        self.kinds = kinds
        return Levels(found)

    def read(self) -> Iterator[Values]:
        """Read all rows, piece by piece."""
        step = max(CHUNK_VALUES // self.n_columns, 1)
        for begin in range(0, self.n_rows, step):
            yield self._values(slice_rows(self._frame, begin, min(begin + step, self.n_rows)))

    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Read some rows, which increase."""
        return self._values(self._some(self._frame, rows))

    def take_by_columns(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, Values]]:
        """Read some rows, a few columns at a time."""
        step = max(CHUNK_VALUES // max(len(rows), 1), 1)
        for first in range(0, self.n_columns, step):
            last = min(first + step, self.n_columns)
            order = range(self.n_columns) if self._order is None else self._order
            some = self._some(select_columns(self._frame, order[first:last]), rows)
            yield first, self._numbers(some, first, last)

    def _some(self, frame: Any, rows: npt.NDArray[np.int64]) -> Any:
        return frame if len(rows) == self.n_rows else take_rows_of(frame, rows)

    def _values(self, frame: Any) -> Values:
        if self._order is not None:
            frame = select_columns(frame, self._order)
        return self._numbers(frame, 0, self.n_columns)

    def _numbers(self, frame: Any, first: int, last: int) -> Values:
        levels = {c - first: v for c, v in self.levels.by_column.items() if first <= c < last}
        return as_table(frame, Levels(levels)).values


def find_chunked_frame(
    data: object, levels: Levels | None = None, names: Sequence[str] | None = None
) -> ChunkedFrame | None:
    """Return the pieces of a frame that is large, and no matrix already; None: it is not.

    Args:
        data: The user's table.
        levels: As for `ChunkedFrame`.
        names: As for `ChunkedFrame`.
    """
    frame = as_known(data)
    return ChunkedFrame(frame, levels, names) if is_frame(frame) and _is_large(frame) else None


def row_blocks(frame: Any) -> Iterator[Any] | None:
    """Split the rows of a frame that is large, and not a matrix already, into blocks.

    Args:
        frame: A table that can be read again: see `whole_table`.

    Returns:
        Frames, one after another; None: it is not such a frame.
    """
    if not (is_frame(frame) and _is_large(frame)):
        return None
    step = max(CHUNK_VALUES // len(frame_names(frame)), 1)
    return (slice_rows(frame, begin, begin + step) for begin in range(0, len(frame), step))


def _is_large(frame: Any) -> bool:
    n_rows, n_columns = len(frame), len(frame_names(frame))
    return n_rows * n_columns >= _LARGE and not _is_matrix(frame)


def _is_matrix(frame: Any) -> bool:
    """Whether the columns of a pandas frame stand in one array, or are sparse."""
    if not is_pandas(frame):
        return False
    dtypes = set(frame.dtypes)
    if any(hasattr(dtype, "subtype") for dtype in dtypes):
        return True
    if len(dtypes) > 1 or not isinstance(next(iter(dtypes)), np.dtype):
        return False
    first, last = (frame.iloc[:, i].to_numpy() for i in (0, -1))
    bases = [array if array.base is None else array.base for array in (first, last)]
    return bool(np.shares_memory(bases[0], bases[1]))
