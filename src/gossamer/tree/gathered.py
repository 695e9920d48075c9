"""Trees of a sample of rows whose table is on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.storage.row_files import put_rows, take_rows
from gossamer.objectives import Gradients

# Rows of the sample that are worked on at a time.
_PAGE_ROWS: Final = 2**18


class SampleGrower:
    """Grows trees on some rows of a table on disk: their bins are read in one pass.

    Args:
        bins: The table.

    Attributes:
        stats: Seconds per stage and amounts of work so far.
    """

    def __init__(self, bins: _native.BinMatrix) -> None:
        self._bins = bins
        self.stats: Counter[str] = Counter()

    def grow(
        self,
        gradients: Gradients,
        rows: npt.NDArray[np.uint32],
        settings: Sequence[_native.GrowParams],
        label: npt.NDArray[np.float32] | None,
        score: npt.NDArray[np.float64],
        n_threads: int,
    ) -> list[_native.Tree]:
        """Grow the tree of each output, and add its values to the scores of the sample."""
        sample = self._bins.take_rows(rows, n_threads, as_sample=True)
        grower = _native.Grower(sample, page_rows=_PAGE_ROWS)
        n_rows, hessian = self._bins.n_rows, gradients.hessian
        taken = take_rows(score, n_rows, rows)
        trees = grower.grow(
            take_rows(gradients.gradient, n_rows, rows),
            None if hessian is None else take_rows(hessian, n_rows, rows),
            # Of a sample, every row counts when gradients become integers: they are named here.
            np.arange(len(rows), dtype=np.uint32),
            settings,
            None if label is None else take_rows(label, n_rows, rows),
            taken,
            n_threads,
        )
        put_rows(taken, n_rows, rows, score)
        self.stats.update(grower.stats() | {"passes": 1})
        return trees
