"""`plot_importance`, with XGBoost's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.errors import ParameterError, message
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes


@warn_of_positions
def plot_importance(
    booster: Any,
    *,
    ax: Any = None,
    height: float = 0.2,
    xlim: Pair | None = None,
    ylim: Pair | None = None,
    title: str | None = "Feature importance",
    xlabel: str | None = "Importance score",
    ylabel: str | None = "Features",
    fmap: Any = "",
    importance_type: str = "weight",
    max_num_features: int | None = None,
    grid: bool = True,
    show_values: bool = True,
    values_format: str = "{v}",
    **kwargs: Any,
) -> Any:
    """Draw how much each column matters, the most important one on top.

    It needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster`, a fitted estimator, or what `get_score` returned.
        ax: matplotlib axes to draw on; None makes new ones.
        height: Thickness of the bars.
        xlim: Limits of the x axis.
        ylim: Limits of the y axis.
        title: Title; None: none.
        xlabel: Label of the x axis; None: none.
        ylabel: Label of the y axis; None: none.
        fmap: Not supported: a file with names.
        importance_type: As for `Booster.get_score`.
        max_num_features: How many columns to draw at most; None: all.
        grid: Whether to draw a grid.
        show_values: Whether to write the numbers beside the bars.
        values_format: How; `v` stands for the number.
        **kwargs: Passed on to `ax.barh()`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is nothing to draw.

    Example:
        >>> from matplotlib.figure import Figure
        >>> ax = plot_importance({"a": 3, "b": 5}, ax=Figure().add_subplot())
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['a', 'b']
    """
    model = booster.get_booster() if hasattr(booster, "get_booster") else booster
    if hasattr(model, "get_score"):
        model = model.get_score(fmap, importance_type)
    if not isinstance(model, Mapping) or not model:
        raise ParameterError(
            message(
                "there is nothing to draw",
                got=model if isinstance(model, Mapping) else type(model).__name__,
                expected="a model with splits, or a dict of numbers by name",
            )
        )
    pairs = sorted(model.items(), key=lambda pair: float(pair[1]))
    pairs = pairs[-max_num_features:] if max_num_features else pairs
    ax = make_axes(ax, None, None, "plot_importance")
    places, values = range(len(pairs)), [float(value) for _, value in pairs]
    bars = ax.barh(places, values, height=height, **kwargs)
    if show_values:
        ax.bar_label(bars, [values_format.format(v=value) for value in values], padding=3)
    ax.set_yticks(places, labels=[str(name) for name, _ in pairs], parse_math=False)
    ax.set_xlim(check_pair(xlim, "xlim") or (0, values[-1] * 1.15 or 1))
    ax.set_ylim(check_pair(ylim, "ylim") or (-1, len(pairs)))
    label_axes(ax, title=title, xlabel=xlabel, ylabel=ylabel, grid="x" if grid else None)
    return ax
