"""Tables that are written piece by piece: Parquet, Feather, CSV, or CSV to standard output."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final

from gossamer.data.files.arrow import need_pyarrow
from gossamer.errors import DataError
from gossamer.files import PartFile

_KINDS: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".csv": "csv",
    ".tsv": "tsv",
}
STDOUT: Final = "-"


class TableWriter:
    """Writes tables, one below the other; the file is complete or not there.

    CSV can be written without pyarrow, only slower.

    Args:
        path: By its suffix, Parquet, Feather, CSV or TSV; "-": CSV to standard output.

    Raises:
        DataError: If the suffix says nothing.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.n_rows = 0
        self._kind = "csv" if path == STDOUT else _kind_of(path)
        self._has_pyarrow = find_spec("pyarrow") is not None
        if self._kind not in ("csv", "tsv"):
            need_pyarrow()
        self._file: Any = None
        self._part: PartFile | None = None
        self._writer: Any = None

    def write(self, columns: Mapping[str, Any]) -> None:
        """Write some rows: columns of NumPy or pyarrow, by name."""
        if not self._has_pyarrow:
            self._write_plain(columns)
            return
        table = need_pyarrow().table(dict(columns))
        if self._writer is None:
            self._open(table.schema)
        self._writer.write_table(table)
        self.n_rows += table.num_rows

    def _write_plain(self, columns: Mapping[str, Any]) -> None:
        if self._writer is None:
            self._open_file()
            self._file.write(header_line(list(columns), self._delimiter))
            self._writer = _PlainCsv(self._file, self._delimiter)
        rows = list(zip(*(values.tolist() for values in columns.values()), strict=True))
        self._writer.write(rows)
        self.n_rows += len(rows)

    @property
    def _delimiter(self) -> str:
        return "\t" if self._kind == "tsv" else ","

    def restart(self) -> None:
        """Forget what was written.

        Raises:
            DataError: If rows went to standard output, a named pipe or a device: they are gone.
        """
        if self.n_rows and (self._part is None or self._part.is_direct):
            raise DataError.because(
                f"--out: {self._path!r} got rows before a later row changed the type of a column",
                hint="Write to a file: it can be started again.",
            )
        self._drop()
        self.n_rows = 0

    def _open_file(self) -> None:
        if self._path == STDOUT:
            self._file = _Stdout()
        else:
            self._part = PartFile(Path(self._path))
            self._file = self._part.file

    def _open(self, schema: Any) -> None:
        self._open_file()
        if self._kind == "parquet":
            self._writer = need_pyarrow("pyarrow.parquet").ParquetWriter(self._file, schema)
        elif self._kind == "feather":
            self._writer = need_pyarrow("pyarrow.ipc").new_file(self._file, schema)
        else:
            arrow_csv = need_pyarrow("pyarrow.csv")
            # pyarrow's own has quotes all over
            self._file.write(header_line(schema.names, self._delimiter))
            options = arrow_csv.WriteOptions(delimiter=self._delimiter, include_header=False)
            self._writer = arrow_csv.CSVWriter(self._file, schema, write_options=options)

    def close(self) -> None:
        """Finish the file.

        Raises:
            OSError: If it cannot be written.
        """
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        if self._part is not None:
            self._part.finish()
        else:
            self._file.flush()

    def _drop(self) -> None:
        with suppress(Exception):
            if self._writer is not None:
                self._writer.close()
        self._writer = None
        if self._part is not None:
            self._part.drop()
            self._part = None

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self._drop()


class _PlainCsv:
    """Rows of Python's values as CSV."""

    def __init__(self, file: Any, delimiter: str) -> None:
        self._file, self._delimiter = file, delimiter

    def write(self, rows: Sequence[Sequence[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode())

    def close(self) -> None:
        """Do nothing: the file is not its own."""


class _Stdout:
    """Standard output as a file of bytes that is not closed."""

    def __init__(self) -> None:
        self._buffer: BinaryIO = sys.stdout.buffer
        self.closed = False

    def write(self, content: Any) -> int:
        return self._buffer.write(bytes(content))

    def flush(self) -> None:
        self._buffer.flush()

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self._buffer.flush()


def header_line(names: Sequence[str], delimiter: str = ",") -> bytes:
    """Return the first line of a CSV file.

    Example:
        >>> header_line(["id", 'the "best", really'])
        b'id,"the ""best"", really"\\n'
    """
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def _kind_of(path: str) -> str:
    kind = _KINDS.get(Path(path).suffix.lower())
    if kind is None:
        raise DataError.because(
            f"--out: the name {path!r} does not determine the kind of file",
            expected=f"a name that ends with {', '.join(_KINDS)}; or - for CSV to the terminal",
        )
    return kind
