"""`Chart`: two axes, and what is drawn between them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.date_text import LAST_SECOND, date_ticks
from gossamer.report.charts.scale import Scale, nice_ticks, tick_texts
from gossamer.report.charts.svg import (
    dots,
    element,
    figure,
    label,
    legend_of,
    picture,
    place,
    polyline,
)

WIDTH: Final = 400.0
HEIGHT: Final = 280.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 54.0, 14.0, 10.0, 46.0
# Colours that colour-blind people can tell apart; the lines are dashed in different ways as well.
N_COLOURS: Final = 8


class Chart:
    """A chart with two axes.

    Args:
        title: What it shows.
        x: Ends of the x axis.
        y: Ends of the y axis.
        x_label: The text below the x axis.
        y_label: The text next to the y axis.
        description: For those who do not see it.
        x_names: Words instead of numbers, at 0, 1, ...
        x_is_date: Whether numbers on the x axis are dates, in seconds since 1970.

    Example:
        >>> chart = Chart("Loss", (0, 10), (0, 1), "round", "loss")
        >>> chart.line([0, 5, 10], [1, 0.5, 0.25])
        >>> "<svg" in chart.figure()
        True
    """

    def __init__(
        self,
        title: str,
        x: tuple[float, float],
        y: tuple[float, float],
        x_label: str,
        y_label: str,
        description: str = "",
        x_names: list[str] | None = None,
        x_is_date: bool = False,
    ) -> None:
        self.title = title
        self.description = description
        self.x = Scale(*x, _LEFT, WIDTH - _RIGHT)
        self.y = Scale(*y, HEIGHT - _BOTTOM, _TOP)
        self._axes = self._draw_axes(x_label, y_label, x_names, x_is_date)
        self._inside: list[str] = []
        self._legend: list[tuple[str, object]] = []

    def line(
        self, x: Any, y: Any, colour: int = 1, kind: str = "line", name: object = None
    ) -> None:
        """Draw a line through points."""
        path = polyline(self.x(x), self._finite(y))
        self._inside.append(element("path", d=path, class_=f"{kind} c{colour}"))
        if name is not None:
            self._legend.append((f"c{colour}", name))

    def lines(self, x: Any, many: npt.NDArray[Any]) -> None:
        """Draw thin lines over the same x, one for each row."""
        places = self.x(x)
        path = "".join(polyline(places, self._finite(y)) for y in many)
        self._inside.append(element("path", d=path, class_="thin"))

    def band(self, x: Any, low: Any, high: Any, colour: int = 1) -> None:
        """Fill what lies between two lines."""
        places = self.x(x)
        both = np.concatenate([places, places[::-1]])
        path = polyline(both, np.concatenate([self.y(low), self.y(high)[::-1]]))
        self._inside.append(element("path", d=f"{path}Z", class_=f"band c{colour}"))

    def points(self, x: Any, y: Any, colour: int = 1, kind: str = "dots") -> None:
        """Draw a dot for each point; those that are not finite are left out."""
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        is_there = np.isfinite(x) & np.isfinite(y)
        path = dots(self.x(x[is_there]), self.y(y[is_there]))
        if path:
            self._inside.append(element("path", d=path, class_=f"{kind} c{colour}"))

    def whiskers(self, x: Any, low: Any, high: Any, colour: int = 1) -> None:
        """Draw an upright line from `low` to `high` at each x."""
        path = "".join(
            f"M{place(a)} {place(b)}V{place(c)}"
            for a, b, c in zip(
                self.x(x).tolist(), self.y(low).tolist(), self.y(high).tolist(), strict=True
            )
        )
        self._inside.append(element("path", d=path, class_=f"whisker c{colour}"))

    def columns(
        self, edges: Any, heights: Any, colour: int = 1, name: object = None, outline: bool = False
    ) -> None:
        """Draw upright bars between edges."""
        x, y = self.x(edges), self.y(heights)
        floor = float(self.y(0.0))
        if outline:
            steps = np.repeat(y, 2)
            path = polyline(np.repeat(x, 2)[1:-1], steps)
            self._inside.append(element("path", d=path, class_=f"line c{colour}"))
        else:
            path = "".join(
                f"M{place(a)} {place(floor)}V{place(b)}H{place(c)}V{place(floor)}Z"
                for a, b, c in zip(x[:-1].tolist(), y.tolist(), x[1:].tolist(), strict=True)
            )
            self._inside.append(element("path", d=path, class_=f"fill c{colour}"))
        if name is not None:
            self._legend.append((f"c{colour}", name))

    def rule_at(self, x: float) -> None:
        """Draw an upright line that marks a value of x."""
        at = float(self.x(x))
        line = element("line", x1=at, x2=at, y1=self.y.start, y2=self.y.end, class_="rule")
        self._inside.append(line)

    def level_at(self, y: float) -> None:
        """Draw a level line that marks a value of y."""
        at = float(self.y(y))
        line = element("line", x1=self.x.start, x2=self.x.end, y1=at, y2=at, class_="rule")
        self._inside.append(line)

    def diagonal(self) -> None:
        """Draw the line on which both values are the same."""
        low, high = max(self.x.low, self.y.low), min(self.x.high, self.y.high)
        if low < high:
            ends = [low, high]
            self._inside.append(
                element("path", d=polyline(self.x(ends), self.y(ends)), class_="rule")
            )

    def svg(self) -> str:
        """Return the SVG alone."""
        inside = self._axes + "".join(self._inside)
        return picture(WIDTH, HEIGHT, inside, self.title, self.description or self.title)

    def figure(self, remark: str = "") -> str:
        """Return the chart with its heading and what the colours mean."""
        legend = legend_of(self._legend) if self._legend else ""
        return figure(self.svg(), self.title, legend, remark)

    def _finite(self, y: Any) -> npt.NDArray[np.float64]:
        values = np.asarray(y, np.float64)
        return np.where(np.isnan(values), np.nan, self.y(np.nan_to_num(values, nan=self.y.low)))

    def _draw_axes(
        self, x_label: str, y_label: str, x_names: list[str] | None, x_is_date: bool
    ) -> str:
        x, y = self.x, self.y
        parts = []
        y_ticks = nice_ticks(y.low, y.high, 5)
        for at, words in zip(y(y_ticks).tolist(), tick_texts(y_ticks), strict=True):
            parts.append(element("line", x1=x.start, x2=x.end, y1=at, y2=at, class_="grid-line"))
            parts.append(label(x.start - 6, at + 4, words, class_="tick end"))
        if x_names is None:
            x_ticks = nice_ticks(x.low, x.high, 6)
            texts = tick_texts(x_ticks)
            if x_is_date and max(abs(x.low), abs(x.high)) < LAST_SECOND:
                x_ticks, texts = date_ticks(x.low, x.high)
            for at, words in zip(x(x_ticks).tolist(), texts, strict=True):
                parts.append(label(at, y.start + 16, words, class_="tick middle"))
        else:
            parts.append(_names_below(x, y, x_names))
        parts.append(element("line", x1=x.start, x2=x.end, y1=y.start, y2=y.start, class_="axis"))
        middle = (y.start + y.end) / 2
        parts.append(label((x.start + x.end) / 2, HEIGHT - 8, x_label, class_="name middle"))
        turned = f"rotate(-90 12 {place(middle)})"
        parts.append(label(12, middle, y_label, 40, class_="name middle", transform=turned))
        return "".join(parts)


def _names_below(x: Scale, y: Scale, names: list[str]) -> str:
    """As many words as fit."""
    room = (x.end - x.start) / max(len(names), 1)
    longest = max((len(words) for words in names), default=1)
    every = max(int(np.ceil(min(longest, 12) * 6.5 / room)), 1)
    return "".join(
        label(float(x(i)), y.start + 16, names[i], 12, class_="tick middle")
        for i in range(0, len(names), every)
    )
