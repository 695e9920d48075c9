"""`BinnedTable`: the table as the trainer sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning, find_bins
from gossamer.data.table.matrix import Table, Values
from gossamer.errors import DataError
from gossamer.params import Params
from gossamer.threads import resolve_threads, threads_to_train

# What sparse columns cost, if a lane of bytes costs 1 per row: each entry, and having any. Measured
# with 28 to 1,000 columns, 0.5 to 20 % of their values not zero, 31 and 255 leaves. Rows are split
# by looking for their entries; a byte of each row does that much faster.
SPARSE_COSTS: tuple[float, float] = (6.0, 144.0)
# With fewer rows, adding up the shared histograms costs more than the updates they save.
_MIN_ROWS_TO_SHARE: Final = 50_000

# Numbers of the native core.
ORDERS: Final = {"auto": 0, "degree": 1, "count": 2, "column": 3}


class RowWindow(NamedTuple):
    """Which rows of a larger table some rows are."""

    begin: int
    end: int
    n_rows: int  # of the larger table


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table of bins, and where their boundaries are.

    Attributes:
        binning: The boundaries.
        bins: The native table.
        choice: How the storage was chosen (training data only).
    """

    binning: Binning
    bins: _native.BinMatrix
    choice: Mapping[str, Any] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.bins.n_rows

    @property
    def is_whole(self) -> bool:
        """Whether all rows are here, and no other worker has some."""
        return True

    # ---- rows that several workers share; here they are all on this machine ----

    @property
    def window(self) -> RowWindow | None:
        """Which rows of `whole()` these are; None: all of them."""
        return None

    def own(self) -> BinnedTable:
        """Return the rows that a training on this machine keeps scores and labels of."""
        return self

    def whole(self) -> BinnedTable:
        """Return the rows of all workers."""
        return self

    def gather_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what all workers have for their rows (first dimension); all of them call this."""
        return values

    def gather_scores(self, score: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the scores of all workers' rows, class-major; all of them call this."""
        return score

    # ---- trees ----

    def make_grower(self, vector_leaves: bool) -> _native.Grower:
        """Return what grows trees on these rows; see `_native.Grower`."""
        return _native.Grower(self.bins, vector_leaves)

    def add_tree(
        self,
        tree: _native.Tree,
        score: npt.NDArray[np.float64],
        n_threads: int,
        rows: npt.NDArray[np.uint32] | None = None,
        values: npt.NDArray[np.float64] | None = None,
        raw: Values | None = None,
    ) -> None:
        """Add a tree's leaf values, or `values` (one or more per leaf), to the scores of rows."""
        _native.add_tree_to_scores(self.bins, tree, rows, score, n_threads, values, raw)

    def copy_column(self, feature: int) -> npt.NDArray[np.uint16]:
        """Return the bin of each row."""
        return self.bins.copy_column(feature)

    def copy_rows(self, rows: npt.NDArray[np.uint32]) -> _native.BinMatrix:
        """Return some of the rows."""
        return self.bins.take_rows(rows, 1)

    def beside(self, right: BinnedTable, n_threads: int) -> BinnedTable:
        """Return one table with the columns of both, which have the same rows."""
        binning = self.binning.beside(right.binning)
        bins = self.bins.beside(right.bins, self.binning.n_columns, n_threads)
        return BinnedTable(binning, bins, self.choice)

    def n_bins_of(self, column: int) -> int:
        """Bins of one of the user's columns, the one for missing values included."""
        feature = int(np.searchsorted(self.binning.columns, column))
        if feature == self.binning.n_features or self.binning.columns[feature] != column:
            return 1  # constant
        return int(self.binning.n_value_bins[feature] + self.bins.has_missing()[feature])


def bin_table(
    table: Table,
    params: Params,
    names: Sequence[str] | None = None,
    categorical: Sequence[int] = (),
    weight: npt.NDArray[np.float32] | None = None,
) -> BinnedTable:
    """Find the bins of a table and fill them: training data.

    Args:
        table: The user's table.
        params: Checked parameters.
        names: Names of the columns, for parameters that use them.
        categorical: Columns that hold categories.
        weight: Of each row; used with `weighted_bins` only.

    Example:
        >>> from gossamer.data.table.matrix import as_table
        >>> from gossamer.params import resolve
        >>> binned = bin_table(as_table([[0], [1], [1]]), resolve({"min_data_in_bin": 1}))
        >>> binned.bins.copy_column(0)
        array([0, 1, 1], dtype=uint16)
    """
    n_threads = threads_to_train(params.num_threads, table.n_rows, table.n_columns)
    counted = weight if params.weighted_bins else None
    binning = find_bins(table.values, params, n_threads, names, categorical, counted)
    return bin_values(table.values, binning, params, table.n_rows, n_threads)


