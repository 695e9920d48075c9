"""CSV and its kin: values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import codecs
import io
import re
import time
import weakref
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.data.chunks.source import ColumnsChanged, Source
from gossamer.data.files.arrow import check_columns, check_same_columns, need_pyarrow, reading
from gossamer.data.files.columnar import name_of
from gossamer.data.files.dialect import MISSING, find_dialect, find_encoding, has_nul
from gossamer.data.files.file_kinds import UNREADABLE, first_lines, open_bytes, unreadable
from gossamer.data.table.names import default_names
from gossamer.data.text import Notation, TextLook, TextOptions, find_notations
from gossamer.errors import DataError
from gossamer.logger import info, warn

_BLOCK: Final = 2**20  # bytes of text that are read together, if a line is not longer
_BLANKS: Final = " \t\u00a0"
_TRUE: Final = ("true", "True", "TRUE")
_FALSE: Final = ("false", "False", "FALSE")
# What a column can be; text is what nothing else fits.
_WORDS: Final = {"int64": "whole numbers", "double": "numbers", "bool": "booleans"}


class DelimitedFiles(Source):
    """Text files with the same columns.

    Types are first taken from the beginning of the first file. Where values further down do not
    fit them, all files are looked through once, and reading starts again: `ColumnsChanged`.
    Columns of text that hold numbers or dates in another notation are converted: `notations`.

    Args:
        paths: The files, in the order of the rows.
        header: Whether first lines have names; None: found out.
        text_columns: Names of columns that are text, whatever they look like.
        options: What the user said about numbers, dates, missing values and the encoding.
    """

    is_file = True
    is_text = True
    can_change = True

    def __init__(
        self,
        paths: Sequence[Path],
        header: bool | None,
        text_columns: Collection[str] = (),
        options: TextOptions | None = None,
    ) -> None:
        self._pyarrow = need_pyarrow()
        self._paths = self.paths = list(paths)
        self.what = name_of(paths)
        self._text = set(text_columns)
        self._options = options or TextOptions()
        self._notations: dict[str, Notation] = {}
        self._warned: set[str] = set()
        self._notes: dict[str, list[str]] = {}
        self.notes = self._notes
        self._encodings = {
            path: self._options.encoding or find_encoding(path) for path in self._paths
        }
        for path in self._paths:
            self._note_encoding(path)
        first = find_dialect(self._paths[0], header, self._encodings[self._paths[0]])
        self.is_named = first.header
        self._dialects = {self._paths[0]: first}
        self._blocks = {path: _block_size(path) for path in self._paths}
        self._own: dict[Path, list[str]] = {}  # names as they stand in a file
        for path in self._paths[1:]:
            self._dialects[path] = find_dialect(path, first.header, self._encodings[path])
        self.names, kinds = self._look(self._paths[0])
        self.n_columns = len(self.names)
        self._types = [kinds[name] for name in self.names]
        for path in self._paths[1:]:
            check_same_columns(path, self._look(path)[0], self._paths[0], self.names)
        self._recognise(is_whole=False)

    def _look(self, path: Path) -> tuple[list[str], dict[str, str]]:
        """Return the names of the columns of a file, and what its beginning looks like."""
        with reading(path), self._open(path, {}, None) as reader:
            found = reader.schema
            self._own[path] = found.names  # decoded here
        names = self._names_of(path, self._own[path])
        check_columns(name_of([path]), names)
        kinds = {}
        for name, kind in zip(names, found.types, strict=True):
            word = "double" if str(kind) == "null" else str(kind)
            kinds[name] = "string" if name in self._text or word not in _WORDS else word
        return names, kinds

    def _names_of(self, path: Path, found: Sequence[str]) -> list[str]:
        if not self._dialects[path].header:
            return default_names(len(found))
        names = [name or f"Unnamed: {i}" for i, name in enumerate(found)]  # as pandas does
        plain = [re.sub(" {2,}", " ", name.strip(_BLANKS)) or name for name in names]
        if plain == names or len(set(plain)) < len(plain):
            return names
        n_changed = sum(old != new for old, new in zip(names, plain, strict=True))
        counted = "1 column name" if n_changed == 1 else f"{n_changed} column names"
        self._note("", f"extra spaces are removed from {counted}")
        return plain

    def may_have_levels(self, column: int) -> bool:
        """Whether a column is text, as far as is known."""
        assert self.names is not None
        return self._types[column] == "string" and self.names[column] not in self._notations

    def read(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Read all rows in chunks.

        Raises:
            ColumnsChanged: If a type had to be widened.
        """
        assert self.names is not None
        names = self.names if columns is None else [self.names[c] for c in columns]
        types = dict(zip(self.names, self._types, strict=True))
        for path in self._paths:
            try:
                for table in self._chunks(path, names, types):
                    yield self._converted(table)
            except (self._pyarrow.ArrowInvalid, _OtherNotation) as error:
                if self._is_other_encoding(path, error):
                    raise ColumnsChanged from None
                is_type = isinstance(error, _OtherNotation) or "conversion error" in str(error)
                if not self.can_change or not is_type:
                    with reading(path):
                        raise
                self._widen(str(error))
                raise ColumnsChanged from None

    def _chunks(self, path: Path, names: Sequence[str], types: dict[str, str]) -> Iterator[Any]:
        with self._open(path, types, names) as reader:
            for batch in reader:
                table = self._pyarrow.Table.from_batches([batch])
                yield table.rename_columns(list(names))

    # ---- encodings ----

    def _is_other_encoding(self, path: Path, error: Exception) -> bool:
        """Whether text further down is not UTF-8; the file is then read as Windows-1252."""
        is_wrong = "invalid UTF8" in str(error) and self._encodings[path] == "utf-8"
        if is_wrong and self._options.encoding is None:
            self._encodings[path] = "cp1252"
            self._note_encoding(path)
            return True
        return False

    def _note_encoding(self, path: Path) -> None:
        encoding = self._encodings[path]
        if encoding not in ("utf-8", self._options.encoding):
            word = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}.get(encoding, encoding.upper())
            where = "" if len(self._paths) == 1 else f"{path.name}: "
            self._note(
                "", f"{where}The text is not UTF-8. It is read as {word} (--encoding sets another)"
            )

    def _note(self, column: str, text: str) -> None:
        """Keep a line about how the file, or a column of it, is read."""
        lines = self._notes.setdefault(column, [])
        if text not in lines:
            lines.append(text)
            where = f"column {column!r}: " if column else ""
            info(f"{self.what}: {where}{text}")

    # ---- numbers and dates in other notations ----

    def _recognise(self, *, is_whole: bool) -> None:
        """Find columns of text that hold numbers or dates.

        Args:
            is_whole: Look at all rows of all files; else at the beginning of the first one, unless
                that leaves something open.
        """
        assert self.names is not None
        kinds = dict(zip(self.names, self._types, strict=True))
        text = [n for n, kind in kinds.items() if kind == "string" and n not in self._text]
        looks = self._look_at_text(text, is_whole)
        # With decimal commas, 1.234 may be a number of four digits.
        delimiter = self._dialects[self._paths[0]].delimiter
        has_commas = any(look.certain_decimal == "," for look in looks.values())
        if has_commas or delimiter == ";" or self._options.decimal == ",":
            numbers = [name for name, kind in kinds.items() if kind == "double"]
            looks |= self._look_at_text(numbers, is_whole)
        else:
            numbers = []
        guesses = {name: "," if delimiter == ";" else "." for name in text}
        notations, warnings = find_notations(looks, guesses)
        is_open = bool(warnings) or any(not look.n and look.words for look in looks.values())
        if is_open and not is_whole and self._has_more:
            self._recognise(is_whole=True)
            return
        self._notations = {
            name: notation
            for name, notation in notations.items()
            if name not in numbers or notation.how == ","
        }
        for name, notation in self._notations.items():
            self._types[self.names.index(name)] = "string"
            self._notes.pop(name, None)
            self._note(name, f"read as {notation.note}")
        for name, warning in warnings.items():
            if name not in self._warned:
                self._warned.add(name)
                warn(f"{self.what}: {warning}.")

    def _look_at_text(self, names: Sequence[str], is_whole: bool) -> dict[str, TextLook]:
        looks = {name: TextLook(self._options) for name in names}
        self._has_more = len(self._paths) > 1
        if not names:
            return looks
        for path in self._paths if is_whole else self._paths[:1]:
            for n_read, table in enumerate(self._text_chunks(path, names)):
                if n_read and not is_whole:
                    self._has_more = True
                    break
                for name, look in looks.items():
                    if not look.is_text:
                        counts = table.column(name).drop_null().value_counts()
                        values, n = counts.field("values"), counts.field("counts")
                        look.add(dict(zip(values.to_pylist(), n.to_pylist(), strict=True)))
        return looks

    def _text_chunks(self, path: Path, names: Sequence[str]) -> Iterator[Any]:
        """Read some columns as text."""
        with reading(path):
            try:
                yield from self._chunks(path, names, dict.fromkeys(names, "string"))
            except self._pyarrow.ArrowInvalid as error:
                if not self._is_other_encoding(path, error):
                    raise
                yield from self._chunks(path, names, dict.fromkeys(names, "string"))

    def _converted(self, table: Any) -> Any:
        """Return a chunk with the columns of other notations as numbers and dates."""
        for i, name in enumerate(table.column_names):
            notation = self._notations.get(name)
            if notation is not None:
                table = table.set_column(i, name, self._read_text(table.column(i), notation, name))
        return table

    def _read_text(self, column: Any, notation: Notation, name: str) -> Any:
        encoded = column.combine_chunks().dictionary_encode()
        if isinstance(encoded, self._pyarrow.ChunkedArray):
            encoded = encoded.combine_chunks()
        texts = encoded.dictionary.to_pylist()
        values = [notation.read(text) for text in texts]
        for text, value in zip(texts, values, strict=True):
            if value is None:
                raise _OtherNotation(f"column {name!r} has {text!r}, not {notation.note}")
        rows = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        numbers = np.array([*values, np.nan], dtype=np.float64)[rows]
        is_missing = np.isnan(numbers)
        if notation.kind == "number":
            return self._pyarrow.array(numbers, mask=is_missing)
        micros = np.round(np.where(is_missing, 0, numbers) * 1e6).astype(np.int64)
        is_date = notation.kind == "date"
        kind = self._pyarrow.timestamp("us") if is_date else self._pyarrow.time64("us")
        return self._pyarrow.array(micros, mask=is_missing).cast(kind)

    def _open(self, path: Path, types: dict[str, str], names: Sequence[str] | None) -> Any:
        """Open a file for reading some columns; all, if `names` is None."""
        csv = need_pyarrow("pyarrow.csv")
        dialect = self._dialects[path]
        own = self._own.get(path, [])
        place = dict(zip(self._names_of(path, own), own, strict=True))
        stream = _Checked(path, self._encodings[path])
        refused = _Refused(path)
        options = {
            "read_options": csv.ReadOptions(
                use_threads=False,
                block_size=self._blocks[path],
                column_names=None if dialect.header else default_names(len(dialect.first)),
            ),
            "parse_options": csv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=True,
                invalid_row_handler=refused,
            ),
            "convert_options": csv.ConvertOptions(
                null_values=[*MISSING, *self._options.na],
                true_values=list(_TRUE),
                false_values=list(_FALSE),
                strings_can_be_null=True,
                include_columns=[place[name] for name in names or []],
                column_types={
                    place[n]: self._pyarrow.type_for_alias(types[n]) for n in names or []
                },
            ),
        }
        return _Reader(csv, stream, refused, options)

    # ---- types that fit all rows ----

    def _widen(self, why: str) -> None:
        """Find types that fit all values of all files."""
        assert self.names is not None
        before = dict(zip(self.names, self._types, strict=True))
        possible = {name: list(_WORDS) for name, kind in before.items() if kind != "string"}
        for path in self._paths if possible else []:
            for table in self._text_chunks(path, list(possible)):
                for name, kinds in possible.items():
                    column = table.column(name)
                    possible[name] = [kind for kind in kinds if self._fits(column, kind)]
        for i, name in enumerate(self.names):
            if name in possible:
                self._types[i] = next(iter(possible[name]), "string")
        self.can_change = False
        self._recognise(is_whole=True)
        changed = [
            f"{name!r} from {_WORDS[before[name]]} to {_WORDS.get(kind, 'text')}"
            for name, kind in zip(self.names, self._types, strict=True)
            if kind != before[name] and name not in self._notations
        ]
        if not changed:
            return
        info(f"{self.what}: values further down change columns {', '.join(changed)} ({why})")

    def _fits(self, column: Any, kind: str) -> bool:
        compute = need_pyarrow("pyarrow.compute")
        if column.null_count == len(column):
            return True
        if kind == "bool":
            words = self._pyarrow.array([*_TRUE, *_FALSE])
            known = compute.is_in(compute.drop_null(column), value_set=words)
            return bool(compute.all(known).as_py())
        try:
            compute.cast(compute.utf8_trim_whitespace(column), kind)
        except self._pyarrow.ArrowInvalid:
            return False
        return True


