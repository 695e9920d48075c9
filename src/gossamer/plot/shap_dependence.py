"""`plot_shap_dependence`: what a column adds to predictions, by its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gossamer.data.table.date_text import date_text, date_ticks
from gossamer.errors import DataError
from gossamer.model.inspection.changed_columns import find_column
from gossamer.model.inspection.partial import category_labels
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Look, label_axes, make_axes, name_places, show_dates, takes_look
from gossamer.plot.colour_scale import draw_scale
from gossamer.plot.models import find_booster
from gossamer.plot.shap_data import Explained, Floats, explain
from gossamer.plot.style import LINE, LOW, MISSING, value_colours
from gossamer.plot.swarm import spread
from gossamer.plot.tree_text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED: Final = 10  # categories with a colour of their own


_TEXTS: Final = {"title": None, "xlabel": "@feature@", "ylabel": "Shapley value of @feature@"}


@checks_arguments
@takes_look(_TEXTS)
def plot_shap_dependence(
    booster: Any,
    data: Any,
    feature: int | str,
    color_by: int | str | None = None,
    output: int | None = None,
    max_rows: int | None = 2000,
    background: Any = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw a point for each row: its value in a column, and what this adds to the raw score.

    Args:
        booster: A `Booster` or a fitted estimator.
        data: Rows x columns, as for `predict`.
        feature: The column, by number or name. Rows in which it is missing are drawn at the right.
        color_by: Another column, whose value determines the colour. This shows how the two
            interact.
        output: Number of the class or target, from 0, if there are several.
        max_rows: Maximum number of rows to use, evenly spread over the data; None means all.
        background: As for `Booster.shap_values`.
        ax: matplotlib axes to draw on; None creates new ones.
        **kwargs: As for `plot_shap_summary`. `@feature@` in a label is replaced by the name of the
            column.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is no such output.
        DataError: If there is no such column, it has infinite values, or the data does not fit the
            model.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = gs.Dataset(rows, label=range(100), feature_name=["age", "day"])
        >>> model = gs.train({"verbose": -1}, data, 3)
        >>> ax = plot_shap_dependence(model, rows, "age", ax=Figure().add_subplot())
        >>> ax.get_ylabel()
        'Shapley value of age'
    """
    model = find_booster(booster, "plot_shap_dependence")
    column = find_column(model.model, feature)
    other = None if color_by is None else find_column(model.model, color_by)
    look = Look.take(kwargs, _TEXTS)
    found = explain(model, data, max_rows, background, kwargs)
    y = found.values[:, found.output(output), column]
    at = found.column(column)
    name = shorten(found.model.names[column], 60)
    if np.isinf(at).any():
        raise DataError.because(
            f"column {name!r} has infinite values, which cannot be drawn",
            hint="Leave these rows out.",
        )
    ax = make_axes(ax, look.figsize, look.dpi, "plot_shap_dependence")
    is_categorical = found.is_categorical(column)
    x = _places(ax, found, column, at, y, is_categorical)
    ax.axhline(0.0, color=LINE, linewidth=1, zorder=1)
    _draw_points(ax, found, x, y, other)
    label_axes(
        ax,
        title=look.title,
        xlabel=look.xlabel,
        ylabel=look.ylabel,
        grid="both" if look.grid else None,
        names={"@feature@": name},
    )
    return ax


def _places(
    ax: Any, found: Explained, column: int, at: Floats, y: Floats, is_categorical: bool
) -> Floats:
    """Where the points are; the axis says what is where."""
    is_missing = np.isnan(at)
    x = at.copy()
    known = at[~is_missing]
    labels: list[str] = []
    if is_categorical:
        categories = np.unique(known)
        labels = _names_of(found, column, categories)
        for place, category in enumerate(categories):
            own = at == category
            x[own] = place + spread(y[own], 0.3)
        end, width = float(len(categories) - 0.5), 1.0
    else:
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        width = 0.08 * (high - low) or 1.0
        end = high + 0.5 * width
    if is_missing.any():
        middle = end + 0.5 * width
        x[is_missing] = middle + spread(y[is_missing], 0.3 * width)
        ax.axvline(end, color=LINE, linewidth=1, linestyle=":", zorder=1)
        if is_categorical:
            labels.append("missing")
    if is_categorical:
        name_places(ax.set_xticks, labels)
    elif is_missing.any():
        ax.set_xlim(low - 0.5 * width, end + width)
        ticks = [tick for tick in ax.xaxis.get_major_locator()() if low <= tick <= high]
        texts = [f"{tick:g}" for tick in ticks]
        if found.model.is_date(column) and len(known):
            ticks, texts = date_ticks(low, high)
        ax.set_xticks([*ticks, end + 0.5 * width], labels=[*texts, "missing"])
    elif found.model.is_date(column):
        show_dates(ax.xaxis, low, high)
    return x


def _names_of(found: Explained, column: int, categories: Floats) -> list[str]:
    labels = category_labels(found.model, column, categories).tolist()
    return [f"{v:g}" if isinstance(v, float) else shorten(v, 20) for v in labels]


def _draw_points(ax: Any, found: Explained, x: Floats, y: Floats, other: int | None) -> None:
    style: dict[str, Any] = {
        "s": float(np.clip(6000 / len(x), 6.0, 24.0)),
        "linewidths": 0,
        "alpha": 0.85,
        "zorder": 3,
    }
    if other is None:
        ax.scatter(x, y, color=LOW, **style)
        return
    by, name = found.column(other), found.model.names[other]
    known = np.isfinite(by)
    categories = np.unique(by[known])
    if found.is_categorical(other) and len(categories) <= _MOST_NAMED:
        names = _names_of(found, other, categories)
        for i, category in enumerate(categories):
            own = by == category
            ax.scatter(x[own], y[own], color=f"C{i}", label=names[i], **style)
        if not known.all():
            ax.scatter(x[~known], y[~known], color=MISSING, label="missing", **style)
        legend = ax.legend(
            title=shorten(name, 24),
            frameon=False,
            markerscale=2,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
        )
        for text in (*legend.get_texts(), legend.get_title()):
            text.set_parse_math(False)
        return
    if not known.all():
        ax.scatter(x[~known], y[~known], color=MISSING, **style)
    if known.any():
        ax.scatter(x[known], y[known], c=value_colours(by[known]), **style)
        low, high = np.quantile(by[known], [0.05, 0.95])
        ends = [date_text(v) if found.model.is_date(other) else f"{v:.3g}" for v in (low, high)]
        draw_scale(ax, name, *ends)
