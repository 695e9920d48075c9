"""Elements of SVG as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.report.html import text


def place(value: float) -> str:
    """Return a place on the page, to a tenth.

    Example:
        >>> place(1.0), place(2.345), place(-0.01)
        ('1', '2.3', '0')
    """
    found = f"{value:.1f}".removesuffix(".0")
    return "0" if found == "-0" else found


def element(tag: str, inside: str = "", **attributes: object) -> str:
    """Return an element; `class_` stands for class, `_` for `-`, numbers are places.

    Args:
        tag: Its name.
        inside: What it contains, as HTML.
        **attributes: Text is escaped and cut, but for the path `d`.

    Example:
        >>> element("line", x1=1.0, class_="axis")
        '<line x1="1" class="axis"/>'
    """
    found = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(key, value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{found}>{inside}</{tag}>" if inside else f"<{tag}{found}/>"


def _attribute(key: str, value: object) -> str:
    if key == "d":
        return str(value)  # a path: long, and made here
    if isinstance(value, (float, np.floating)):
        return place(float(value))
    return text(value, 2000)


def label(x: float, y: float, words: object, most: int = 60, **attributes: object) -> str:
    """Return text at a place."""
    return element("text", text(words, most), x=float(x), y=float(y), **attributes)


def polyline(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> str:
    """Return a path through points, one line after another where some are not numbers.

    Example:
        >>> polyline(np.array([0, 1.5]), np.array([2, 3]))
        'M0 2L1.5 3'
    """
    parts, pen = [], "M"
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        if a != a or b != b:
            pen = "M"
            continue
        parts.append(f"{pen}{place(a)} {place(b)}")
        pen = "L"
    return "".join(parts)


def dots(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> str:
    """Return a path of dots: lines of no length with round ends, a few bytes each.

    Example:
        >>> dots(np.array([0, 1.5]), np.array([2, 3]))
        'M0 2h0M1.5 3h0'
    """
    return "".join(f"M{place(a)} {place(b)}h0" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def picture(width: float, height: float, inside: str, title: str, description: str) -> str:
    """Return a whole SVG, with its name and description for those who do not see it."""
    names = element("title", text(title, 200)) + element("desc", text(description, 1000))
    return element(
        "svg",
        names + inside,
        viewBox=f"0 0 {place(width)} {place(height)}",
        role="img",
        class_="chart",
    )


def figure(svg: str, caption: str, legend: str = "", remark: str = "", wide: bool = False) -> str:
    """Return a chart with what is said about it.

    Args:
        svg: The chart.
        caption: Its heading, not yet escaped.
        legend: What the colours mean, as HTML.
        remark: A sentence, not yet escaped.
        wide: Whether it takes the whole width.
    """
    below = f'<p class="remark">{text(remark, 600)}</p>' if remark else ""
    kind = ' class="wide-figure"' if wide else ""
    heading = f"<figcaption>{text(caption, 120)}</figcaption>"
    return f"<figure{kind}>{heading}{svg}{legend}{below}</figure>"


def legend_of(names: list[tuple[str, object]]) -> str:
    """Return what the colours mean: (class, words) each."""
    marks = "".join(
        f'<li><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line {kind}" d="M1 4H23"/>'
        f"</svg>{text(words)}</li>"
        for kind, words in names
    )
    return f'<ul class="legend">{marks}</ul>'
