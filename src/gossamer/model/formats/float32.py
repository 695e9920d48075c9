"""Thresholds between float64 and float32: libraries that round values to float32 decide alike."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_LARGEST: Final = float(np.finfo(np.float32).max)
# Halfway from the largest float32 to 2^128, where rounding gives infinity.
_TO_INFINITY: Final = (_LARGEST + 2.0**128) / 2


def round_down(threshold: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return the largest float32 at most each threshold: float32 values decide alike.

    Example:
        >>> round_down([0.1, 0.5, 1e300])
        array([9.9999994e-02, 5.0000000e-01, 3.4028235e+38], dtype=float32)
    """
    exact = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = exact.astype(np.float32)
        below = np.nextafter(near, np.float32(-np.inf))
    return np.where(near > exact, below, near)


def before_rounding(threshold: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return thresholds for values as they are, where values are rounded to float32 first.

    Every float64 x is at most the new threshold exactly if float32(x) is at most the old one.

    Example:
        >>> float(before_rounding(1.0)) == 1 + 2**-24  # halfway to the next float32, rounded to 1
        True
    """
    low = np.asarray(round_down(threshold))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # replaced below
        high: npt.NDArray[Any] = np.nextafter(low, np.float32(np.inf))
        half = (low.astype(np.float64) + high.astype(np.float64)) / 2
    half = np.where(low == -np.inf, -_TO_INFINITY, np.where(high == np.inf, _TO_INFINITY, half))
    # A value halfway is rounded to the one of even last bit; 2^128 would have been even.
    is_even = low.view(np.int32) % 2 == 0
    with np.errstate(under="ignore"):
        result = np.where(is_even, half, np.nextafter(half, -np.inf))
    return np.where(low == np.inf, np.inf, result)
