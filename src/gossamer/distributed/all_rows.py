"""`tree_learner="feature"`: every worker has all rows, and finds the splits of some features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.chunks.chunked_source import ChunkedSource
from gossamer.data.chunks.program_source import find_chunks
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.table.matrix import Values
from gossamer.distributed.group import Group
from gossamer.errors import DataError
from gossamer.params import Params


class AllRowsSource(ChunkedSource):
    """A table that every worker has."""

    def __init__(self, group: Group, chunks: Sequence[Any]) -> None:
        filled = [chunk for chunk in chunks if chunk.shape[0] > 0]
        source = find_chunks(filled) if filled else None
        if source is None:
            raise DataError.because(
                "this worker has no rows",
                expected="all rows on every worker",
                hint='Leave tree_learner="feature" out: rows are then split among workers.',
            )
        super().__init__(source)
        self._group = group

    def bin(
        self,
        params: Params,
        names: Sequence[str],
        categorical: Sequence[int] = (),
        weight: npt.NDArray[np.float32] | None = None,
    ) -> BinnedTable:
        """Find the bins and fill them; the features are shared out in trainings."""
        table = super().bin(params, names, categorical, weight)
        return AllRowsTable(table.binning, table.bins, table.choice, group=self._group)


@dataclass(frozen=True, eq=False)
class AllRowsTable(BinnedTable):
    """A table of bins that every worker has.

    Attributes:
        group: The workers.
    """

    group: Group = field(kw_only=True)

    def make_grower(self, vector_leaves: bool) -> Any:
        """Return what grows the same trees on all workers."""
        return AllRowsGrower(self.bins, vector_leaves, self.group)

    @property
    def is_whole(self) -> bool:
        """See `BinnedTable`: workers share the search."""
        return False

    def beside(self, right: BinnedTable, n_threads: int) -> BinnedTable:
        """Return one table with the columns of both, which have the same rows."""
        joined = super().beside(right, n_threads)
        return replace(self, binning=joined.binning, bins=joined.bins)


class AllRowsGrower:
    """Grows the same trees on all workers; takes the place of `_native.Grower`."""

    def __init__(self, bins: _native.BinMatrix, vector_leaves: bool, group: Group) -> None:
        self._native = _native.Grower(bins, vector_leaves, _NoSums(group))
        self._group, self._vector_leaves = group, vector_leaves

    def grow(
        self,
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        rows: npt.NDArray[np.uint32] | None,
        params: Sequence[_native.GrowParams],
        label: npt.NDArray[np.float32] | None,
        score: npt.NDArray[np.float64],
        n_threads: int,
        raw: Values | None = None,
    ) -> list[_native.Tree]:
        """See `_native.Grower.grow`.

        Raises:
            DataError: If the workers have different rows.
        """
        assert raw is None  # linear leaves are refused before
        with self._group.traffic.count_trees(1 if self._vector_leaves else len(params)):
            check_same(self._group, gradient.tobytes(), "gradients")
            return self._native.grow(gradient, hessian, rows, params, label, score, n_threads)

    def stats(self) -> dict[str, float]:
        """See `_native.Grower.stats`."""
        return self._native.stats()


class _NoSums:
    """Sums over all workers where each of them has all rows: its own."""

    has_all_rows = True

    def __init__(self, group: Group) -> None:
        self.rank, self.size, self.exchange = group.rank, group.size, group.exchange

    def add(self, array: npt.NDArray[Any]) -> None:
        pass

    def keep_largest(self, array: npt.NDArray[np.float64]) -> None:
        pass

    def gather(self, array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return array.copy()


def check_same(group: Group, content: bytes, what: str) -> None:
    """See that all workers have the same.

    Raises:
        DataError: If they do not; the message calls it `what`.
    """
    if len(set(group.gather(sha256(content).digest()))) > 1:
        raise DataError.because(
            f"workers have different {what}",
            expected='the same rows on every worker with tree_learner="feature"',
            hint='Use tree_learner="data" where rows are split among the workers.',
        )
