"""How a text file separates its values, and whether its first line has names."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.data.files.file_kinds import first_lines
from gossamer.errors import DataError

DELIMITERS: Final = (",", ";", "\t", "|")
_BY_SUFFIX: Final = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
# Words for a missing value: those that pandas and pyarrow know.
MISSING: Final = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_NUMBER: Final = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|\s*[-+]?inf(inity)?\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes:
        delimiter: What separates two values.
        header: Whether the first line has names.
        first: The values of the first line.
    """

    delimiter: str
    header: bool
    first: tuple[str, ...]


def find_encoding(path: Path) -> str:
    """Return the encoding of a text file, as its beginning shows.

    It is UTF-16 if it begins with a byte order mark, else UTF-8 if it can be, else Windows-1252,
    else Latin-1, which has a character for each byte.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "rows.csv")
        >>> _ = path.write_bytes("Größe\\n1\\n".encode("latin-1"))
        >>> find_encoding(path)
        'cp1252'
    """
    head = first_lines(path)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        # The last character may be cut off.
        codecs.getincrementaldecoder("utf-8")().decode(head)
        return "utf-8"
    except UnicodeDecodeError:
        pass
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def find_dialect(path: Path, header: bool | None = None, encoding: str = "utf-8") -> Dialect:
    """Look at the first line of a file.

    It has names unless every value in it is a number or missing. The delimiter is the one of
    comma, semicolon, tab and bar that is most frequent in it, outside of quotes; the names
    `.tsv` and `.psv` decide that too.

    Args:
        path: The file.
        header: Whether the first line has names, if that is known.
        encoding: The encoding of the file.

    Raises:
        DataError: If the file is not text.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "rows.csv")
        >>> _ = path.write_text("size;town\\n1,5;Rome\\n")
        >>> find_dialect(path)
        Dialect(delimiter=';', header=True, first=('size', 'town'))
    """
    text = first_lines(path).decode(encoding, "replace")
    if "\0" in text:
        raise has_nul(path)
    text = text.removeprefix("\ufeff").lstrip("\r\n")
    if not text.strip():
        raise DataError.because(f"the file {str(path)!r} has only blank lines")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    by_name = next((_BY_SUFFIX[s] for s in reversed(suffixes) if s in _BY_SUFFIX), None)
    delimiter = by_name or _most_frequent(text)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    try:
        first = tuple(next(rows, []))
    except csv.Error as error:
        raise DataError.because(
            f"the first line of {str(path)!r} cannot be read ({error})"
        ) from None
    if header is None:
        header = not all(value in MISSING or _NUMBER.fullmatch(value.lower()) for value in first)
    return Dialect(delimiter, header, first)


def _most_frequent(text: str) -> str:
    is_quoted, counts = False, dict.fromkeys(DELIMITERS, 0)
    for character in text:
        if character == '"':
            is_quoted = not is_quoted
        elif not is_quoted and character in "\r\n":
            break
        elif not is_quoted and character in counts:
            counts[character] += 1
    return max(counts, key=lambda delimiter: counts[delimiter])


def has_nul(path: Path) -> DataError:
    """Return the error for a text file with a byte that is not text."""
    return DataError.because(
        f"the file {str(path)!r} has a NUL byte, so it is not UTF-8 text",
        hint="Is it UTF-16 without a byte order mark (--encoding utf-16-le), or not text?",
    )
