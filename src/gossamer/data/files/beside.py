"""Files next to the data file that hold one field each, as in LightGBM: `train.txt.weight`, ..."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.files.file_kinds import UNREADABLE, open_bytes, unreadable
from gossamer.errors import DataError
from gossamer.logger import info

# What a name ends in -> the field of the data set.
_FIELDS: Final = {
    ".weight": "weight",
    ".init": "init_score",
    ".query": "group",
    ".group": "group",
    ".position": "position",
}
_BETWEEN: Final = re.compile(r"[\s,;]+")


def without_side_files(paths: Sequence[Path]) -> list[Path]:
    """Leave out the files that belong to another one of the list.

    Example:
        >>> [p.name for p in without_side_files([Path("a.csv"), Path("a.csv.weight")])]
        ['a.csv']
    """
    there = set(paths)
    return [p for p in paths if p.suffix not in _FIELDS or p.with_suffix("") not in there]


def read_side_files(paths: Sequence[Path]) -> dict[str, npt.NDArray[Any]]:
    """Return the fields that files next to the data files hold: field -> values.

    `.weight` has a number for each row, `.init` a score for each row and output, `.query` (or
    `.group`) the rows of each query, `.position` a name or a number for each row.

    Args:
        paths: The data files, in the order of the rows.

    Raises:
        DataError: If only some of the files have one, or one cannot be read.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "rows.csv")
        >>> _ = path.with_name("rows.csv.weight").write_text("1\\n0.5\\n")
        >>> read_side_files([path])
        {'weight': array([1. , 0.5])}
    """
    found: dict[str, npt.NDArray[Any]] = {}
    for suffix, field in _FIELDS.items():
        files = [path.with_name(path.name + suffix) for path in paths]
        there = [file for file in files if file.is_file()]
        if not there or field in found:
            continue
        if len(there) < len(files):
            absent = next(file for file in files if file not in there)
            raise DataError.because(
                f"only some of the data files have a file {suffix!r} next to them",
                found=f"{len(there)} of {len(files)}",
                expected=f"{str(absent)!r} too, or none of them",
            )
        found[field] = np.concatenate([_read(file, field) for file in there])
        info(f"{field} is read from {', '.join(map(str, there))}.")
    return found


def _read(path: Path, field: str) -> npt.NDArray[Any]:
    with open_bytes(path) as file:
        try:
            lines = [line.strip() for line in file.read().decode("utf-8").splitlines()]
        except (*UNREADABLE, UnicodeDecodeError) as error:
            raise unreadable(path, error) from None
    if field == "position":
        return np.array([line for line in lines if line])
    rows = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            rows.append([float(value) for value in _BETWEEN.split(line)])
        except ValueError:
            raise _wrong_line(path, number, line, "numbers") from None
        if len(rows[-1]) != len(rows[0]) or (field != "init_score" and len(rows[-1]) > 1):
            expected = (
                "as many numbers as the first line" if field == "init_score" else "one number"
            )
            raise _wrong_line(path, number, line, expected)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
    return values[:, 0] if values.shape[1] == 1 else values


def _wrong_line(path: Path, number: int, line: str, expected: str) -> DataError:
    return DataError.because(
        f"line {number} of {str(path)!r} cannot be used", got=line, expected=expected
    )
