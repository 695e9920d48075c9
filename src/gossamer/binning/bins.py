"""`Binning`: the boundaries of the bins of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError


class MissingKind(IntEnum):
    """What counts as missing; the native core and the files use the same numbers."""

    NAN = 0
    ZERO = 1  # zero as well as NaN
    NAN_IS_ZERO = 2  # nothing: NaN is read as zero


@dataclass(frozen=True, eq=False)
class Binning:
    """Where the bins of every column begin and end.

    A value belongs to the first bin `b` of its column with `value <= upper[b]`. Columns with one
    value only cannot split and are left out; the others are the features, numbered from 0. Bins of
    a categorical feature are its categories, and what lies between them.

    Attributes:
        n_columns: Columns of the user's table.
        columns: The column of each feature (int32, increasing).
        upper: Upper bounds of the bins of all features, one after another; each ends with +inf.
        offsets: Feature f has the bounds `upper[offsets[f]:offsets[f + 1]]`.
        missing_kind: What counts as missing.
        category: For each of the bounds the category that the bin holds; -1: none that is known,
            or the feature is numeric. None: all features are numeric.
        may_miss: Features of which some training row may be missing (int8 flags); None: all.
            Known when the bins were found from every row; files do not keep it.
        zero_share: Share of zeros of each feature in the sample; None: not known. Files do not
            keep it.
    """

    n_columns: int
    columns: npt.NDArray[np.int32]
    upper: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    missing_kind: MissingKind
    category: npt.NDArray[np.int32] | None = None
    may_miss: npt.NDArray[np.int8] | None = None
    zero_share: npt.NDArray[np.float64] | None = None

    @property
    def n_features(self) -> int:
        """Number of columns that can split."""
        return len(self.columns)

    @property
    def n_value_bins(self) -> npt.NDArray[np.int64]:
        """Bins of each feature, without the one for missing values."""
        return np.diff(self.offsets)

    def upper_of(self, feature: int) -> npt.NDArray[np.float64]:
        """Upper bounds of one feature's bins."""
        return self.upper[self.offsets[feature] : self.offsets[feature + 1]]

    @property
    def is_categorical(self) -> npt.NDArray[np.bool_]:
        """Which features are categorical."""
        if self.category is None:
            return np.zeros(self.n_features, dtype=bool)
        return np.maximum.reduceat(self.category, self.offsets[:-1]) >= 0

    def categories_of(self, feature: int) -> npt.NDArray[np.int32]:
        """Category of each bin of one feature, -1 for none; empty: it is numeric."""
        if self.category is None:
            return np.empty(0, np.int32)
        found = self.category[self.offsets[feature] : self.offsets[feature + 1]]
        return found if (found >= 0).any() else found[:0]

    def is_same(self, other: Binning) -> bool:
        """Whether all bins of the two are the same."""
        if self is other:
            return True
        mine, theirs = self.to_arrays(), other.to_arrays()
        return (
            self.n_columns == other.n_columns
            and self.missing_kind == other.missing_kind
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
        )

    def beside(self, right: Binning) -> Binning:
        """Return the bins of these columns and of those to the right.

        Raises:
            DataError: If they differ in what counts as missing.
        """
        if self.missing_kind != right.missing_kind:
            raise DataError.because(
                "the data sets differ in what is missing",
                got=right.missing_kind.name,
                expected=self.missing_kind.name,
                hint="Use the same use_missing and zero_as_missing for both.",
            )
        return Binning(
            self.n_columns + right.n_columns,
            np.concatenate([self.columns, right.columns + np.int32(self.n_columns)]),
            np.concatenate([self.upper, right.upper]),
            np.concatenate([self.offsets, right.offsets[1:] + self.offsets[-1]]),
            self.missing_kind,
            self._category_beside(right),
            _joined(self.may_miss, right.may_miss),
            _joined(self.zero_share, right.zero_share),
        )

    def _category_beside(self, right: Binning) -> npt.NDArray[np.int32] | None:
        if self.category is None and right.category is None:
            return None
        none = (np.full(len(bins.upper), -1, np.int32) for bins in (self, right))
        found = (self.category, right.category)
        return np.concatenate([n if c is None else c for n, c in zip(none, found, strict=True)])

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that a file keeps; `from_arrays` is the way back."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "columns": self.columns,
            "upper": self.upper,
            "offsets": self.offsets,
        }
        return arrays if self.category is None else arrays | {"category": self.category}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, npt.NDArray[Any]], n_columns: int, missing_kind: int
    ) -> Binning:
        """Make a binning from what a file keeps, and check it.

        Raises:
            DataError: If the arrays are not a binning.
        """
        try:
            binning = cls(
                n_columns,
                arrays["columns"],
                arrays["upper"],
                arrays["offsets"],
                MissingKind(missing_kind),
                arrays.get("category"),
            )
        except (KeyError, ValueError) as error:
            raise DataError.because(f"the bins are incomplete ({error})") from None
        binning._check()
        return binning

    def _check(self) -> None:
        for name, dtype in (("columns", np.int32), ("upper", np.float64), ("offsets", np.int64)):
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1:
                raise _broken(f"{name} has a wrong type or shape")
        if len(self.offsets) != self.n_features + 1:
            raise _broken("offsets and columns differ in length")
        if self.offsets[0] != 0 or self.offsets[-1] != len(self.upper):
            raise _broken("offsets do not cover the bounds")
        n_bins = self.n_value_bins
        if np.any(n_bins < 1) or np.any(n_bins > 65535):
            raise _broken("a column has no bins, or more than 65,535")
        if np.any(np.diff(self.columns) <= 0):
            raise _broken("columns are not increasing")
        if self.n_features and not 0 <= self.columns[0] <= self.columns[-1] < self.n_columns:
            raise _broken("a column does not exist")
        self._check_categories()
        last = self.offsets[1:] - 1
        if np.any(self.upper[last] != np.inf):
            raise _broken("the last bound of a column is not infinity")
        inside = np.ones(max(len(self.upper) - 1, 0), dtype=bool)
        inside[last[:-1]] = False  # from one column to the next there is no order
        with np.errstate(invalid="ignore"):
            if not np.all(self.upper[1:][inside] > self.upper[:-1][inside]):
                raise _broken("bounds are not increasing")

    def _check_categories(self) -> None:
        category = self.category
        if category is None:
            return
        if category.dtype != np.int32 or category.shape != self.upper.shape:
            raise _broken("category has a wrong type or shape")
        if np.any(category < -1):
            raise _broken("a category is negative")
        for feature in np.flatnonzero(self.is_categorical):
            found = self.categories_of(int(feature))
            known = found >= 0
            if np.any(np.diff(found[known]) <= 0):
                raise _broken("categories are not increasing")
            # (a category ends just below the next one; in older files halfway)
            upper, last = self.upper_of(int(feature))[known], found[known] + 1.0
            is_end = (upper == np.nextafter(last, -np.inf)) | (upper == last - 0.5)
            if found[-1] != -1 or not is_end.all():
                raise _broken("categories and bounds differ")


def _joined(
    left: npt.NDArray[Any] | None, right: npt.NDArray[Any] | None
) -> npt.NDArray[Any] | None:
    return None if left is None or right is None else np.concatenate([left, right])


def _broken(what: str) -> DataError:
    return DataError.because(f"the bins cannot be used: {what}")
