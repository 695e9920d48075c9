"""pyarrow: imported when a file is read, and its errors as ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from gossamer.data.names import listing
from gossamer.errors import DataError, message


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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises about a file into errors that name it.

    Raises:
        DataError: Instead of pyarrow's errors and those of the system.
    """
    pyarrow = need_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, pyarrow.ArrowMemoryError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(
            message(
                f"the file {str(path)!r} cannot be read ({' '.join(reason.split()).rstrip('.')})",
                hint="Is it complete?" if isinstance(error, pyarrow.ArrowInvalid) else "",
            )
        ) from None


def check_columns(path: Path, names: Sequence[str]) -> None:
    """Check that no two columns have the same name.

    Raises:
        DataError: If two have.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            message(
                f"the file {str(path)!r} has columns of the same name: {listing(twice)}",
                expected="names that differ",
            )
        )


def check_same_columns(
    path: Path, names: Sequence[str], first: Path, expected: Sequence[str]
) -> None:
    """Check that a file has the columns of the first one; their order does not matter.

    Raises:
        DataError: If it has others.
    """
    missing = [name for name in expected if name not in set(names)]
    extra = [name for name in names if name not in set(expected)]
    if missing or extra:
        parts = [f"lacks {listing(missing)}"] * bool(missing)
        parts += [f"has also {listing(extra)}"] * bool(extra)
        raise DataError(
            message(
                f"the files differ in columns: {str(path)!r} {' and '.join(parts)}",
                expected=f"the columns of {str(first)!r}",
            )
        )
