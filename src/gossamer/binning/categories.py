"""Bins of categorical columns: one for each category, and one for each gap between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.errors import DataError
from gossamer.logger import warn

# With a gap next to each of them, bins still have numbers of 16 bits.
_MAX_CATEGORIES: Final = 32_000

Column = npt.NDArray[Any]


class Bounds(NamedTuple):
    """Bounds of the bins of all columns, as the native core finds them."""

    upper: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    missing_seen: npt.NDArray[np.int8]
    zero_share: npt.NDArray[np.float64]

    def beside(self, right: Bounds) -> Bounds:
        """Return the bounds of further columns behind these."""
        return Bounds(
            np.concatenate([self.upper, right.upper]),
            np.concatenate([self.offsets, self.offsets[-1] + right.offsets[1:]]),
            np.concatenate([self.missing_seen, right.missing_seen]),
            np.concatenate([self.zero_share, right.zero_share]),
        )


class CategoryCounts(NamedTuple):
    """What a categorical column holds.

    Attributes:
        found: The categories, increasing.
        counts: Rows of each.
        n_missing: Rows of none.
        odd: The largest value that is a fraction or too large; None: there is none.
    """

    found: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    n_missing: int
    odd: float | None

    def add(self, more: CategoryCounts) -> CategoryCounts:
        """Return the counts of these and further rows.

        Example:
            >>> some = CategoryCounts(np.array([1, 4], np.int32), np.array([2, 1]), 0, None)
            >>> more = CategoryCounts(np.array([0, 4], np.int32), np.array([5, 5]), 3, None)
            >>> some.add(more)[:3]
            (array([0, 1, 4], dtype=int32), array([5, 2, 6]), 3)
        """
        found, places = np.unique(np.concatenate([self.found, more.found]), return_inverse=True)
        counts = np.zeros(len(found), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, more.counts]))
        odd = [value for value in (self.odd, more.odd) if value is not None]
        return CategoryCounts(
            found, counts, self.n_missing + more.n_missing, max(odd, default=None)
        )


def add_counts(
    total: Mapping[int, CategoryCounts] | None, more: Mapping[int, CategoryCounts]
) -> dict[int, CategoryCounts]:
    """Return the counts of each column after further rows; None: there were none before."""
    return dict(more) if total is None else {c: total[c].add(more[c]) for c in more}


def count_categories(
    matrix: Column | _native.SparseMatrix, columns: Sequence[int], n_threads: int
) -> dict[int, CategoryCounts]:
    """Count the categories of each of some columns."""
    wanted = np.asarray(sorted(columns), dtype=np.int32)
    found = _native.count_categories(matrix, wanted, n_threads)
    return {int(c): CategoryCounts(*counts) for c, counts in zip(wanted, found, strict=True)}


def with_categories(
    bounds: Bounds,
    counted: Mapping[int, CategoryCounts],
    names: Sequence[str],
    *,
    zero_is_missing: bool = False,
) -> tuple[
    npt.NDArray[np.float64],
    npt.NDArray[np.int64],
    npt.NDArray[np.int8],
    npt.NDArray[np.int32],
]:
    """Give categorical columns bins for their categories, instead of those for numbers.

    Returns:
        Bounds, offsets, missing seen, and the category of each bin, see `Binning`.

    Raises:
        DataError: If a column holds numbers that are too large.
    """
    uppers = np.split(bounds.upper, bounds.offsets[1:-1])
    categories = [np.full(len(upper), -1, dtype=np.int32) for upper in uppers]
    missing = bounds.missing_seen.copy()
    for column, (found, count, n_missing, odd) in counted.items():
        if odd is not None:
            _check_fractions(names[column], odd)
        is_known = found > 0 if zero_is_missing else found >= 0
        kept = choose_categories(found[is_known], count[is_known])
        uppers[column], categories[column] = bounds_between(kept)
        missing[column] = n_missing > 0 or not is_known.all()
    offsets = np.concatenate(([0], np.cumsum([len(upper) for upper in uppers])))
    return np.concatenate(uppers), offsets, missing, np.concatenate(categories)


def _check_fractions(name: str, odd: float) -> None:
    if odd > np.iinfo(np.int32).max:
        raise DataError.because(
            f"column {name!r} is categorical, but holds a value that is not a category",
            got=odd,
            expected="whole numbers from 0 to 2147483647; missing values as NaN or < 0",
            hint="Give categories as strings or as a pandas category.",
        )
    warn(
        f"Column {name!r} is categorical, but holds fractions such as {odd:g}: they are truncated "
        "to whole numbers. Give categories as strings or as a pandas category to keep them apart."
    )


def choose_categories(
    found: npt.NDArray[np.int32], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """Choose the categories that get a bin: all, or the most frequent; others are not known.

    Example:
        >>> choose_categories(np.array([1, 5, 7], np.int32), np.array([9, 1, 5]))
        array([1, 5, 7], dtype=int32)
    """
    if len(found) <= _MAX_CATEGORIES:
        return found
    most = np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]
    return np.sort(found[most])


def bounds_between(
    categories: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Return the upper bounds of the bins, and their categories; -1 is what lies between.

    Example:
        >>> bounds_between(np.array([0, 1, 5], np.int32))[0]
        array([-1.,  1.,  2.,  5.,  6., inf])
    """
    if len(categories) == 0:
        return np.array([np.inf]), np.array([-1], dtype=np.int32)
    # A bin ends just below the next whole number: fractions are cut off.
    below = np.where(categories == 0, -1.0, np.nextafter(categories, -np.inf, dtype=np.float64))
    end = np.nextafter(categories + 1.0, -np.inf)
    upper = np.stack([below, end], axis=1).ravel()
    owner = np.stack([np.full_like(categories, -1), categories], axis=1).ravel()
    is_new = np.concatenate(([True], np.diff(upper) > 0))
    # Where one category follows another, there is no gap: keep the bin of the former.
    is_gap = owner < 0
    is_kept = ~is_gap | is_new
    return (
        np.concatenate((upper[is_kept], [np.inf])),
        np.concatenate((owner[is_kept], [-1])).astype(np.int32),
    )


def is_constant(
    category: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    missing_seen: npt.NDArray[np.int8],
) -> npt.NDArray[np.bool_]:
    """Tell which columns are categorical and have no two categories to tell apart."""
    n_known = np.add.reduceat(category >= 0, offsets[:-1], dtype=np.int64)
    constant: npt.NDArray[np.bool_] = (n_known == 1) & (missing_seen == 0)
    return constant
