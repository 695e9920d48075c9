"""How far the mean label of a category is to be trusted, from the labels themselves.

The labels of a source's categories vary between categories (variance B of their true means) and
within them (variance W). The best estimate of a category's mean from n of its rows is their mean,
shrunk to the mean of all rows as if W / B more rows had that mean. Both variances are estimated by
the method of moments (one-way analysis of variance with random effects).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

# A column that explains everything still keeps categories of one row from being believed; one that
# explains nothing is not worth more than this many rows.
LEAST_ROWS: Final = 0.5
MOST_ROWS: Final = 200.0


def find_prior_weight(
    keys: npt.ArrayLike, targets: npt.ArrayLike, weight: npt.NDArray[Any] | None = None
) -> float:
    """Return how many rows the mean of all labels should count for in a category's mean.

    Args:
        keys: The category of every row.
        targets: What is averaged: one number per row, or targets x rows; these share one answer.
        weight: How much each row counts; None: 1.

    Returns:
        Rows of average weight, from `LEAST_ROWS` to `MOST_ROWS`, in two digits: a last bit of a sum
        must not decide.

    Example:
        >>> city = np.repeat([0, 1, 2, 3], 3)
        >>> find_prior_weight(city, [1, 2, 3, 11, 12, 13, 5, 6, 7, 8, 9, 10])  # they differ much
        0.5
        >>> find_prior_weight(city, [1, 8, 3, 11, 4, 13, 5, 6, 7, 8, 3, 10])  # and less
        15.0
    """
    table = np.atleast_2d(np.asarray(targets, dtype=np.float64))
    n_rows = table.shape[1]
    places = np.unique(keys, return_inverse=True)[1]
    if weight is None:
        weights = np.ones(n_rows)
    else:
        weights = np.asarray(weight, dtype=np.float64)
        weights = weights * (n_rows / weights.sum())
    rows = np.bincount(places, weights)
    has_rows = rows > 0
    spare = n_rows - np.count_nonzero(has_rows)  # degrees of freedom within categories
    apart = n_rows - float(np.sum(rows**2)) / n_rows
    if spare <= 0 or apart <= 0:
        return MOST_ROWS
    within = between = 0.0
    for values in table:
        centred = values - np.average(values, weights=weights)
        sums = np.bincount(places, weights * centred)
        explained = float(np.sum(sums[has_rows] ** 2 / rows[has_rows]))
        own = max(float(np.sum(weights * centred**2)) - explained, 0.0) / spare
        within += own
        between += (explained - (np.count_nonzero(has_rows) - 1) * own) / apart
    if between <= 0:
        return MOST_ROWS
    return float(f"{min(max(within / between, LEAST_ROWS), MOST_ROWS):.2g}")
