"""Whole numbers that float64 cannot tell apart: long ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gossamer.data.table.columns import is_missing
from gossamer.data.table.frames import frame_names, is_frame, is_pandas
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
    names: Sequence[object]
    if isinstance(data, Mapping):
        names = list(data)
        columns = [v if hasattr(v, "dtype") else np.empty(0) for v in data.values()]
    elif isinstance(data, np.ndarray):
        if data.ndim != 2 or str(data.dtype) not in _TYPES or not data.size:
            return False
        if _fits(data):
            return False
        names, columns = range(data.shape[1]), list(data.T)
    elif is_frame(data):
        names, columns = frame_names(data), _columns(data)
    else:
        return False
    large = [
        str(name)
        for name, column in zip(names, columns, strict=False)  # two of one name: refused later
        if str(column.dtype).lower() in _TYPES and len(column) and not _fits(column)
    ]
    if large:
        several = len(large) > 1
        warn(
            f"{'columns' if several else 'column'} {listing(large)} "
            f"{'hold' if several else 'holds'} whole numbers beyond 2**53, which are rounded: "
            "different ids may become equal. Convert such ids to text if they are categories, or "
            "leave them out."
        )
    return bool(large)


def _columns(frame: Any) -> list[Any]:
    if is_pandas(frame):
        return [frame.iloc[:, i] for i in range(frame.shape[1])]
    import narwhals

    table = narwhals.from_native(frame, eager_only=True)
    return [table.get_column(name) for name in table.columns]


def _fits(column: Any) -> bool:
    """Whether all values of a column of integers are exact in float64."""
    lowest, highest = column.min(), column.max()
    if is_missing(lowest) or is_missing(highest):
        return True  # all of them are missing
    return int(lowest) >= -_LARGEST and int(highest) <= _LARGEST
