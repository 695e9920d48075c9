"""Boxes and ways of a tree on matplotlib's axes. Needs matplotlib when it is imported."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.artist import Artist
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextToPath

from gossamer.plot.style import INK, LINE, MARK, MUTED
from gossamer.plot.tree_boxes import SMALL, Drawing, DrawnBox, line_middles

_MARGIN: Final = 6.0
_TEXT_TO_PATH: Final = TextToPath()


class Scale(Artist):
    """Keeps letters and lines as large as the boxes are, however large the axes become.

    It is drawn before all else, and sets the sizes of the others then.
    """

    def __init__(self, width: float) -> None:
        super().__init__()
        self._width = width
        self._texts: list[tuple[Any, float]] = []
        self._lines: list[tuple[Any, float]] = []
        self.set_zorder(-1)
        self.set_in_layout(False)

    def add_text(self, text: Any, size: float) -> None:
        """Have this text be so large, in the units of the axes."""
        self._texts.append((text, size))

    def add_line(self, line: Any, width: float) -> None:
        """Have this line, or the line around a patch, be so wide."""
        self._lines.append((line, width))

    def draw(self, renderer: Any) -> None:
        """Set the sizes."""
        self.apply()
        self.stale = False

    def apply(self) -> None:
        """Set the sizes for the axes as they are now."""
        ax: Any = self.axes
        points = ax.get_window_extent().width / ax.figure.dpi * 72
        scale = points / self._width
        for text, size in self._texts:
            text.set_fontsize(max(size * scale, 0.1))
        for line, width in self._lines:
            line.set_linewidth(width * scale)


def measure(text: str, size: float, is_bold: bool) -> float:
    """Return the width of a text in points."""
    if not text:
        return 0.0
    font = FontProperties(size=size, weight="bold" if is_bold else "normal")
    return float(_TEXT_TO_PATH.get_text_width_height_descent(text, font, ismath=False)[0])


def draw(ax: Any, drawing: Drawing, orientation: str) -> None:
    """Draw a tree; the axes show nothing else."""
    is_across = orientation == "horizontal"
    ax.set_xlim(-_MARGIN, drawing.width + _MARGIN)
    ax.set_ylim(drawing.height + _MARGIN, -_MARGIN)
    ax.set_aspect("equal")
    ax.axis("off")
    scale = Scale(drawing.width + 2 * _MARGIN)
    for drawn in drawing.boxes:
        for child in (drawing.boxes[place] for place in drawn.box.children):
            _draw_way(ax, scale, drawn, child, drawing.label_room, is_across)
    for drawn in drawing.boxes:
        _draw_box(ax, scale, drawn)
    ax.add_artist(scale)
    scale.apply()


def _draw_box(ax: Any, scale: Scale, drawn: DrawnBox) -> None:
    radius = drawn.height / 2 if drawn.box.kind == "leaf" else 4.0
    radius = min(radius, 9.0)
    patch = FancyBboxPatch(
        (drawn.x, drawn.y),
        drawn.width,
        drawn.height,
        boxstyle=f"round,pad=0,rounding_size={radius}",
        facecolor=drawn.fill,
        edgecolor=MARK if drawn.box.on_path else LINE,
        linestyle="--" if drawn.box.kind == "cut" else "-",
        zorder=3,
    )
    ax.add_patch(patch)
    scale.add_line(patch, 2.0 if drawn.box.on_path else 0.9)
    middle = drawn.x + drawn.width / 2
    for line, y in zip(drawn.lines, line_middles(drawn), strict=True):
        colour = drawn.muted_ink if line.is_muted else drawn.ink
        weight = "bold" if line.is_bold else "normal"
        _write(ax, scale, middle, drawn.y + y, line.text, line.size, colour, weight=weight)


def _write(
    ax: Any, scale: Scale, x: float, y: float, text: str, size: float, colour: str, **kwargs: Any
) -> None:
    """Write a line of text around a place."""
    # A dollar sign in a name is a dollar sign.
    found = ax.text(
        x,
        y,
        text,
        color=colour,
        ha="center",
        va="center_baseline",
        parse_math=False,
        **{"zorder": 4, **kwargs},
    )
    found.set_in_layout(False)
    scale.add_text(found, size)


def _draw_way(
    ax: Any, scale: Scale, parent: DrawnBox, child: DrawnBox, label_room: float, is_across: bool
) -> None:
    """A way: straight out of its row, in a curve to the row of the child, and to its words."""
    if is_across:
        start = (parent.x + parent.width, parent.y + parent.height / 2)
        out = (parent.row_end, start[1])
        end = (child.x, child.y + child.height / 2)
        turn = (end[0] - label_room, end[1])
        half = (out[0] + turn[0]) / 2
        bends = [(half, out[1]), (half, turn[1])]
    else:
        start = (parent.x + parent.width / 2, parent.y + parent.height)
        out = (start[0], parent.row_end)
        end = (child.x + child.width / 2, child.y)
        turn = (end[0], end[1] - label_room)
        half = (out[1] + turn[1]) / 2
        bends = [(out[0], half), (turn[0], half)]
    path = Path(
        [start, out, *bends, turn, end],
        [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO],
    )
    is_marked = child.box.on_path
    patch = PathPatch(
        path,
        facecolor="none",
        edgecolor=MARK if is_marked else LINE,
        capstyle="butt",
        zorder=2 if is_marked else 1,
    )
    ax.add_patch(patch)
    share = child.box.share
    scale.add_line(patch, 1.5 if share is None else 0.8 + 5.2 * share)
    x, y = (turn[0] + end[0]) / 2, (turn[1] + end[1]) / 2
    colour = INK if is_marked else MUTED
    background = {"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.15"}
    _write(ax, scale, x, y, child.box.edge, SMALL, colour, bbox=background, zorder=2.5)
