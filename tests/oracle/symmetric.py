"""Splits of a level: one for all leaves, with the largest sum of gains.

A leaf in which the split leaves a side too few rows, or gains nothing, adds nothing to the sum. It
is not split, and takes part in the next level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bins import ColumnBins
from .split import SplitParams, Sums, candidates, divide_bins, is_too_small, leaf_score, sum_bins

# (feature, bin_idx, missing_left)
Candidate = tuple[int, int, bool]
# What is left of a gain of zero after rounding is not a gain.
NOISE = 1e-9


@dataclass(frozen=True)
class LevelLeaf:
    """A leaf of a level: a histogram of each feature, its sums, its output before shrinkage."""

    histograms: list[np.ndarray]
    sums: Sums
    value: float


def gain_in_leaf(
    leaf: LevelLeaf, columns: list[ColumnBins], candidate: Candidate, params: SplitParams
) -> float:
    """What a candidate gains in one leaf; 0: the leaf is not split."""
    feature, bin_idx, missing_left = candidate
    sides = divide_bins(columns[feature], bin_idx, missing_left)
    left, right = (sum_bins(leaf.histograms[feature], bins) for bins in sides)
    if is_too_small(left, params) or is_too_small(right, params):
        return 0.0
    gain = sum(leaf_score(side, params, leaf.value) for side in (left, right))
    gain -= leaf_score(leaf.sums, params, leaf.value)
    return gain if gain > NOISE else 0.0


def level_gains(
    leaves: list[LevelLeaf], columns: list[ColumnBins], params: SplitParams
) -> dict[Candidate, float]:
    """The gain of every candidate, in the order in which ties are settled."""
    return {
        (feature, bin_idx, missing_left): sum(
            gain_in_leaf(leaf, columns, (feature, bin_idx, missing_left), params) for leaf in leaves
        )
        for feature, column in enumerate(columns)
        for bin_idx, missing_left in candidates(column)
    }
