"""Figures of a growing tree: histograms, splits, growth, categories."""

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
    ROSE,
    SAND,
    SKY,
    arrow,
    box,
    cells,
    drawing,
    new_figure,
)


def _leaf() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bins, integer gradients, and which rows lack the value, of a made-up leaf."""
    rng = np.random.default_rng(4)
    n = 3000
    bins = np.clip(rng.normal(8, 3.5, n), 0, 15).astype(int)
    missing = rng.random(n) < 0.15
    gradient = np.rint(40 * (np.tanh((bins - 9) / 3) + rng.normal(0, 0.6, n))).astype(int)
    gradient[missing] = np.rint(rng.normal(25, 20, missing.sum())).astype(int)
    return bins, gradient, missing


def histograms() -> Figure:
    """Parent, smaller child, and the larger one as their difference."""
    bins, gradient, missing = _leaf()
    bins, gradient = bins[~missing], gradient[~missing]
    rng = np.random.default_rng(1)
    goes_left = rng.random(len(bins)) < 0.3 + 0.02 * (bins - 8)
    sums = [
        np.bincount(bins[rows], gradient[rows], minlength=16)
        for rows in (np.ones(len(bins), bool), goes_left)
    ]
    sums.append(sums[0] - sums[1])
    titles = (
        f"parent: {len(bins):,} rows, known",
        f"smaller child: {goes_left.sum():,} rows, counted",
        "larger child: subtracted, exact",
    )
    figure, axes = new_figure(8.6, 2.4, 3, sharey=True)
    for ax, values, title, colour in zip(axes, sums, titles, (MUTED, BLUE, GREEN), strict=True):
        ax.bar(range(16), values, color=colour, width=0.8)
        ax.axhline(0, color=MUTED, lw=0.8)
        ax.set_title(title, fontsize=9.5)
        ax.set_xlabel("bin")
        ax.set_xticks([0, 5, 10, 15])
    axes[0].set_ylabel("sum of gradients")
    return figure


def splits() -> Figure:
    """The gain of every threshold, with missing rows on either side."""
    bins, gradient, missing = _leaf()
    sums = np.bincount(bins[~missing], gradient[~missing], minlength=16).astype(float)
    counts = np.bincount(bins[~missing], minlength=16).astype(float)
    g_missing, n_missing = gradient[missing].sum(), missing.sum()
    total, rows = sums.sum() + g_missing, counts.sum() + n_missing
    figure, axes = new_figure(8.6, 2.7, 2)
    axes[0].bar(range(16), sums, color=SKY)
    axes[0].bar([17.5], [g_missing], color=GOLD)
    axes[0].set_xticks([0, 5, 10, 15, 17.5], ["0", "5", "10", "15", "missing"])
    axes[0].set_ylabel("sum of gradients")
    axes[0].set_title("histogram of a leaf")
    axes[0].axhline(0, color=MUTED, lw=0.8)
    best = (0.0, 0, "")
    for name, g_add, n_add, colour in (
        ("missing right", 0.0, 0, BLUE),
        ("missing left", g_missing, n_missing, GOLD),
    ):
        left, n_left = np.cumsum(sums)[:-1] + g_add, np.cumsum(counts)[:-1] + n_add
        gain = left**2 / n_left + (total - left) ** 2 / (rows - n_left) - total**2 / rows
        gain /= 1000
        axes[1].plot(range(15), gain, "o-", ms=4, color=colour, label=name)
        best = max(best, (gain.max(), int(gain.argmax()), colour))
    axes[1].plot([best[1]], [best[0]], "o", ms=11, mfc="none", mec=RED, mew=1.8)
    axes[1].annotate(
        "the split", (best[1], best[0]), (best[1] + 1.3, best[0]), color=RED, va="center"
    )
    axes[1].set_ylabel("gain")
    axes[1].set_xlabel("left: bins up to")
    axes[1].set_title("gain of each threshold")
    axes[1].legend(loc="upper left")
    axes[1].set_ylim(0, best[0] * 1.35)
    return figure


def _tree(ax: object, x: float, order: dict[str, str], title: str) -> None:
    """Draw nodes named by their way ("", "L", "LR", ...), with the order of their splits."""
    places = {}
    for way in order:
        middle, half = x, 2.0
        for step in way:
            middle += -half if step == "L" else half
            half = max(half / 2, 0.55)
        places[way] = (middle, 1.2 + 1.15 * len(way))
    for way, (px, py) in places.items():
        if way:
            parent = places[way[:-1]]
            ax.plot([parent[0], px], [parent[1], py], color=MUTED, lw=1, zorder=1)  # type: ignore[attr-defined]
    for way, (px, py) in places.items():
        text = order[way]
        ax.plot(  # type: ignore[attr-defined]
            [px],
            [py],
            "o",
            ms=17,
            color=SKY if text else MINT,
            mec=BLUE if text else GREEN,
            zorder=2,
        )
        ax.text(px, py, text, ha="center", va="center", zorder=3)  # type: ignore[attr-defined]
    ax.text(x, 0.3, title, ha="center", fontsize=10.5)  # type: ignore[attr-defined]


def growth() -> Figure:
    """Best leaf first against level by level, with as many leaves."""
    figure, ax = drawing(8.6, 3.2, 17.2, 6.4)
    leafwise = {
        "": "1",
        "L": "",
        "R": "2",
        "RL": "3",
        "RR": "",
        "RLL": "",
        "RLR": "4",
        "RLRL": "",
        "RLRR": "",
    }
    depthwise = {
        "": "1",
        "L": "2",
        "R": "3",
        "LL": "4",
        "LR": "",
        "RL": "",
        "RR": "",
        "LLL": "",
        "LLR": "",
    }
    _tree(ax, 4.3, leafwise, "best leaf first (lossguide)")
    _tree(ax, 12.9, depthwise, "level by level (depthwise)")
    return figure


def partition() -> Figure:
    """Row numbers split in place, in order."""
    figure, ax = drawing(8.6, 2.2, 17.2, 4.4)
    rows = list(range(12))
    left = {0, 2, 3, 7, 8, 11}
    before = [[SKY if r in left else SAND for r in rows]]
    cells(ax, 4.2, 0.6, [rows], 1.0, 0.7, before, size=10)
    after = [r for r in rows if r in left] + [r for r in rows if r not in left]
    cells(ax, 4.2, 2.9, [after], 1.0, 0.7, [[SKY] * 6 + [SAND] * 6], size=10)
    for place, row in enumerate(after):
        colour = BLUE if row in left else GOLD
        begin, end = (4.7 + row, 1.3), (4.7 + place, 2.9)
        ax.plot(*zip(begin, end, strict=True), color=colour, lw=1)
    ax.text(3.9, 0.95, "rows of a leaf", ha="right", va="center", color=MUTED)
    ax.text(3.9, 3.25, "left, then right,\nin their order", ha="right", va="center", color=MUTED)
    ax.text(7.2, 4.0, "left leaf", ha="center", color=BLUE)
    ax.text(13.2, 4.0, "right leaf", ha="center", color=GOLD)
    return figure


def categories() -> Figure:
    """Categories in the order of their means, and statistics of the rows before."""
    rng = np.random.default_rng(6)
    names = ["Bern", "Graz", "Kiel", "Lyon", "Oslo", "Riga", "Rome", "Vaasa"]
    mean = rng.normal(0, 1, len(names))
    order = np.argsort(mean)
    figure = Figure(figsize=(8.6, 2.9))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    cut = 3
    left.bar(
        range(len(names)), mean[order], color=[BLUE if i < cut else GOLD for i in range(len(names))]
    )
    left.axvline(cut - 0.5, color=RED, lw=1.4, ls="--")
    left.axhline(0, color=MUTED, lw=0.8)
    left.set_xticks(range(len(names)), [names[i] for i in order], rotation=45, ha="right")
    left.set_ylabel("gradients / hessians")
    left.set_title("few categories: in order, then cut once")
    label = [1, 0, 1, 1, 0, 1]
    city = ["Oslo", "Rome", "Oslo", "Rome", "Oslo", "Oslo"]
    seen: dict[str, list[int]] = {}
    rows = []
    for name, y in zip(city, label, strict=True):
        before = seen.setdefault(name, [])
        rows.append((name, y, f"({sum(before)} + 5·0.6) / ({len(before)} + 5)"))
        before.append(y)
    right.axis("off")
    right.set_xlim(0, 10)
    right.set_ylim(5.2, -0.7)
    right.set_title("many: the mean label of the rows before")
    for j, (x, width, head) in enumerate(
        ((0, 2.2, "city"), (2.2, 1.6, "label"), (3.8, 6.2, "becomes"))
    ):
        colour = (PALE, ROSE, MINT)[j]
        cells(right, x, 0.3, [[row[j]] for row in rows], width, 0.72, [[colour]] * 6, (head,))
    return figure


def blocks() -> Figure:
    """How the parts of a round's work are shared among threads, and come back in order."""
    figure, ax = drawing(8.6, 2.6, 17.2, 5.2)
    tints = (SKY, MINT, SAND)
    for block in range(8):
        box(ax, 0.4 + 2.05 * block, 0.5, 1.85, 0.8, f"rows {block + 1}", tints[block % 3], 9)
    for block, thread in enumerate((0, 1, 2, 0, 2, 1, 0, 1)):
        arrow(ax, (1.3 + 2.05 * block, 1.3), (3.2 + 5.3 * thread, 2.3))
    for thread in range(3):
        box(ax, 1.5 + 5.3 * thread, 2.3, 3.4, 0.8, f"thread {thread + 1}: integer sums", PALE, 9)
        arrow(ax, (3.2 + 5.3 * thread, 3.1), (8.5, 4.1))
    box(ax, 5.6, 4.1, 5.8, 0.8, "the same sum, whoever added what", ROSE, 9.5)
    return figure
