"""From values to places on the page, and where the marks of an axis stand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` lie between the places `start` and `end`.

    Example:
        >>> Scale(0, 10, 100, 200)(5)
        array(150.)
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, values: Any) -> npt.NDArray[np.float64]:
        """Return the places; values outside are moved to the ends."""
        half = np.asarray(values, np.float64) / 2  # halves: the range itself may overflow
        share = (half - self.low / 2) / (self.high / 2 - self.low / 2)
        return np.asarray(self.start + (self.end - self.start) * np.clip(share, 0.0, 1.0))


def span_of(*values: Any, include: tuple[float, ...] = ()) -> tuple[float, float]:
    """Return the lowest and the highest finite value, never the same.

    Example:
        >>> span_of([1, 5], [3, float("inf")]), span_of([2, 2])
        ((1.0, 5.0), (1.0, 3.0))
    """
    parts = [np.asarray(part, np.float64).ravel() for part in (*values, include)]
    whole = np.concatenate(parts)
    whole = np.clip(whole[np.isfinite(whole)], -1e300, 1e300)
    if len(whole) == 0:
        return 0.0, 1.0
    low, high = float(whole.min()), float(whole.max())
    # Marks need numbers between the ends.
    if high / 2 - low / 2 <= 1e-9 * max(abs(low), abs(high)) or high - low < 1e-290:
        half = max(abs(low) / 2, 1e-9 if low else 1.0)
        return low - half, high + half
    return low, high


def with_room(span: tuple[float, float], share: float = 0.04) -> tuple[float, float]:
    """Return ends a little further apart, so that nothing touches the edges.

    Example:
        >>> with_room((0.0, 100.0))
        (-4.0, 104.0)
    """
    low, high = span
    room = share * (high - low) if abs(low) < 1e300 and abs(high) < 1e300 else 0.0
    return low - room, high + room


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round values between two ends, 1, 2 or 5 times a power of ten apart.

    Example:
        >>> nice_ticks(0, 1), nice_ticks(-3, 17)
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0, 15.0])
    """
    rough = (high / most - low / most) * 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(-math.floor(math.log10(step)), 0)
    return [round(i * step, min(digits, 300)) + 0.0 for i in range(first, last + 1)]


def tick_texts(ticks: list[float]) -> list[str]:
    """Return the labels at the marks of an axis: with as many digits as set them apart.

    Example:
        >>> tick_texts([0.0, 0.25, 0.5]), tick_texts([0.0, 2e6]), tick_texts([1000.0, 2000.0])
        (['0', '0.25', '0.5'], ['0', '2M'], ['1000', '2000'])
        >>> tick_texts([0.0, 40000.0])
        ['0', '40k']
    """
    largest = max((abs(tick) for tick in ticks), default=0.0)
    for least, size, unit in ((1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if least <= largest < 1e12:
            return [f"{tick / size:g}{unit}" if tick else "0" for tick in ticks]
    if largest >= 1e12 or 0 < largest < 1e-4:
        return [f"{tick:.3g}" for tick in ticks]
    # Without thousands separators: the axis may have years.
    return [f"{tick:.6f}".rstrip("0").rstrip(".") for tick in ticks]
