"""Binned tables on disk: what does not fit `max_memory` is written to pages, piece by piece."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning
from gossamer.data.chunks.chunked_source import ChunkedSource
from gossamer.data.chunks.chunked_table import (
    CHUNK_VALUES,
    ChunkedTable,
    empty_like,
    fill_chunked,
    find_bins_of,
    plan_chunked,
)
from gossamer.data.storage.binned import BinnedTable, bin_like, bin_table, take_rows
from gossamer.data.storage.budget import Budget, resident_bytes, table_needs
from gossamer.data.storage.page_cache import VERSION, Pages, PageStore, file_facts
from gossamer.data.table.matrix import Table, Values
from gossamer.errors import NotSupportedError
from gossamer.logger import info
from gossamer.params import Params
from gossamer.threads import resolve_threads

# Long work says how far it is as often as this.
REPORT_SECONDS = 10.0
# What the bins follow from, besides the rows.
_KEY_PARAMS: Final = (
    "max_bin",
    "max_bin_by_feature",
    "forcedbins_filename",
    "min_data_in_bin",
    "bin_construct_sample_cnt",
    "data_random_seed",
    "use_missing",
    "zero_as_missing",
    "enable_bundle",
    "bundle_order",
    "header",
)


class ChunkedMatrix(ChunkedTable):
    """A table in memory, in pieces of rows.

    Example:
        >>> pieces = ChunkedMatrix(Table(np.arange(6.0).reshape(3, 2)))
        >>> [len(piece) for piece in pieces.read()]
        [3]
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self.n_rows, self.n_columns = table.n_rows, table.n_columns

    def read(self) -> Iterator[Values]:
        """Read all rows, piece by piece; rows of arrays are not copied."""
        step = max(CHUNK_VALUES // self.n_columns, 1)
        for begin in range(0, self.n_rows, step):
            end = min(begin + step, self.n_rows)
            if isinstance(self._table.values, _native.SparseMatrix):
                yield self._table.take_rows(np.arange(begin, end)).values
            else:
                yield self._table.values[begin:end]

    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Read some rows, which increase."""
        return self._table.take_rows(rows).values


def check_supported(params: Params) -> None:
    """Raise for what cannot be trained with bins on disk.

    Raises:
        NotSupportedError: With the name of the parameter.
    """
    asked: list[tuple[str, Any, str]] = []
    if params.linear_tree:
        asked.append(("linear_tree", True, "false"))
    if params.tree_method in ("exact", "approx"):
        asked.append(("tree_method", params.tree_method, "hist"))
    if params.multi_strategy == "multi_output_tree":
        asked.append(("multi_strategy", params.multi_strategy, "one_output_per_tree"))
    if params.max_conflict_rate > 0:
        asked.append(("max_conflict_rate", params.max_conflict_rate, "0"))
    for name, value, expected in asked:
        raise NotSupportedError.because(
            f"{name} needs the bins in memory, but they may not fit into max_memory",
            got=value,
            expected=f"{name}={expected}",
            hint="Or raise max_memory until the bins fit.",
        )


def check_before_reading(
    n_rows: int,
    n_columns: int,
    params: Params,
    n_file_columns: int = 0,
) -> None:
    """Raise for limits that are too small, and what pages cannot do, before any row is read.

    Bins that fit because columns share lanes are only known after the work: what needs memory is
    refused unless every column could have a lane of its own.

    Raises:
        ParameterError: With the smallest limit that works.
        NotSupportedError: With the name of the parameter that needs memory.
    """
    budget = Budget.of(params)
    budget.check_reading(n_rows, n_file_columns)
    budget.check_before_training(n_rows, params)
    if budget.may_need_pages(n_rows, n_columns, params):
        check_supported(params)


def check_training(params: Params, table: BinnedTable) -> None:
    """Raise if the bins of a data set are on disk, and parameters of a training need memory.

    Raises:
        NotSupportedError: With the name of the parameter.
    """
    if _native.on_disk(table.bins) is not None:
        check_supported(params)


def refuse_on_disk(binned: BinnedTable, user: str) -> None:
    """Raise for what needs all bins in memory.

    Raises:
        NotSupportedError: If they are on disk.
    """
    if _native.on_disk(binned.bins) is None:
        return
    raise NotSupportedError.because(
        f"{user} needs the bins in memory, and this data set's bins are on disk",
        expected="a data set whose bins fit into max_memory",
        hint="Raise max_memory, or leave it out.",
    )


def bin_training(
    table: Table | ChunkedTable,
    params: Params,
    names: Sequence[str],
    categorical: Sequence[int] = (),
    weight: npt.NDArray[np.float32] | None = None,
) -> BinnedTable:
    """Find the bins of training data and fill them, in memory or on disk.

    Args:
        table: The user's table, or one that is read in pieces.
        params: Checked parameters.
        names: Names of the columns.
        categorical: Columns that hold categories.
        weight: Of each row; used with `weighted_bins` only.

    Raises:
        NotSupportedError: If the bins do not fit, and other parameters need them in memory.
        OSError: If they cannot be written to disk.
    """
    budget = Budget.of(params)
    if budget.cap == 0:
        if isinstance(table, Table):
            return bin_table(table, params, names, categorical, weight)
        return table.bin(params, names, categorical, weight)
    pieces = ChunkedMatrix(table) if isinstance(table, Table) else table
    check_before_reading(pieces.n_rows, pieces.n_columns, params, pieces.n_file_columns)
    store = PageStore(params.cache_dir, _source_key(pieces, params, categorical, names))
    stored = store.load(pieces.n_rows, pieces.n_columns)
    if stored is not None:
        check_supported(params)
        return stored
    # Pages have no sparse columns.
    dense = params.for_data({"is_enable_sparse": False})
    binning, example = find_bins_of(pieces, dense, names, categorical, weight)
    plan = plan_chunked(pieces, binning, example, dense)
    if budget.holds_table(pieces.n_rows, plan.bins.row_bytes, max(params.num_class, 1)):
        if isinstance(table, Table):
            return bin_table(table, params, names, categorical, weight)
        return fill_chunked(pieces, plan, params)
    check_supported(params)
    return write_pages(pieces, binning, plan.bins, params, store)


def bin_validation(
    table: Table | ChunkedTable, training: BinnedTable, params: Params
) -> BinnedTable:
    """Put a table into the bins of training data, in memory or on disk."""
    pieces = ChunkedMatrix(table) if isinstance(table, Table) else table
    budget = Budget.of(params)
    budget.check_reading(pieces.n_rows, pieces.n_file_columns)
    like = empty_like(training, table.n_columns)
    if budget.holds_validation(table.n_rows, like.row_bytes):
        if isinstance(table, Table):
            return bin_like(table, training, params)
        return table.bin_like(training, params)
    return write_pages(pieces, training.binning, like, params, PageStore(params.cache_dir, None))


def _source_key(
    pieces: ChunkedTable, params: Params, categorical: Sequence[int], names: Sequence[str]
) -> dict[str, Any] | None:
    """Return what the bins of files follow from; None: they come from elsewhere."""
    if not isinstance(pieces, ChunkedSource) or not pieces.files or params.weighted_bins:
        return None
    from importlib.metadata import version  # takes its time

    return {
        "format": VERSION,
        "library": version("gossamer"),
        "files": file_facts(pieces.files),
        "names": list(names),
        "categorical": list(categorical),
        "levels": pieces.levels.to_json() if pieces.levels else [],
        "page_bytes": Budget.of(params).page_bytes,
        "params": {name: params[name] for name in _KEY_PARAMS},
    }


def _reported(pieces: ChunkedTable) -> Iterator[Values]:
    """Read a table piece by piece, and say now and then how far it is."""
    start = said = time.perf_counter()
    n_done = 0
    for piece in pieces.read():
        yield piece
        n_done += piece.n_rows if isinstance(piece, _native.SparseMatrix) else len(piece)
        now = time.perf_counter()
        if now - said >= REPORT_SECONDS:
            said, rate = now, n_done / (now - start)
            info(
                f"{n_done:,} of {pieces.n_rows:,} rows are in bins on disk, {rate:,.0f} rows per "
                f"second, {(pieces.n_rows - n_done) / rate:,.0f} seconds left."
            )


def write_pages(
    pieces: ChunkedTable,
    binning: Binning,
    layout: _native.BinMatrix,
    params: Params,
    store: PageStore,
) -> BinnedTable:
    """Bin a table piece by piece into a file; bundles that do not fit are taken apart.

    Raises:
        OSError: If the file cannot be written.
    """
    n_threads = resolve_threads(params.num_threads, pieces.n_rows, pieces.n_columns)
    layout = _native.page_layout(layout, np.empty(0, np.int32))
    page_rows = Budget.of(params).page_rows(pieces.n_rows, layout.row_bytes)
    start = time.perf_counter()
    with store.create() as file:
        while True:
            writer = _native.PageWriter(layout, pieces.n_rows, page_rows, file.start())
            if all(writer.add(piece, n_threads) for piece in _reported(pieces)):
                break
            layout = _native.page_layout(layout, writer.misfits())
        checksums = writer.finish()
        pages = Pages(binning, layout, pieces.n_rows, page_rows, checksums, writer.has_missing())
        table = file.finish(pages)
    seconds = max(time.perf_counter() - start, 1e-9)
    info(
        f"Bins of {pieces.n_rows:,} rows do not fit max_memory: "
        f"{pieces.n_rows * layout.row_bytes / 1e6:,.0f} MB in {len(checksums):,} pages on disk, "
        f"{pieces.n_rows / seconds:,.0f} rows per second."
    )
    return table


def copy_rows(binned: BinnedTable, rows: npt.NDArray[np.int64], params: Params) -> BinnedTable:
    """Copy some rows of a binned table: into memory, or from disk to disk where they do not fit.

    Args:
        binned: The table.
        rows: Numbers of rows, which increase.
        params: Checked parameters of the table.

    Raises:
        ParameterError: If the table is in memory, and the copy does not fit with it.
        OSError: If pages cannot be read or written.
    """
    budget, bins = Budget.of(params), binned.bins
    is_on_disk = _native.on_disk(bins) is not None
    n_outputs = max(params.num_class, 1)
    if is_on_disk and not budget.holds_table(len(rows), bins.row_bytes, n_outputs):
        return _write_rows(binned, rows, params)
    copy = len(rows) * resident_bytes(bins.row_bytes)
    needs = table_needs(bins, trains=False) | {"the copy": copy}
    budget.require(f"to copy {len(rows):,} rows into memory", needs)
    return take_rows(binned, rows)


def _write_rows(binned: BinnedTable, rows: npt.NDArray[np.int64], params: Params) -> BinnedTable:
    n_threads = resolve_threads(params.num_threads, len(rows), binned.binning.n_columns)
    layout = _native.page_layout(binned.bins, np.empty(0, np.int32))
    page_rows = Budget.of(params).page_rows(len(rows), layout.row_bytes)
    with PageStore(params.cache_dir, None).create() as file:
        writer = _native.PageWriter(layout, len(rows), page_rows, file.start())
        writer.add_rows_of(binned.bins, rows.astype(np.uint32), n_threads)
        return file.finish(
            Pages(
                binned.binning,
                layout,
                len(rows),
                page_rows,
                writer.finish(),
                writer.has_missing(),
            )
        )


def write_beside(
    left: BinnedTable,
    right: BinnedTable,
    values: npt.NDArray[np.float32],
    params: Params,
    n_threads: int,
) -> BinnedTable:
    """Return a table on disk with more columns; its pages are written again.

    Args:
        left: A table on disk.
        right: How the other columns are binned.
        values: The other columns, in the same rows.
        params: Checked parameters.
        n_threads: Threads to use.

    Raises:
        OSError: If pages cannot be read or written.
    """
    binning = left.binning.beside(right.binning)
    with PageStore(params.cache_dir, None).create() as file:
        n_columns = left.binning.n_columns
        writer = _native.BesideWriter(left.bins, right.bins, n_columns, file.start())
        writer.write(values, n_threads)
        checksums = writer.finish()
        missing = writer.has_missing()
        pages = Pages(binning, writer.layout, left.n_rows, writer.page_rows, checksums, missing)
        return file.finish(pages)
