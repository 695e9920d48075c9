"""`tree_learner="feature"`: every worker has all rows, and finds the splits of some features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data.chunks.chunked_source import ChunkedSource
from gossamer.data.chunks.program_source import find_chunks
from gossamer.data.storage.binned import BinnedTable
from gossamer.distributed.group import Group
from gossamer.distributed.table import NativeSums, OwnRowsGrower
from gossamer.errors import DataError


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

    def make_table(self, binned: BinnedTable) -> BinnedTable:
        """See `ChunkedTable`; the features are shared out in trainings."""
        return AllRowsTable(binned.binning, binned.bins, binned.choice, group=self._group)


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


class AllRowsGrower(OwnRowsGrower):
    """Grows the same trees on all workers, each of which has all rows."""

    def _sums(self, group: Group, top_k: int) -> Any:
        return _NoSums(group, 0)

    def _check(self, gradient: npt.NDArray[np.float32]) -> None:
        """Refuse gradients of different rows.

        Raises:
            DataError: If the workers have different rows.
        """
        check_same(self._group, gradient.tobytes(), "gradients")


class _NoSums(NativeSums):
    """Sums over all workers where each of them has all rows: its own."""

    has_all_rows = True

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
