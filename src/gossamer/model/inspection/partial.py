"""Partial dependence: what a model predicts as one column, or two, take one value after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list, check_count
from gossamer.data.table.times import to_seconds
from gossamer.errors import DataError, ParameterError, check_choice
from gossamer.model.inspection.changed_columns import (
    change_columns,
    find_column,
    row_blocks,
    values_of,
)
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, fitting_table, predict

Feature = int | str


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Predictions along a grid of values.

    Attributes:
        names: Names of the columns, one or two.
        grid: The values of each of them; dates are of NumPy's type `datetime64`.
        values: (grid,) or (grid, other grid), the mean over the rows; of each row (`kind=
            "individual"`) with the rows as the first axis; with several outputs these are the last.
        kind: "average" or "individual".
        is_categorical: Of each column, whether its values are categories.
    """

    names: tuple[str, ...]
    grid: tuple[npt.NDArray[Any], ...]
    values: npt.NDArray[np.float64]
    kind: str
    is_categorical: tuple[bool, ...]


def partial_dependence(
    model: Model,
    data: object,
    features: Feature | Sequence[Feature],
    options: PredictOptions,
    grid: Any,
    kind: str,
    percentiles: tuple[float, float],
    grid_resolution: int,
) -> PartialDependence:
    """Predict all rows with one value after another in a column, or two.

    Args:
        model: The model.
        data: The user's table.
        features: A column, or two of them.
        options: Rounds, threads, and whether raw scores are predicted.
        grid: The values; None: quantiles of the data, or all values where there are few.
        kind: "average" or "individual".
        percentiles: Lowest and highest quantile of the grid.
        grid_resolution: Most values of a grid of quantiles.
    """
    check_choice("kind", kind, ("average", "individual"))
    low, high = _check_percentiles(percentiles)
    check_count(grid_resolution, "grid_resolution", least=2)
    columns = _find_columns(model, features)
    table = fitting_table(model, data, options.disable_shape_check)
    if table.n_rows == 0:
        raise DataError.because("the data has no rows", expected="one row or more")
    options = replace(options, disable_shape_check=False, pred_leaf=False)
    matrix = table.matrix
    if grid is None:
        own = [_make_grid(model, matrix, c, low, high, grid_resolution) for c in columns]
    else:
        grids = [grid] if len(columns) == 1 else grid
        own = _check_grids(model, columns, grids)
    points = list(product(*own))
    found: list[Any] = []
    for point in points:
        changed = {c: np.asarray(v) for c, v in zip(columns, point, strict=True)}
        parts = []
        for rows in row_blocks(table.n_rows):
            part = predict(model, change_columns(matrix, rows, changed), options)
            parts.append(part if kind == "individual" else part.sum(axis=0))
        whole = np.concatenate(parts) if kind == "individual" else sum(parts) / table.n_rows
        found.append(whole)
    sizes = [len(values) for values in own]
    values = np.stack(found, axis=1 if kind == "individual" else 0)
    first = values.shape[:1] if kind == "individual" else ()
    values = values.reshape(*first, *sizes, *values.shape[len(first) + 1 :])
    return PartialDependence(
        tuple(model.names[c] for c in columns),
        tuple(category_labels(model, c, values) for c, values in zip(columns, own, strict=True)),
        values,
        kind,
        tuple(is_categorical(model, c) for c in columns),
    )


def _find_columns(model: Model, features: Feature | Sequence[Feature]) -> list[int]:
    several = (
        [features] if isinstance(features, (int, np.integer, str)) else as_list("feature", features)
    )
    columns = [find_column(model, feature) for feature in several]
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise ParameterError.because(
            "feature cannot be used", got=features, expected="a column, or two of them"
        )
    return columns


def _check_percentiles(percentiles: Any) -> tuple[float, float]:
    try:
        low, high = (float(p) for p in percentiles)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0 <= low < high <= 1:
        raise ParameterError.because(
            "percentiles cannot be used",
            got=percentiles,
            expected="two numbers from 0 to 1, the lower one first",
        )
    return low, high


def is_categorical(model: Model, column: int) -> bool:
    """Whether the values of a column are categories, as far as the model knows."""
    if model.levels is not None and column in model.levels.by_column:
        return True
    if model.derived is not None and column in model.derived.columns:
        return True
    arrays = model.forest.arrays
    if "category" not in arrays:
        return False
    is_own = arrays["column"] == column
    return bool(np.diff(arrays["category_begin"])[is_own].any())


def _make_grid(
    model: Model, matrix: Any, column: int, low: float, high: float, resolution: int
) -> npt.NDArray[np.float64]:
    values = values_of(matrix, column).astype(np.float64)
    distinct = np.unique(values[np.isfinite(values)])
    if len(distinct) == 0:
        raise DataError.because(
            f"column {model.names[column]!r} has no values to make a grid of",
            hint="Pass grid.",
        )
    if len(distinct) <= resolution or is_categorical(model, column):
        return distinct
    values = values[np.isfinite(values)]
    ends = np.quantile(values, np.linspace(low, high, resolution))
    found: npt.NDArray[np.float64] = np.unique(ends)
    return found


def _check_grids(model: Model, columns: list[int], grids: Any) -> list[npt.NDArray[np.float64]]:
    """Values that the user gave, as numbers: levels become their codes."""
    if isinstance(grids, str) or not hasattr(grids, "__len__") or len(grids) != len(columns):
        raise ParameterError.because(
            "grid cannot be used",
            got=grids,
            expected="a list of values for each of the columns",
        )
    return [_check_grid(model, c, grid) for c, grid in zip(columns, grids, strict=True)]


def _check_grid(model: Model, column: int, grid: Any) -> npt.NDArray[np.float64]:
    name = model.names[column]
    levels = None if model.levels is None else model.levels.by_column.get(column)
    expected = "a list of numbers" if levels is None else "a list of levels of the column"
    values = np.asarray(grid)
    if values.ndim != 1 or len(values) == 0:
        raise ParameterError.because(
            f"grid of {name!r} cannot be used", got=grid, expected=expected
        )
    if levels is None:
        if model.is_date(column):
            return _check_dates(name, values)
        if values.dtype.kind not in "biuf":
            raise ParameterError.because(
                f"grid of {name!r} cannot be used", got=grid, expected=expected
            )
        return values.astype(np.float64)
    assert model.levels is not None
    codes = model.levels.codes_of(column)
    unknown = [value for value in values.tolist() if value not in codes]
    if unknown:
        raise ParameterError.because(
            f"grid of {name!r} has an unknown level", got=unknown[0], expected=expected
        )
    return np.array([codes[value] for value in values.tolist()], dtype=np.float64)


def _check_dates(name: str, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return dates as the seconds that the trees know."""
    try:
        return to_seconds(values.astype("M8[us]") if values.dtype.kind in "OUM" else values)
    except (TypeError, ValueError):
        raise ParameterError.because(
            f"grid of {name!r} cannot be used",
            got=values.tolist()[0],
            expected="a list of dates, such as ['2024-01-31', '2024-02-29']",
        ) from None


def category_labels(model: Model, column: int, values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """The grid as the user knows it: levels, dates, or numbers."""
    if model.is_date(column):
        return np.round(values * 1e6).astype("M8[us]")
    levels = None if model.levels is None else model.levels.by_column.get(column)
    return values if levels is None else np.array([levels[int(code)] for code in values])
