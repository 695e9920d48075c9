"""Dates and times as numbers: seconds.

A moment counts from the beginning of 1970, where it has no time zone as its clock shows it, else in
UTC; a span of time is as long as it is; a time of day counts from midnight. The unit in which a
table keeps them does not matter, missing ones are NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Kinds of NumPy types that are moments, and spans of time.
TIME_KINDS: Final = "Mm"
_ISO: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)?[T ]?(?P<clock>\d\d:\d\d(:\d\d(\.(?P<fraction>\d{1,9}))?)?)?"
    r"(Z|(?P<sign>[-+])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?"
)
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


def is_time(kind: type) -> bool:
    """Whether this is a type of dates, times or spans of time, Python's or NumPy's.

    Example:
        >>> is_time(date), is_time(np.timedelta64), is_time(float)
        (True, True, False)
    """
    return issubclass(kind, (date, time, timedelta, np.datetime64, np.timedelta64))


def seconds_of(value: Any) -> float:
    """Return one date, time or span of time as seconds.

    Example:
        >>> seconds_of(date(1970, 1, 2)), seconds_of(time(0, 1)), seconds_of(timedelta(days=1))
        (86400.0, 60.0, 86400.0)
        >>> seconds_of(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
        0.0
    """
    return float(to_seconds(np.array([_as_numpy(value)]))[0])


def parse_times(texts: Iterable[str]) -> list[float] | None:
    """Return dates, moments or times of day written as in ISO 8601 as seconds.

    Returns:
        One number for each text; None: some are written in another way.

    Example:
        >>> parse_times(["1970-01-02", "1970-01-01 00:00:01.5", "1970-01-01T01:00+01:00"])
        [86400.0, 1.5, 0.0]
        >>> parse_times(["00:01", "23:00:00"])
        [60.0, 82800.0]
        >>> parse_times(["1970", "Rome"]) is None
        True
    """
    moments, offsets, unit = [], [], "us"
    for text in texts:
        match = _ISO.fullmatch(text.strip())
        if match is None or not (match["day"] or match["clock"]):
            return None
        moments.append(f"{match['day'] or '1970-01-01'}T{match['clock'] or '00:00'}")
        hours, minutes = int(match["hours"] or 0), int(match["minutes"] or 0)
        offsets.append((hours * 3600 + minutes * 60) * (-1 if match["sign"] == "-" else 1))
        unit = "ns" if match["fraction"] and len(match["fraction"]) > 6 else unit
    try:
        local = np.array(moments, dtype=f"M8[{unit}]")
    except ValueError:  # a 13th month, a 25th hour
        return None
    times: list[float] = to_seconds(local - np.array(offsets, dtype="m8[s]")).tolist()
    return times


def _as_numpy(value: Any) -> np.datetime64 | np.timedelta64:
    if isinstance(value, np.generic):
        return value  # type: ignore[return-value]
    for method in ("to_datetime64", "to_timedelta64"):  # of pandas: finer than microseconds, UTC
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(timezone.utc).replace(tzinfo=None)
        return np.datetime64(value, "us")
    if isinstance(value, date):
        return np.datetime64(value, "D")
    if isinstance(value, time):
        value = timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
    return np.timedelta64(value, "us")
