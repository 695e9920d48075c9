"""Figures of the stages before a tree grows: pipeline, bins, storage, gradients, samples."""

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

import gossamer as gs
from gossamer.data.dataset import built_data


def pipeline() -> Figure:
    """All stages, and the loop of rounds."""
    figure, ax = drawing(8.6, 3.3, 17.2, 6.6)
    box(ax, 0.2, 0.5, 2.6, 1.3, "your table", SKY)
    box(ax, 3.7, 0.5, 2.6, 1.3, "bins\n1 byte a value", SKY)
    box(ax, 7.2, 0.5, 2.6, 1.3, "gradients\nas integers", MINT)
    box(ax, 10.7, 0.5, 2.6, 1.3, "sampled\nrows", MINT)
    box(ax, 14.2, 0.5, 2.8, 1.3, "histograms\nof leaves", MINT)
    box(ax, 14.2, 3.2, 2.8, 1.3, "best split\nof each leaf", MINT)
    box(ax, 10.7, 3.2, 2.6, 1.3, "rows split,\none leaf more", MINT)
    box(ax, 7.2, 3.2, 2.6, 1.3, "tree", MINT)
    box(ax, 3.7, 3.2, 2.6, 1.3, "model", SAND)
    box(ax, 0.2, 3.2, 2.6, 1.3, "predictions,\nShapley values", SAND)
    for x in (2.8, 6.3, 9.8, 13.3):
        arrow(ax, (x, 1.15), (x + 0.9, 1.15))
    arrow(ax, (15.9, 1.8), (15.9, 3.2))
    arrow(ax, (14.2, 3.85), (13.3, 3.85))
    arrow(ax, (10.7, 3.85), (9.8, 3.85))
    arrow(ax, (7.2, 3.85), (6.3, 3.85))
    arrow(ax, (3.7, 3.85), (2.8, 3.85))
    arrow(ax, (13.0, 3.2), (14.5, 1.8), GREEN)
    ax.text(12.4, 2.5, "next leaf", color=GREEN, ha="right", va="center")
    arrow(ax, (8.5, 3.2), (8.5, 1.8), GREEN)
    ax.text(8.3, 2.5, "next round: scores", color=GREEN, ha="right", va="center")
    notes = ((0.2, SKY, "once"), (3.7, MINT, "every round, in C++"), (9.2, SAND, "when asked"))
    for x, colour, text in notes:
        box(ax, x, 5.5, 0.5, 0.5, "", colour)
        ax.text(x + 0.7, 5.75, text, va="center", color=MUTED)
    return figure


def bins() -> Figure:
    """A skewed column, with the bounds of equal-width and of Gossamer's bins."""
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 0.7, 20_000)
    values = values[values < 6]
    data = gs.Dataset(values[:, None], values, params={"max_bin": 12}).construct()
    upper = built_data(data).table.binning.upper_of(0)[:-1]
    figure, axes = new_figure(8.6, 2.6, 2, sharey=True)
    for ax, bounds, title in (
        (axes[0], np.linspace(0, 6, 13)[1:-1], "equal width: most rows in four bins"),
        (axes[1], upper, "Gossamer: equal numbers of rows"),
    ):
        ax.hist(values, bins=120, range=(0, 6), color=SKY)
        for bound in bounds:
            ax.axvline(bound, color=BLUE, lw=1)
        ax.set_title(title)
        ax.set_xlabel("value of a column")
        ax.set_xlim(0, 6)
    axes[0].set_ylabel("rows")
    return figure


