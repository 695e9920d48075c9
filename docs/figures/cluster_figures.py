"""Figures of several workers that train one model."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLUE, GOLD, GREEN, MINT, MUTED, PALE, RED, ROSE, SAND, SKY, arrow, box, drawing

_LANES = (("a", SKY, BLUE), ("b", MINT, GREEN), ("c", SAND, GOLD))  # a feature and its colours


def messages() -> Figure:
    """Three workers and one batch of leaves: cells to the owners, best splits to all."""
    figure, ax = drawing(8.6, 5.3, 17.2, 10.6)
    box(ax, 0.3, 0.3, 2.6, 1.0, "client", PALE)
    for rank in range(3):
        _draw_worker(ax, 4.6 + 4.2 * rank, rank)
    arrow(ax, (2.9, 0.8), (4.5, 0.8))
    ax.text(3.7, 0.55, "job", ha="center", fontsize=9, color=MUTED)
    steps = (
        (2.5, "1  each builds the\nhistograms of its rows"),
        (4.75, "2  cells go to the\nowner of the feature"),
        (6.75, "3  owners add up\nand search"),
        (8.85, "4  best splits go to all:\nall take the best one"),
    )
    for y, text in steps:
        ax.text(0.3, y, text, va="center", fontsize=9.5)
    for sender in range(3):
        for owner, (_, _, colour) in enumerate(_LANES):
            if sender != owner:
                begin = 5.25 + 4.2 * sender + 1.2 * owner
                arrow(ax, (begin, 3.15), (6.45 + 4.2 * owner, 6.15), colour)
    for owner in range(3):
        for receiver in range(3):
            if owner != receiver:
                arrow(ax, (6.45 + 4.2 * owner, 7.45), (6.45 + 4.2 * receiver, 9.3), RED)
    return figure


def _draw_worker(ax: Axes, x: float, rank: int) -> None:
    box(ax, x, 0.3, 3.7, 1.0, f"worker {rank}: a third of the rows", PALE, 9)
    for lane, (name, pale, colour) in enumerate(_LANES):
        box(ax, x + 0.1 + 1.2 * lane, 1.9, 1.1, 1.2, f"cells\nof {name}", pale, 8.5, colour)
    name, pale, colour = _LANES[rank]
    box(
        ax,
        x + 0.1,
        6.2,
        3.5,
        1.2,
        f"cells of {name}, of all rows;\nbest split of {name}",
        pale,
        8.5,
        colour,
    )
    box(ax, x + 0.1, 9.35, 3.5, 0.95, "the same tree", ROSE, 9)
