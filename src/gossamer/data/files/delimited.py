"""CSV and its kin: values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import io
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gossamer.data.files.arrow import check_columns, check_same_columns, need_pyarrow, reading
from gossamer.data.files.columnar import name_of
from gossamer.data.files.dialect import MISSING, find_dialect, has_nul
from gossamer.data.files.kinds import first_lines, open_bytes, unreadable
from gossamer.data.names import default_names
from gossamer.data.source import ColumnsChanged, Source
from gossamer.errors import DataError, message
from gossamer.logger import info

_BLOCK: Final = 2**20  # bytes of text that are read together, if a line is not longer
_TRUE: Final = ("true", "True", "TRUE")
_FALSE: Final = ("false", "False", "FALSE")
# What a column can be; text is what nothing else fits.
_WORDS: Final = {"int64": "whole numbers", "double": "numbers", "bool": "truth values"}


class DelimitedFiles(Source):
    """Text files with the same columns.

    Types are first taken from the beginning of the first file. Where values further down do not
    fit them, all files are looked through once, and reading begins anew: `ColumnsChanged`.

    Args:
        paths: The files, in the order of the rows.
        header: Whether first lines have names; None: found out.
        text_columns: Names of columns that are text, whatever they look like.
    """

    is_file = True
    can_change = True

    def __init__(
        self, paths: Sequence[Path], header: bool | None, text_columns: Collection[str] = ()
    ) -> None:
        self._pyarrow = need_pyarrow()
        self._paths = list(paths)
        self.what = name_of(paths)
        self._text = set(text_columns)
        first = find_dialect(self._paths[0], header)
        self.is_named = first.header
        self._dialects = {self._paths[0]: first}
        self._blocks = {path: _block_size(path) for path in self._paths}
        self._own: dict[Path, list[str]] = {}  # names as they stand in a file
        for path in self._paths[1:]:
            self._dialects[path] = find_dialect(path, first.header)
        self.names, kinds = self._look(self._paths[0])
        self.n_columns = len(self.names)
        self._types = [kinds[name] for name in self.names]
        for path in self._paths[1:]:
            check_same_columns(path, self._look(path)[0], self._paths[0], self.names)

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
        return [name or f"Unnamed: {i}" for i, name in enumerate(found)]  # as pandas does

    def may_have_levels(self, column: int) -> bool:
        """Whether a column is text, as far as is known."""
        return self._types[column] == "string"

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
                yield from self._chunks(path, names, types)
            except self._pyarrow.ArrowInvalid as error:
                if not self.can_change or "conversion error" not in str(error):
                    with reading(path):
                        raise
                self._widen(str(error))
                raise ColumnsChanged from None

    def _chunks(self, path: Path, names: Sequence[str], types: dict[str, str]) -> Iterator[Any]:
        with self._open(path, types, names) as reader:
            for batch in reader:
                table = self._pyarrow.Table.from_batches([batch])
                yield table.rename_columns(list(names))

    def _open(self, path: Path, types: dict[str, str], names: Sequence[str] | None) -> Any:
        """Open a file for reading some columns; all, if `names` is None."""
        csv = need_pyarrow("pyarrow.csv")
        dialect = self._dialects[path]
        own = self._own.get(path, [])
        place = dict(zip(self._names_of(path, own), own, strict=True))
        stream = _Checked(path)
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
                null_values=list(MISSING),
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
        text = dict.fromkeys(possible, "string")
        for path in self._paths:
            with reading(path):
                for table in self._chunks(path, list(possible), text):
                    for name, kinds in possible.items():
                        column = table.column(name)
                        possible[name] = [kind for kind in kinds if self._fits(column, kind)]
        for i, name in enumerate(self.names):
            if name in possible:
                self._types[i] = next(iter(possible[name]), "string")
        self.can_change = False
        changed = [
            f"{name!r} from {_WORDS[before[name]]} to {_WORDS.get(kind, 'text')}"
            for name, kind in zip(self.names, self._types, strict=True)
            if kind != before[name]
        ]
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


class _Reader:
    """pyarrow's reader, which speaks of lines by number."""

    def __init__(self, csv: Any, stream: _Checked, refused: _Refused, options: Any) -> None:
        self._stream, self._refused = stream, refused
        try:
            self._reader = csv.open_csv(stream, **options)
        except Exception:
            stream.close()
            refused.check()
            raise

    @property
    def schema(self) -> Any:
        return self._reader.schema

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
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
        raise DataError(
            message(
                f"line {row.number} of {str(self._path)!r} (blank lines not counted) does not "
                f"have as many values as the first: {_shown(row.text)}",
                got=row.actual_columns,
                expected=f"{row.expected_columns}",
                hint="Is a value with a delimiter not quoted?",
            )
        ) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


class _Checked(io.RawIOBase):
    """A text file, decompressed; without bytes that are no text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open_bytes(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._file.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise unreadable(self._path, error) from None
        if b"\0" in content:
            raise has_nul(self._path)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()
