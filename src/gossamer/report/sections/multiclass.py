"""Several classes: which are taken for which, and each class on its own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.report.charts import heat_map
from gossamer.report.given import Floats, Given
from gossamer.report.html import clean, grid, name, note, percent, table
from gossamer.report.sections.binary import calibration_figure
from gossamer.report.sections.curves import Calibration

_DRAWN: Final = 16
_LISTED: Final = 100


def multiclass(given: Given, label: npt.NDArray[np.int64], scores: Floats, predictions: Any) -> str:
    """Return the confusion matrix, and precision, recall and F1 of each class."""
    k = scores.shape[1]
    found = scores.argmax(axis=1)
    counts = np.bincount(label * k + found, minlength=k * k).reshape(k, k)
    names = [given.output_name(i) for i in range(k)]
    parts = [_heat(counts, names)]
    # Of one-versus-all models they need not add up to 1, but are shares all the same.
    if np.ndim(predictions) == 2:
        best = predictions.max(axis=1)
        is_right = found == label
        keep = np.isfinite(best)
        if keep.any():
            groups = Calibration.of(np.clip(best[keep], 0, 1), is_right[keep])
            parts.append(
                calibration_figure(
                    groups, "Calibration of the class predicted", "share of right rows"
                )
            )
    return grid(parts) + _by_class(counts, names)


def _heat(counts: npt.NDArray[np.int64], names: list[str]) -> str:
    remark = "Shades are shares of the actual class."
    if len(names) > _DRAWN:
        frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_DRAWN])
        remark = f"The {_DRAWN} most frequent of {len(names):,} classes. {remark}"
        counts, names = counts[np.ix_(frequent, frequent)], [names[i] for i in frequent]
    return heat_map("Confusion matrix", [clean(n, 40) for n in names], counts, remark)


def _by_class(counts: npt.NDArray[np.int64], names: list[str]) -> str:
    right = np.diag(counts).astype(np.float64)
    actual, predicted = counts.sum(axis=1), counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = right / predicted, right / actual
        f1 = 2 * right / (actual + predicted)
    listed = np.sort(np.argsort(-actual, kind="stable")[:_LISTED])
    rows = [
        (name(names[i]), f"{actual[i]:,}", *(percent(v[i]) for v in (precision, recall, f1)))
        for i in listed
    ]
    told = ""
    if len(names) > _LISTED:
        told = note(f"The {_LISTED} most frequent of {len(names):,} classes.")
    return told + table(("class", "rows", "precision", "recall", "F1"), rows, kinds="tnnnn")