def storage() -> Figure:
    """Columns that exclude each other, and columns of few bins, put together in one byte."""
    figure, ax = drawing(8.6, 3.0, 17.2, 6.0)
    red, green, blue = (1, 0, 0, 0, 1, 0), (0, 2, 0, 0, 0, 1), (0, 0, 0, 3, 0, 0)
    rows = list(zip(red, green, blue, strict=True))
    paint = [
        [c if v else PALE for v, c in zip(row, (ROSE, MINT, SKY), strict=True)] for row in rows
    ]
    ax.text(0.3, 0.55, "never non-zero in the same row: one bundle", fontsize=10.5)
    cells(ax, 0.3, 1.9, rows, 0.9, 0.6, paint, ("a", "b", "c"))
    bundle = [[a or (b and b + 1) or (c and c + 3)] for a, b, c in rows]
    tint = [[next((p for p in row if p != PALE), PALE)] for row in paint]
    arrow(ax, (3.3, 3.7), (4.3, 3.7))
    cells(ax, 4.5, 1.9, bundle, 0.9, 0.6, tint, ("a|b|c",))
    ranges = (
        ("0: all zero", PALE),
        ("1: a is 1", ROSE),
        ("2, 3: b is 1, 2", MINT),
        ("4 …: c is 1 …", SKY),
    )
    for i, (text, colour) in enumerate(ranges):
        box(ax, 5.7, 2.0 + 0.85 * i, 0.45, 0.45, "", colour)
        ax.text(6.3, 2.22 + 0.85 * i, text, va="center", color=MUTED, fontsize=9)
    ax.text(10.1, 0.55, "few bins each: digits of one number", fontsize=10.5)
    d = (3, 0, 2, 1, 3, 2)
    e = (5, 7, 1, 0, 2, 6)
    few = list(zip(d, e, strict=True))
    cells(ax, 10.2, 1.9, few, 0.9, 0.6, [[SAND, SKY]] * 6, ("d", "e"))
    arrow(ax, (12.2, 3.7), (13.2, 3.7))
    one = [[f"{a} + 4·{b} = {a + 4 * b}"] for a, b in few]
    cells(ax, 13.4, 1.9, one, 3.2, 0.6, [[PALE]] * 6, ("one byte",))
    return figure


def gradients() -> Figure:
    """Gradients rounded to steps of a power of two, and the fields of a cell."""
    figure = Figure(figsize=(8.6, 3.0))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.35))
    score = np.linspace(-4, 4, 400)
    gradient = 1 / (1 + np.exp(-score))
    step = 2.0**-4
    left.plot(score, gradient, color=MUTED, lw=1.2, label="gradient")
    left.step(score, np.rint(gradient / step) * step, color=BLUE, lw=1.6, label="4 bits")
    left.set_xlabel("raw score")
    left.set_title("rounded to the nearest step (really 13 bits)")
    left.legend(loc="upper left")
    right.axis("off")
    right.set_xlim(0, 64)
    right.set_ylim(5.2, -0.6)
    right.set_title("a cell of a histogram: 64 bits, one addition")
    for y, fields, note in (
        (0.2, ((13, "rows", SAND), (24, "hessian", MINT), (27, "gradient", SKY)), "any loss"),
        (2.2, ((16, "rows", SAND), (48, "gradient", SKY)), "hessians all equal"),
    ):
        x = 0
        for bits, name, colour in fields:
            right.barh(y, bits, left=x, height=0.9, color=colour, edgecolor="white")
            right.text(x + bits / 2, y, f"{name} {bits}", ha="center", va="center")
            x += bits
        right.text(0, y + 0.95, note, color=MUTED, fontsize=9, va="center")
    right.text(
        0,
        4.3,
        "one outlier dwarfs the others: 128 bits, gradient 64",
        color=RED,
        fontsize=9,
        va="center",
    )
    return figure


def sampling() -> Figure:
    """Which rows GOSS and MVS take, by the size of their gradients."""
    rng = np.random.default_rng(3)
    size = np.sort(np.abs(rng.normal(size=160)) ** 2)[::-1]
    size /= size[0]
    n = len(size)
    figure, axes = new_figure(8.6, 2.7, 2)
    top = int(0.2 * n)
    others = np.sort(rng.choice(np.arange(top, n), int(0.1 * n), replace=False))
    ax = axes[0]
    ax.vlines(np.arange(n), 0, size, color=PALE, lw=2.2)
    ax.vlines(np.arange(top), 0, size[:top], color=BLUE, lw=2.2, label="kept: largest 20 %")
    ax.vlines(others, 0, size[others], color=GOLD, lw=2.2, label="10 %, at random: count 8 times")
    ax.set_title("GOSS")
    ax.set_ylabel("|gradient|")
    ax.legend(loc="upper right")
    ax = axes[1]
    score = np.sqrt(size**2 + 0.01)
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (
            (middle, high) if np.minimum(1, score / middle).sum() > 0.3 * n else (low, middle)
        )
    chance = np.minimum(1, score / high)
    ax.fill_between(np.arange(n), chance, color=SKY)
    ax.plot(chance, color=BLUE, lw=1.6)
    ax.set_title("MVS: chance of each row, 30 % on average")
    ax.set_ylim(0, 1.05)
    for ax in axes:
        ax.set_xlabel("rows, by |gradient|")
        ax.set_xticks([])
    return figure
