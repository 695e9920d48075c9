"""Which rows validate."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError

Rows = npt.NDArray[np.int64]


def split_rows(
    n_rows: int,
    share: float,
    seed: int = 0,
    classes: npt.NDArray[Any] | None = None,
    query_sizes: npt.NDArray[Any] | None = None,
    is_last: bool = False,
) -> tuple[Rows, Rows]:
    """Divide rows into those to train on, and those to validate with.

    Args:
        n_rows: How many there are.
        share: The share that validates, between 0 and 1.
        seed: Seed of the choice.
        classes: Numbers of classes, each of which gets its share.
        query_sizes: Rows of each query, which stay whole.
        is_last: Whether the last rows validate, rather than random ones.

    Raises:
        DataError: If no rows would be left on one side.

    Example:
        >>> split_rows(10, 0.2, is_last=True)[1]
        array([8, 9])
        >>> classes = np.array([0] * 8 + [1] * 4)
        >>> classes[split_rows(12, 0.25, classes=classes)[1]]
        array([0, 0, 1])
    """
    chosen = np.zeros(n_rows, dtype=bool)
    if query_sizes is not None:
        chosen = np.repeat(_choose_queries(query_sizes, share, seed, is_last), query_sizes)
    elif is_last:
        chosen[n_rows - round(n_rows * share) :] = True
    else:
        random = np.random.default_rng(seed)
        groups = [np.arange(n_rows)]
        if classes is not None:
            groups = [np.flatnonzero(classes == c) for c in np.unique(classes)]
        for rows in groups:
            n_chosen = round(len(rows) * share)
            chosen[random.permutation(rows)[:n_chosen]] = True
    train, valid = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    if not len(train) or not len(valid):
        raise DataError.because(
            f"{n_rows} rows are too few for a validation share of {share}",
            expected="at least one row on either side",
        )
    return train, valid


def _choose_queries(
    sizes: npt.NDArray[Any], share: float, seed: int, is_last: bool
) -> npt.NDArray[np.bool_]:
    """Take queries until they have the share of the rows."""
    n = len(sizes)
    order = np.arange(n)[::-1] if is_last else np.random.default_rng(seed).permutation(n)
    before = np.concatenate(([0], np.cumsum(sizes[order])[:-1]))
    is_chosen = np.zeros(n, dtype=bool)
    is_chosen[order[before < share * sizes.sum()]] = True
    return is_chosen