def bin_values(
    values: Values, binning: Binning, params: Params, n_rows: int, n_threads: int
) -> BinnedTable:
    """Choose how a table is stored, and fill its bins.

    Args:
        values: The table, or some rows that stand for all of them.
        binning: The bins, found just now.
        params: Checked parameters.
        n_rows: Rows of the whole table.
        n_threads: Threads.
    """
    arguments: dict[str, Any] = {
        "columns": binning.columns,
        "upper": binning.upper,
        "offsets": binning.offsets,
        "missing_kind": int(binning.missing_kind),
        "category": binning.category,
        "share_lanes": params.enable_bundle and n_rows >= _MIN_ROWS_TO_SHARE,
        "bundle": params.enable_bundle,
        "sparse": params.is_enable_sparse,
        "max_conflict_rate": params.max_conflict_rate,
        "order": ORDERS[params.bundle_order],
        "costs": SPARSE_COSTS,
        "n_threads": n_threads,
    }
    try:
        if isinstance(values, _native.SparseMatrix):
            bins, choice = _native.bin_sparse(values, **arguments)
        else:
            assert binning.zero_share is not None  # found just now
            bins, choice = _native.bin_dense(
                values,
                may_miss=binning.may_miss,
                zero_share=binning.zero_share,
                **arguments,
            )
    except ValueError as error:
        if "missing value" not in str(error):
            raise
        raise DataError.because(
            "the table was changed while it was read",
            got="a missing value in a column that had none",
            hint="Stop the thread that writes to the table, or pass a copy.",
        ) from None
    return BinnedTable(binning, bins, choice)


def plan_storage(
    example: Values, binning: Binning, params: Params, n_rows: int, n_threads: int
) -> BinnedTable:
    """Choose by some rows how all of them are stored; return a table without rows.

    Args:
        example: Some rows of the table.
        binning: The bins, found just now.
        params: Checked parameters.
        n_rows: Rows of the whole table.
        n_threads: Threads.
    """
    like = bin_values(example, binning, params, n_rows, n_threads)
    stored = like.bins.storage()
    # Missing values that these rows lack move out of bundles and sparse columns. A column with a
    # place of its own has no second chance: there must be a bin for them.
    is_alone = np.ones(len(stored["may_miss"]), dtype=np.bool_)
    is_alone[stored["bundled"]] = is_alone[stored["loose"]] = False
    others_miss = is_alone if binning.may_miss is None else is_alone & (binning.may_miss != 0)
    stored["may_miss"] = stored["may_miss"] | others_miss.astype(np.int8)
    return BinnedTable(binning, _empty_bins(binning, params, n_rows, stored), like.choice)


def _empty_bins(
    binning: Binning, params: Params, n_rows: int, stored: Mapping[str, Any]
) -> _native.BinMatrix:
    return _native.BinMatrix(
        binning.columns,
        binning.upper,
        binning.offsets,
        int(binning.missing_kind),
        0,
        stored["may_miss"],
        binning.category,
        params.enable_bundle and n_rows >= _MIN_ROWS_TO_SHARE,
        stored["bundled"],
        stored["bundle_ends"],
        stored["loose"],
        stored["zero_share"],
    )


def correct_storage(
    plan: BinnedTable,
    params: Params,
    n_rows: int,
    has_missing: npt.NDArray[np.bool_],
    entry_counts: npt.NDArray[np.int64],
) -> BinnedTable | None:
    """Change the storage that was chosen by some rows, once more is known about all of them.

    Args:
        plan: What `plan_storage` returned.
        params: Checked parameters.
        n_rows: Rows of the whole table.
        has_missing: Whether a feature is missing in some row, with all rows stored like `plan`.
        entry_counts: For each feature the values that are stored as entries, apart from bundles.

    Returns:
        A table without rows that has a place for every value; None: `plan` has one already.
    """
    stored = plan.bins.storage()
    bundled, ends = stored["bundled"], stored["bundle_ends"]
    moves = entry_counts[bundled] > 0  # out of their bundles
    if not moves.any() and not (has_missing & (stored["may_miss"] == 0)).any():
        return None
    n_kept = np.concatenate([[0], np.cumsum(~moves)])[ends]
    corrected = {
        "may_miss": stored["may_miss"] | has_missing.astype(np.int8),
        "bundled": bundled[~moves],
        "bundle_ends": np.unique(n_kept[n_kept > 0]),  # without those that are empty now
        "loose": np.sort(np.concatenate([stored["loose"], bundled[moves]])),
        "zero_share": stored["zero_share"],
    }
    return BinnedTable(
        plan.binning, _empty_bins(plan.binning, params, n_rows, corrected), plan.choice
    )


def bin_like(table: Table, training: BinnedTable, params: Params) -> BinnedTable:
    """Put a table into the bins of training data: validation data."""
    n_threads = resolve_threads(params.num_threads, table.n_rows, table.n_columns)
    bins = _native.bin_like(training.bins, table.values, n_threads)
    return BinnedTable(training.binning, bins)


def trainable(binned: BinnedTable) -> BinnedTable:
    """Return a table that can be trained on: this one, or a copy without misfits in its bundles.

    Only data that came into the bins of other data can have such.
    """
    if binned.bins.is_trainable:
        return binned
    return BinnedTable(binned.binning, binned.bins.make_trainable())


def take_rows(binned: BinnedTable, rows: npt.NDArray[np.int64], n_threads: int = 1) -> BinnedTable:
    """Copy some rows of a binned table."""
    return BinnedTable(binned.binning, binned.bins.take_rows(rows.astype(np.uint32), n_threads))


def put_beside(left: BinnedTable, right: BinnedTable, n_threads: int = 1) -> BinnedTable:
    """Return one table with the columns of two that have the same rows.

    Raises:
        DataError: If they differ in what counts as missing.

    Example:
        >>> from gossamer.data.table.matrix import as_table
        >>> from gossamer.params import resolve
        >>> few = resolve({"min_data_in_bin": 1})
        >>> left, right = (bin_table(as_table(x), few) for x in ([[0], [1]], [[3], [2]]))
        >>> put_beside(left, right).bins.copy_column(1)
        array([1, 0], dtype=uint16)
    """
    return left.beside(right, n_threads)
