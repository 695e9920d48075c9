"""What kind of file this is: by its first bytes, and for text by its name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final, Literal, cast

from gossamer.errors import DataError

Kind = Literal["parquet", "arrow", "arrow stream", "csv", "json lines", "svm", "binary"]

_BY_SUFFIX: Final[dict[str, Kind]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".psv": "csv",
    ".svm": "svm",
    ".libsvm": "svm",
    ".svmlight": "svm",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
_COMPRESSED: Final = (".gz", ".bz2", ".xz", ".zst", ".zip")
_GZIP: Final = b"\x1f\x8b"
_BZIP2: Final = b"BZh"
_XZ: Final = b"\xfd7zXZ\x00"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_ZIP: Final = b"PK\x03\x04"
# Formats that are not read: first bytes -> name, and what to do.
_OTHERS: Final = {
    b"\xd0\xcf\x11\xe0": ("an Excel workbook (.xls)", "pandas.read_excel reads it"),
    b"ORC": ("an ORC file", "pyarrow.orc.read_table reads it"),
    b"\x89HDF": ("an HDF5 file", "pandas.read_hdf reads it"),
    b"\x93NUMPY": ("a NumPy array", "numpy.load reads it"),
    b"SQLite format 3": ("an SQLite database", "pandas.read_sql reads it"),
    b"Obj\x01": ("an Avro file", "polars.read_avro reads it"),
    b"\x80\x04": ("a pickle", "pandas.read_pickle reads it"),
    b"\x80\x05": ("a pickle", "pandas.read_pickle reads it"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it first"),
    b"Rar!": ("a RAR archive", "unpack it first"),
    b"%PDF": ("a PDF document", "a table in text is needed"),
}
# What decompression raises.
UNREADABLE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
# A label, then index:value or qid:value.
_SVM_LINE: Final = re.compile(rb"\s*[-+.\deE]+(\s+(qid|\d+):\S+)+\s*(#.*)?$")


def kind_of(path: Path) -> Kind:
    """Return the kind of a file.

    Raises:
        DataError: If it cannot be read, is empty, or is not what its name says.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "rows.txt")
        >>> _ = path.write_text("1 0:2.5 7:1\\n")
        >>> kind_of(path)
        'svm'
    """
    head = first_bytes(path)
    if not head:
        raise DataError.because(f"the file {str(path)!r} is empty")
    by_name = _BY_SUFFIX.get(_suffix(path))
    by_bytes = _by_bytes(head)
    if by_bytes is not None:
        return by_bytes
    _refuse_others(path, head)
    if by_name in ("parquet", "arrow"):
        raise DataError.because(
            f"{str(path)!r} is not {'a Parquet' if by_name == 'parquet' else 'an Arrow'} file, "
            "whatever its name says",
            hint=f"It begins with {head[:8]!r}. Is it cut off, or of another format?",
        )
    if by_name is None and head.lstrip()[:2] in (b'{"', b"{ "):
        return "json lines"
    return by_name or ("svm" if _looks_like_svm(head) else "csv")


def _refuse_others(path: Path, head: bytes) -> None:
    """Raise an error that names the format, if it is known but not read."""
    found = next((known for start, known in _OTHERS.items() if head.startswith(start)), None)
    text = head.lstrip()
    if found is None and text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"["):
        found = ("a JSON array", "pandas.read_json reads it; JSON lines (an object per line) work")
    if found is None and text[:5].lower() in (b"<html", b"<!doc", b"<?xml"):
        found = ("an HTML or XML page", "was it downloaded with an error?")
    if found is not None:
        raise DataError.because(
            f"{str(path)!r} is {found[0]}",
            expected="Parquet, Feather, Arrow, CSV, JSON lines or LibSVM",
            hint=f"{found[1][0].upper()}{found[1][1:]}.".replace("?.", "?"),
        )


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading; gzip, bzip2, xz, Zstandard and zip are decompressed.

    Raises:
        DataError: If it cannot be read.
        ImportError: If it is compressed with Zstandard, and pyarrow is not installed.
    """
    try:
        with path.open("rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):  # it may have no end
                raise DataError.because(f"{str(path)!r} is a device", expected="a file")
            head = file.read(8)
        if head.startswith(_GZIP):
            return cast(BinaryIO, gzip.open(path))
        if head.startswith(_BZIP2):
            return cast(BinaryIO, bz2.open(path))
        if head.startswith(_XZ):
            return cast(BinaryIO, lzma.open(path))
        if head.startswith(_ZSTD):
            from gossamer.data.files.arrow import need_pyarrow

            return cast(BinaryIO, need_pyarrow().CompressedInputStream(str(path), "zstd"))
        return _open_zip(path) if head.startswith(_ZIP) else path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None


def _open_zip(path: Path) -> BinaryIO:
    """Open the only file of a zip archive."""
    # RuntimeError: it is encrypted, or compressed in a way that Python does not know.
    damaged = (*UNREADABLE, RuntimeError, ValueError)
    try:
        archive = zipfile.ZipFile(path)
    except damaged as error:
        raise unreadable(path, error) from None
    names = [name for name in archive.namelist() if not name.endswith("/")]
    names = [name for name in names if not name.startswith("__MACOSX")]
    if "[Content_Types].xml" in names:
        raise DataError.because(
            f"{str(path)!r} is an Excel workbook or another Office document",
            expected="Parquet, Feather, Arrow, CSV, JSON lines or LibSVM",
            hint="Save the sheet as CSV, or pass pandas.read_excel(...) to Dataset.",
        )
    if len(names) != 1:
        raise DataError.because(
            f"the zip archive {str(path)!r} holds {len(names)} files",
            got=names[:5],
            expected="a single file",
            hint="Unpack it, and pass the files or their folder.",
        )
    try:
        return cast(BinaryIO, archive.open(names[0]))
    except damaged as error:
        raise unreadable(path, error) from None


def first_bytes(path: Path, n_bytes: int = 65_536) -> bytes:
    """Return the beginning of a file.

    Raises:
        DataError: If it cannot be read.
    """
    with open_bytes(path) as file:
        try:
            return file.read(n_bytes)
        except UNREADABLE as error:
            raise unreadable(path, error) from None


def first_lines(path: Path, n_lines: int = 1, n_bytes: int = 65_536) -> bytes:
    """Return the beginning of a text file: `n_bytes`, or more if that is not enough for the lines.

    Raises:
        DataError: If it cannot be read.
    """
    while True:
        head = first_bytes(path, n_bytes)
        if head.lstrip().count(b"\n") >= n_lines or len(head) < n_bytes:
            return head
        n_bytes *= 4


def unreadable(path: Path, error: Exception) -> DataError:
    """Return the error for a file that the system, or gzip, cannot read."""
    reason = getattr(error, "strerror", None) or str(error)
    return DataError.because(f"the file {str(path)!r} cannot be read ({reason})")


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _by_bytes(head: bytes) -> Kind | None:
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1":
        return "arrow"
    if head[:4] == b"\xff\xff\xff\xff":
        return "arrow stream"
    # safetensors: the length of a JSON object, then that object.
    is_short = int.from_bytes(head[:8], "little") < 100_000_000
    return "binary" if len(head) > 8 and is_short and head[8:9] == b"{" else None


def _looks_like_svm(head: bytes) -> bool:
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    return bool(lines) and _SVM_LINE.match(lines[0]) is not None
