"""Columns to bins.

A column has one bin per upper bound: a value belongs to the first bin ``b`` with
``value <= upper_bounds[b]``; the last bound is +inf. A missing bin, where there is one, comes last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

LARGEST = float(np.finfo(np.float64).max)
ZERO = 1e-35  # values this close to zero are zero, as in LightGBM


@dataclass(frozen=True)
class ColumnBins:
    """The bins of one column."""

    upper_bounds: tuple[float, ...]  # ascending, the last one +inf
    has_missing: bool
    zero_as_missing: bool = False

    @property
    def n_value_bins(self) -> int:
        """Bins that hold values; also the index of the missing bin, if there is one."""
        return len(self.upper_bounds)

    @property
    def n_bins(self) -> int:
        """All bins, the missing one included."""
        return self.n_value_bins + self.has_missing

    def is_missing(self, value: float) -> bool:
        """Whether the value goes to the missing bin."""
        return self.has_missing and _is_missing(value, self.zero_as_missing)

    def bin_of(self, value: float) -> int:
        """Bin of one value. NaN in a column without a missing bin counts as 0, as in LightGBM."""
        if self.is_missing(value):
            return self.n_value_bins
        value = 0.0 if math.isnan(value) else value
        return next(b for b, bound in enumerate(self.upper_bounds) if value <= bound)


def find_bins(
    values: np.ndarray,
    max_bin: int = 255,
    min_data_in_bin: int = 3,
    use_missing: bool = True,
    zero_as_missing: bool = False,
) -> ColumnBins:
    """Bins of one column from its (sampled) values, NaN included.

    Without ``use_missing`` NaN counts as 0, and ``zero_as_missing`` means nothing, as in LightGBM.
    """
    if not use_missing:
        present = [0.0 if math.isnan(value) else float(value) for value in values]
        return ColumnBins((*find_cuts(present, max_bin, min_data_in_bin), math.inf), False)

    present = [float(value) for value in values if not _is_missing(value, zero_as_missing)]
    has_missing = len(present) < len(values)
    cuts = find_cuts(present, max_bin - has_missing, min_data_in_bin)
    return ColumnBins((*cuts, math.inf), has_missing, zero_as_missing)


def bin_table(table: np.ndarray, columns: list[ColumnBins]) -> np.ndarray:
    """Bins of a whole table, of shape (rows, columns)."""
    binned = np.empty(table.shape, dtype=np.int64)
    for row in range(table.shape[0]):
        for feature, column in enumerate(columns):
            binned[row, feature] = column.bin_of(float(table[row, feature]))
    return binned


def find_cuts(values: list[float], max_bin: int, min_data_in_bin: int) -> list[float]:
    """Cuts between the bins of the values (no NaN among them): at most ``max_bin - 1``."""
    distinct = sorted(set(values))
    counts = [0] * len(distinct)
    position = {value: i for i, value in enumerate(distinct)}
    for value in values:
        counts[position[value]] += 1

    if len(distinct) <= max_bin:
        cut_after = _cut_few_values(counts, min_data_in_bin)
    else:
        cut_after = _cut_many_values(counts, max_bin, min_data_in_bin)
    return [midpoint(distinct[i], distinct[i + 1]) for i in cut_after]


def midpoint(low: float, high: float) -> float:
    """A cut with ``low <= cut < high``: halfway, or at the largest double next to an infinity."""
    if high == math.inf:
        return LARGEST
    if low == -math.inf:
        middle = -LARGEST
    else:
        middle = (low + high) / 2
        if math.isinf(middle):  # the sum overflowed
            middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def _cut_few_values(counts: list[int], min_data_in_bin: int) -> list[int]:
    """A bin per value, but neighbours join until a bin has ``min_data_in_bin`` rows."""
    cut_after = []
    n_in_bin = 0
    for i in range(len(counts) - 1):
        n_in_bin += counts[i]
        if n_in_bin >= min_data_in_bin:
            cut_after.append(i)
            n_in_bin = 0
    return cut_after


def _cut_many_values(counts: list[int], max_bin: int, min_data_in_bin: int) -> list[int]:
    """Bins of about equal size; a value as frequent as the mean bin closes its bin ("heavy")."""
    total = sum(counts)
    max_bin = max(1, min(max_bin, total // min_data_in_bin))
    heavy = [count >= total / max_bin for count in counts]
    rest_bins = max_bin - sum(heavy)
    rest_rows = sum(count for count, is_heavy in zip(counts, heavy, strict=True) if not is_heavy)
    mean = _divide(rest_rows, rest_bins)

    cut_after: list[int] = []
    n_in_bin = 0
    for i in range(len(counts) - 1):
        if len(cut_after) == max_bin - 1:
            break
        if not heavy[i]:
            rest_rows -= counts[i]
        n_in_bin += counts[i]
        next_is_heavy = heavy[i + 1] and n_in_bin >= max(1, mean / 2)
        if heavy[i] or n_in_bin >= mean or next_is_heavy:
            cut_after.append(i)
            n_in_bin = 0
            if not heavy[i]:
                rest_bins -= 1
                mean = _divide(rest_rows, rest_bins)
    return cut_after


def _divide(rows: int, bins: int) -> float:
    """Mean size of a bin; without bins left, no size is enough."""
    return rows / bins if bins > 0 else math.inf


def _is_missing(value: float, zero_as_missing: bool) -> bool:
    return math.isnan(value) or (zero_as_missing and abs(value) <= ZERO)
