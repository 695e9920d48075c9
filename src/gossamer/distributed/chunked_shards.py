"""`ChunkedShards`: a table of which every worker holds some chunks.

The rows of all workers, one worker after the other, are the table. Bins, levels and the storage of
the bins are found from what all workers have, and are those that one machine would find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning
from gossamer.binning.categories import CategoryCounts, add_counts
from gossamer.data.categories.level_finder import LevelFinder, levels_found
from gossamer.data.categories.levels import Levels
from gossamer.data.chunks.chunked_source import ChunkedSource
from gossamer.data.chunks.chunked_table import NamedChunkedTable
from gossamer.data.chunks.program_source import find_chunks
from gossamer.data.chunks.row_stack import RowStack
from gossamer.data.storage.binned import BinnedTable, correct_storage, plan_storage
from gossamer.data.table.columns import LevelColumn, LevelKind
from gossamer.data.table.matrix import Table, Values
from gossamer.data.table.names import match_names
from gossamer.data.table.sparse import is_sparse, read_sparse, to_scipy
from gossamer.distributed.group import Group
from gossamer.distributed.messages import gather_facts, values_from_bytes, values_to_bytes
from gossamer.distributed.table import BLOCK_ROWS, Shard, ShardedTable
from gossamer.errors import DataError
from gossamer.params import Params

# Values of sampled rows that are in memory at a time.
_SAMPLE_VALUES: Final = 2**18


class ChunkedShards(NamedChunkedTable):
    """The chunks of all workers; every method is called by all of them.

    Args:
        group: The workers.
        chunks: The chunks of this worker: arrays, sparse matrices or frames.
        reference: Names and levels of the training data, for validation data.
        keeps_own_rows: See `ShardedTable`.
        top_k: See `Shard`.

    Attributes:
        n_rows: Rows of all workers.
        names: Names of the columns; None: they have none.
        levels: What the codes in some columns stand for; empty: all columns are numbers.
        kinds: For training data: what kind of levels a column has.
    """

    def __init__(
        self,
        group: Group,
        chunks: Sequence[Any],
        reference: tuple[Sequence[str], Levels | None] | None = None,
        *,
        keeps_own_rows: bool = False,
        top_k: int = 0,
    ) -> None:
        self._group, self._keeps_own_rows = group, keeps_own_rows
        self._chunks = [chunk for chunk in chunks if chunk.shape[0] > 0]
        known = None if reference is None else reference[1] or Levels({})
        own = self._look(None, known)
        facts = gather_facts(group, None if own is None else _describe(own, self._in_order))
        filled = [fact for fact in facts if fact is not None]
        if not filled:
            raise DataError.because("there are no rows on any worker", hint="Pass data with rows.")
        self.names, self.n_columns = filled[0]["names"], filled[0]["n_columns"]
        _check_columns(group, facts, self.names, self.n_columns)
        self._counts = [0 if fact is None else int(fact["n_rows"]) for fact in facts]
        self.n_rows = sum(self._counts)
        order = None
        if known is None:
            self.levels, self.kinds = _merge_levels(filled, self.names, self.n_columns)
        else:
            assert reference is not None
            self.levels, self.kinds = known, {}
            order = None if self.names is None else match_names(reference[0], self.names)
            self.names = list(reference[0])
        self._own = self._look(order, self.levels)
        self._shard = Shard.from_counts(group, self._counts, top_k)
        self._begin = sum(self._counts[: group.rank])

    def _look(self, order: list[int] | None, levels: Levels | None) -> ChunkedSource | None:
        """Return the rows of this worker; None: it has none."""
        source = find_chunks(self._chunks) if self._chunks else None
        self._in_order = source is not None and source.is_in_order(0)
        return None if source is None else ChunkedSource(source, order, None, levels)

    # ---- reading ----

    def read(self) -> Iterator[Values]:
        """Read the rows of this worker, piece by piece."""
        if self._own is not None:
            yield from self._own.read()

    def take(self, rows: npt.NDArray[np.int64]) -> Values:
        """Read some rows of all workers, which increase."""
        return self._take(rows, 0, self.n_columns)

    def take_by_columns(self, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, Values]]:
        """Read some rows of all workers, a few columns at a time."""
        step = max(_SAMPLE_VALUES // max(len(rows), 1), 1)
        if any(gather_facts(self._group, any(map(is_sparse, self._chunks)))):
            step = self.n_columns
        for first in range(0, self.n_columns, step):
            yield first, self._take(rows, first, min(first + step, self.n_columns))

    def _take(self, rows: npt.NDArray[np.int64], first: int, last: int) -> Values:
        own = self._take_own(rows, first, last)
        stack = RowStack(len(rows), last - first)
        for part in self._group.exchange([values_to_bytes(own)] * self._group.size):
            values = values_from_bytes(part)
            if values is not None:
                stack.add(values)
        return stack.finish()

    def _take_own(
        self, rows: npt.NDArray[np.int64], first: int = 0, last: int | None = None
    ) -> Values | None:
        """Read the rows among these that this worker has; None: it has none of them."""
        begin, end = np.searchsorted(rows, [self._begin, self._begin + self._n_own])
        if self._own is None or begin == end:
            return None
        last = self.n_columns if last is None else last
        return self._own.take_columns(rows[begin:end] - self._begin, first, last)

    @property
    def _n_own(self) -> int:
        return self._counts[self._group.rank]

    def count_categories(
        self, columns: Sequence[int], n_threads: int
    ) -> dict[int, CategoryCounts] | None:
        """Count the categories of some columns in the rows of all workers."""
        own = None if self._own is None else self._own.count_categories(columns, n_threads)
        plain = None
        if own is not None:
            plain = [
                [c, counts.found.tolist(), counts.counts.tolist(), counts.n_missing, counts.odd]
                for c, counts in own.items()
            ]
        total: dict[int, CategoryCounts] | None = None
        for part in gather_facts(self._group, plain):
            if part is None:
                continue
            more = {
                c: CategoryCounts(np.array(f, np.int32), np.array(n, np.int64), missing, odd)
                for c, f, n, missing, odd in part
            }
            total = add_counts(total, more)
        return total

    # ---- binning ----

    def fill(self, binning: Binning, example: Values, params: Params) -> BinnedTable:
        """Put this worker's rows of training data into its bins."""
        n_threads = self.n_threads(params)
        plan = plan_storage(example, binning, params, self.n_rows, n_threads)
        can_misfit = plan.choice is None or plan.choice["candidates"] > 0
        bins = self._fill(plan.bins, n_threads, release=not can_misfit)
        has_missing, counts = self._add_totals(bins)
        corrected = correct_storage(plan, params, self.n_rows, has_missing, counts)
        if corrected is not None:  # some worker has values that the sample did not show
            bins = self._fill(corrected.bins, n_threads, release=True)
            has_missing, counts = self._add_totals(bins)
        bins.set_totals(has_missing.astype(np.int8), counts)
        self._chunks, self._own = [], None
        return ShardedTable(
            binning, bins, plan.choice, shard=self._shard, keeps_own_rows=self._keeps_own_rows
        )

    def _add_totals(
        self, bins: _native.BinMatrix
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """For each feature: whether it is missing on any worker, and its entries on all of them."""
        totals = np.concatenate([bins.has_missing().astype(np.int64), bins.entry_counts()])
        self._group.add(totals)
        n_missing, counts = np.split(totals, 2)
        return n_missing > 0, np.ascontiguousarray(counts)

    def bin_like(self, training: BinnedTable, params: Params) -> BinnedTable:
        """Put this worker's rows into the bins of training data."""
        n_threads = self.n_threads(params)
        like = _native.bin_like(training.bins, np.empty((0, self.n_columns)), n_threads)
        bins = self._fill(like, n_threads, release=True)
        return ShardedTable(training.binning, bins, shard=self._shard)

    def _fill(self, like: _native.BinMatrix, n_threads: int, *, release: bool) -> _native.BinMatrix:
        """Fill the bins of the shard; `release` each chunk once its rows are in."""
        binner = _native.PieceBinner(like, self._shard.end - self._shard.begin)
        for piece in self._read_shard(release=release):
            if isinstance(piece, _native.SparseMatrix):
                binner.add(piece, n_threads)
            else:
                for begin in range(0, len(piece), 2 * BLOCK_ROWS):
                    binner.add(piece[begin : begin + 2 * BLOCK_ROWS], n_threads)
            del piece  # it may be a view of a chunk
        return binner.finish()

    def _read_shard(self, *, release: bool) -> Iterator[Values]:
        """Read the rows of this worker's shard: few of them come from its neighbours."""
        group, ends = self._group, self._shard.ends
        parts = []
        for rank in range(group.size):
            rows = np.arange(ends[rank], ends[rank + 1]) if rank != group.rank else np.arange(0)
            parts.append(values_to_bytes(self._take_own(rows)))
        received = group.exchange(parts)
        for rank, part in enumerate(received):
            if rank == group.rank:
                yield from self._read_own(release=release)
            elif part:
                values = values_from_bytes(part)
                assert values is not None
                yield values

    def _release(self) -> Iterator[Values]:
        """Read the rows of this worker for the last time: each chunk is dropped once it is read."""
        names = None if self._own is None else self._own.names
        chunks, self._chunks, self._own = self._chunks[::-1], [], None
        while chunks:
            source = find_chunks([chunks.pop()])
            assert source is not None
            order = None
            if names is not None and source.names is not None:
                order = match_names(names, source.names)
            yield from ChunkedSource(source, order, None, self.levels).read()

    def _read_own(self, *, release: bool) -> Iterator[Values]:
        """Read those rows of the shard that this worker had from the start."""
        at = self._begin
        for piece in self._release() if release else self.read():
            n_rows = Table(piece).n_rows
            first = max(self._shard.begin - at, 0)
            last = min(self._shard.end - at, n_rows)
            at += n_rows
            if last - first == n_rows:
                yield piece
            elif first >= last:
                continue
            elif isinstance(piece, _native.SparseMatrix):
                yield read_sparse(to_scipy(piece).tocsr()[first:last])
            else:
                yield piece[first:last]


def _describe(own: ChunkedSource, in_order: bool) -> dict[str, Any]:
    levels = [
        [c, own.kinds.get(c), list(found)]
        for c, found in own.levels.by_column.items()
        if c in own.kinds
    ]
    return {
        "names": own.names,
        "n_columns": own.n_columns,
        "n_rows": own.n_rows,
        "levels": levels,
        "in_order": in_order,
    }


def _check_columns(
    group: Group, facts: Sequence[Any], names: list[str] | None, n_columns: int
) -> None:
    for worker, fact in zip(group.names, facts, strict=True):
        if fact is None:
            continue
        if fact["n_columns"] != n_columns or sorted(fact["names"] or []) != sorted(names or []):
            raise DataError.because(
                f"the chunks of worker {worker} have other columns than those before",
                got=fact["names"] or fact["n_columns"],
                expected=str(names or n_columns),
            )


def _merge_levels(
    facts: Sequence[Mapping[str, Any]], names: list[str] | None, n_columns: int
) -> tuple[Levels, dict[int, LevelKind]]:
    """Put the levels of all workers together, in the order of the rows."""
    in_order = all(fact["in_order"] for fact in facts)
    finders = {
        c: LevelFinder(f"column {c if names is None else repr(names[c])}", in_order=in_order)
        for c in range(n_columns)
    }
    for fact in facts:
        order = None if names is None else match_names(fact["names"], names)
        for c, kind, found in fact["levels"]:
            column = LevelColumn(np.empty(0, np.int64), found, kind)
            finders[c if order is None else order[c]].add(column)
    return levels_found(finders)
