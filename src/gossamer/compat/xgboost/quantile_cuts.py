"""Upper bounds of bins, as XGBoost returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.binning import Binning


def quantile_cuts(
    binning: Binning, values: Any
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
    """Return where the bounds of each column begin, and the bounds.

    Args:
        binning: The bins.
        values: The values that are not missing: a matrix of compressed columns.
    """
    by_column = {int(c): i for i, c in enumerate(binning.columns)}
    cuts = []
    for column in range(values.shape[1]):
        entries = values.data[values.indptr[column] : values.indptr[column + 1]]
        upper = np.empty(0)
        if column in by_column:
            upper = binning.upper_of(by_column[column])
        # The last one is as far away as XGBoost's.
        last = entries.max(initial=-np.inf) + (np.abs(entries).max(initial=0.0) + 1e-5)
        cuts.append(np.append(upper[upper < last], last) if len(entries) else np.empty(0))
    begin = np.concatenate([[0], np.cumsum([len(found) for found in cuts])])
    return begin.astype(np.uint64), np.concatenate(cuts).astype(np.float32)
