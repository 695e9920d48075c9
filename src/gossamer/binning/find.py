"""`find_bins`: bin boundaries from a sample of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning.bins import Binning, MissingKind
from gossamer.binning.categories import (
    Bounds,
    CategoryCounts,
    count_categories,
    is_constant,
    with_categories,
)
from gossamer.binning.column_bins import forced_bounds, max_bins
from gossamer.params import Params

_MASK = 2**64 - 1


def find_bins(
    matrix: npt.NDArray[Any] | _native.SparseMatrix,
    params: Params,
    n_threads: int = 1,
    names: Sequence[str] | None = None,
    categorical: Sequence[int] = (),
    weight: npt.NDArray[np.float32] | None = None,
) -> Binning:
    """Find the bin boundaries of every column.

    Args:
        matrix: Rows x columns, of any numeric type the native core reads; dense or sparse.
        params: `max_bin`, `max_bin_by_feature`, `forcedbins_filename`, `min_data_in_bin`,
            `bin_construct_sample_cnt`, `data_random_seed`, `use_missing` and `zero_as_missing`
            are used.
        n_threads: Threads; the result does not depend on them.
        names: Names of the columns, for parameters that use them.
        categorical: Columns that hold categories.
        weight: Of each row, finite and >= 0; bins get about equal weights. None: all rows count
            alike.

    Raises:
        DataError: If a categorical column holds something else than whole numbers.

    Example:
        >>> from gossamer.params import resolve
        >>> matrix = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
        >>> binning = find_bins(matrix, resolve({"min_data_in_bin": 1}))
        >>> binning.columns, binning.upper
        (array([0], dtype=int32), array([0.5, 1.5, inf]))
    """
    if isinstance(matrix, _native.SparseMatrix):
        n_rows, n_columns = matrix.n_rows, matrix.n_columns
    else:
        n_rows, n_columns = matrix.shape
    sample = sample_rows(n_rows, params.bin_construct_sample_cnt, params.data_random_seed)
    names = [str(i) for i in range(n_columns)] if names is None else names
    bounds = find_bounds(matrix, params, n_threads, names, categorical, weight, sample)
    counts = None
    if categorical:
        counts = count_categories(matrix, categorical, n_threads)
    return make_binning(bounds, params, counts, names, is_whole=sample is None)


def find_bounds(
    matrix: npt.NDArray[Any] | _native.SparseMatrix,
    params: Params,
    n_threads: int,
    names: Sequence[str],
    categorical: Sequence[int] = (),
    weight: npt.NDArray[np.float32] | None = None,
    sample: npt.NDArray[np.int64] | None = None,
    first: int = 0,
) -> Bounds:
    """Find bounds of the bins of columns as if they were numbers; see `find_bins`.

    Args:
        matrix: As for `find_bins`.
        params: As for `find_bins`.
        n_threads: Threads.
        names: Names of all columns.
        categorical: Columns that hold categories.
        weight: Of each row, or None.
        sample: Rows to look at; None: all.
        first: Which of the columns the first one of the matrix is.
    """
    n_columns = matrix.n_columns if isinstance(matrix, _native.SparseMatrix) else matrix.shape[1]
    max_bin = max_bins(params, names)
    forced = forced_bounds(params, names, max_bin, categorical)
    return Bounds(
        *_native.find_bounds(
            matrix,
            sample,
            max_bin[first : first + n_columns],
            forced[first : first + n_columns],
            params.min_data_in_bin,
            params.use_missing,
            params.zero_as_missing,
            n_threads,
            weight,
        )
    )


def make_binning(
    bounds: Bounds,
    params: Params,
    counts: Mapping[int, CategoryCounts] | None,
    names: Sequence[str],
    *,
    is_whole: bool,
) -> Binning:
    """Make the bins of all columns from their bounds, and the categories that were counted.

    Args:
        bounds: As `find_bounds` gives them.
        params: As for `find_bins`.
        counts: Of the categorical columns, over all rows; None: there are none.
        names: Names of the columns.
        is_whole: Whether the bounds were found from all rows.

    Raises:
        DataError: If a categorical column holds something else than whole numbers.
    """
    upper, offsets, missing_seen, zero_share = bounds
    category = None
    if counts:
        zero_is_missing = missing_kind_of(params) == MissingKind.ZERO
        upper, offsets, missing_seen, category = with_categories(
            bounds, counts, names, zero_is_missing=zero_is_missing
        )
    # One bin and nothing missing: no split can tell the rows of such a column apart.
    n_bins = np.diff(offsets)
    is_used = (n_bins > 1) | (missing_seen != 0)
    if category is not None:
        is_used &= ~is_constant(category, offsets, missing_seen)
    if not is_used.all():
        if category is not None:
            category = category[np.repeat(is_used, n_bins)]
        upper = upper[np.repeat(is_used, n_bins)]
        offsets = np.concatenate(([0], np.cumsum(n_bins[is_used])))
    columns = np.flatnonzero(is_used).astype(np.int32)
    return Binning(
        len(names),
        columns,
        upper,
        offsets,
        missing_kind_of(params),
        category,
        missing_seen[is_used] if is_whole else None,
        zero_share[is_used],
    )


def missing_kind_of(params: Params) -> MissingKind:
    """Return what counts as missing under these parameters.

    Example:
        >>> from gossamer.params import resolve
        >>> missing_kind_of(resolve({"zero_as_missing": True})).name
        'ZERO'
    """
    if not params.use_missing:
        return MissingKind.NAN_IS_ZERO
    return MissingKind.ZERO if params.zero_as_missing else MissingKind.NAN


def sample_rows(n_rows: int, n_sample: int, seed: int) -> npt.NDArray[np.int64] | None:
    """Draw rows in increasing order, one from each of `n_sample` equal stretches of the table.

    Returns:
        The rows, or None for all of them.

    Example:
        >>> sample_rows(10, 100, seed=1) is None
        True
        >>> rows = sample_rows(1000, 10, seed=1)
        >>> (rows // 100).tolist()
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    if n_rows <= n_sample:
        return None
    stretch = np.arange(n_sample + 1, dtype=np.int64) * n_rows // n_sample
    start, width = stretch[:-1], np.diff(stretch)
    key = np.uint64(_native.random_bits(seed & _MASK, 0))
    bits = _mix_bits(key ^ _mix_bits(np.arange(n_sample, dtype=np.uint64)))
    # The upper bits, so that the product stays within 64 bits: width < 2^32.
    offset = (bits >> np.uint64(32)) * width.astype(np.uint64) >> np.uint64(32)
    return start + offset.astype(np.int64)


def _mix_bits(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64, as in `native/core/random.h`."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
