"""Thresholds of XGBoost: float32(x) < t there, x <= t in float64 here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# What infinity would be if exponents went on: float32 rounds to it what is nearer to it than to
# the largest number.
_BEYOND = 2.0**128


def to_ours(threshold: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the largest float64 that rounds to a float32 below each threshold.

    `x <= to_ours(t)` is `float32(x) < t` for every float64 x.

    Args:
        threshold: Any but NaN and minus infinity, below which there is nothing.

    Example:
        >>> t = np.array([1.0], dtype=np.float32)
        >>> x = np.nextafter(to_ours(t), 2.0)
        >>> bool(to_ours(t).astype(np.float32) < t), bool(x.astype(np.float32) < t)
        (True, False)
    """
    with np.errstate(over="ignore", under="ignore"):
        below = np.nextafter(threshold, np.float32(-np.inf))
        middle = (_widen(below) + _widen(threshold)) / 2  # exact: both have 24 bits
        # A number halfway is rounded to the one of even bits; infinity counts as even.
        is_even = below.view(np.uint32) & 1 == 0
        return np.where(is_even, middle, np.nextafter(middle, -np.inf))


def to_theirs(threshold: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the smallest float32 above each threshold.

    `x < to_theirs(t)` is `x <= t` for every finite float32 x.

    Example:
        >>> to_theirs(np.array([1.0, np.inf]))
        array([1.0000001,       inf], dtype=float32)
    """
    with np.errstate(over="ignore", under="ignore"):
        near = threshold.astype(np.float32)
        above = np.nextafter(near, np.float32(np.inf))
    return np.where(near.astype(np.float64) > threshold, near, above)


def _widen(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    return np.clip(values.astype(np.float64), -_BEYOND, _BEYOND)
