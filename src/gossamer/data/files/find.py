"""Which files a user's path, pattern, folder or list stands for."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from gossamer.data.files.beside import without_side_files
from gossamer.errors import DataError
from gossamer.params.suggest import did_you_mean


class MissingFileError(DataError, FileNotFoundError):
    """There is no such file."""


def names_files(data: object) -> bool:
    """Whether this is a path, a pattern, or a list of them.

    Example:
        >>> names_files("a.csv"), names_files([Path("a.csv"), "b.csv"]), names_files(["a", 1])
        (True, True, False)
    """
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(item, (str, os.PathLike)) for item in data)
    return isinstance(data, (str, os.PathLike))


def find_files(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """Return the files that are meant, in the order given; of patterns and folders, sorted.

    Of a folder all files are taken but those that begin with "." or "_", further folders too.
    Files that hold weights, ... of another one (`rows.csv.weight`) are left out.

    Raises:
        DataError: If there is nothing.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("b.csv", "a.csv", "_log"):
        ...     _ = (folder / name).write_text("x")
        >>> [path.name for path in find_files(folder)]
        ['a.csv', 'b.csv']
        >>> [path.name for path in find_files(str(folder / "b*.csv"))]
        ['b.csv']
    """
    items = list(data) if isinstance(data, (list, tuple)) else [data]
    found: list[Path] = []
    for item in items:
        found += _find(os.fspath(item))  # type: ignore[arg-type]
    return found


def _find(text: str) -> list[Path]:
    path = Path(text).expanduser()
    if path.is_dir():
        try:
            files = sorted(p for p in path.rglob("*") if p.is_file() and not _is_hidden(p, path))
        except OSError as error:
            raise DataError.because(f"the folder {text!r} cannot be searched ({error})") from None
        files = without_side_files(files)
        _check_not_partitioned(path, files)
        if not files:
            raise DataError.because(
                f"there are no data files in the folder {text!r}",
                expected="files whose names do not begin with '.' or '_'",
            )
        return files
    if path.exists():
        return [path]
    if glob.has_magic(text):
        matching = sorted(Path(p) for p in glob.glob(str(path), recursive=True))
        files = without_side_files([p for p in matching if p.is_file()])
        if files:
            return files
        raise DataError.because(
            f"no file matches the pattern {text!r}",
            expected=f"files in {_folder(path)!r}",
        )
    raise MissingFileError.because(f"there is no file {text!r}", hint=similar_files(path))


def _check_not_partitioned(folder: Path, files: Sequence[Path]) -> None:
    """Refuse folders named "year=2020": values of a column that the files do not have."""
    for file in files:
        for part in file.relative_to(folder).parts[:-1]:
            if "=" in part:
                raise DataError.because(
                    f"the folder {str(folder)!r} is partitioned: folders' names hold a column",
                    got=part,
                    expected="all columns in the files",
                    hint=f"Use {str(folder / '**' / '*')!r} to go without it.",
                )


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _folder(path: Path) -> str:
    return str(Path(os.path.abspath(path)).parent)


def similar_files(path: Path) -> str:
    """Return a sentence about a missing file: a file with a similar name, or the folder searched.

    Example:
        >>> similar_files(Path("/no_such_folder/rows.csv"))
        "There is no folder '/no_such_folder' either."
    """
    folder = Path(_folder(path))
    if not folder.is_dir():
        return f"There is no folder {str(folder)!r} either."
    try:
        names = sorted(p.name for p in folder.iterdir())
    except OSError:
        names = []
    return did_you_mean(path.name, names) or f"Looked in {str(folder)!r}."
