"""Tables in files, as the commands need them: a column, chunks of rows, or all of it."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.data.chunks.source import ColumnsChanged, Source
from gossamer.data.files import is_binary_dataset, open_files
from gossamer.data.labels.roles import match_columns
from gossamer.data.text import TextOptions
from gossamer.errors import DataError
from gossamer.params.suggest import did_you_mean

Array = npt.NDArray[Any]
_T = TypeVar("_T")


STDIN: Final = "-"


def open_table(
    files: Sequence[str],
    header: bool | None = None,
    text_columns: Sequence[str] = (),
    options: TextOptions | None = None,
) -> Source:
    """Open data files, whose rows follow each other.

    Args:
        files: Paths, patterns, folders; "-": standard input.
        header: Whether the first line of text files has names; None: found out.
        text_columns: Columns that are text, whatever they look like.
        options: How text files are written.

    Raises:
        DataError: If they cannot be read, or are not tables.
    """
    if list(files) == [STDIN]:
        source = open_files(_keep_input(), header, text_columns, options)
        source.what = "standard input"
        return source
    for file in files:
        if is_binary_dataset(file):
            raise DataError.because(
                f"the file {file!r} holds a model, or a data set that was binned before",
                expected="Parquet, Feather, Arrow, CSV, JSON lines or LibSVM",
            )
    found = list(files) if len(files) != 1 else files[0]
    return open_files(found, header, text_columns, options)


def _keep_input() -> str:
    """Copy standard input to a file, since tables are read several times."""
    path = Path(tempfile.mkdtemp(prefix="gossamer-"), "input")
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)


def notes_of(source: Source) -> list[str]:
    """Return lines that say how the columns of text files are read."""
    return [
        f"Column {column!r}: {line}." if column else f"{line}."
        for column, lines in source.notes.items()
        for line in lines
    ]


def find_column(source: Source, wanted: str, option: str) -> str:
    """Return the name of a column that an option asks for, by name or position.

    Raises:
        DataError: If there is none; the message has names that are near.
    """
    names = source.names
    if names is None:
        raise DataError.because(
            f"{option} names a column, but the columns of {source.what} have no names",
            got=wanted,
        )
    if wanted in names:
        return wanted
    if wanted.isdecimal() and int(wanted) < len(names):
        return names[int(wanted)]
    raise DataError.because(
        f"{option}: there is no such column in {source.what}",
        got=wanted,
        expected=f"one of {some_of(names)}",
        hint=did_you_mean(wanted, names) or _by_case(wanted, names),
    )


def some_of(names: Sequence[str]) -> str:
    """List names; of many the first and the last, where targets tend to be.

    Example:
        >>> some_of(["a", "b"]), some_of([f"x{i}" for i in range(50)] + ["price"])
        ('a, b', 'x0, x1, x2, x3, x4, x5, ..., x48, x49, price (51 columns)')
    """
    if len(names) <= 12:
        return ", ".join(names)
    return f"{', '.join(names[:6])}, ..., {', '.join(names[-3:])} ({len(names)} columns)"


def _by_case(wanted: str, names: Sequence[str]) -> str:
    same = [name for name in names if name.lower() == wanted.lower()]
    return f"Did you mean {same[0]}?" if same else ""


def read_all(source: Source, columns: Sequence[int] | None, work: Callable[[Any], _T]) -> list[_T]:
    """Do something with each chunk; once more where types turn out to be others."""
    while True:
        try:
            return [work(chunk) for chunk in source.read(columns)]
        except ColumnsChanged:
            continue


def read_column(source: Source, name: str) -> Array:
    """Return the values of a column; text is given as objects, None where missing."""
    assert source.names is not None
    at = source.names.index(name)
    parts = read_all(source, [at], lambda chunk: values_of(chunk, 0))
    if not parts:
        raise DataError.because(f"{source.what} has no rows")
    kinds = {part.dtype.kind for part in parts}
    if "O" in kinds and len(kinds) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def values_of(chunk: Any, column: int) -> Array:
    """Return a column of a chunk of pyarrow as an array."""
    import pyarrow

    found = chunk.column(column)
    if pyarrow.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    if pyarrow.types.is_decimal(found.type):
        found = found.cast(pyarrow.float64())
    values: Array = np.asarray(found.to_numpy())
    return values


def read_table(source: Source, columns: Sequence[str] | None = None, n_rows: int = 0) -> Any:
    """Return rows as a table in memory: pyarrow's, or a sparse matrix of a LibSVM file.

    Args:
        source: Where they are.
        columns: These columns only; None: all.
        n_rows: The first so many; 0: all.
    """
    at = None
    if columns is not None and source.names is not None:
        everywhere = range(len(source.names))
        at = match_columns(columns, source.names, everywhere, source.what, is_named=True)
    chunks = _first_chunks(source, at, n_rows) if n_rows else read_all(source, at, lambda c: c)
    if not chunks:
        raise DataError.because(f"{source.what} has no rows")
    if source.names is None:
        from scipy.sparse import vstack

        rows = vstack(chunks, format="csr")
        return rows[:n_rows] if n_rows else rows
    import pyarrow

    table = pyarrow.concat_tables(chunks, promote_options="permissive")
    return table.slice(0, n_rows) if n_rows else table


def _first_chunks(source: Source, columns: Sequence[int] | None, n_rows: int) -> list[Any]:
    while True:
        chunks: list[Any] = []
        n_read = 0
        try:
            for chunk in source.read(columns):
                chunks.append(chunk)
                n_read += chunk.shape[0]
                if n_read >= n_rows:
                    break
            return chunks
        except ColumnsChanged:
            continue


def chunks_of(
    source: Source, columns: Sequence[str] | None, restart: Callable[[], None]
) -> Iterator[Any]:
    """Give chunks of some columns.

    Args:
        source: Where they are.
        columns: These columns, in this order; None: all.
        restart: Called when reading starts again because types turned out to be others.
    """
    at = None
    if columns is not None and source.names is not None:
        at = [source.names.index(name) for name in columns]
    while True:
        try:
            yield from source.read(at)
        except ColumnsChanged:
            restart()
            continue
        return


def check_folder(path: str, option: str = "--out") -> None:
    """Fail before the work is done rather than after.

    Raises:
        DataError: If the file could not be written.
    """
    folder = Path(path).parent
    if Path(path).is_dir():
        raise DataError.because(f"{option}: {path!r} is a folder", expected="a file")
    if not folder.is_dir():
        raise DataError.because(
            f"{option}: there is no folder for {path!r}",
            hint=f"Make it first: mkdir -p {folder}",
        )
