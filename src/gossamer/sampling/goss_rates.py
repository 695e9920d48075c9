"""How many rows GOSS should keep and draw: the fewest that hold a target error, or, for a given
number of rows, the shares with the smallest error.

Write s for the length of a row's gradient, a for the share kept and b for the share drawn from the
rest. To the sum of gradients over all n rows, whose own noise is sqrt(n mean(s^2)), sampling adds
an error of at most e times that noise, where

    e^2 = (1 - a)^2 mean(s^2 of the rest) (1/b - 1/(1 - a)) / mean(s^2)
        = q ((1 - a)/b - 1)         with q = sum(s^2 of the rest) / sum(s^2):

the variance of a simple random sample without replacement. (Theorem 3.2 of the LightGBM paper
bounds the same error with C_ab = (1 - a)/sqrt(b) max(s of the rest); here a mean takes the place of
the maximum.) Given a, the target is met by b = (1 - a) q / (q + e^2).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

# The native histogram counts scores by the leading 12 of their 31 bits.
_SHIFT: Final = 19
_MIDDLE: Final = (np.arange(4096, dtype=np.uint32) << _SHIFT) | np.uint32(1 << (_SHIFT - 1))
_LARGEST: Final = np.float32(np.finfo(np.float32).max).view(np.uint32)
# The square of a score in the middle of each bin; an infinite one counts as the largest number.
_SQUARE: Final = np.minimum(_MIDDLE, _LARGEST).view(np.float32).astype(np.float64) ** 2
# Rows that one drawn row may stand for. The formula does not look at hessians; they need some rows
# as well where a few gradients dwarf all others.
_HEAVIEST: Final = 32


class Counts(NamedTuple):
    """Rows kept for their gradients, and rows drawn from the others."""

    n_top: int
    n_other: int


def choose_counts(histogram: npt.NDArray[np.uint32], error: float) -> Counts:
    """Choose the fewest rows that hold the target error.

    Args:
        histogram: Rows by their score, from `GradientSampler.histogram`. Whole bins are kept or
            not; within a bin a score counts as its middle (which is off by 3 % at most).
        error: The target e.

    Example:
        >>> histogram = np.zeros(4096, dtype=np.uint32)
        >>> histogram[2000] = 10_000  # all gradients are of one size
        >>> choose_counts(histogram, error=1.0)
        Counts(n_top=1, n_other=5000)
        >>> histogram[2032] = 1000  # and some four times as large
        >>> choose_counts(histogram, error=1.0)
        Counts(n_top=1000, n_other=2778)
    """
    n_rest, q = _rest(histogram)
    n_other = np.ceil(np.maximum(n_rest * q / (q + error**2), n_rest / _HEAVIEST))
    n_rows = n_rest[-1]
    n_used = n_rows - n_rest + n_other
    best = len(n_used) - 1 - int(np.argmin(n_used[::-1]))  # of equals the one that keeps least
    n_top = max(1, int(n_rows - n_rest[best]))
    return Counts(n_top, min(int(n_other[best]), int(n_rows) - n_top))


def divide_counts(histogram: npt.NDArray[np.uint32], n_used: int) -> Counts:
    """Divide a number of rows into kept and drawn so that the error is smallest.

    Args:
        histogram: Rows by their score, as for `choose_counts`.
        n_used: Rows to use in all.

    Example:
        >>> histogram = np.zeros(4096, dtype=np.uint32)
        >>> histogram[2000] = 10_000  # all gradients are of one size: no reason to keep any
        >>> divide_counts(histogram, 3000)
        Counts(n_top=1, n_other=2999)
        >>> histogram[2032] = 1000  # and some four times as large
        >>> divide_counts(histogram, 3000)
        Counts(n_top=1000, n_other=2000)
    """
    n_rest, q = _rest(histogram)
    n_rows = n_rest[-1]
    n_other = n_used - (n_rows - n_rest)
    is_possible = n_other >= np.maximum(n_rest / _HEAVIEST, 1.0)
    is_possible[-1] = True
    error = np.full(len(q), np.inf)
    error[is_possible] = (q * (n_rest / np.maximum(n_other, 1.0) - 1.0))[is_possible]
    best = len(error) - 1 - int(np.argmin(error[::-1]))
    n_top = max(1, int(n_rows - n_rest[best]))
    return Counts(n_top, min(n_used, int(n_rows)) - n_top)


def _rest(
    histogram: npt.NDArray[np.uint32],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Rows that are not kept, and their share q of the squares, for every border between bins.

    Entry i keeps all bins from the i-th filled one on; the last entry keeps nothing.
    """
    bins = np.flatnonzero(histogram)
    count = histogram[bins].astype(np.float64)
    n_rest = np.append(0.0, np.cumsum(count))
    squares = np.append(0.0, np.cumsum(count * _SQUARE[bins]))
    return n_rest, squares / squares[-1]
