"""Partial dependence of the most important columns, with the curves of some rows (ICE)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.data.table.times import to_seconds
from gossamer.errors import GossamerError
from gossamer.model.inspection.changed_columns import values_of
from gossamer.model.inspection.partial import PartialDependence, partial_dependence
from gossamer.report.charts import Chart
from gossamer.report.charts.scale import span_of, with_room
from gossamer.report.given import Given
from gossamer.report.html import clean, grid, many, note, number, text

_POINTS: Final = 30
_LEVELS: Final = 20  # of a column with more categories the first ones are drawn
_LINES: Final = 40
_OUTPUTS: Final = 5


def partial(given: Given) -> str:
    """Return a chart for each of the most important columns."""
    if given.n_features == 0:
        return ""
    if given.table is None:
        return note("Partial dependence needs rows: pass <code>data</code>.")
    columns = [c for c in given.by_gain[: given.n_features] if given.gains[c] > 0]
    if not columns:
        return note("No tree has a split, so predictions are the same for all rows.")
    figures, remarks = [], []
    for column in columns:
        try:
            figures.append(_draw(given, column))
        except GossamerError as error:
            remarks.append(f"{clean(given.model.names[column])}: {error}")
    n_rows = len(given.explained_rows)
    single = "" if given.model.objective.n_outputs > 1 else " Thin lines are single rows."
    told = note(
        f"Mean predictions of {many(n_rows, 'row')} as one column takes one value after another."
        f"{single} Columns are in the order of their gain."
    )
    return told + grid(figures) + "".join(note(text(remark, 400)) for remark in remarks)


def _draw(given: Given, column: int) -> str:
    categories, n_categories = _most_frequent(given, column)
    found = partial_dependence(
        given.model,
        given.explained,
        column,
        given.options,
        categories,
        "individual",
        (0.02, 0.98),
        _POINTS,
    )
    name = given.model.names[column]
    is_categorical = found.is_categorical[0]
    each = found.values if found.values.ndim == 3 else found.values[:, :, None]
    grid_values: Any = found.grid[0]
    if grid_values.dtype.kind == "M":
        grid_values = to_seconds(grid_values)
    remark = ""
    if is_categorical and n_categories > len(grid_values):
        remark = f"The {_LEVELS} most frequent of {n_categories:,} categories."
    mean = each.mean(axis=0)
    n_outputs = mean.shape[1]
    lines = each[:: max(-(-len(each) // _LINES), 1), :, 0] if n_outputs == 1 else each[:0, :, 0]
    # On the scale of the mean: single rows may lie far away, and are cut off at the edges.
    span = with_room(span_of(mean[:, :_OUTPUTS]), 0.5 if len(lines) else 0.04)
    chart = _axes(found, name, grid_values, span, mean, column in given.date_columns)
    x = np.arange(len(grid_values)) if is_categorical else grid_values
    if len(lines) and not is_categorical:
        chart.lines(x, lines)
    for k in range(min(n_outputs, _OUTPUTS)):
        name_of = given.output_name(k) if n_outputs > 1 else None
        if is_categorical or len(grid_values) == 1:
            if len(lines):
                low, high = np.quantile(each[:, :, 0], [0.1, 0.9], axis=0)
                chart.whiskers(x, low, high)
            aside = 0.1 * (k - (min(n_outputs, _OUTPUTS) - 1) / 2)  # or they hide one another
            chart.points(x + aside, mean[:, k], k + 1, "big dots")
            if name_of:
                chart.line(x[:1], mean[:1, k], k + 1, name=name_of)
        else:
            chart.line(x, mean[:, k], k + 1, "line thick", name_of)
    if is_categorical and len(lines):
        remark = f"Lines span 80 % of the rows. {remark}".strip()
    if n_outputs > _OUTPUTS:
        remark = f"The first {_OUTPUTS} of {n_outputs} outputs."
    return chart.figure(remark)


def _most_frequent(given: Given, column: int) -> tuple[Any, int]:
    """Return the categories to draw, the most frequent first, and how many there are.

    Of a column of numbers, None: the grid is made of quantiles.
    """
    if not given.is_categorical(column):
        return None, 0
    values = values_of(given.explained.matrix, column).astype(np.float64)
    codes, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    if not len(codes):
        return None, 0
    chosen = codes[np.argsort(-counts, kind="stable")][:_LEVELS]
    levels = given.levels_of(column)
    known = chosen if levels is None else [levels[int(code)] for code in chosen]
    return known, len(codes)


def _axes(
    found: PartialDependence,
    name: str,
    values: Any,
    y: tuple[float, float],
    mean: Any,
    is_date: bool,
) -> Chart:
    told = f"from {number(mean[0, 0])} to {number(mean[-1, 0])}"
    if not found.is_categorical[0]:
        span = span_of(values)
        return Chart(clean(name), span, y, clean(name, 40), "prediction", told, x_is_date=is_date)
    names = [f"{v:g}" if isinstance(v, float) else clean(v, 20) for v in values.tolist()]
    ends = (-0.5, len(names) - 0.5)
    return Chart(clean(name), ends, y, clean(name, 40), "prediction", told, names)
