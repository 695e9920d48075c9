"""Dates as text, on pages and plots: the model knows them as seconds since 1970."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

# Of the year 9999: later moments are shown as numbers.
LAST_SECOND: Final = 253_402_300_799

_MOST_LETTERS: Final = 45  # that fit below an axis
# From years to minutes: NumPy's unit, how many of it, and the letters of an ISO date to show.
_DATE_STEPS: Final = (
    *(("Y", n, 4) for n in (100, 50, 20, 10, 5, 2, 1)),
    *(("M", n, 7) for n in (6, 3, 2, 1)),
    *(("D", n, 10) for n in (14, 7, 2, 1)),
    *(("h", n, 16) for n in (12, 6, 3, 1)),
    *(("m", n, 16) for n in (30, 15, 5, 1)),
)


def date_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return moments between two ends, in seconds since 1970, and their texts.

    Example:
        >>> date_ticks(1735689600.0, 1766880000.0)[1]
        ['2025-01', '2025-04', '2025-07', '2025-10']
        >>> date_ticks(0.0, 10 * 86400.0)[1]
        ['1970-01-01', '1970-01-05', '1970-01-09']
    """
    first, last = (np.datetime64(round(end), "s") for end in (low, high))
    for unit, step, length in _DATE_STEPS:
        begin = int(first.astype(f"M8[{unit}]").astype(int))
        end = int(last.astype(f"M8[{unit}]").astype(int))
        moments = np.arange(-(-begin // step) * step, end + 1, step).astype(f"M8[{unit}]")
        moments = moments[(moments.astype("M8[s]") >= first) & (moments.astype("M8[s]") <= last)]
        if len(moments) >= 3:
            moments = moments[:: -(-len(moments) * length // _MOST_LETTERS)]
            texts = [str(m.astype("M8[s]")).replace("T", " ")[:length] for m in moments]
            return moments.astype("M8[s]").astype(np.float64).tolist(), texts
    ticks = [float(math.ceil(low))]
    return ticks, [date_text(ticks[0])]


def date_text(seconds: float) -> str:
    """Return a moment, in seconds since 1970, as a date; with the time unless it is midnight.

    Example:
        >>> date_text(86400), date_text(86400 + 3660)
        ('1970-01-02', '1970-01-02 01:01')
    """
    if not abs(seconds) < LAST_SECOND:
        return f"{seconds:g}"
    words = str(np.datetime64(round(seconds), "s")).replace("T", " ")
    return words.removesuffix(":00").removesuffix(" 00:00")
