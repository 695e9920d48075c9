"""`plot_shap_waterfall`: how one prediction comes about."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gossamer.errors import DataError, ParameterError
from gossamer.model.prediction.predict import fitting_table
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Look, label_rows, make_axes, takes_look
from gossamer.plot.models import find_booster
from gossamer.plot.shap_data import Explained, explain, strongest
from gossamer.plot.style import HIGH, INK, LINE, LOW, MUTED
from gossamer.plot.tree_text import format_number, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TEXTS: Final = {"title": "auto", "xlabel": "Raw score", "ylabel": None}


@checks_arguments
@takes_look(_TEXTS)
def plot_shap_waterfall(
    booster: Any,
    data: Any,
    row: int = 0,
    output: int | None = None,
    max_num_features: int | None = 10,
    background: Any = None,
    precision: int | None = 3,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw how the columns change the expected value over all rows to the raw score of one row.

    Args:
        booster: A `Booster` or a fitted estimator.
        data: Rows x columns, as for `predict`.
        row: Number of the row; negative numbers count from the end.
        output: Number of the class or target, from 0, if there are several.
        max_num_features: Maximum number of columns to draw, with the others combined; None or less
            than 1 means all that matter.
        background: As for `Booster.shap_values`.
        precision: Number of decimals; None means all.
        ax: matplotlib axes to draw on; None creates new ones.
        **kwargs: As for `plot_shap_summary`.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is no such output.
        DataError: If there is no such row, or the data does not fit the model.

    Example:
        >>> from matplotlib.figure import Figure
        >>> import gossamer as gs
        >>> rows = [[i, i % 7] for i in range(100)]
        >>> model = gs.train({"verbose": -1}, gs.Dataset(rows, label=range(100)), 3)
        >>> ax = plot_shap_waterfall(model, rows, row=99, ax=Figure().add_subplot())
        >>> [text.get_text() for text in ax.get_yticklabels()]
        ['Column_0 = 99']
    """
    model = find_booster(booster, "plot_shap_waterfall")
    table = fitting_table(model.model, data, False)
    number = _check_row(row, table.n_rows)
    look = Look.take(kwargs, _TEXTS)
    found = explain(model, table.take_rows(np.array([number])), None, background, kwargs)
    which = found.output(output)
    names, sizes = _steps(found, which, max_num_features)
    # From the bottom, where all rows are alike, to the top.
    ends = found.expected[which] + np.cumsum(sizes[::-1])[::-1]
    if ax is None and look.figsize is None:
        look.figsize = (7.0, 1.5 + max(len(names), 2) * 0.36)
    ax = make_axes(ax, look.figsize, look.dpi, "plot_shap_waterfall")
    _draw_steps(ax, ends, sizes, float(found.expected[which]), precision)
    ax.set_yticks(range(len(names)), labels=names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    if look.title == "auto":
        of = f", output {which}" if found.n_outputs > 1 else ""
        look.title = f"Prediction of row {number}{of}"
    label_rows(ax, look)
    return ax


def _check_row(row: Any, n_rows: int) -> int:
    try:
        number = operator.index(row)
    except TypeError:
        raise ParameterError.because(
            "row cannot be used", got=row, expected="the number of a row"
        ) from None
    if not -n_rows <= number < n_rows:
        raise DataError.because("there is no such row", got=row, expected=f"0..{n_rows - 1}")
    return number % n_rows


def _steps(found: Explained, output: int, most: int | None) -> tuple[list[str], Any]:
    """Names and sizes of the steps, the largest first; all others together are the last."""
    values = found.values[0, output]
    columns = strongest(np.abs(values), None)
    if most is not None and 0 < most < len(columns):
        rest = columns[most:]
        columns = columns[:most]
    else:
        rest = columns[:0]
    names = [
        f"{shorten(found.model.names[c], 28)} = {shorten(found.text(c, 0), 20)}" for c in columns
    ]
    sizes = values[columns]
    if len(rest):
        names.append(f"{len(rest)} more columns" if len(rest) > 1 else "1 more column")
        sizes = np.append(sizes, values[rest].sum())
    return names, sizes


def _draw_steps(ax: Any, ends: Any, sizes: Any, expected: float, precision: int | None) -> None:
    n_steps = len(sizes)
    begins = ends - sizes
    colours = [HIGH if size > 0 else LOW for size in sizes]
    ax.barh(range(n_steps), sizes, left=begins, height=0.62, color=colours, zorder=3)
    score = float(ends[0]) if n_steps else expected
    low, high = min([expected, score, *ends]), max([expected, score, *ends])
    room = (high - low) or 1.0
    ax.set_xlim(low - 0.2 * room, high + 0.2 * room)
    ax.set_ylim(max(n_steps, 1) - 0.1, -0.9)
    for place, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        text = format_number(size, precision)
        ax.annotate(
            text if size < 0 else f"+{text}",
            (end, place),
            xytext=(4 if size > 0 else -4, 0),
            textcoords="offset points",
            ha="left" if size > 0 else "right",
            va="center",
            fontsize="small",
            color=INK,
            zorder=4,
        )
        # To the step above, which begins where this one ends.
        if place > 0:
            ax.plot([end, end], [place - 0.69, place + 0.31], color=LINE, linewidth=1, zorder=2)
    marks = (
        (expected, "expected", max(n_steps, 1) - 0.1, 4, "bottom"),
        (score, "score", -0.9, -4, "top"),
    )
    for value, what, y, offset, side in marks:
        ax.axvline(value, color=MUTED, linewidth=0.9, linestyle=":", zorder=1)
        ax.annotate(
            f"{what} {format_number(value, precision)}",
            (value, y),
            xytext=(0, offset),
            textcoords="offset points",
            ha="center",
            va=side,
            fontsize="small",
            color=MUTED,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )
