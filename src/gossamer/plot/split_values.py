"""`plot_split_value_histogram`: where a column is split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.errors import ParameterError
from gossamer.model.inspection.changed_columns import find_column
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes, show_dates
from gossamer.plot.models import find_booster
from gossamer.plot.style import LOW

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checks_arguments
def plot_split_value_histogram(
    booster: Any,
    feature: int | str,
    bins: int | str | None = None,
    ax: Axes | None = None,
    width_coef: float = 0.8,
    xlim: Pair | None = None,
    ylim: Pair | None = None,
    title: str | None = "Split value histogram for feature with @index/name@ @feature@",
    xlabel: str | None = "Feature split value",
    ylabel: str | None = "Count",
    figsize: Pair | None = None,
    dpi: int | None = None,
    grid: bool = True,
    **kwargs: Any,
) -> Axes:
    """Draw a histogram of the values at which a column is split.

    This needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster` or a fitted estimator.
        feature: The column, by number or name.
        bins: As for `numpy.histogram`; None means the number of distinct values.
        ax: matplotlib axes to draw on; None creates new ones.
        width_coef: Width of the bars relative to the bins.
        xlim: Limits of the x axis.
        ylim: Limits of the y axis.
        title: Title, or None; `@feature@` is replaced by the column as given, and `@index/name@` by
            "index" or "name".
        xlabel: Label of the x axis, or None.
        ylabel: Label of the y axis, or None.
        figsize: Width and height of the new figure in inches.
        dpi: Resolution of the new figure.
        grid: Whether to draw a grid.
        **kwargs: Passed on to `ax.bar()`.

    Returns:
        The axes.

    Raises:
        ParameterError: If no tree splits on the column.
        DataError: If there is no such column, or it is split by categories.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> model = gs.train({"verbose": -1}, gs.Dataset(rows, label=range(100)), 3)
        >>> ax = plot_split_value_histogram(model, 0, ax=Figure().add_subplot())
        >>> ax.get_title()
        'Split value histogram for feature with index 0'
    """
    model = find_booster(booster, "plot_split_value_histogram")
    counts, edges = model.get_split_value_histogram(feature, bins)
    if not counts.any():
        raise ParameterError.because(
            "there is nothing to draw: no tree splits on this column",
            got=feature,
            hint="See feature_importance().",
        )
    ax = make_axes(ax, figsize, dpi, "plot_split_value_histogram")
    middles = (edges[:-1] + edges[1:]) / 2
    ax.bar(middles, counts, width=width_coef * np.diff(edges), **{"color": LOW, **kwargs})
    room = 0.2 * (edges[-1] - edges[0])
    ax.set_xlim(check_pair(xlim, "xlim") or (edges[0] - room, edges[-1] + room))
    ax.set_ylim(check_pair(ylim, "ylim") or (0, counts.max() * 1.1))
    if model.model.is_date(find_column(model.model, feature)):
        show_dates(ax.xaxis, *ax.get_xlim())
    locator: Any = ax.yaxis.get_major_locator()
    locator.set_params(integer=True)
    label_axes(
        ax,
        title=title,
        xlabel=xlabel,
        ylabel=ylabel,
        grid="both" if grid else None,
        names={
            "@index/name@": "name" if isinstance(feature, str) else "index",
            "@feature@": str(feature),
        },
    )
    return ax
