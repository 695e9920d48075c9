"""The best split of a leaf, by LightGBM's conventions.

Notation: G, H, n are the sums of gradients, hessians and the row count of a leaf, w is its output,
S(G) = sign(G) * max(|G| - lambda_l1, 0).

* output: w = -S(G) / (H + lambda_l2), clipped to ±max_delta_step, then smoothed towards the output
  of the parent: w * (n/path_smooth) / (n/path_smooth + 1) + w_parent / (n/path_smooth + 1);
* score: S(G)² / (H + lambda_l2), or with an output that is clipped or smoothed
  -(2 S(G) w + (H + lambda_l2) w²), which is the same where w is not;
* gain of a split: score(left) + score(right) - score(leaf). It must exceed min_gain_to_split.

Ties: the higher gain wins; of equal gains the smaller feature, then the smaller bin, then missing
values to the right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .bins import ColumnBins


@dataclass(frozen=True)
class SplitParams:
    """What decides a split, with LightGBM's names and defaults."""

    min_data_in_leaf: int = 20
    min_sum_hessian_in_leaf: float = 1e-3
    min_gain_to_split: float = 0.0
    lambda_l1: float = 0.0
    lambda_l2: float = 0.0
    max_delta_step: float = 0.0  # 0: no limit
    path_smooth: float = 0.0  # 0: no smoothing


@dataclass(frozen=True)
class Split:
    """Rows with ``bin <= bin_idx`` go left; those in the missing bin as ``missing_left`` says."""

    gain: float
    feature: int
    bin_idx: int
    missing_left: bool


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of a leaf."""

    gradient: float
    hessian: float
    count: int


def sum_bins(histogram: np.ndarray, bins: list[int]) -> Sums:
    """Sums over some bins. ``fsum`` does not depend on the order, so equal halves tie exactly."""
    gradient, hessian, count = map(math.fsum, histogram[bins].T.tolist())
    return Sums(gradient, hessian, int(count))


def shrink_gradient(gradient: float, lambda_l1: float) -> float:
    """S(G)."""
    return math.copysign(max(abs(gradient) - lambda_l1, 0.0), gradient)


def leaf_output(sums: Sums, params: SplitParams, parent_output: float | None) -> float:
    """Output of a leaf; the root has no parent and is not smoothed."""
    denominator = sums.hessian + params.lambda_l2
    if denominator <= 0:
        return 0.0
    output = -shrink_gradient(sums.gradient, params.lambda_l1) / denominator
    if params.max_delta_step > 0:
        output = min(max(output, -params.max_delta_step), params.max_delta_step)
    if params.path_smooth > 0 and parent_output is not None:
        ratio = sums.count / params.path_smooth
        output = output * ratio / (ratio + 1) + parent_output / (ratio + 1)
    return output


def leaf_score(sums: Sums, params: SplitParams, parent_output: float | None) -> float:
    """Score of a leaf with the output it would get."""
    gradient = shrink_gradient(sums.gradient, params.lambda_l1)
    denominator = sums.hessian + params.lambda_l2
    if params.max_delta_step > 0 or params.path_smooth > 0:
        output = leaf_output(sums, params, parent_output)
        return -(2 * gradient * output + denominator * output * output)
    return gradient * gradient / denominator if denominator > 0 else 0.0


def candidates(column: ColumnBins) -> Iterator[tuple[int, bool]]:
    """Every (bin_idx, missing_left) of a column, in the order in which ties are settled."""
    for bin_idx in range(column.n_value_bins - 1):
        yield bin_idx, False
        if column.has_missing:
            yield bin_idx, True
    if column.has_missing:
        yield column.n_value_bins - 1, False  # values left, missing right


def divide_bins(
    column: ColumnBins, bin_idx: int, missing_left: bool
) -> tuple[list[int], list[int]]:
    """Bins that a split sends to the left and to the right."""
    left = list(range(bin_idx + 1))
    right = list(range(bin_idx + 1, column.n_value_bins))
    if column.has_missing:
        (left if missing_left else right).append(column.n_value_bins)
    return left, right


def find_best_split(
    histograms: list[np.ndarray],
    columns: list[ColumnBins],
    leaf: Sums,
    leaf_value: float,
    params: SplitParams,
) -> Split | None:
    """Best split of a leaf, or None. ``leaf_value`` is the leaf's own output, before shrinkage."""
    # Like its children would be, the leaf is smoothed towards its own output, as in LightGBM 4.7.
    own_score = leaf_score(leaf, params, leaf_value)
    best: Split | None = None
    for feature, (histogram, column) in enumerate(zip(histograms, columns, strict=True)):
        for bin_idx, missing_left in candidates(column):
            left, right = (
                sum_bins(histogram, bins) for bins in divide_bins(column, bin_idx, missing_left)
            )
            if is_too_small(left, params) or is_too_small(right, params):
                continue
            gain = (
                leaf_score(left, params, leaf_value)
                + leaf_score(right, params, leaf_value)
                - own_score
            )
            if gain > params.min_gain_to_split and (best is None or gain > best.gain):
                best = Split(gain, feature, bin_idx, missing_left)
    return best


def is_too_small(child: Sums, params: SplitParams) -> bool:
    """Whether a leaf may not be made because it holds too little; it always needs a row."""
    return (
        child.count < max(1, params.min_data_in_leaf)
        or child.hessian < params.min_sum_hessian_in_leaf
    )
