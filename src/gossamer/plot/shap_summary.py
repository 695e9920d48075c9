"""`plot_shap_summary`: which columns move predictions, how far, and which way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Look, label_rows, make_axes, takes_look
from gossamer.plot.colour_scale import draw_scale
from gossamer.plot.models import find_booster
from gossamer.plot.shap_data import Explained, Floats, explain, strongest
from gossamer.plot.style import INK, LOW, MISSING, value_colours
from gossamer.plot.swarm import spread
from gossamer.plot.tree_text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_STACKED: Final = 10


_TEXTS: Final = {"title": "Shapley values", "xlabel": "auto", "ylabel": None}


@checks_arguments
@takes_look(_TEXTS)
def plot_shap_summary(
    booster: Any,
    data: Any,
    kind: Literal["beeswarm", "bar"] = "beeswarm",
    output: int | None = None,
    max_num_features: int | None = 20,
    max_rows: int | None = 2000,
    background: Any = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw the Shapley values of many rows, with the most important column on top.

    Args:
        booster: A `Booster` or a fitted estimator.
        data: Rows x columns, as for `predict`.
        kind: "beeswarm" draws a point for every row: blue if its value in the column is low, red if
            it is high, and grey if it is missing or a category. "bar" draws the mean absolute
            value.
        output: Number of the class or target, from 0, if there are several. None draws the bars of
            all of them together.
        max_num_features: Maximum number of columns to draw; None or less than 1 means all that
            matter.
        max_rows: Maximum number of rows to use, evenly spread over the data; None means all.
        background: As for `Booster.shap_values`.
        ax: matplotlib axes to draw on; None creates new ones.
        **kwargs: `title`, `xlabel` and `ylabel` (or None), `figsize` in inches, `dpi` and `grid` of
            the plot. Others, such as `num_iteration`, are passed on to `Booster.shap_values`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is no such kind or output, or nothing to draw.
        DataError: If the data does not fit the model.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = gs.Dataset(rows, label=range(100), feature_name=["age", "day"])
        >>> model = gs.train({"verbose": -1}, data, 3)
        >>> ax = plot_shap_summary(model, rows, ax=Figure().add_subplot())
        >>> [text.get_text() for text in ax.get_yticklabels()]
        ['age']
    """
    if kind not in ("beeswarm", "bar"):
        raise ParameterError.because("kind is not known", got=kind, expected="'beeswarm' or 'bar'")
    model = find_booster(booster, "plot_shap_summary")
    look = Look.take(kwargs, _TEXTS)
    found = explain(model, data, max_rows, background, kwargs)
    is_stacked = kind == "bar" and output is None and 1 < found.n_outputs <= _MOST_STACKED
    values = found.values if is_stacked else found.values[:, [found.output(output)]]
    strength = np.abs(values).mean(axis=0)  # by output and column
    columns = strongest(strength.sum(axis=0), max_num_features)
    if len(columns) == 0:
        raise ParameterError.because(
            "there is nothing to draw: no column moves a prediction of this model"
        )
    if ax is None and look.figsize is None:
        height = 1.3 + max(len(columns), 2) * (0.36 if kind == "beeswarm" else 0.3)
        look.figsize = (7.0, height)
    ax = make_axes(ax, look.figsize, look.dpi, "plot_shap_summary")
    if kind == "bar":
        _draw_bars(ax, strength[:, columns])
    else:
        _draw_swarms(ax, found, values[:, 0], columns)
    names = [shorten(found.model.names[column], 28) for column in columns]
    # A dollar sign in a name is a dollar sign.
    ax.set_yticks(range(len(columns)), labels=names, parse_math=False)
    ax.set_ylim(len(columns) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    if look.xlabel == "auto":
        look.xlabel = "mean |Shapley value|" if kind == "bar" else "Shapley value (raw score)"
    label_rows(ax, look)
    return ax


def _draw_bars(ax: Any, strength: Floats) -> None:
    """Bars; the bars of several outputs follow each other."""
    n_outputs, n_columns = strength.shape
    begin = np.zeros(n_columns)
    for output, widths in enumerate(strength):
        style = {"label": f"output {output}"} if n_outputs > 1 else {"color": LOW}
        ax.barh(range(n_columns), widths, left=begin, height=0.65, **style)
        begin += widths
    ax.set_xlim(0, begin.max() * 1.05)
    if n_outputs > 1:
        ax.legend(loc="lower right", frameon=False)


def _draw_swarms(ax: Any, found: Explained, values: Floats, columns: npt.NDArray[np.intp]) -> None:
    size = float(np.clip(3000 / len(values), 4.0, 20.0))
    ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    for place, column in enumerate(columns):
        at = found.column(column)
        has_colour = np.isfinite(at) & (not found.is_categorical(column))
        offset = spread(values[:, column])
        style = {"s": size, "linewidths": 0, "zorder": 3, "rasterized": len(values) > 5000}
        if not has_colour.all():
            grey = ~has_colour
            ax.scatter(values[grey, column], place + offset[grey], c=MISSING, **style)
        if has_colour.any():
            x, y = values[has_colour, column], place + offset[has_colour]
            ax.scatter(x, y, c=value_colours(at[has_colour]), **style)
    draw_scale(ax, "value in the column", "low", "high")
