"""Numbers: predictions against labels, and the residuals."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.report.charts import Chart, histogram
from gossamer.report.charts.scale import span_of, with_room
from gossamer.report.given import Floats, choose_rows
from gossamer.report.html import grid, many, note, number, percent, table
from gossamer.report.sections.curves import Calibration

_DOTS: Final = 1500


def regression(label: Floats, predictions: Any, alpha: float | None = None) -> str:
    """Return predictions against labels, residuals, and means of groups.

    Args:
        label: The labels.
        predictions: The predictions.
        alpha: The quantile that they stand for; None: none.
    """
    prediction = np.asarray(predictions, np.float64)
    keep = np.isfinite(prediction) & np.isfinite(label)
    told = ""
    if not keep.all():
        told = note(f"{int((~keep).sum()):,} rows without a finite prediction are left out.")
    if not keep.any():
        return told
    label, prediction = label[keep], prediction[keep]
    residual = label - prediction
    rows = choose_rows(len(label), _DOTS)
    few = f"{len(rows):,} of {len(label):,} rows are drawn." if len(rows) < len(label) else ""
    low, high = with_room(span_of(label[rows], prediction[rows]))
    beside = Chart(
        "Predicted and actual",
        (low, high),
        (low, high),
        "predicted",
        "actual",
        f"{len(rows):,} rows",
    )
    beside.points(prediction[rows], label[rows])
    beside.diagonal()
    left = Chart(
        "Residuals",
        with_room(span_of(prediction[rows])),
        with_room(span_of(residual[rows], include=(0.0,))),
        "predicted",
        "actual \u2212 predicted",
        f"{len(rows):,} rows",
    )
    left.points(prediction[rows], residual[rows])
    left.level_at(0.0)
    figures = [
        beside.figure(few),
        left.figure(),
        residual_histogram(residual),
        means_figure(Calibration.of(prediction, label)),
    ]
    return told + grid(figures) + _quantiles(residual, alpha)


def residual_histogram(residual: Floats) -> str:
    """Return how residuals are distributed; the outermost ones are counted at the ends."""
    low, high = span_of(np.quantile(residual / 2, [0.005, 0.995]) * 2, include=(0.0,))
    outside = float(np.mean((residual < low) | (residual > high)))
    remark = f"{percent(outside)} of the rows lie beyond the ends and are counted there."
    return histogram(
        "Distribution of the residuals",
        [("all", residual)],
        "actual \u2212 predicted",
        remark if outside else "",
        (low, high),
        mark=0.0,
    )


def means_figure(found: Calibration) -> str:
    """Return mean predictions and mean labels of groups of rows as a figure."""
    low, high = with_room(span_of(found.predicted, found.actual))
    told = f"{many(len(found.n_rows), 'group')} of rows by prediction"
    chart = Chart(
        "Means of groups", (low, high), (low, high), "mean predicted", "mean actual", told
    )
    chart.diagonal()
    chart.line(found.predicted, found.actual)
    chart.points(found.predicted, found.actual, kind="big dots")
    return chart.figure(f"{told}, from the lowest to the highest.")


def _quantiles(residual: Floats, alpha: float | None) -> str:
    """Return quantiles of the residuals, and how many labels lie below the prediction."""
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    found = np.quantile(residual / 2, shares) * 2
    below = percent(float(np.mean(residual <= 0)))
    rows = [
        ("residual", *(number(value) for value in found)),
    ]
    head = ("quantile", *(percent(share) for share in shares))
    told = f"{below} of the labels are at or below the prediction"
    if alpha is not None:
        told += f"; the model was trained for {percent(alpha)}"
    return table(head, rows, kinds="tnnnnn") + note(f"{told}.")
