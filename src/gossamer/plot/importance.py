"""`plot_importance`: which columns matter to a model."""

from __future__ import annotations

from typing import Any

from gossamer.errors import ParameterError, message
from gossamer.model import Booster
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes


def plot_importance(
    booster: Any,
    ax: Any = None,
    height: float = 0.2,
    xlim: Pair | None = None,
    ylim: Pair | None = None,
    title: str | None = "Feature importance",
    xlabel: str | None = "Feature importance",
    ylabel: str | None = "Features",
    importance_type: str = "auto",
    max_num_features: int | None = None,
    ignore_zero: bool = True,
    figsize: Pair | None = None,
    dpi: int | None = None,
    grid: bool = True,
    precision: int | None = 3,
    **kwargs: Any,
) -> Any:
    """Draw how much each column matters, the most important one on top.

    It needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster` or a fitted estimator.
        ax: matplotlib axes to draw on; None makes new ones.
        height: Thickness of the bars.
        xlim: Limits of the x axis.
        ylim: Limits of the y axis.
        title: Title; None: none.
        xlabel: Label of the x axis; `@importance_type@` stands for the type; None: none.
        ylabel: Label of the y axis; None: none.
        importance_type: A type of `Booster.feature_importance`; "auto" is the estimator's own
            type, or "split".
        max_num_features: How many columns to draw at most; None or less than 1: all.
        ignore_zero: Whether to leave out columns that do not matter at all.
        figsize: Width and height of the new figure in inches.
        dpi: Its resolution.
        grid: Whether to draw a grid.
        precision: Decimals of anything but counts; None: all.
        **kwargs: Passed on to `ax.barh()`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is nothing to draw.

    Example:
        >>> from matplotlib.figure import Figure
        >>> from gossamer.data import Dataset
        >>> from gossamer.train import train
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = Dataset(rows, label=range(100), feature_name=["a", "b"])
        >>> ax = plot_importance(train({}, data, 3), ax=Figure().add_subplot())
        >>> ax.get_yticklabels()[0].get_text()
        'a'
    """
    model, kind = _find_model(booster, importance_type)
    values = model.feature_importance(kind).tolist()
    pairs = sorted(zip(values, model.feature_name(), strict=True), key=lambda pair: pair[0])
    if ignore_zero:
        pairs = [pair for pair in pairs if pair[0] > 0]
    if max_num_features is not None and max_num_features > 0:
        pairs = pairs[-max_num_features:]
    if not pairs:
        raise ParameterError(
            message(
                "there is nothing to draw: the model has no splits",
                hint="Use ignore_zero=False to draw all columns.",
            )
        )
    ax = make_axes(ax, figsize, dpi, "plot_importance")
    places = range(len(pairs))
    bars = ax.barh(places, [value for value, _ in pairs], height=height, **kwargs)
    ax.bar_label(bars, [_format(value, kind, precision) for value, _ in pairs], padding=3)
    # A dollar sign in a name is a dollar sign.
    ax.set_yticks(places, labels=[name for _, name in pairs], parse_math=False)
    ax.set_xlim(check_pair(xlim, "xlim") or (0, pairs[-1][0] * 1.15 or 1))
    ax.set_ylim(check_pair(ylim, "ylim") or (-1, len(pairs)))
    label_axes(
        ax,
        title=title,
        xlabel=None if xlabel is None else xlabel.replace("@importance_type@", kind),
        ylabel=ylabel,
        grid="x" if grid else None,
    )
    return ax


def _find_model(booster: Any, importance_type: str) -> tuple[Booster, str]:
    is_auto = importance_type == "auto"
    if isinstance(booster, Booster):
        return booster, "split" if is_auto else importance_type
    if hasattr(type(booster), "booster_"):
        return booster.booster_, booster.importance_type if is_auto else importance_type
    raise ParameterError(
        message(
            "plot_importance cannot draw this",
            got=type(booster).__name__,
            expected="a Booster or a fitted estimator",
        )
    )


def _format(value: float, kind: str, precision: int | None) -> str:
    if kind != "split" and precision is not None:
        return f"{value:.{precision}f}"
    return str(value)
