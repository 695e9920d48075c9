"""Parquet, Feather and Arrow files, and data sets of pyarrow."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from gossamer.data.chunks.chunked_table import CHUNK_VALUES
from gossamer.data.chunks.source import Source
from gossamer.data.files.arrow import (
    check_columns,
    check_same_columns,
    need_pyarrow,
    reading,
    reading_from,
)
from gossamer.data.files.file_kinds import kind_of, open_bytes
from gossamer.data.table.frames import not_numeric
from gossamer.errors import DataError

# Values of a chunk: few, since every column also has pages in memory; but not few rows.
_CHUNK_VALUES: Final = 2**19
_FEWEST_ROWS: Final = 4096
_BUFFER: Final = 2**16  # bytes of a column that are read from disk at a time


class Columnar(Source):
    """A source whose columns have names and pyarrow's types."""

    def __init__(self, what: str) -> None:
        self._pyarrow = need_pyarrow()
        self.what = what
        self._schema: Any = None

    @abstractmethod
    def _tables(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Read some columns, about `n_rows` rows at a time."""

    def _word(self, kind: Any) -> str:
        """Columns with the same word go together."""
        types = self._pyarrow.types
        if types.is_null(kind):
            return "nothing"
        if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
            return "numbers"
        if types.is_decimal(kind):
            return "numbers"
        if types.is_dictionary(kind):
            return "categories, in order" if kind.ordered else "categories"
        if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
            return "text"
        return str(kind)

    def may_have_levels(self, column: int) -> bool:
        """Whether a column is not of numbers."""
        return self._word(self._type_of(column)) != "numbers"

    def is_in_order(self, column: int) -> bool:
        """Whether pandas wrote the file: it keeps the order of categories."""
        return b"pandas" in (self._schema.metadata or {})

    def _type_of(self, column: int) -> Any:
        assert self.names is not None
        return self._schema.field(self.names[column]).type

    def read(self, columns: Sequence[int] | None = None) -> Iterator[Any]:
        """Read all rows in chunks."""
        assert self.names is not None
        names = self.names if columns is None else [self.names[c] for c in columns]
        for name in names:
            if self._pyarrow.types.is_nested(self._schema.field(name).type):
                where = f"column {name!r} of {self.what}"
                raise not_numeric(where, self._schema.field(name).type)
        n_rows = max(_CHUNK_VALUES // max(len(names), 1), _FEWEST_ROWS)
        n_rows = min(n_rows, max(CHUNK_VALUES // max(len(names), 1), 1))
        yield from self._tables(names, n_rows)
        self._pyarrow.default_memory_pool().release_unused()


class ArrowDataset(Columnar):
    """A data set of pyarrow, of which only some batches are in memory.

    Args:
        dataset: A `pyarrow.dataset.Dataset`.
    """

    def __init__(self, dataset: Any) -> None:
        super().__init__(f"the {type(dataset).__name__}")
        self._dataset, self._schema = dataset, dataset.schema
        check_columns(self.what, self._schema.names)
        self.names = names_of_columns(self._schema)
        self.n_columns = len(self.names)
        with reading_from(self.what):
            self.n_rows = dataset.count_rows()

    def _tables(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        with reading_from(self.what):
            batches = self._dataset.to_batches(
                columns=list(names),
                batch_size=n_rows,
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=False,
            )
            yield from whole_chunks(batches, names, n_rows)


class ColumnarFiles(Columnar):
    """Files whose columns have names and types; the first file says which.

    Args:
        paths: The files, in the order of the rows.
    """

    is_file = True

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__(name_of(paths))
        self._paths = self.paths = list(paths)
        n_rows = 0
        schema: Any = None
        for path in self._paths:
            with reading(path):  # names need not be text, either
                schema, more = self._look(path)
                self._check(path, schema)
            n_rows += more
        self.names = names_of_columns(self._schema)
        self.n_rows, self.n_columns = n_rows, len(self.names)

    @abstractmethod
    def _look(self, path: Path) -> tuple[Any, int]:
        """Return the schema and the number of rows of a file."""

    @abstractmethod
    def _batches(self, path: Path, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Read some columns of a file, about `n_rows` at a time."""

    def _check(self, path: Path, schema: Any) -> None:
        check_columns(name_of([path]), schema.names)
        if self._schema is None:
            self._schema = schema
            return
        first = self._paths[0]
        check_same_columns(path, schema.names, first, self._schema.names)
        for name in schema.names:
            types = [self._schema.field(name).type, schema.field(name).type]
            words = [self._word(kind) for kind in types]
            if words[0] != words[1] and "nothing" not in words:
                raise DataError.because(
                    f"column {name!r} differs among the files: {str(path)!r} has another type",
                    got=str(types[1]),
                    expected=f"{types[0]}, as in {str(first)!r}",
                )
        # Where the first file has only missing values, the next ones say what they are.
        nothing = self._pyarrow.null()
        for i, field in enumerate(self._schema):
            if field.type == nothing:
                self._schema = self._schema.set(i, schema.field(field.name))

    def _tables(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        for path in self._paths:
            with reading(path):
                yield from whole_chunks(self._batches(path, names, n_rows), names, n_rows)


class ParquetFiles(ColumnarFiles):
    """Parquet files, of which only a few pages of each column are in memory."""

    is_columnar = True

    def _open(self, path: Path) -> Any:
        parquet = need_pyarrow("pyarrow.parquet")
        # Without buffering ahead: a group of rows may be the whole file.
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)

    def _look(self, path: Path) -> tuple[Any, int]:
        with self._open(path) as file:
            return file.schema_arrow, file.metadata.num_rows

    def _batches(self, path: Path, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        with self._open(path) as file:
            for batch in file.iter_batches(n_rows, columns=list(names), use_threads=False):
                batch.validate(full=True)  # text need not be UTF-8
                yield batch


class ArrowFiles(ColumnarFiles):
    """Feather (version 2) and Arrow files, and Arrow streams in files."""

    def _open(self, path: Path, columns: Sequence[int] = ()) -> Any:
        """Open a file for reading some columns; all, if none is given."""
        ipc = need_pyarrow("pyarrow.ipc")
        # Not mapped into memory: a damaged file that points beyond its end would end the process.
        file = self._pyarrow.OSFile(str(path))
        options = ipc.IpcReadOptions(included_fields=list(columns))
        opened = ipc.open_stream if kind_of(path) == "arrow stream" else ipc.open_file
        return opened(file, options=options)

    def _look(self, path: Path) -> tuple[Any, int]:
        schema = self._open(path).schema
        first = range(min(len(schema.names), 1))
        return schema, sum(batch.num_rows for batch in self._each(self._open(path, first)))

    def _each(self, reader: Any) -> Iterator[Any]:
        batches = reader
        if hasattr(reader, "get_batch"):
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        for batch in batches:
            batch.validate(full=True)  # offsets and codes in a damaged file lead anywhere
            yield batch

    def _batches(self, path: Path, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        place = {name: i for i, name in enumerate(self._open(path).schema.names)}
        yield from self._each(self._open(path, [place[name] for name in names]))


class JsonFiles(ColumnarFiles):
    """Files with a JSON object per line, read as a whole."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._read: dict[Path, Any] = {}
        super().__init__(paths)

    def _table(self, path: Path) -> Any:
        if path not in self._read:
            json_reader = need_pyarrow("pyarrow.json")
            with open_bytes(path) as file:
                table = json_reader.read_json(file)
            table.validate(full=True)  # text need not be UTF-8
            self._read[path] = table
        return self._read[path]

    def _look(self, path: Path) -> tuple[Any, int]:
        table = self._table(path)
        return table.schema, table.num_rows

    def _batches(self, path: Path, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        yield from self._table(path).select(list(names)).to_batches(n_rows)


def whole_chunks(batches: Iterator[Any], names: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Make tables of about `n_rows` rows of batches of any size, with columns in order."""
    pyarrow = need_pyarrow()
    few: list[Any] = []
    n_few = 0
    for batch in batches:
        few.append(pyarrow.Table.from_batches([batch]).select(list(names)))
        n_few += batch.num_rows
        if n_few < n_rows // 2:
            continue
        table = few[0] if len(few) == 1 else pyarrow.concat_tables(few)
        few, n_few = [], 0
        for begin in range(0, table.num_rows, n_rows):
            yield table.slice(begin, n_rows)
        del table
    if few:
        yield pyarrow.concat_tables(few)


def names_of_columns(schema: Any) -> list[str]:
    """Return the names of the columns, without those that pandas reads as an index."""
    index = index_columns(schema)
    return [name for name in schema.names if name not in index]


def index_columns(schema: Any) -> set[str]:
    """Return the columns that pandas reads as an index, not as columns."""
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        return {name for name in found.get("index_columns", []) if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError, RecursionError):  # not written by pandas
        return set()


def name_of(paths: Sequence[Path]) -> str:
    """Return what errors call the files."""
    rest = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"the file {str(paths[0])!r}{rest}"
