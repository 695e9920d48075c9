"""Thresholds of XGBoost: float32(x) < t there, x <= t in float64 here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.model.formats.float32 import before_rounding


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
    return before_rounding(below)


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
