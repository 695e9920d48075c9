"""`Source`: a table that comes in chunks of rows, as often as it is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError


class ColumnsChanged(Exception):
    """Values further down need another type: what was read so far is to be read again."""


class Source(ABC):
    """A table that comes in chunks of rows, as often as it is asked for.

    Attributes:
        what: What errors call it.
        names: Names of the columns; None: they have none.
        n_columns: Number of columns.
        n_rows: Number of rows; None: not known before all were read.
        is_named: Whether the names are its own, not made up from positions.
        is_columnar: Whether a few columns are read faster than all.
        can_change: Whether `read` may raise `ColumnsChanged`, the first time.
        is_file: Whether it can be read again later, and takes no memory until then.
        is_text: Whether it is read from text, in which dates need not say their time zone.
        paths: The files that it reads.
        notes: How text was read: column (or "" for all) -> lines.
    """

    what: str
    names: list[str] | None = None
    n_columns: int
    n_rows: int | None = None
    is_named: bool = True
    is_columnar: bool = False
    can_change: bool = False
    is_file: bool = False
    is_text: bool = False
    paths: Sequence[Path] = ()
    notes: Mapping[str, Sequence[str]] = MappingProxyType({})

    @abstractmethod
    def read(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Read all rows in chunks, each a table that `as_table` takes.

        Args:
            columns: Only these columns, in this order; None: all.

        Raises:
            ColumnsChanged: If types turned out to be others: reading has to start again.
        """

    def may_have_levels(self, column: int) -> bool:
        """Whether a column may hold text or categories, as far as is known without a look."""
        return True

    def is_in_order(self, column: int) -> bool:
        """Whether categories of a column stay in the order in which they come, as in pandas."""
        return False

    def take_fields(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return labels and queries that are not columns, as LibSVM's."""
        return {}

    def take_side_fields(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the fields in files next to the files of the rows, such as `train.csv.weight`."""
        from gossamer.data.files.beside import read_side_files

        return read_side_files(self.paths)

    def be_like(self, n_columns: int) -> Source:
        """Have as many columns as the training data; only sparse files can."""
        return self


class ChosenRows(Source):
    """Some rows of another source.

    Args:
        source: Where the rows are.
        is_chosen: For each of its rows whether it is chosen.
    """

    def __init__(self, source: Source, is_chosen: npt.NDArray[np.bool_]) -> None:
        self._source, self._is_chosen = source, is_chosen
        self.what, self.names, self.n_columns = source.what, source.names, source.n_columns
        self.n_rows = int(is_chosen.sum())
        self.is_named, self.is_columnar = source.is_named, source.is_columnar
        self.can_change, self.is_file = source.can_change, source.is_file
        self.is_text, self.notes = source.is_text, source.notes

    def read(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Read the chosen rows in chunks."""
        begin = 0
        for chunk in self._source.read(columns):
            end = begin + n_rows_of(chunk)
            is_chosen = self._is_chosen[begin:end]
            begin = end
            if is_chosen.all():
                yield chunk
            elif is_chosen.any():
                rows = np.flatnonzero(is_chosen)
                yield chunk.take(rows) if hasattr(chunk, "take") else chunk[rows]

    def may_have_levels(self, column: int) -> bool:
        """Whether a column may hold text or categories, as far as is known without a look."""
        return self._source.may_have_levels(column)

    def is_in_order(self, column: int) -> bool:
        """Whether categories of a column stay in the order in which they come, as in pandas."""
        return self._source.is_in_order(column)

    def take_side_fields(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the fields of the chosen rows.

        Raises:
            DataError: If there are sizes of queries, which count the other rows too.
        """
        fields = self._source.take_side_fields()
        if "group" in fields:
            raise DataError.because(
                f"rows of {self.what} are left out, but a file next to it has the sizes of queries",
                hint="Write the query of each row into a column, or fill in these rows.",
            )
        return {name: values[self._is_chosen] for name, values in fields.items()}


def rows_changed(source: Source, got: int, expected: int | None) -> DataError:
    """Return the error for a source that gave another number of rows before."""
    return DataError.because(
        f"{source.what} does not give the same rows each time",
        found=f"{got} rows",
        expected=f"{expected}",
        hint="It must not change while it is read.",
    )


def n_rows_of(chunk: Any) -> int:
    """Return the number of rows of a chunk."""
    return int(chunk.shape[0])


def slices_of(chunk: Any, step: int) -> Iterator[Any]:
    """Cut a large chunk into parts of at most `step` rows, which are not copied.

    Example:
        >>> import numpy as np
        >>> [part.tolist() for part in slices_of(np.array([[1], [2], [3]]), 2)]
        [[[1], [2]], [[3]]]
    """
    n_rows = n_rows_of(chunk)
    if n_rows <= step:
        yield chunk
        return
    for begin in range(0, n_rows, step):
        end = min(begin + step, n_rows)
        if hasattr(chunk, "iloc"):
            yield chunk.iloc[begin:end]
        elif hasattr(chunk, "slice"):  # pyarrow, polars
            yield chunk.slice(begin, end - begin)
        else:
            yield chunk[begin:end]


def select(chunk: Any, columns: Sequence[int]) -> Any:
    """Return some columns of a chunk of any kind."""
    from gossamer.data.table.frames import is_frame, select_columns

    return select_columns(chunk, columns) if is_frame(chunk) else chunk[:, list(columns)]
