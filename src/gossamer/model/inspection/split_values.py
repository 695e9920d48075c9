"""Where a column is split."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.errors import DataError, ParameterError, shorten
from gossamer.model.inspection.changed_columns import find_column
from gossamer.model.model import Model


def split_value_histogram(
    model: Model, feature: int | str, bins: int | str | None, xgboost_style: bool
) -> Any:
    """Count the thresholds of a column, as LightGBM's `get_split_value_histogram` does.

    Raises:
        DataError: If there is no such column, or it is split by categories.
    """
    arrays = model.forest.arrays
    is_asked = arrays["column"] == find_column(model, feature)
    if "category" in arrays and np.any(np.diff(arrays["category_begin"])[is_asked]):
        raise DataError.because(
            "categories have no thresholds to count",
            got=feature,
            expected="a column of numbers",
        )
    values = arrays["threshold"][is_asked]
    # A threshold above all values asks whether there is one.
    values = values[np.isfinite(values)]
    if bins is None or (isinstance(bins, int) and xgboost_style):
        n_different = len(np.unique(values))
        bins = max(n_different if bins is None else min(n_different, bins), 1)
    try:
        if not isinstance(bins, (int, np.integer, str)):
            bins = np.asarray(bins, dtype=np.float64)
        counts, edges = np.histogram(values, bins=bins)
    except (TypeError, ValueError) as error:
        raise ParameterError.because(
            f"bins cannot be used ({shorten(error)})", got=bins, expected="a whole number > 0"
        ) from None
    if not xgboost_style:
        return counts, edges
    table = np.column_stack((edges[1:], counts))
    table = table[table[:, 1] > 0]
    try:
        import pandas
    except ImportError:
        return table
    return pandas.DataFrame(table, columns=["SplitValue", "Count"])
