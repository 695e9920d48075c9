"""`plot_importance`: which columns matter to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gossamer.errors import ParameterError
from gossamer.model import Booster, CVBooster
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes, name_places
from gossamer.plot.models import find_booster
from gossamer.plot.style import LOW, MUTED
from gossamer.plot.tree_text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_HEIGHT: Final = 120.0  # inches
_THIN: Final = 0.2  # LightGBM's bars


@checks_arguments
def plot_importance(
    booster: Any,
    ax: Axes | None = None,
    height: float = _THIN,
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
    *,
    percent: bool = False,
    **kwargs: Any,
) -> Axes:
    """Draw how much each column matters, the most important one on top.

    This needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: A `Booster`, a fitted estimator, or a `CVBooster`, for which the mean over its
            models is drawn with a line that shows the standard deviation.
        ax: matplotlib axes to draw on; None creates new ones.
        height: Thickness of the bars.
        xlim: Limits of the x axis.
        ylim: Limits of the y axis.
        title: Title, or None.
        xlabel: Label of the x axis, or None; `@importance_type@` is replaced by the type.
        ylabel: Label of the y axis, or None.
        importance_type: A type of `Booster.feature_importance`; "auto" uses the type of the
            estimator, or "split".
        max_num_features: Maximum number of columns to draw; None or less than 1 means all.
        ignore_zero: Whether to leave out columns with importance 0.
        figsize: Width and height of the new figure in inches; None chooses a size for the columns.
        dpi: Resolution of the new figure.
        grid: Whether to draw a grid.
        precision: Number of decimals, except for counts; None means all.
        percent: Whether to draw shares of the sum over all columns, in percent.
        **kwargs: Passed on to `ax.barh()`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is nothing to draw.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> data = gs.Dataset(rows, label=range(100), feature_name=["a", "b"])
        >>> ax = plot_importance(gs.train({}, data, 3), ax=Figure().add_subplot())
        >>> ax.get_yticklabels()[0].get_text()
        'a'
    """
    boosters, kind = _find_models(booster, importance_type)
    found = np.array([each.feature_importance(kind) for each in boosters])
    if percent and height == _THIN:
        height = 0.7  # readable next to the numbers
    values = found[0] if len(found) == 1 else found.mean(axis=0)
    if percent:
        found = 100 * found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)
        values = found.mean(axis=0)
    names = boosters[0].feature_name()
    pairs = list(zip(values.tolist(), names, found.std(axis=0).tolist(), strict=True))
    pairs.sort(key=lambda pair: pair[0])
    if ignore_zero:
        pairs = [pair for pair in pairs if pair[0] > 0]
    if max_num_features is not None and max_num_features > 0:
        pairs = pairs[-max_num_features:]
    if not pairs:
        raise ParameterError.because(
            "there is nothing to draw: the model has no splits",
            hint="Use ignore_zero=False to draw all columns.",
        )
    if ax is None and figsize is None:
        figsize = (6.4, min(max(4.8, 0.22 * len(pairs) + 1.0), _MOST_HEIGHT))
    ax = make_axes(ax, figsize, dpi, "plot_importance")
    style = {"color": LOW, "ecolor": MUTED, **kwargs}
    if len(boosters) > 1:
        style = {"xerr": [spread for _, _, spread in pairs], "error_kw": {"elinewidth": 1}, **style}
    bars = ax.barh(range(len(pairs)), [value for value, _, _ in pairs], height=height, **style)
    texts = [
        f"{value:.1f} %" if percent else _format(value, kind, precision) for value, _, _ in pairs
    ]
    ax.bar_label(bars, texts, padding=3)
    name_places(ax.set_yticks, [shorten(name, 60) for _, name, _ in pairs], is_x=False)
    end = max(value + (spread if len(boosters) > 1 else 0.0) for value, _, spread in pairs)
    room = 1.06 + 0.019 * max(map(len, texts))  # for the numbers at the bars
    ax.set_xlim(check_pair(xlim, "xlim") or (0, end * room or 1))
    ax.set_ylim(check_pair(ylim, "ylim") or (-1, len(pairs)))
    label_axes(
        ax,
        title=title,
        xlabel=_axis_text(xlabel, kind, percent),
        ylabel=ylabel,
        grid="x" if grid else None,
    )
    return ax


def _find_models(booster: Any, importance_type: str) -> tuple[list[Booster], str]:
    is_auto = importance_type == "auto"
    if isinstance(booster, CVBooster) and booster.boosters:
        return booster.boosters, "split" if is_auto else importance_type
    model = find_booster(booster, "plot_importance")
    own = "split" if model is booster else booster.importance_type
    return [model], own if is_auto else importance_type


def _axis_text(xlabel: str | None, kind: str, percent: bool) -> str | None:
    if xlabel is None:
        return None
    return xlabel.replace("@importance_type@", kind) + (" (%)" if percent else "")


def _format(value: float, kind: str, precision: int | None) -> str:
    if kind == "split" and value == int(value):
        return str(int(value))
    return str(value) if precision is None else f"{value:.{precision}f}"
