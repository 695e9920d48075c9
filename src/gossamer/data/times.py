"""Dates and times as numbers: seconds.

A moment counts from the beginning of 1970, where it has no time zone as its clock shows it, else in
UTC; a span of time is as long as it is; a time of day counts from midnight. The unit in which a
table keeps them does not matter, missing ones are NaN.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Kinds of NumPy types that are moments, and spans of time.
TIME_KINDS: Final = "Mm"
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12}


def to_seconds(times: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return dates, times or spans of time as seconds.

    Args:
        times: Of NumPy's kinds of times, in any unit and shape.

    Example:
        >>> to_seconds(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
        array([86400.,    nan])
        >>> to_seconds(np.array([1500], dtype="timedelta64[ms]"))
        array([1.5])
    """
    unit, count = np.datetime_data(times.dtype)
    if unit not in _PER_SECOND or count != 1:
        finer = unit in ("ms", "us", "ns", "ps", "fs", "as")
        unit = "ps" if finer else "s"
        times = times.astype(f"{times.dtype.kind}8[{unit}]")
    per_second = _PER_SECOND[unit]
    numbers = times.view(np.int64) if times.dtype.isnative else times.astype("i8")
    # Whole seconds and the rest apart: the same moment is the same number in every unit.
    rest = np.fmod(numbers, per_second)
    seconds = (numbers - rest) // per_second + rest / per_second
    return np.where(np.isnat(times), np.nan, seconds)
