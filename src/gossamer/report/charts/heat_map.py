"""A table of shares in shades of one colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.report.charts.svg import element, figure, label, picture, place
from gossamer.report.html import clean, percent, text

_LEFT, _TOP = 104.0, 40.0
_TURNED = 88.0  # instead of _TOP, where names do not fit side by side


def heat_map(
    title: str,
    names: Sequence[object],
    counts: npt.NDArray[Any],
    remark: str = "",
) -> str:
    """Return a confusion matrix as a figure: a line for each actual class.

    Shades are shares of the line, so that rare classes are seen as well as frequent ones.

    Example:
        >>> "50" in heat_map("Confusion", ["no", "yes"], np.array([[50, 2], [1, 7]]))
        True
    """
    n = len(names)
    cell = min(max(420.0 / n, 26.0), 96.0)
    height = min(cell, 44.0)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    most = max(int(cell / 6.5), 2)
    is_turned = any(len(str(words)) > most for words in names)
    top = _TURNED if is_turned else _TOP
    width, bottom = _LEFT + n * cell + (40 if is_turned else 8), top + n * height + 8
    parts = [label(_LEFT + n * cell / 2, 12, "predicted", class_="name middle")]
    for i, words in enumerate(names):
        y = top + i * height
        x = _LEFT + (i + 0.5) * cell
        if is_turned:
            turn = f"rotate(-45 {place(x)} {place(top - 6)})"
            parts.append(label(x, top - 6, words, 14, class_="tick", transform=turn))
        else:
            parts.append(label(x, top - 8, words, most, class_="tick middle"))
        parts.append(label(_LEFT - 6, y + height / 2 + 4, words, 15, class_="tick end"))
        for j in range(n):
            told = (
                f"actual {clean(words, 40)}, predicted {clean(names[j], 40)}: "
                f"{int(counts[i, j]):,} rows, {percent(share[i, j])} of the actual class"
            )
            x = _LEFT + j * cell
            tile = element(
                "rect",
                x=x + 1,
                y=y + 1,
                width=cell - 2,
                height=height - 2,
                class_="cell",
                fill_opacity=f"{0.04 + 0.9 * share[i, j]:.3f}",
            )
            kind = "tick middle strong" if share[i, j] > 0.5 else "tick middle"
            amount = ""
            if counts[i, j]:
                shown = f"{int(counts[i, j]):,}" if cell >= 40 else f"{100 * share[i, j]:.0f}"
                amount = label(x + cell / 2, y + height / 2 + 4, shown, class_=kind)
            parts.append(element("g", element("title", text(told, 300)) + tile + amount))
    right = f"{percent(float(np.trace(counts)) / max(int(counts.sum()), 1))} of the rows are right"
    svg = picture(width, bottom, "".join(parts), title, right)
    if cell < 40:
        remark = f"{remark} Numbers are percent of the actual class.".strip()
    return figure(svg, title, remark=remark, wide=n > 8)
