"""`plot_partial_dependence`: what is predicted as a column takes one value after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from gossamer.errors import ParameterError
from gossamer.model.inspection.partial import PartialDependence
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Look, label_axes, make_axes, name_places, takes_look
from gossamer.plot.models import find_booster
from gossamer.plot.style import LOW
from gossamer.plot.tree_text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TEXTS: Final = {"title": "Partial dependence", "xlabel": "@feature@", "ylabel": "auto"}


@checks_arguments
@takes_look(_TEXTS, "show_grid")
def plot_partial_dependence(
    booster: Any,
    data: Any,
    feature: int | str | Sequence[int | str],
    kind: Literal["average", "individual", "both"] = "average",
    output: int | None = None,
    n_lines: int = 50,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw the partial dependence of predictions on one column, or on two columns as colours.

    Args:
        booster: A `Booster` or a fitted estimator.
        data: Rows x columns, as for `predict`.
        feature: The column, by number or name, or two columns.
        kind: "average" draws the mean over the rows, "individual" one line for each row, and "both"
            the mean on top of the lines.
        output: Number of the class or target, from 0, if there are several.
        n_lines: Maximum number of rows to draw, evenly spread over the data.
        ax: matplotlib axes to draw on; None creates new ones.
        **kwargs: `title`, `xlabel` and `ylabel` (or None; `@feature@` is replaced by the name of
            the column, and "auto" chooses a label), `figsize` in inches, `dpi` and `show_grid` of
            the plot. Others, such as `grid` and `raw_score`, are passed on to
            `Booster.partial_dependence`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is no such kind or output, or if two columns are given with a kind
            other than "average".

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> model = gs.train({"verbose": -1}, gs.Dataset(rows, label=range(100)), 3)
        >>> ax = plot_partial_dependence(model, rows, 0, ax=Figure().add_subplot())
        >>> ax.get_xlabel(), len(ax.get_lines())
        ('Column_0', 1)
    """
    if kind not in ("average", "individual", "both"):
        raise ParameterError.because(
            "kind is not known", got=kind, expected="'average', 'individual' or 'both'"
        )
    model = find_booster(booster, "plot_partial_dependence")
    look = Look.take(kwargs, _TEXTS, "show_grid")
    average = model.partial_dependence(data, feature, **kwargs)
    is_map = len(average.names) == 2
    if is_map and kind != "average":
        raise ParameterError.because(
            "two columns are drawn as a mean", got=kind, expected="kind='average'"
        )
    mean = _one_output(average, average.values, output)
    what = "raw score" if kwargs.get("raw_score") else "prediction"
    ax = make_axes(ax, look.figsize, look.dpi, "plot_partial_dependence")
    if is_map:
        _draw_map(ax, average, mean, f"mean {what}")
    else:
        if kind != "average":
            each = model.partial_dependence(data, feature, **kwargs, kind="individual")
            lines = _one_output(each, each.values, output)
            _draw_lines(ax, average, lines[:: max(-(-len(lines) // max(n_lines, 1)), 1)])
        if kind != "individual":
            _draw_curve(ax, average, mean)
    names = [shorten(name, 60) for name in average.names]
    auto = "@second@" if is_map else ("" if kind == "individual" else "mean ") + what
    label_axes(
        ax,
        title=look.title,
        xlabel=look.xlabel,
        ylabel=auto if look.ylabel == "auto" else look.ylabel,
        grid="both" if look.grid and not is_map else None,
        names={"@feature@": names[0], "@second@": names[-1]},
    )
    return ax


def _one_output(found: PartialDependence, values: Any, output: int | None) -> Any:
    n_axes = len(found.names) + (found.kind == "individual")
    n_outputs = values.shape[-1] if values.ndim > n_axes else 1
    if output is None and n_outputs > 1:
        raise ParameterError.because(
            f"the model has {n_outputs} outputs",
            expected=f"output=0..{n_outputs - 1}",
            hint="Say which one to draw.",
        )
    if output is not None and not 0 <= output < n_outputs:
        raise ParameterError.because(
            "there is no such output", got=output, expected=f"0..{n_outputs - 1}"
        )
    return values[..., output or 0] if n_outputs > 1 else values


def _places(found: PartialDependence, axis: int) -> Any:
    """Where the values stand: categories side by side."""
    grid = found.grid[axis]
    return np.arange(len(grid)) if found.is_categorical[axis] else grid


def _draw_curve(ax: Any, found: PartialDependence, mean: Any) -> None:
    style = "o" if found.is_categorical[0] else "-"
    ax.plot(_places(found, 0), mean, style, color=LOW, linewidth=2, zorder=3)
    _name_categories(ax.set_xticks, found, 0)


def _draw_lines(ax: Any, found: PartialDependence, lines: Any) -> None:
    ax.plot(_places(found, 0), lines.T, color="0.6", linewidth=0.6, alpha=0.6, zorder=2)
    _name_categories(ax.set_xticks, found, 0)


def _draw_map(ax: Any, found: PartialDependence, mean: Any, label: str) -> None:
    x, y = _places(found, 0), _places(found, 1)
    colours = ax.pcolormesh(x, y, mean.T, shading="nearest", cmap="viridis")
    ax.figure.colorbar(colours, ax=ax, label=label)
    _name_categories(ax.set_xticks, found, 0)
    _name_categories(ax.set_yticks, found, 1, is_x=False)


def _name_categories(
    set_ticks: Any, found: PartialDependence, axis: int, is_x: bool = True
) -> None:
    if found.is_categorical[axis]:
        grid = found.grid[axis].tolist()
        names = [f"{v:g}" if isinstance(v, float) else shorten(v, 24) for v in grid]
        name_places(set_ticks, names, is_x)