def _block_size(path: Path) -> int:
    """How much is read together: several lines, however long they are."""
    head = first_lines(path, 3, _BLOCK)
    return _BLOCK if len(head) <= _BLOCK else 2 * len(head)


_MOST_SECONDS: Final = 2.0  # that a thread of pyarrow is waited for


class _Reader:
    """pyarrow's reader, which speaks of lines by number."""

    def __init__(self, csv: Any, stream: _Checked, refused: _Refused, options: Any) -> None:
        self._stream, self._refused = stream, refused
        lent = io.BufferedReader(stream)
        self._lent = weakref.ref(lent)
        try:
            self._reader = csv.open_csv(lent, **options)
        except Exception:
            stream.close()
            refused.check()
            raise

    @property
    def schema(self) -> Any:
        return self._reader.schema

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._reader.close()
        self._reader = None
        # pyarrow reads in threads of its own. One that still has the stream when Python ends would
        # abort the process, so it must be done. (An error's traceback may keep the stream.)
        give_up = time.monotonic() + (_MOST_SECONDS if kind is None else 0)
        while self._lent() is not None and time.monotonic() < give_up:
            time.sleep(0.001)
        self._stream.close()

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._reader
        except Exception:
            self._refused.check()
            raise


class _Refused:
    """Keeps the first line that has too few values, or too many."""

    def __init__(self, path: Path) -> None:
        self._path, self._row = path, None

    def __call__(self, row: Any) -> str:
        self._row = self._row or row
        return "error"

    def check(self) -> None:
        if self._row is None:
            return
        row: Any = self._row
        raise DataError.because(
            f"line {row.number} of {str(self._path)!r} (blank lines not counted) does not "
            f"have as many values as the first: {_shown(row.text)}",
            got=row.actual_columns,
            expected=f"{row.expected_columns}",
            hint="Is a value with a delimiter not quoted?",
        ) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


class _OtherNotation(Exception):
    """A value is not written as the values before it."""


class _Checked(io.RawIOBase):
    """A text file, decompressed and in UTF-8; it must not have NUL bytes."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._path = path
        self._file = open_bytes(path)
        self._decoder = (
            None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
        )
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._read(len(buffer))
        except UNREADABLE as error:
            raise unreadable(self._path, error) from None
        if b"\0" in content:
            raise has_nul(self._path)
        buffer[: len(content)] = content
        return len(content)

    def _read(self, n_bytes: int) -> bytes:
        if self._decoder is None:
            return self._file.read(n_bytes)
        while len(self._rest) < n_bytes:
            more = self._file.read(n_bytes)
            self._rest += self._decoder.decode(more, not more).encode("utf-8")
            if not more:
                break
        content, self._rest = self._rest[:n_bytes], self._rest[n_bytes:]
        return content

    def close(self) -> None:
        self._file.close()
        super().close()
