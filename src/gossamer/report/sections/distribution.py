"""Several quantiles, and normal distributions: whether they hold what they promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer.objectives import Objective
from gossamer.report.charts import Chart, histogram
from gossamer.report.charts.scale import span_of, with_room
from gossamer.report.given import Floats, choose_rows
from gossamer.report.html import grid, note, number, percent, table
from gossamer.report.sections.regression import regression


def quantiles(objective: Objective, label: Floats, predictions: Any) -> str:
    """Return which share of the labels lies below each predicted quantile, and all of the rest."""
    alphas = np.array(getattr(objective, "alphas", (0.5,)))
    order = np.argsort(alphas, kind="stable")
    found = np.asarray(predictions, np.float64).reshape(len(label), -1)
    share = (label[:, None] <= found).mean(axis=0)
    rows = [(percent(alphas[k]), percent(share[k])) for k in order]
    parts = [_coverage(alphas[order], share[order])]
    middle = int(np.argmin(np.abs(alphas - 0.5)))
    if len(alphas) > 1:
        parts.append(_intervals(label, found[:, order], alphas[order]))
    told = ""
    if len(alphas) > 1:
        low, high = found[:, order[0]], found[:, order[-1]]
        inside = float(((label > low) & (label <= high)).mean())
        promised = float(alphas[order[-1]] - alphas[order[0]])
        told = note(
            f"{percent(inside)} of the labels lie between the outer quantiles, which stand for "
            f"{percent(promised)}; they are {number(float((high - low).mean()))} apart on average."
        )
    whole = grid(parts) + table(("quantile", "labels at or below"), rows, kinds="nn") + told
    heading = f"<h3>Quantile {alphas[middle]:g}</h3>"
    return whole + heading + regression(label, found[:, middle], float(alphas[middle]))


def _coverage(alphas: Floats, share: Floats) -> str:
    chart = Chart(
        "Coverage",
        (0.0, 1.0),
        (0.0, 1.0),
        "quantile",
        "share of labels below",
        "on the diagonal, quantiles hold what they promise",
    )
    chart.diagonal()
    chart.line(alphas, share)
    chart.points(alphas, share, kind="big dots")
    return chart.figure("On the diagonal, quantiles have the right coverage.")


def _intervals(label: Floats, found: Floats, alphas: Floats) -> str:
    """Some rows, ordered by their middle, with the interval of the outer quantiles."""
    rows = choose_rows(len(label), 150)
    middle = found[rows][:, found.shape[1] // 2]
    rows = rows[np.argsort(middle, kind="stable")]
    low, high = found[rows, 0], found[rows, -1]
    place = np.arange(len(rows))
    chart = Chart(
        "Intervals of single rows",
        (0.0, float(max(len(rows) - 1, 1))),
        with_room(span_of(low, high, label[rows])),
        "rows, by prediction",
        "label",
        f"{len(rows)} rows",
    )
    chart.whiskers(place, low, high, 6)
    chart.points(place, label[rows], 2)
    span = f"from quantile {alphas[0]:g} to quantile {alphas[-1]:g}"
    return chart.figure(f"Lines reach {span}; dots are labels of {len(rows)} rows.")


def gaussian(label: Floats, predictions: Any) -> str:
    """Return whether labels are as far from the mean as the predicted deviation says."""
    mean, sigma = np.asarray(predictions, np.float64).T
    distance = (label - mean) / sigma
    below = np.array([0.5 * (1 + math.erf(z / math.sqrt(2))) for z in distance])
    shares = np.linspace(0.05, 0.95, 19)
    inside = np.array([(np.abs(below - 0.5) <= share / 2).mean() for share in shares])
    chart = Chart(
        "Coverage of intervals",
        (0.0, 1.0),
        (0.0, 1.0),
        "promised",
        "share of labels inside",
        "on the diagonal, intervals hold what they promise",
    )
    chart.diagonal()
    chart.line(shares, inside)
    figures = [
        chart.figure("On the diagonal, intervals around the mean have the right coverage."),
        histogram(
            "Labels in their distributions",
            [("all", below)],
            "predicted chance of a lower label",
            "The bars are level if the distributions are right.",
            (0.0, 1.0),
            20,
        ),
        histogram("Predicted deviations", [("all", sigma)], "standard deviation"),
    ]
    return grid(figures) + "<h3>Means</h3>" + regression(label, mean)
