"""`BinnedTable`: the table as the trainer sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning, find_bins
from gossamer.data.matrix import Table
from gossamer.params import Params
from gossamer.threads import resolve_threads

# With fewer rows, adding up the shared histograms costs more than the updates they save.
_MIN_ROWS_TO_SHARE: Final = 20_000


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table of bins, and where their boundaries are.

    Attributes:
        binning: The boundaries.
        bins: The native table.
    """

    binning: Binning
    bins: _native.BinMatrix

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.bins.n_rows

    def n_bins_of(self, column: int) -> int:
        """Bins of one of the user's columns, the one for missing values included."""
        feature = int(np.searchsorted(self.binning.columns, column))
        if feature == self.binning.n_features or self.binning.columns[feature] != column:
            return 1  # constant
        return int(self.binning.n_value_bins[feature] + self.bins.has_missing()[feature])


def bin_table(table: Table, params: Params) -> BinnedTable:
    """Find the bins of a table and fill them: training data.

    Example:
        >>> from gossamer.data.matrix import as_table
        >>> from gossamer.params import resolve
        >>> binned = bin_table(as_table([[0], [1], [1]]), resolve({"min_data_in_bin": 1}))
        >>> binned.bins.copy_column(0)
        array([0, 1, 1], dtype=uint16)
    """
    n_threads = resolve_threads(params.num_threads, *table.values.shape)
    binning = find_bins(table.values, params, n_threads)
    return _fill(table.values, binning, n_threads, is_training=True)


def bin_like(table: Table, binning: Binning, params: Params) -> BinnedTable:
    """Put a table into the bins of another one: validation data."""
    n_threads = resolve_threads(params.num_threads, *table.values.shape)
    return _fill(table.values, binning, n_threads, is_training=False)


def take_rows(binned: BinnedTable, rows: npt.NDArray[np.int64]) -> BinnedTable:
    """Copy some rows of a binned table."""
    columns = [binned.bins.copy_column(f)[rows] for f in range(binned.binning.n_features)]
    return from_columns(binned.binning, columns, len(rows))


def from_columns(
    binning: Binning, columns: list[npt.NDArray[np.uint16]], n_rows: int
) -> BinnedTable:
    """Make a binned table from the bins of each feature.

    Raises:
        ValueError: If a bin is out of range or a column has another length.
    """
    has_missing = np.zeros(len(columns), dtype=np.int8)
    for f, column in enumerate(columns):
        has_missing[f] = np.any(column == binning.n_value_bins[f])
    bins = _make(binning, n_rows, has_missing, is_training=True)
    for f, column in enumerate(columns):
        bins.set_column(f, column)
    bins.set_has_missing(has_missing)
    return BinnedTable(binning, bins)


def _fill(
    values: npt.NDArray[Any], binning: Binning, n_threads: int, *, is_training: bool
) -> BinnedTable:
    bins = _make(binning, len(values), binning.may_miss, is_training=is_training)
    bins.fill(values, is_training, n_threads)
    return BinnedTable(binning, bins)


def _make(
    binning: Binning, n_rows: int, may_miss: npt.NDArray[np.int8] | None, *, is_training: bool
) -> _native.BinMatrix:
    return _native.BinMatrix(
        binning.columns,
        binning.upper,
        binning.offsets,
        int(binning.missing_kind),
        n_rows,
        may_miss if is_training else None,
        is_training and n_rows >= _MIN_ROWS_TO_SHARE,
    )
