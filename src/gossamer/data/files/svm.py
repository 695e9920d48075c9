"""LibSVM (SVMLight) files: a label, then index:value pairs of what is not zero.

As in LightGBM an index is the position of a column, from 0. Of a file that counts from 1, column 0
is then always zero, which changes no tree.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.chunks.source import Source
from gossamer.data.files.columnar import name_of
from gossamer.data.files.file_kinds import UNREADABLE, open_bytes, unreadable
from gossamer.errors import DataError
from gossamer.logger import warn

_BLOCK: Final = 2**22  # bytes of text that are read together
_COMMENT: Final = re.compile(rb"#[^\n]*")
_QUERY: Final = -1  # stands for "qid" as an index
_MOST_COLUMNS: Final = 2**31 - 1
_EXPECTED: Final = "label [qid:number] index:value index:value ..."


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some lines of a file, as compressed rows."""

    label: npt.NDArray[np.float64]
    query: npt.NDArray[np.float64] | None
    values: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]


class SvmFiles(Source):
    """LibSVM files; labels and queries are in the files.

    Args:
        paths: The files, in the order of the rows.
    """

    is_file = True

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = self.paths = list(paths)
        self.what = name_of(paths)
        labels, queries, highest = [np.empty(0)], [], -1
        for rows in self._rows():
            labels.append(rows.label)
            if rows.query is not None:
                queries.append(rows.query)
            highest = max(highest, int(rows.indices.max(initial=-1)))
        self._fields = {"label": np.concatenate(labels)}
        self.n_rows = len(self._fields["label"])
        if queries:
            self._fields["query"] = np.concatenate(queries)
            if len(self._fields["query"]) != self.n_rows:
                raise DataError.because(
                    f"some rows of {self.what} have a qid, and others have none",
                    got=f"{len(self._fields['query'])} of {self.n_rows} rows",
                    expected="all of them, or none",
                )
        self._found_columns = self.n_columns = highest + 1

    def take_fields(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the labels, and the queries if there are any."""
        return self._fields

    def be_like(self, n_columns: int) -> SvmFiles:
        """Add columns of zeros at the end, or leave out those that training did not have."""
        if self._found_columns > n_columns:
            warn(
                f"{self.what} has columns up to {self._found_columns - 1}, the training data "
                f"only up to {n_columns - 1}: the columns beyond are ignored."
            )
        self.n_columns = n_columns
        return self

    def read(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Read all rows in chunks, as scipy's compressed rows."""
        from scipy.sparse import csr_array

        for rows in self._rows():
            width = max(self.n_columns, int(rows.indices.max(initial=-1)) + 1)
            parts = (rows.values, rows.indices, rows.begin)
            chunk = csr_array(parts, shape=(len(rows.label), width))
            if width > self.n_columns:
                chunk = chunk[:, : self.n_columns]
            yield chunk if columns is None else chunk[:, list(columns)]

    def _rows(self) -> Iterator[_Rows]:
        for path in self._paths:
            for first_line, text in _blocks(path):
                rows = _parse(text)
                if isinstance(rows, _Rows):
                    if len(rows.label):
                        yield rows
                else:
                    raise _what_is_wrong(path, first_line, text)


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Read whole lines, some of them at a time; each with the number of the first one."""
    line, rest = 1, b""
    with open_bytes(path) as file:
        while True:
            try:
                more = file.read(_BLOCK)
            except UNREADABLE as error:
                raise unreadable(path, error) from None
            if not more:
                break
            text, newline, behind = (rest + more).rpartition(b"\n")
            rest = behind
            if newline:
                yield line, text + newline
                line += text.count(b"\n") + 1
    if rest:
        yield line, rest + b"\n"


def _parse(text: bytes) -> _Rows | None:
    """Read lines at once; None: something is wrong with one of them."""
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    n_queries = text.count(b"qid:")
    if n_queries:
        text = text.replace(b"qid:", b"%d:" % _QUERY)
    letters = np.frombuffer(text, dtype=np.uint8)
    is_space = (letters <= 32) & (letters > 0)
    is_start = ~is_space & np.concatenate(([True], is_space[:-1]))
    starts = np.flatnonzero(is_start)
    lines = np.flatnonzero(letters == 10)
    # Of each word: which line it is in, and how many colons it has.
    line_of = np.searchsorted(lines, starts)
    is_label = np.concatenate(([True], line_of[1:] != line_of[:-1]))[: len(starts)]
    colons = np.flatnonzero(letters == 58)
    word_of = np.searchsorted(starts, colons, side="right") - 1
    n_colons = np.bincount(word_of, minlength=len(starts)) if len(starts) else np.empty(0)
    if (n_colons != ~is_label).any():
        return None
    numbers = _numbers(text.replace(b":", b" "))
    if numbers is None or len(numbers) != len(starts) + len(colons):
        return None
    # Each word but the labels gives two numbers.
    at = np.arange(len(starts)) + np.concatenate(([0], np.cumsum(~is_label)))[: len(starts)]
    label = numbers[at[is_label]]
    pairs = at[~is_label]
    index, values = numbers[pairs], numbers[pairs + 1]
    row_of = (np.cumsum(is_label) - 1)[~is_label]
    query = None
    if n_queries:
        is_query = index == _QUERY
        if is_query.sum() != n_queries or len(set(row_of[is_query].tolist())) != n_queries:
            return None
        query = values[is_query]
        index, values, row_of = index[~is_query], values[~is_query], row_of[~is_query]
    if (index < 0).any() or (index != np.floor(index)).any() or (index >= _MOST_COLUMNS).any():
        return None
    indices = index.astype(np.int64)
    step = np.diff(row_of * np.int64(2**31) + indices)
    if (step <= 0).any():  # not in order
        order = np.lexsort((indices, row_of))
        indices, values = indices[order], values[order]
        if (np.diff(row_of * np.int64(2**31) + indices) == 0).any():
            return None
    begin = np.concatenate(([0], np.cumsum(np.bincount(row_of, minlength=len(label)))))
    return _Rows(label, query, values, indices, begin.astype(np.int64))


def _numbers(text: bytes) -> npt.NDArray[np.float64] | None:
    if not text.strip():
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _what_is_wrong(path: Path, first_line: int, text: bytes) -> DataError:
    """Find the line that cannot be read, and say why."""
    for i, line in enumerate(text.split(b"\n")):
        rows = _parse(line + b"\n")
        if rows is None:
            words = _COMMENT.sub(b"", line).split()
            shown = line[:60].decode("utf-8", "replace")
            return DataError.because(
                f"line {first_line + i} of {str(path)!r} cannot be read: {_reason(words)}",
                got=shown,
                expected=_EXPECTED,
            )
    return DataError.because(f"{str(path)!r} cannot be read", expected=_EXPECTED)


def _reason(words: Sequence[bytes]) -> str:
    def shown(word: bytes) -> str:
        return repr(word[:40].decode("utf-8", "replace"))

    if b":" in words[0]:
        return "it has no label"
    if not _is_number(words[0]):
        return f"the label {shown(words[0])} is not a number"
    seen = set()
    for word in words[1:]:
        index, colon, value = word.partition(b":")
        if not colon:
            return f"{shown(word)} has no colon"
        if not _is_number(value):
            return f"the value in {shown(word)} is not a number"
        if index != b"qid" and not (index.isdigit() and int(index) < _MOST_COLUMNS):
            return f"the index in {shown(word)} is not a whole number from 0 to {_MOST_COLUMNS - 1}"
        if index in seen:
            return f"the index {shown(index)} is there twice"
        seen.add(index)
    return "its numbers cannot be told apart"


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
