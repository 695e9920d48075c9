"""Sums of labels over categories, exact and in the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError

# Bits of the fixed-point sums; one less than an int64 has, for the sign.
_SUM_BITS: Final = 62


@dataclass(frozen=True, eq=False)
class TargetSums:
    """Labels and weights as integers: sums are exact, so that they tell nothing of later rows.

    Attributes:
        targets: int64 (targets, rows): label x weight, in `target_units`.
        weight: int64 (rows), in `weight_unit`; None: 1 each.
        prior: float64, the mean of each target.
        total: The sum of all weights, in the units that the user gave them in.
        prior_weight: How much the prior counts, in the same units.
    """

    targets: npt.NDArray[np.int64]
    target_units: npt.NDArray[np.float64]
    weight: npt.NDArray[np.int64] | None
    weight_unit: float
    prior: npt.NDArray[np.float64]
    total: float
    prior_weight: float = 0.0

    @classmethod
    def of(cls, targets: Any, weight: Any, n_rows: int) -> TargetSums:
        """Check labels and weights, and make them integers; the prior counts for nothing yet.

        Args:
            targets: One number per row, or targets x rows.
            weight: One number per row; None: 1 each.
            n_rows: Rows.

        Raises:
            DataError: If they are not finite, or not as many as the rows.
        """
        table = np.atleast_2d(np.asarray(targets, dtype=np.float64))
        if table.ndim != 2 or table.shape[1] != n_rows or not len(table):
            raise _unusable(
                "labels and codes differ in rows", got=table.shape, expected=str(n_rows)
            )
        if not np.isfinite(table).all():
            raise _unusable("a label is not finite", expected="finite numbers")
        if weight is None:
            weights, weight_unit, total = None, 1.0, float(n_rows)
        else:
            given = np.asarray(weight, dtype=np.float64)
            if given.shape != (n_rows,) or not np.all((given >= 0) & np.isfinite(given)):
                raise _unusable("weights cannot be used", expected=f"{n_rows} finite numbers >= 0")
            table = table * given
            weights, weight_unit = _fixed_point(given)
            total = int(weights.sum()) * weight_unit
            if total == 0:
                raise _unusable("weight is 0 for every row", expected="a row that counts")
        parts = [_fixed_point(values) for values in table]
        units = np.array([unit for _, unit in parts])
        fixed = np.stack([values for values, _ in parts])
        prior = fixed.sum(axis=1) * units / total
        return cls(fixed, units, weights, weight_unit, prior, total)

    def shrink(self, rows: float) -> TargetSums:
        """Let the prior count for so many rows of average weight.

        Raises:
            DataError: If that is not a number above 0.
        """
        if not (np.isfinite(rows) and rows > 0):
            raise _unusable("prior_weight is out of range", got=rows, expected="> 0")
        return replace(self, prior_weight=rows * self.total / self.targets.shape[1])

    def mean(
        self, sums: npt.NDArray[np.int64], total: npt.NDArray[np.int64], target: int
    ) -> npt.NDArray[np.float32]:
        """The statistic of one target: the mean of a category, shrunk to the prior."""
        above = sums * self.target_units[target] + self.prior_weight * self.prior[target]
        mean: npt.NDArray[np.float64] = above / (total * self.weight_unit + self.prior_weight)
        return mean.astype(np.float32)


def class_targets(label: npt.NDArray[Any], n_classes: int) -> npt.NDArray[np.float32]:
    """Return what is averaged for labels that are classes: targets x rows.

    Two classes need one target. With more, there is one for every class but the most common: the
    shares of all classes add up to 1.

    Example:
        >>> class_targets(np.array([0, 2, 1, 2]), 3)
        array([[1., 0., 0., 0.],
               [0., 0., 1., 0.]], dtype=float32)
    """
    label = np.asarray(label).astype(np.int64)
    if n_classes == 2:
        return label[None].astype(np.float32)
    common = int(np.argmax(np.bincount(label, minlength=n_classes)))
    classes = [k for k in range(n_classes) if k != common]
    return np.stack([label == k for k in classes]).astype(np.float32)


def encode_in_order(
    keys: npt.NDArray[Any],
    rows: npt.NDArray[np.int64],
    sums: TargetSums,
    out: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
    """Encode rows that are contiguous by key, and within a key in the random order.

    Args:
        keys: Of the rows in this order.
        rows: Their numbers.
        sums: Labels and weights.
        out: (statistics, rows), filled in; one more than targets: the last is for counts.

    Returns:
        The distinct keys and their statistics from all rows.
    """
    n_rows = len(keys)
    is_first = np.ones(n_rows, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], n_rows) - 1
    lengths = last - first + 1

    def running(values: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], ...]:
        """Sums over the rows before each row of its key, and over all rows of each key."""
        upto = np.cumsum(values)
        start = upto[first] - values[first]
        return upto - values - np.repeat(start, lengths), upto[last] - start

    if sums.weight is None:
        before, total = np.arange(n_rows) - np.repeat(first, lengths), lengths
    else:
        before, total = running(sums.weight[rows])
    table = np.empty((len(first), len(out)), dtype=np.float32)
    for t, target in enumerate(sums.targets):
        sum_before, sum_total = running(target[rows])
        out[t, rows] = sums.mean(sum_before, before, t)
        table[:, t] = sums.mean(sum_total, total, t)
    if len(out) > len(sums.targets):
        out[-1, rows] = np.repeat(lengths, lengths)
        table[:, -1] = lengths
    return keys[first].astype(np.uint64), table


def _fixed_point(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], float]:
    """Numbers as integers in units of a power of two, such that no sum of them overflows."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return np.zeros(len(values), dtype=np.int64), 1.0
    exponent = int(np.frexp(largest)[1]) + len(values).bit_length() - _SUM_BITS
    return np.rint(np.ldexp(values, -exponent)).astype(np.int64), float(np.ldexp(1.0, exponent))


def _unusable(what: str, **details: Any) -> DataError:
    return DataError.because(f"target statistics: {what}", **details)
