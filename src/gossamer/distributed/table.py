"""`ShardedTable`: a binned table of which every worker of a group has some of the rows.

The bins cover the worker's own rows. With a `ShardedTable`, every worker has scores,
gradients and labels of all rows: whatever is computed from them is the same everywhere, and the
same as on one machine. With an `OwnRowsTable`, a worker has them for its own rows only; what
depends on all rows is gathered for the moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.storage.binned import BinnedTable, RowWindow
from gossamer.data.table.matrix import Values
from gossamer.distributed.group import Group
from gossamer.distributed.stream import Content
from gossamer.errors import GossamerError

# Shards begin at multiples of this many rows: the native core adds floats up in blocks of it.
BLOCK_ROWS: Final = 8192

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shard:
    """Which rows of a table each worker has.

    Attributes:
        group: The workers.
        ends: Where the rows of each worker begin, and at last the number of all rows.
        top_k: How many features a worker proposes for a leaf; 0: all features are exchanged.
    """

    group: Group
    ends: npt.NDArray[np.int64]
    top_k: int = 0

    @classmethod
    def from_counts(cls, group: Group, counts: Sequence[int], top_k: int = 0) -> Shard:
        """Move the ends of the workers' rows to the nearest multiples of `BLOCK_ROWS`.

        Example:
            >>> from gossamer.distributed.threads import run_group
            >>> counts = [10_000, 0, 10_000]
            >>> run_group(3, lambda group: Shard.from_counts(group, counts).ends.tolist())[0]
            [0, 8192, 8192, 20000]
        """
        ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        inner = (ends[1:-1] + BLOCK_ROWS // 2) // BLOCK_ROWS * BLOCK_ROWS
        return cls(group, np.concatenate([[0], np.minimum(inner, ends[-1]), ends[-1:]]), top_k)

    @property
    def n_rows(self) -> int:
        """Rows of all workers."""
        return int(self.ends[-1])

    @property
    def begin(self) -> int:
        """The first row of this worker."""
        return int(self.ends[self.group.rank])

    @property
    def end(self) -> int:
        """One after the last row of this worker."""
        return int(self.ends[self.group.rank + 1])

    def own(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Copy what belongs to this worker's rows, of one or several numbers per row."""
        by_row = array.reshape(-1, self.n_rows)
        return np.ascontiguousarray(by_row[:, self.begin : self.end]).reshape(-1)

    @property
    def window(self) -> RowWindow:
        """The rows of this worker."""
        return RowWindow(self.begin, self.end, self.n_rows)

    def own_rows(self, rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the rows among these (increasing) that this worker has; its first row is 0."""
        first, last = np.searchsorted(rows, [self.begin, self.end])
        return rows[first:last] - np.uint32(self.begin)

    def share(self, array: Scores, own: Scores) -> None:
        """Write what each worker has for its rows into an array for all rows."""
        by_row = array.reshape(-1, self.n_rows)
        for rank, part in enumerate(self.group.gather_array(own)):
            begin, end = self.ends[rank : rank + 2]
            by_row[:, begin:end] = part.reshape(len(by_row), end - begin)


class OwnRowsGrower:
    """Grows the same trees on all workers; takes the place of `_native.Grower`."""

    def __init__(
        self, bins: _native.BinMatrix, vector_leaves: bool, group: Group, top_k: int = 0
    ) -> None:
        self._native = _native.Grower(bins, vector_leaves, self._sums(group, top_k))
        self._group, self._vector_leaves = group, vector_leaves

    def _sums(self, group: Group, top_k: int) -> Any:
        """Return the sums over all workers that the native grower asks for."""
        return NativeSums(group, top_k)

    def _check(self, gradient: npt.NDArray[np.float32]) -> None:
        """Refuse gradients that the trees cannot be grown with."""

    def grow(
        self,
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        rows: npt.NDArray[np.uint32] | None,
        params: Sequence[_native.GrowParams],
        label: npt.NDArray[np.float32] | None,
        score: Scores,
        n_threads: int,
        raw: Values | None = None,
        adds_to_others: bool = False,
    ) -> list[_native.Tree]:
        """See `_native.Grower.grow`; arrays are about this worker's rows."""
        n_trees = 1 if self._vector_leaves else len(params)
        with self._group.traffic.count_trees(n_trees):
            self._check(gradient)
            return self._native.grow(
                gradient, hessian, rows, params, label, score, n_threads, raw, adds_to_others
            )

    def stats(self) -> dict[str, float]:
        """See `_native.Grower.stats`."""
        return self._native.stats()


class ShardGrower(OwnRowsGrower):
    """The same for arrays about all rows."""

    def __init__(self, bins: _native.BinMatrix, vector_leaves: bool, shard: Shard) -> None:
        super().__init__(bins, vector_leaves, shard.group, shard.top_k)
        self._shard = shard

    def grow(
        self,
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        rows: npt.NDArray[np.uint32] | None,
        params: Sequence[_native.GrowParams],
        label: npt.NDArray[np.float32] | None,
        score: Scores,
        n_threads: int,
        raw: Values | None = None,
        adds_to_others: bool = False,
    ) -> list[_native.Tree]:
        """See `_native.Grower.grow`; arrays are about all rows."""
        shard = self._shard
        self._check_same(gradient)
        own = shard.own(score)
        trees = super().grow(
            shard.own(gradient),
            None if hessian is None else shard.own(hessian),
            None if rows is None else shard.own_rows(rows),
            params,
            None if label is None else shard.own(label),
            own,
            n_threads,
            raw,
            adds_to_others,
        )
        if any(tree.n_leaves > 1 for tree in trees):
            shard.share(score, own)
        return trees

    def _check_same(self, gradient: npt.NDArray[np.float32]) -> None:
        """Refuse gradients that differ among workers: the models would differ as well.

        Raises:
            GossamerError: If a custom objective is not deterministic.
        """
        total = gradient.view(np.uint32).sum(dtype=np.uint64)
        found = np.concatenate(self._group.gather_array(np.array([total])))
        if (found != found[0]).any():
            raise GossamerError.because(
                "the objective gives different gradients on different workers",
                expected="a function whose result follows from scores and data",
                hint="Random numbers in an objective need a seed.",
            )


class NativeSums:
    """The sums over all workers that the native grower asks for."""

    has_all_rows = False

    def __init__(self, group: Group, top_k: int) -> None:
        self._group, self.top_k = group, top_k
        self.rank, self.size = group.rank, group.size

    def add(self, array: npt.NDArray[Any]) -> None:
        """See `Group.add`."""
        self._group.add(array)

    def keep_largest(self, array: npt.NDArray[np.float64]) -> None:
        """See `Group.keep_largest`."""
        self._group.keep_largest(array)

    def exchange(self, parts: Sequence[npt.NDArray[np.uint8]]) -> list[Content]:
        """See `Group.exchange`."""
        return self._group.exchange([part.data for part in parts])

    def gather(self, array: Scores) -> Scores:
        """Return the numbers of all workers, in their order."""
        return np.concatenate(self._group.gather_array(array))


@dataclass(frozen=True, eq=False)
class ShardedTable(BinnedTable):
    """A table of bins; `bins` has the rows of this worker only.

    Attributes:
        shard: Which rows each worker has.
        keeps_own_rows: Whether trainings keep scores and labels of this worker's rows only.
    """

    shard: Shard = field(kw_only=True)
    keeps_own_rows: bool = field(default=False, kw_only=True)

    def own(self) -> BinnedTable:
        """Return the rows that a training on this worker keeps scores and labels of."""
        if not self.keeps_own_rows:
            return self
        return OwnRowsTable(self.binning, self.bins, self.choice, shard=self.shard)

    @property
    def n_rows(self) -> int:
        """Number of rows of all workers."""
        return self.shard.n_rows

    @property
    def is_whole(self) -> bool:
        """See `BinnedTable`."""
        return False

    def make_grower(self, vector_leaves: bool) -> Any:
        """Return what grows the same trees on all workers."""
        return ShardGrower(self.bins, vector_leaves, self.shard)

    def add_tree(
        self,
        tree: _native.Tree,
        score: Scores,
        n_threads: int,
        rows: npt.NDArray[np.uint32] | None = None,
        values: Scores | None = None,
        raw: Values | None = None,
    ) -> None:
        """Add a tree's leaf values to the scores of all rows."""
        shard = self.shard
        own = shard.own(score)
        own_rows = None if rows is None else shard.own_rows(rows)
        if own_rows is None or len(own_rows):
            _native.add_tree_to_scores(self.bins, tree, own_rows, own, n_threads, values, raw)
        shard.share(score, own)

    def copy_column(self, feature: int) -> npt.NDArray[np.uint16]:
        """Return the bin of each row of all workers."""
        return np.concatenate(self.shard.group.gather_array(self.bins.copy_column(feature)))

    def copy_rows(self, rows: npt.NDArray[np.uint32]) -> Any:
        """Return some of the rows of all workers."""
        return _Rows(self.shard.group, self.bins.take_rows(self.shard.own_rows(rows), 1))

    def beside(self, right: BinnedTable, n_threads: int) -> BinnedTable:
        """Return this table with further columns, which come with the values of all rows."""
        shard = self.shard
        rows = np.arange(shard.begin, shard.end, dtype=np.uint32)
        own = BinnedTable(right.binning, right.bins.take_rows(rows, n_threads))
        joined = super().beside(own, n_threads)
        totals = [(bins.has_missing(), bins.entry_counts()) for bins in (self.bins, right.bins)]
        has_missing, counts = (np.concatenate(parts) for parts in zip(*totals, strict=True))
        joined.bins.set_totals(has_missing, counts)
        return replace(self, binning=joined.binning, bins=joined.bins, choice=joined.choice)


@dataclass(frozen=True, eq=False)
class OwnRowsTable(BinnedTable):
    """The rows of this worker in a table that several workers train on together.

    Attributes:
        shard: Which rows each worker has.
    """

    shard: Shard = field(kw_only=True)

    @property
    def window(self) -> RowWindow | None:
        """The rows of this worker."""
        return self.shard.window

    def whole(self) -> BinnedTable:
        """Return the rows of all workers."""
        return ShardedTable(
            self.binning, self.bins, self.choice, shard=self.shard, keeps_own_rows=True
        )

    def gather_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what all workers have for their rows (first dimension)."""
        flat = self.shard.group.gather_array(np.ascontiguousarray(values).reshape(-1))
        return np.concatenate(flat).reshape(-1, *values.shape[1:])

    def gather_scores(self, score: Scores) -> Scores:
        """Return the scores of all workers' rows, class-major."""
        shard = self.shard
        n_own = shard.end - shard.begin
        n_outputs = np.array([len(score) // n_own if n_own else 0], dtype=np.int64)
        found = np.empty(max(shard.group.gather_array(n_outputs))[0] * shard.n_rows)
        shard.share(found, score)
        return found

    def make_grower(self, vector_leaves: bool) -> Any:
        """Return what grows the same trees on all workers."""
        return OwnRowsGrower(self.bins, vector_leaves, self.shard.group, self.shard.top_k)


class _Rows:
    """Some rows of all workers."""

    def __init__(self, group: Group, own: _native.BinMatrix) -> None:
        self._group, self._own = group, own

    def copy_column(self, feature: int) -> npt.NDArray[np.uint16]:
        return np.concatenate(self._group.gather_array(self._own.copy_column(feature)))
