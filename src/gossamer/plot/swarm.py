"""Points next to each other where there are many: a swarm, without any randomness."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_CELLS: Final = 120
_SMOOTH: Final = 3.0  # cells


def spread(values: Floats, most: float = 0.4) -> Floats:
    """Return how far each point stands from the line, from -`most` to `most`.

    The swarm is as wide as points are dense, and filled evenly: neighbours in value get the places
    of van der Corput's sequence, which always halves the largest gap that is left.

    Args:
        values: Where the points stand on the line.
        most: Half the width of the swarm where it is densest.

    Example:
        >>> spread(np.array([0.0, 0.0, 0.0, 9.0])).round(2)
        array([ 0. , -0.1,  0.1,  0. ])
    """
    n_points = len(values)
    low, high = float(values.min()), float(values.max())
    cell = np.zeros(n_points, dtype=np.int64)
    if high > low:
        cell = np.minimum((values - low) / (high - low) * _CELLS, _CELLS - 1).astype(np.int64)
    counts = np.bincount(cell, minlength=_CELLS).astype(np.float64)
    reach = np.arange(-int(3 * _SMOOTH), int(3 * _SMOOTH) + 1)
    kernel = np.exp(-0.5 * (reach / _SMOOTH) ** 2)
    density = np.convolve(counts, kernel / kernel.sum(), mode="same")
    width = density[cell] / density.max()
    order = np.argsort(values, kind="stable")
    place = np.empty(n_points)
    place[order] = 2 * van_der_corput(n_points) - 1
    # A point that has its cell to itself, or nearly so, stands on the line.
    alone = np.minimum((counts[cell] - 1) / 4, 1.0)
    offsets: Floats = place * width * most * alone + 0.0  # no minus before zero
    return offsets


def van_der_corput(n: int) -> Floats:
    """Return the first numbers of the sequence 1/2, 1/4, 3/4, 1/8, 5/8, ...

    Example:
        >>> van_der_corput(4)
        array([0.5  , 0.25 , 0.75 , 0.125])
    """
    left = np.arange(1, n + 1)
    found = np.zeros(n)
    share = 0.5
    while left.any():
        found += (left & 1) * share
        left >>= 1
        share /= 2
    return found
