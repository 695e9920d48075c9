"""Histograms: sum of gradients, sum of hessians and row count per bin of a feature."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def build_histogram(
    feature_bins: np.ndarray,
    n_bins: int,
    gradients: np.ndarray,
    hessians: np.ndarray,
    rows: Iterable[int],
) -> np.ndarray:
    """Histogram of one feature over some rows, of shape (n_bins, 3)."""
    histogram = np.zeros((n_bins, 3))
    for row in rows:
        histogram[feature_bins[row]] += (gradients[row], hessians[row], 1)
    return histogram
