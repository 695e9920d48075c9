"""Whole numbers that float64 cannot tell apart: long ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gossamer.data.table.columns import is_missing
from gossamer.data.table.frames import is_frame, is_pandas
from gossamer.data.table.names import listing
from gossamer.logger import warn

_LARGEST: Final = 2**53  # up to here float64 has all whole numbers
_TYPES: Final = ("int64", "uint64", "int64[pyarrow]", "uint64[pyarrow]")


def warn_of_large_integers(data: Any) -> bool:
    """Warn if columns hold whole numbers beyond 2**53, some of which become equal.

    Args:
        data: A frame, columns by name or an array; nothing is known about other tables.

    Returns:
        Whether there are any.

    Example:
        >>> warn_of_large_integers({"id": np.array([1, 2**53])})
        False
    """
    large = [str(name) for name, column in _integers(data) if len(column) and not _fits(column)]
    if large:
        several = len(large) > 1
        warn(
            f"{'columns' if several else 'column'} {listing(large)} "
            f"{'hold' if several else 'holds'} whole numbers beyond 2**53, which are rounded: "
            "different ids may become equal. Convert such ids to text if they are categories, or "
            "leave them out."
        )
    return bool(large)


def _integers(data: Any) -> Sequence[tuple[object, Any]]:
    """Return the columns of integers of 64 bits, with their names."""
    if isinstance(data, Mapping):
        return [(name, v) for name, v in data.items() if _is_long(getattr(v, "dtype", None))]
    if isinstance(data, np.ndarray):
        is_large = data.ndim == 2 and data.size and _is_long(data.dtype) and not _fits(data)
        return list(enumerate(data.T)) if is_large else []
    if is_pandas(data):
        types = {dtype for dtype in set(data.dtypes) if _is_long(dtype)}
        found = [i for i, dtype in enumerate(data.dtypes) if dtype in types]
        return [(data.columns[i], data.iloc[:, i]) for i in found]
    if not is_frame(data):
        return []
    import narwhals

    table = narwhals.from_native(data, eager_only=True)
    return [(name, table[name]) for name, dtype in table.schema.items() if _is_long(dtype)]


def _is_long(dtype: object) -> bool:
    return str(dtype).lower() in _TYPES


def _fits(column: Any) -> bool:
    """Whether all values of a column of integers are exact in float64."""
    lowest, highest = column.min(), column.max()
    if is_missing(lowest) or is_missing(highest):
        return True  # all of them are missing
    return int(lowest) >= -_LARGEST and int(highest) <= _LARGEST
