"""From paths to a source of rows."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.data.chunks.source import Source
from gossamer.data.files.file_kinds import kind_of
from gossamer.data.files.find import find_files, names_files
from gossamer.errors import DataError

if TYPE_CHECKING:
    from gossamer.data.text import TextOptions


def is_binary_dataset(data: Any) -> bool:
    """Whether this is the path of one file that `save_binary` may have written.

    Raises:
        DataError: If there is no such file, or it cannot be read.
    """
    if not isinstance(data, (str, os.PathLike)):
        return False
    path = Path(data).expanduser()
    return path.is_file() and kind_of(path) == "binary"


def open_files(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    header: bool | None = None,
    text_columns: Collection[str] = (),
    options: TextOptions | None = None,
) -> Source:
    """Open files of one kind, whose rows follow each other.

    Args:
        data: A path, a pattern, a folder, or a list of them.
        header: Whether the first line of text files has names; None: found out.
        text_columns: Names of columns that are text, whatever they look like.
        options: What the user said about numbers, dates and missing values in text files.

    Raises:
        DataError: If there is no file, one cannot be read, or they do not belong together.
    """
    assert names_files(data)
    paths = find_files(data)
    kinds = {path: kind_of(path) for path in paths}
    first = paths[0]
    for path, kind in kinds.items():
        if kind != kinds[first]:
            raise DataError.because(
                "the files are of different kinds",
                found=f"{path} ({kind})",
                expected=f"{kinds[first]}, as {str(first)!r}",
            )
    if kinds[first] == "binary":
        raise DataError.because(
            "files of save_binary() are read one at a time",
            got=[str(path) for path in paths],
            expected="a single path",
        )
    # Each kind is imported when it is needed: pyarrow is large.
    if kinds[first] == "svm":
        from gossamer.data.files.svm import SvmFiles

        return SvmFiles(paths)
    if kinds[first] == "csv":
        from gossamer.data.files.delimited import DelimitedFiles

        return DelimitedFiles(paths, header, text_columns, options)
    if kinds[first] == "json lines":
        from gossamer.data.files.columnar import JsonFiles

        return JsonFiles(paths)
    if kinds[first] == "parquet":
        from gossamer.data.files.columnar import ParquetFiles

        return ParquetFiles(paths)
    from gossamer.data.files.columnar import ArrowFiles

    return ArrowFiles(paths)
