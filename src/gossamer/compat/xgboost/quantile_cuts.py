"""Upper bounds of bins, as XGBoost returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.binning import Binning


def quantile_cuts(
    binning: Binning, values: Any
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
    """Return where the bounds of each column begin, and the bounds: the lower end, then upper ones.

    Of categories they are the codes.

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
            if (binning.categories_of(by_column[column]) >= 0).any():
                cuts.append(np.arange(entries.max(initial=-1) + 1))
                continue
        if len(entries) == 0:
            cuts.append(upper[:0])
            continue
        # The ends are as far away as XGBoost's.
        low, high = float(entries.min()), float(entries.max())
        first, last = low - (abs(low) + 1e-5), high + (abs(high) + 1e-5)
        cuts.append(np.concatenate([[first], upper[upper < last], [last]]))
    begin = np.concatenate([[0], np.cumsum([len(found) for found in cuts])])
    return begin.astype(np.uint64), np.concatenate(cuts).astype(np.float32)
