"""What the figures share: colours, axes, boxes, arrows and tables of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

INK = "#2b2b2b"
MUTED = "#6f6f6f"
PALE = "#e9ecf0"
BLUE = "#2f6fb7"
SKY = "#cfe0f3"
RED = "#d1495b"
ROSE = "#f6d5da"
GREEN = "#2a8a5b"
MINT = "#d3ecdf"
GOLD = "#e0912f"
SAND = "#fbe6cc"

SETTINGS = {
    "svg.fonttype": "none",  # letters stay letters: light files that can be searched
    "svg.hashsalt": "gossamer",  # the same names of parts in every run
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "text.color": INK,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def new_figure(width: float, height: float, columns: int = 1, rows: int = 1, **more: Any) -> Any:
    """Return a figure and its axes (one, or an array of them)."""
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(rows, columns, **more)


def drawing(width: float, height: float, x_to: float, y_to: float) -> tuple[Figure, Axes]:
    """Return a figure with one empty plane from (0, 0) to (x_to, y_to), y downwards."""
    figure = Figure(figsize=(width, height), layout="none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, x_to)
    ax.set_ylim(y_to, 0)
    ax.axis("off")
    return figure, ax


def box(
    ax: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    text: str,
    colour: str = PALE,
    size: float = 10,
    edge: str = "none",
) -> None:
    """Draw a rounded box with its upper left corner at (x, y), and text in the middle."""
    shape = FancyBboxPatch(
        (x, y),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.12",
        facecolor=colour,
        edgecolor=edge,
    )
    ax.add_patch(shape)
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=size)


def arrow(
    ax: Axes,
    begin: tuple[float, float],
    end: tuple[float, float],
    colour: str = MUTED,
    bend: float = 0.0,
) -> None:
    """Draw an arrow."""
    ax.annotate(
        "",
        xy=end,
        xytext=begin,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "lw": 1.3,
            "shrinkA": 2,
            "shrinkB": 2,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )


def cells(
    ax: Axes,
    x: float,
    y: float,
    rows: Sequence[Sequence[object]],
    width: float = 0.7,
    height: float = 0.42,
    colours: Sequence[Sequence[str]] | None = None,
    head: Sequence[str] = (),
    size: float = 9,
) -> None:
    """Draw a table of cells with its upper left corner at (x, y); names are written above it."""
    for j, name in enumerate(head):
        ax.text(
            x + (j + 0.5) * width,
            y - 0.12,
            name,
            ha="center",
            va="bottom",
            fontsize=size,
            color=MUTED,
        )
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            colour = colours[i][j] if colours else PALE
            corner = (x + j * width, y + i * height)
            ax.add_patch(
                Rectangle(corner, width, height, facecolor=colour, edgecolor="white", lw=1)
            )
            middle = (corner[0] + width / 2, corner[1] + height / 2)
            ax.text(*middle, str(value), ha="center", va="center", fontsize=size)
