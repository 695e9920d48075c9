"""Tables that are read in pieces of rows, so that they never stand in memory as a whole.

The bins are those that the whole table would get: they come from the same sample of its rows. How
they are stored may differ, which leaves no trace in the trees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning
from gossamer.binning.categories import CategoryCounts, add_counts, count_categories
from gossamer.binning.find import find_bounds, make_binning, sample_rows
from gossamer.data.categories.levels import Levels
from gossamer.data.storage.binned import BinnedTable, plan_storage
from gossamer.data.table.columns import LevelKind
from gossamer.data.table.matrix import Table, Values
from gossamer.data.table.sparse import read_sparse, to_scipy
from gossamer.data.table.time_columns import TimeKinds
from gossamer.params import Params
from gossamer.threads import resolve_threads

# Values that are in memory at a time, in addition to the sample of a file.
CHUNK_VALUES: Final = 2**22
# Values that show how the bins are best stored.
_EXAMPLE_VALUES: Final = 2**21


class ChunkedTable(ABC):
    """A table that can be read again and again.

    Attributes:
        n_rows: Number of rows.
        n_columns: Number of columns.
        n_file_columns: As many where columns of a file are read one by one, each with a buffer of
            its own; otherwise 0.
    """

    n_rows: int
    n_columns: int
    n_file_columns: int = 0

    @abstractmethod
    def read(self) -> Iterator[Values]:
        """Read all rows, piece by piece."""

    @abstractmethod
    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Read some rows, which increase."""

    def take_by_columns(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, Values]]:
        """Read some rows, a few columns at a time where that saves memory.

        Yields:
            The first column, and the values of it and of those that follow.
        """
        yield 0, self.take(rows)

    def count_categories(
        self, columns: Sequence[int], n_threads: int
    ) -> dict[int, CategoryCounts] | None:
        """Count the categories of some columns in all rows; None: there are no rows."""
        counts: dict[int, CategoryCounts] | None = None
        for piece, places in self.read_columns(columns):
            found = count_categories(piece, places, n_threads)
            more = {c: found[place] for c, place in zip(columns, places, strict=True)}
            counts = add_counts(counts, more)
        return counts

    def bin(
        self,
        params: Params,
        names: Sequence[str],
        categorical: Sequence[int] = (),
        weight: npt.NDArray[np.float32] | None = None,
    ) -> BinnedTable:
        """Find the bins of the table and fill them: training data; see `bin_table`."""
        binning, example = find_bins_of(self, params, names, categorical, weight)
        return self.fill(binning, example, params)

    def fill(self, binning: Binning, example: Values, params: Params) -> BinnedTable:
        """Put all rows of training data into its bins; `example` is what `find_bins_of` found."""
        like = plan_chunked(self, binning, example, params)
        return self.make_table(fill_chunked(self, like, params))

    def n_threads(self, params: Params) -> int:
        """Return how many threads work on the table."""
        return resolve_threads(params.num_threads, self.n_rows, self.n_columns)

    def make_table(self, binned: BinnedTable) -> BinnedTable:
        """Return the table that trainings see, of its bins."""
        return binned

    def bin_like(self, training: BinnedTable, params: Params) -> BinnedTable:
        """Put the table into the bins of training data: validation data; see `bin_like`."""
        return bin_chunked_like(self, training, params)

    def read_columns(self, columns: Sequence[int]) -> Iterator[tuple[Values, Sequence[int]]]:
        """Read all rows, piece by piece, perhaps without other columns than these.

        Yields:
            A piece, and where the columns stand in it.
        """
        for piece in self.read():
            yield piece, columns


class NamedChunkedTable(ChunkedTable):
    """A table that a `Dataset` can be made of.

    Attributes:
        names: Names of the columns; None: they have none.
        levels: What the codes in some columns stand for; empty: all columns are numbers.
        kinds: For training data: what kind of levels a column has.
        times: The columns that are dates or times, or text; None: not known.
    """

    names: list[str] | None
    levels: Levels
    kinds: Mapping[int, LevelKind]
    times: TimeKinds | None = None


