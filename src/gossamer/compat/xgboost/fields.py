"""Fields of a `DMatrix`: checked, as XGBoost takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.arguments import length_of
from gossamer.data.labels.fields import (
    check_feature_weights,
    check_init_score,
    check_label,
    check_weight,
)
from gossamer.errors import DataError

Array = npt.NDArray[Any]


def read_feature_weights(weights: Any, n_columns: int) -> Array | None:
    """Return how likely each column is to be drawn; an empty array stands for no weights.

    Example:
        >>> read_feature_weights([[1.0], [2.0]], 2), read_feature_weights([], 2)
        (array([1., 2.]), None)
    """
    flat = np.asarray(weights).ravel()
    return check_feature_weights(flat, n_columns) if flat.size else None


def check_field(name: str, values: Any, n_rows: int, query_sizes: Array | None) -> Array:
    """Return a field as an array.

    Args:
        name: XGBoost's name of the field.
        values: What the user gave.
        n_rows: Number of rows.
        query_sizes: Rows of each query; None: rows are not grouped.

    Raises:
        DataError: If there is not one number per row, or the numbers cannot be used.

    Example:
        >>> check_field("weight", [1.0, 2.0], 5, np.array([2, 3])).tolist()
        [1.0, 1.0, 2.0, 2.0, 2.0]
    """
    if name in ("label", "weight") and np.ndim(values) == 2 and np.shape(values)[1] == 1:
        values = np.asarray(values).ravel()
    if name == "weight" and query_sizes is not None and length_of(values) == len(query_sizes):
        values = np.repeat(np.asarray(values), query_sizes)  # weights of queries
    if name == "base_margin":
        margin = _as_floats(name, values)
        is_by_row = 1 <= margin.ndim <= 2 and len(margin) == n_rows
        if 1 <= margin.ndim <= 2 and not is_by_row and margin.size % max(n_rows, 1) == 0:
            margin = margin.reshape(n_rows, -1)  # class by class for each row
            margin = margin[:, 0] if margin.shape[1:] == (1,) else margin
        try:
            check_init_score(margin, n_rows)
        except DataError as error:  # in XGBoost's words
            raise DataError(str(error).replace("init_score", "base_margin")) from None
        return margin
    check: Callable[[Any, int], Any] = check_weight if name == "weight" else check_label
    if name == "label_upper_bound":  # may be infinite
        upper = _as_floats(name, values, np.float64).reshape(-1)
        bounds = np.column_stack([np.zeros(len(upper)), upper])
        found: Array = check_label(bounds, n_rows)[:, 1]
        return found
    found = check(values, n_rows)
    return found


def check_rows(rows: Any, n_rows: int) -> npt.NDArray[np.int64]:
    """Return numbers of rows as an array.

    Raises:
        DataError: If these are not whole numbers, or a row does not exist.

    Example:
        >>> check_rows([2, 0], 3)
        array([2, 0])
    """
    try:
        found = np.asarray(rows, dtype=np.int64).ravel()
    except (TypeError, ValueError, OverflowError):
        raise DataError.because("rindex cannot be used", got=rows, expected="rows") from None
    if len(found) and (found.min() < 0 or found.max() >= n_rows):
        raise DataError.because("there is no such row", got=rows, expected=f"0..{n_rows - 1}")
    return found


def _as_floats(name: str, values: Any, dtype: type = np.float32) -> Array:
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise DataError.because(
            f"{name} cannot be used", got=values, expected="one number per row"
        ) from None
