"""Shapley values of many rows: a line of dots for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.plot.swarm import spread
from gossamer.report.charts.scale import Scale, nice_ticks, span_of, tick_texts
from gossamer.report.charts.svg import dots, element, figure, label, picture
from gossamer.report.html import clean

N_SHADES: Final = 7
_WIDTH, _NAMES, _LINE = 480.0, 118.0, 28.0


def swarm_chart(
    title: str,
    names: Sequence[object],
    effects: npt.NDArray[Any],
    shades: npt.NDArray[Any],
    remark: str = "",
) -> str:
    """Return the effects of each column as a figure.

    Args:
        title: What it shows.
        names: The columns, the strongest first.
        effects: Rows x columns.
        shades: Rows x columns, from 0 (low values) to 1 (high values); NaN: missing.
        remark: A sentence below.

    Example:
        >>> "<svg" in swarm_chart("SHAP", ["age"], np.array([[0.5], [-1]]), np.array([[0.0], [1]]))
        True
    """
    low, high = span_of(effects, include=(0.0,))
    x = Scale(low, high, _NAMES, _WIDTH - 14)
    height = _LINE * len(names) + 40
    bottom = height - 36
    ticks = nice_ticks(low, high, 7)
    parts = []
    for at, words in zip(x(ticks).tolist(), tick_texts(ticks), strict=True):
        parts.append(element("line", x1=at, x2=at, y1=2.0, y2=bottom, class_="grid-line"))
        parts.append(label(at, bottom + 14, words, class_="tick middle"))
    zero = float(x(0.0))
    parts.append(element("line", x1=zero, x2=zero, y1=2.0, y2=bottom, class_="rule"))
    for i, column in enumerate(names):
        middle = _LINE * (i + 0.5) + 2
        parts.append(label(_NAMES - 8, middle + 4, column, 17, class_="tick end"))
        across = x(effects[:, i])
        up = middle + spread(np.nan_to_num(across, posinf=_WIDTH, neginf=0.0), _LINE / 2 - 4)
        shade = np.full(len(across), -1)
        known = ~np.isnan(shades[:, i])
        shade[known] = np.minimum((shades[known, i] * N_SHADES).astype(int), N_SHADES - 1)
        for s in range(-1, N_SHADES):
            path = dots(across[shade == s], up[shade == s])
            if path:
                kind = "missing" if s < 0 else f"s{s}"
                parts.append(element("path", d=path, class_=f"swarm {kind}"))
    middle = (_NAMES + _WIDTH - 14) / 2
    words = "effect on the raw score"
    parts.append(label(middle, height - 6, words, class_="name middle"))
    told = "Strongest first: " + ", ".join(clean(column, 40) for column in names)
    ramp = "".join(f'<i class="s{s}"></i>' for s in range(N_SHADES))
    legend = f'<p class="ramp">low value <span aria-hidden="true">{ramp}</span> high value</p>'
    return figure(
        picture(_WIDTH, height, "".join(parts), title, told), title, legend, remark, wide=True
    )