def plan_chunked(
    pieces: ChunkedTable, binning: Binning, example: Values, params: Params
) -> BinnedTable:
    """Store the rows that `find_bins_of` found as all of them are best stored."""
    # Some rows show which columns can share their space. What does not fit after all is moved out.
    return plan_storage(example, binning, params, pieces.n_rows, pieces.n_threads(params))


def fill_chunked(pieces: ChunkedTable, like: BinnedTable, params: Params) -> BinnedTable:
    """Bin all rows of training data; `like` is what `plan_chunked` found."""
    bins = _fill(pieces, like.bins, pieces.n_threads(params))
    if not bins.is_trainable:
        bins = bins.make_trainable()
    return BinnedTable(like.binning, bins, like.choice)


def bin_chunked_like(pieces: ChunkedTable, training: BinnedTable, params: Params) -> BinnedTable:
    """Put a table into the bins of training data: validation data; see `bin_like`."""
    bins = _fill(pieces, empty_like(training, pieces.n_columns), pieces.n_threads(params))
    return BinnedTable(training.binning, bins)


def empty_like(training: BinnedTable, n_columns: int) -> _native.BinMatrix:
    """Return a table without rows that stores validation data."""
    return _native.bin_like(training.bins, np.empty((0, n_columns)), 1)


def _fill(pieces: ChunkedTable, like: _native.BinMatrix, n_threads: int) -> _native.BinMatrix:
    binner = _native.PieceBinner(like, pieces.n_rows)
    for piece in pieces.read():
        binner.add(piece, n_threads)
    return binner.finish()


def _with_gaps(example: _native.SparseMatrix) -> Values:
    """Add a row with a missing value for each column: other rows may have some there.

    One in each, so that no two columns are there together in a row that is not the user's.
    """
    from scipy.sparse import diags_array, vstack  # only those who have sparse rows wait for it

    gaps: Any = diags_array(np.full(example.n_columns, np.nan))
    return read_sparse(vstack([to_scipy(example), gaps], format="csr"))


def find_bins_of(
    pieces: ChunkedTable,
    params: Params,
    names: Sequence[str],
    categorical: Sequence[int],
    weight: npt.NDArray[np.float32] | None,
) -> tuple[Binning, Values]:
    """Find the bins of a table, and some of its rows by which to choose how they are stored."""
    n_threads = pieces.n_threads(params)
    n_sample, seed = params.bin_construct_sample_cnt, params.data_random_seed
    sample = sample_rows(pieces.n_rows, n_sample, seed)
    rows = np.arange(pieces.n_rows) if sample is None else sample
    some = sample_rows(len(rows), max(_EXAMPLE_VALUES // pieces.n_columns, 1_000), seed)
    weights = None if weight is None else weight[rows]
    bounds, example = None, []
    for first, values in pieces.take_by_columns(rows):
        example.append(Table(values) if some is None else Table(values).take_rows(some))
        part = find_bounds(values, params, n_threads, names, categorical, weights, None, first)
        bounds = part if bounds is None else bounds.beside(part)
        del values
    assert bounds is not None
    counts = pieces.count_categories(categorical, n_threads) if categorical else None
    binning = make_binning(bounds, params, counts, names, is_whole=sample is None)
    if len(example) > 1:
        return binning, _join_columns(example)
    rows_shown = example[0].values
    if isinstance(rows_shown, _native.SparseMatrix) and rows_shown.n_rows < pieces.n_rows:
        rows_shown = _with_gaps(rows_shown)
    return binning, rows_shown


def _join_columns(tables: list[Table]) -> npt.NDArray[Any]:
    """Put tables next to each other; the list is emptied, so that each is freed once it is in."""
    dtype = np.result_type(*(np.asarray(table.values).dtype for table in tables))
    n_columns = sum(table.n_columns for table in tables)
    joined = np.empty((tables[0].n_rows, n_columns), dtype, order="F")
    last = n_columns
    while tables:
        table = tables.pop()
        first = last - table.n_columns
        joined[:, first:last], last = table.values, first
    return joined
