"""Figures of a finished model: prediction, Shapley values; and of threads."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from style import (
    BLUE,
    GOLD,
    GREEN,
    MINT,
    MUTED,
    PALE,
    RED,
    SAND,
    SKY,
    box,
    cells,
    drawing,
    new_figure,
)


def prediction() -> Figure:
    """Four nodes asked about all rows of a tile, one after another."""
    figure, ax = drawing(8.6, 3.3, 17.2, 6.6)
    ax.text(0.3, 0.5, "a tree, leaves from left to right", fontsize=10.5)
    nodes = {"x<5": (2.9, 1.4), "y<2": (1.5, 2.9), "y<7": (4.3, 2.9)}
    leaves = {"0": (0.7, 4.5), "1": (2.2, 4.5), "2": (3.6, 4.5), "3": (5.0, 4.5)}
    for a, b in (
        ("x<5", "y<2"),
        ("x<5", "y<7"),
        ("y<2", "0"),
        ("y<2", "1"),
        ("y<7", "2"),
        ("y<7", "3"),
    ):
        begin, end = nodes[a], {**nodes, **leaves}[b]
        ax.plot(*zip(begin, end, strict=True), color=MUTED, lw=1, zorder=1)
    for name, (x, y) in nodes.items():
        box(ax, x - 0.65, y - 0.32, 1.3, 0.64, name, SKY, 9.5)
    for name, (x, y) in leaves.items():
        ax.plot([x], [y], "o", ms=17, color=MINT, mec=GREEN, zorder=2)
        ax.text(x, y, name, ha="center", va="center", zorder=3)
    ax.text(6.6, 0.5, "a byte per row: the leaf it is in", fontsize=10.5)
    x = np.array([3, 8, 4, 6, 1, 9, 2, 7])
    y = np.array([1, 8, 3, 6, 0, 7, 5, 2])
    rows = [("x", x), ("y", y)]
    stand = np.zeros(8, int)
    steps = [("at first", stand.copy())]
    for text, lane, bound, first, to in (
        ("x ≥ 5, at 0 → 2", x, 5, 0, 2),
        ("y ≥ 2, at 0 → 1", y, 2, 0, 1),
        ("y ≥ 7, at 2 → 3", y, 7, 2, 3),
    ):
        stand[(stand == first) & (lane >= bound)] = to
        steps.append((text, stand.copy()))
    for i, (name, values) in enumerate(rows):
        cells(ax, 10.2, 1.0 + 0.5 * i, [values], 0.8, 0.46, [[PALE] * 8])
        ax.text(9.95, 1.23 + 0.5 * i, name, ha="right", va="center", color=MUTED)
    before = steps[0][1]
    for i, (text, values) in enumerate(steps):
        changed = values != before
        tint = [[SAND if c else SKY for c in changed]]
        cells(ax, 10.2, 2.5 + 0.72 * i, [values], 0.8, 0.5, tint)
        ax.text(9.95, 2.75 + 0.72 * i, text, ha="right", va="center", color=MUTED)
        before = values
    ax.text(
        10.2, 5.75, "every node, all rows at once: no branch, no waiting", color=BLUE, fontsize=9.5
    )
    return figure


def shapley() -> Figure:
    """What one column adds as a function of the chance that others are known, and its points."""
    share = np.array([0.3, 0.7, 0.45])  # of training rows, at three other splits of the way
    answer = np.array([1.0, 0.0, 1.0])  # does the row go that way
    t = np.linspace(0, 1, 200)

    def added(t: np.ndarray) -> np.ndarray:
        factors = [s + (a - s) * t for s, a in zip(share, answer, strict=True)]
        return np.asarray(2.0 * (1 - 0.4) * np.prod(factors, axis=0))

    points, weights = np.polynomial.legendre.leggauss(2)
    points, weights = (points + 1) / 2, weights / 2
    dense, dense_weight = np.polynomial.legendre.leggauss(20)
    exact = float(np.sum(dense_weight / 2 * added((dense + 1) / 2)))
    found = float(np.sum(weights * added(points)))
    figure, ax = new_figure(8.6, 2.8)
    ax.plot(t, added(t), color=BLUE, lw=2)
    ax.fill_between(t, added(t), color=SKY)
    for point, weight in zip(points, weights, strict=True):
        value = float(added(np.array(point)))
        ax.vlines(point, 0, value, color=RED, lw=1.5)
        ax.plot([point], [value], "o", color=RED)
        ax.annotate(
            f"weight {weight:.2f}", (point, value), (point, value + 0.02), color=RED, ha="center"
        )
    ax.set_xlabel("chance that another column is known")
    ax.set_ylabel("what this column adds")
    ax.set_title(
        f"area {exact:.6f}; two points say {found:.6f}: a polynomial of degree 3, so that is exact"
    )
    ax.set_xlim(0, 1)
    ax.set_ylim(0, float(added(t).max()) * 1.25)
    return figure


def threads() -> Figure:
    """The same sum, divided among more and more threads: floats and integers."""
    rng = np.random.default_rng(0)
    gradient = rng.normal(size=100_000).astype(np.float32)
    unit = 2.0**-20
    whole = np.rint(gradient / unit).astype(np.int64)
    counts = np.arange(1, 33)
    floats, integers = [], []
    for n in counts:
        parts = np.array_split(gradient, n)
        sums = [np.cumsum(part, dtype=np.float32)[-1] for part in parts]
        floats.append(float(np.cumsum(np.array(sums, np.float32), dtype=np.float32)[-1]))
        integers.append(float(sum(int(part.sum()) for part in np.array_split(whole, n)) * unit))
    figure, ax = new_figure(8.6, 2.6)
    ax.plot(counts, np.array(floats) - integers[0], "o", color=GOLD, label="sums of float32")
    ax.plot(counts, np.array(integers) - integers[0], "o", color=BLUE, label="sums of integers")
    ax.set_xlabel("threads among which 100,000 gradients are divided")
    ax.set_ylabel("sum, less the integer one")
    ax.set_ylim(-0.0008, 0.0015)
    ax.legend(loc="upper right", ncols=2)
    return figure
