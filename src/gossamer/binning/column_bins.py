"""Bins of single columns: how many, and bounds that they must have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError
from gossamer.params import Params
from gossamer.params.column_options import by_column, column_of
from gossamer.params.forced import read_bins


def max_bins(params: Params, names: Sequence[str]) -> npt.NDArray[np.int32]:
    """Return the most bins of each column.

    Example:
        >>> from gossamer.params import resolve
        >>> params = resolve({"max_bin": 63, "max_bin_by_feature": {"b": 15}})
        >>> max_bins(params, ["a", "b"])
        array([63, 15], dtype=int32)
    """
    if not params.max_bin_by_feature:
        return np.full(len(names), params.max_bin, dtype=np.int32)
    numbers = by_column(params.max_bin_by_feature, names, "max_bin_by_feature", params.max_bin)
    return np.array(numbers, dtype=np.int32)


def forced_bounds(
    params: Params,
    names: Sequence[str],
    max_bin: npt.NDArray[np.int32],
    categorical: Sequence[int] = (),
) -> list[list[float]]:
    """Return the bounds that the bins of each column must have; empty: of no column.

    Raises:
        ParameterError: If a column is unknown, comes twice, is among the categorical ones, or has
            more bounds than bins.

    Example:
        >>> from gossamer.params import resolve
        >>> params = resolve({"forced_bins": {"b": [0.5, 0.25]}})
        >>> forced_bounds(params, ["a", "b"], max_bins(params, ["a", "b"]))
        [[], [0.25, 0.5]]
    """
    bins = read_bins(params.forcedbins_filename)
    if not bins:
        return []
    found: list[list[float]] = [[] for _ in names]
    for name, bounds in bins:
        column = column_of(name, names, "forced_bins")
        if found[column]:
            raise ParameterError.because("forced_bins names a column twice", got=names[column])
        if column in categorical:
            raise ParameterError.because(
                "forced_bins names a categorical column, whose bins are its categories",
                got=names[column],
                expected="columns of numbers",
                hint="Leave it out of forced_bins, or out of categorical_feature.",
            )
        # One bin more than bounds, and one for missing values.
        most = int(max_bin[column]) - 2
        if len(bounds) > most:
            raise ParameterError.because(
                f"forced_bins of {names[column]!r} has too many bounds",
                got=len(bounds),
                expected=f"at most {most} with max_bin={max_bin[column]}",
                hint="Raise max_bin, or max_bin_by_feature of this column.",
            )
        found[column] = bounds
    return found
