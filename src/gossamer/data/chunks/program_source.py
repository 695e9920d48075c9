"""Tables that a program hands over in chunks: sequences, lists of arrays, functions."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from collections.abc import Sequence as PlainSequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_count
from gossamer.data.chunks.source import Source, select
from gossamer.data.table.frames import frame_names, is_frame, is_pandas
from gossamer.data.table.names import check_names, listing
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError


class Sequence(ABC):
    """A table of numbers whose rows are read when they are needed, as in LightGBM.

    A subclass defines how rows are read, for example from a database or a file of another format.

    Attributes:
        batch_size: Number of rows that are read at a time.

    Example:
        >>> class Squares(Sequence):
        ...     def __getitem__(self, index):
        ...         rows = np.arange(1000)[index]
        ...         return np.stack([rows, rows**2], axis=-1).astype(float)
        ...     def __len__(self):
        ...         return 1000
        >>> from gossamer import Dataset
        >>> Dataset(Squares(), label=np.arange(1000) % 7).construct().num_data()
        1000
    """

    batch_size: int = 4096

    @abstractmethod
    def __getitem__(self, index: Any) -> Any:
        """Return a row (for a number), or rows x columns (for a slice)."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""


# Tables of other kinds, which are not chunks however they can be iterated over.
_WHOLE: Final = ("__array__", "__array_interface__", "__dlpack__", "__arrow_c_stream__")


def find_chunks(data: Any) -> Source | None:
    """Return the source of a table that comes in chunks; None: it is a table in memory.

    Chunks are arrays, sparse matrices, frames, or pyarrow's batches of records.

    Raises:
        DataError: If it can be read only once.
    """
    if _is_sequence(data):
        return SequenceSource([data])
    if isinstance(data, (list, tuple)) and data:
        if all(_is_sequence(item) for item in data):
            return SequenceSource(list(data))
        if all(is_chunk(item) for item in data):
            return FunctionSource(lambda: iter(data), "the list of chunks")
        return None
    if callable(data) and not hasattr(data, "__array__") and not is_frame(data):
        return FunctionSource(data, "the function that makes chunks")
    if not isinstance(data, Iterable) or is_sparse(data) or is_frame(data):
        return None
    if isinstance(data, (str, bytes, Mapping, Sized)) or any(hasattr(data, m) for m in _WHOLE):
        return None
    if isinstance(data, Iterator):
        raise DataError.because(
            "an iterator can be read only once, and a table is read several times",
            got=type(data).__name__,
            expected="a function that makes it again, a list of chunks, or a gossamer.Sequence",
            hint="Pass the generator function itself: Dataset(make_chunks), without ().",
        )
    return FunctionSource(data.__iter__, f"the {type(data).__name__}")


def _is_sequence(data: Any) -> bool:
    """Whether this is a `Sequence`, or one of LightGBM's."""
    if isinstance(data, Sequence):
        return True
    needed = ("batch_size", "__getitem__", "__len__")
    return all(hasattr(data, name) for name in needed) and not hasattr(data, "__array__")


def is_chunk(data: Any) -> bool:
    """Whether this is some rows of a table: an array, a sparse matrix, a frame or a batch.

    Example:
        >>> is_chunk(np.zeros((3, 2))), is_chunk(np.zeros(3)), is_chunk([[1, 2]])
        (True, False, False)
    """
    if isinstance(data, np.ndarray):
        return data.ndim == 2
    pyarrow = sys.modules.get("pyarrow")
    is_batch = pyarrow is not None and isinstance(data, pyarrow.RecordBatch)
    return is_batch or is_sparse(data) or is_frame(data)


