"""Bars: of names, of counts, and small ones inside of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.report.charts.chart import Chart
from gossamer.report.charts.scale import Scale, nice_ticks, span_of, tick_texts
from gossamer.report.charts.svg import element, figure, label, picture, place
from gossamer.report.html import clean, number, text

_WIDTH, _NAMES, _LINE = 400.0, 130.0, 20.0


def bar_chart(
    title: str, names: Sequence[object], values: npt.NDArray[Any], unit: str, remark: str = ""
) -> str:
    """Return horizontal bars with names next to them, as a figure.

    Example:
        >>> "age" in bar_chart("Importance", ["age"], np.array([3.0]), "gain")
        True
    """
    largest = max(float(np.max(values, initial=0.0)), 1e-300)
    x = Scale(0.0, largest, _NAMES, _WIDTH - 58)
    height = _LINE * len(names) + 40
    parts = []
    ticks = nice_ticks(0.0, largest, 3)
    bottom = height - 36
    for at, words in zip(x(ticks).tolist(), tick_texts(ticks), strict=True):
        parts.append(element("line", x1=at, x2=at, y1=2.0, y2=bottom, class_="grid-line"))
        parts.append(label(at, bottom + 14, words, class_="tick middle"))
    for i, (column, value) in enumerate(zip(names, values.tolist(), strict=True)):
        y = _LINE * i + 4
        whole = element("title", text(f"{clean(column, 200)}: {number(value)}", 300))
        width = max(float(x(value)) - _NAMES, 0.5)
        bar = element("rect", x=_NAMES, y=y, width=width, height=_LINE - 6, class_="fill c1")
        cut = label(_NAMES - 6, y + 11, column, 19, class_="tick end")
        amount = label(_NAMES + width + 4, y + 11, number(value, 3), class_="tick")
        parts.append(element("g", whole + bar + cut + amount))
    middle = (_NAMES + _WIDTH - 58) / 2
    parts.append(label(middle, height - 6, unit, class_="name middle"))
    listed = ", ".join(
        f"{clean(column, 40)} {number(value)}"
        for column, value in list(zip(names, values.tolist(), strict=True))[:10]
    )
    return figure(picture(_WIDTH, height, "".join(parts), title, listed), title, remark=remark)


def histogram(
    title: str,
    groups: Sequence[tuple[object, npt.NDArray[Any]]],
    x_label: str,
    remark: str = "",
    span: tuple[float, float] | None = None,
    n_bins: int = 30,
    mark: float | None = None,
    counted: str = "rows",
) -> str:
    """Return how values are distributed, as a figure; of several groups, the share of each.

    Args:
        title: What it shows.
        groups: (name, values) each.
        x_label: What the values are.
        remark: A sentence below.
        span: Ends of the x axis; None: the smallest and the largest value.
        n_bins: Number of bars.
        mark: A value of x to mark.
        counted: What is counted.

    Example:
        >>> "<svg" in histogram("Residuals", [("all", np.arange(9.0))], "residual")
        True
    """
    finite = [(words, part[np.isfinite(part)]) for words, part in groups]
    low, high = span or span_of(*(part for _, part in finite))
    edges = np.linspace(low, high, n_bins + 1)
    inside = [np.histogram(np.clip(part, low, high), edges)[0] for _, part in finite]
    several = len(finite) > 1
    heights = [c / max(c.sum(), 1) for c in inside] if several else inside
    top = max(float(np.max(h, initial=0.0)) for h in heights) or 1.0
    y_label = "share of the group" if several else counted
    told = "; ".join(
        f"{clean(words)}: {len(part):,} {counted}, mean {number(part.mean())}"
        for words, part in finite
        if len(part)
    )
    chart = Chart(title, (low, high), (0.0, 1.05 * top), x_label, y_label, told)
    for i, ((words, _), height) in enumerate(zip(finite, heights, strict=True), 1):
        if several:
            chart.columns(edges, height, i)
        chart.columns(edges, height, i, words if several else None, outline=several)
    if mark is not None and low < mark < high:
        chart.rule_at(mark)
    return chart.figure(remark)


def sparkline(counts: npt.NDArray[Any]) -> str:
    """Return a small histogram that fits a line of a table.

    Example:
        >>> "<svg" in sparkline(np.array([1, 4, 2]))
        True
    """
    largest = max(float(counts.max(initial=0)), 1.0)
    step = 72.0 / max(len(counts), 1)
    path = "".join(
        f"M{place(i * step)} 18V{place(18 - 16 * count / largest)}h{place(step * 0.86)}V18Z"
        for i, count in enumerate(counts.tolist())
        if count
    )
    inside = element("path", d=path, class_="fill c1")
    return f'<svg class="spark" viewBox="0 0 72 18" aria-hidden="true">{inside}</svg>'
