"""Trees of a sample of rows whose table is on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.objectives import Gradients


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
        grower = _native.Grower(sample)
        taken = self._take(score, rows)
        trees = grower.grow(
            self._take(gradients.gradient, rows),
            None if gradients.hessian is None else self._take(gradients.hessian, rows),
            None,
            settings,
            None if label is None else self._take(label, rows),
            taken,
            n_threads,
        )
        score.reshape(-1, self._bins.n_rows)[:, rows] = taken.reshape(-1, len(rows))
        self.stats.update(grower.stats())
        self.stats["passes"] += 1
        return trees

    def _take(self, values: npt.NDArray[Any], rows: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """The values of the sample, output after output."""
        return np.ascontiguousarray(values.reshape(-1, self._bins.n_rows)[:, rows]).reshape(-1)
