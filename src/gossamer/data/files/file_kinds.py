"""What kind of file this is: by its first bytes, and for text by its name."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import BinaryIO, Final, Literal, cast

from gossamer.errors import DataError, message

Kind = Literal["parquet", "arrow", "arrow stream", "csv", "svm", "binary"]

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
}
_GZIP: Final = b"\x1f\x8b"
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
        raise DataError(message(f"the file {str(path)!r} is empty"))
    by_name = _BY_SUFFIX.get(_suffix(path))
    by_bytes = _by_bytes(head)
    if by_bytes is not None:
        return by_bytes
    if by_name in ("parquet", "arrow"):
        raise DataError(
            message(
                f"{str(path)!r} is no {'Parquet' if by_name == 'parquet' else 'Arrow'} file, "
                "whatever its name says",
                hint=f"It begins with {head[:8]!r}. Is it cut off, or of another format?",
            )
        )
    return by_name or ("svm" if _looks_like_svm(head) else "csv")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading; what gzip compressed is decompressed.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            is_gzip = file.read(2) == _GZIP
        return cast(BinaryIO, gzip.open(path)) if is_gzip else path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None


def first_bytes(path: Path, n_bytes: int = 65_536) -> bytes:
    """Return the beginning of a file.

    Raises:
        DataError: If it cannot be read.
    """
    with open_bytes(path) as file:
        try:
            return file.read(n_bytes)
        except (OSError, EOFError, zlib.error) as error:
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
    return DataError(message(f"the file {str(path)!r} cannot be read ({reason})"))


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
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