class SequenceSource(Source):
    """The rows of one `Sequence` after the other.

    Args:
        parts: The sequences.
    """

    def __init__(self, parts: PlainSequence[Any]) -> None:
        self._parts = parts
        self.what = f"the {type(parts[0]).__name__}"
        self.n_rows = sum(len(part) for part in parts)
        first = next((part for part in parts if len(part)), None)
        self.n_columns = 0 if first is None else self._rows(first, 0, 1).shape[1]

    def _rows(self, part: Any, begin: int, end: int) -> Any:
        rows = np.asarray(part[begin:end])
        if rows.ndim != 2 or len(rows) != end - begin:
            raise DataError.because(
                f"{self.what}[{begin}:{end}] does not give these rows",
                found=f"shape {rows.shape}",
                expected=f"({end - begin}, columns)",
            )
        return rows

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return some of the rows."""
        ends = np.cumsum([len(part) for part in self._parts])
        places = np.searchsorted(ends, rows, side="right")
        begins = ends - [len(part) for part in self._parts]
        return np.stack(
            [
                np.asarray(self._parts[place][int(row - begins[place])])
                for place, row in zip(places, rows, strict=True)
            ]
        )

    def read(self, columns: PlainSequence[int] | None = None) -> Iterator[Any]:
        """Read all rows, `batch_size` at a time."""
        for part in self._parts:
            size = check_count(part.batch_size or Sequence.batch_size, "batch_size", least=1)
            for begin in range(0, len(part), size):
                rows = self._rows(part, begin, min(begin + size, len(part)))
                yield rows if columns is None else rows[:, list(columns)]


class FunctionSource(Source):
    """Chunks from a function that is called for each pass.

    Args:
        make: Returns what gives the chunks, one after the other.
        what: What errors call it.
    """

    def __init__(self, make: Callable[[], Any], what: str) -> None:
        self._make, self.what = make, what
        self._made: Any = None
        first = next(self._chunks(), None)
        if first is None:
            raise DataError.because(f"{what} gives no chunks")
        self.n_columns = first.shape[1]
        if is_frame(first):
            self.names = check_names(frame_names(first), self.n_columns)
        self._is_pandas = is_pandas(first)

    def is_in_order(self, column: int) -> bool:
        """Whether categories come from pandas."""
        return self._is_pandas

    def _chunks(self) -> Iterator[Any]:
        made, before = self._make(), self._made
        if isinstance(made, Iterator) and made is before:
            raise DataError.because(
                f"{self.what} gives the same iterator each time, whose rows are gone",
                got=type(made).__name__,
                expected="an iterator that starts at the first chunk",
                hint="Make the iterator inside the function.",
            )
        self._made = made
        if not isinstance(made, Iterable):
            raise DataError.because(
                f"{self.what} does not give chunks",
                got=type(made).__name__,
                expected="arrays, frames or sparse matrices, one after the other",
            )
        for chunk in made:
            yield _as_chunk(chunk, self.what)

    def read(self, columns: PlainSequence[int] | None = None) -> Iterator[Any]:
        """Read all rows in chunks; frames are matched by name."""
        for chunk in self._chunks():
            if self.names is not None:
                chunk = self._in_order(chunk)
            yield chunk if columns is None else select(chunk, columns)

    def _in_order(self, chunk: Any) -> Any:
        assert self.names is not None
        if not is_frame(chunk):
            raise DataError.because(
                f"some chunks of {self.what} are frames, and others are not",
                got=type(chunk).__name__,
                expected="a frame",
            )
        found = frame_names(chunk)
        if found == self.names:
            return chunk
        if sorted(found) != sorted(self.names):
            raise DataError.because(
                f"chunks of {self.what} differ in columns",
                got=found,
                expected=listing(self.names),
            )
        return select(chunk, [found.index(name) for name in self.names])


def _as_chunk(chunk: Any, what: str) -> Any:
    """Return a chunk that has a shape: a frame, a sparse matrix, an array."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(chunk, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([chunk])
    if is_frame(chunk):
        return chunk
    if is_sparse(chunk):
        return chunk.tocsr()
    array = np.asanyarray(chunk)
    if array.ndim != 2:
        raise DataError.because(
            f"{what} gives something that is not a chunk of rows",
            found=f"{type(chunk).__name__} of shape {array.shape}",
            expected="2 dimensions, rows x columns",
        )
    return array
