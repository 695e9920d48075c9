"""pyarrow: imported when a file is read, and its errors as ours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from gossamer.data.files.file_kinds import UNREADABLE
from gossamer.data.table.names import listing
from gossamer.errors import DataError

_ABSURD: Final = 2**40  # bytes of one allocation


def need_pyarrow(module: str = "pyarrow") -> Any:
    """Import a module of pyarrow.

    Raises:
        ImportError: If it is not there; the message says how to get it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "Parquet, Feather, Arrow and CSV files are read through pyarrow: "
            'pip install "gossamer[files]"'
        ) from error


def reading(path: Path) -> AbstractContextManager[None]:
    """Turn what pyarrow raises about a file into errors that name it; see `reading_from`."""
    return reading_from(f"the file {str(path)!r}")


@contextmanager
def reading_from(what: str) -> Iterator[None]:
    """Turn what pyarrow raises about a table into errors that name it.

    Raises:
        DataError: Instead of errors of pyarrow and of the system.
    """
    pyarrow = need_pyarrow()
    damaged = (pyarrow.ArrowInvalid, pyarrow.ArrowMemoryError, UnicodeDecodeError)
    try:
        yield
    except (pyarrow.ArrowException, *UNREADABLE, UnicodeDecodeError) as error:
        if isinstance(error, pyarrow.ArrowMemoryError) and not _is_absurd(error):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError.because(
            f"{what} cannot be read ({' '.join(reason.split()).rstrip('.')})",
            hint="Is it complete?" if isinstance(error, damaged) else "",
        ) from None


def _is_absurd(error: Exception) -> bool:
    """Whether so much memory was asked for that a damaged number in the file must be the reason."""
    size = re.search(r"size (\d+)", str(error))
    return size is not None and int(size[1]) > _ABSURD


def check_columns(what: str, names: Sequence[str]) -> None:
    """Check that no two columns have the same name.

    Raises:
        DataError: If two have.
    """
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise DataError.because(
            f"{what} has columns of the same name: {listing(twice)}",
            expected="names that differ",
        )


def check_same_columns(
    path: Path, names: Sequence[str], first: Path, expected: Sequence[str]
) -> None:
    """Check that a file has the columns of the first one; their order does not matter.

    Raises:
        DataError: If it has others.
    """
    here, there = set(names), set(expected)
    missing = [name for name in expected if name not in here]
    extra = [name for name in names if name not in there]
    if missing or extra:
        parts = [f"lacks {listing(missing)}"] * bool(missing)
        parts += [f"has also {listing(extra)}"] * bool(extra)
        raise DataError.because(
            f"the files differ in columns: {str(path)!r} {' and '.join(parts)}",
            expected=f"the columns of {str(first)!r}",
        )
