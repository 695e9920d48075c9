"""Two classes: ROC, precision and recall, calibration, scores, and a threshold to try out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.report.charts import Chart, histogram
from gossamer.report.charts.scale import span_of
from gossamer.report.given import Floats, Given
from gossamer.report.html import clean, grid, many, note, number, percent, text, to_json
from gossamer.report.sections.curves import Calibration, Ranked, Truths, thin

_N_THRESHOLDS: Final = 200


def binary(given: Given, is_positive: Truths, score: Floats, probability: Any, suffix: str) -> str:
    """Return the charts of two classes.

    Args:
        given: What the page is about.
        is_positive: The labels.
        score: Raw scores.
        probability: Predicted probabilities; None: the objective has none.
        suffix: Sets ids on the page apart.
    """
    names = given.class_names if len(given.class_names) == 2 else ("0", "1")
    is_share = probability is not None
    shown = np.asarray(probability, np.float64) if is_share else score
    is_there = np.isfinite(shown)
    shown, is_positive = shown[is_there], is_positive[is_there]
    if not len(shown):
        return note("No score is a finite number: there is nothing to draw.")
    what = "predicted probability" if is_share else "raw score"
    figures = []
    both = is_positive.any() and not is_positive.all()
    if both:
        ranked = Ranked.of(shown, is_positive)
        figures += [_roc(ranked), _precision_recall(ranked, float(is_positive.mean()))]
    if is_share:
        figures.append(calibration_figure(Calibration.of(shown, is_positive)))
    groups = [(f"{clean(name, 30)}", shown[is_positive == bool(i)]) for i, name in enumerate(names)]
    span = (0.0, 1.0) if is_share else None
    figures.append(histogram("Scores by class", groups, what, span=span))
    told = ""
    if not both:
        told = note("All rows are of one class: ROC and precision-recall curves need both classes.")
    border = 0.5 if is_share else 0.0
    return told + grid(figures) + _threshold(shown, is_positive, names, what, border, suffix)


def _roc(ranked: Ranked) -> str:
    area = f"area under the curve {number(ranked.area)}"
    x_label, y_label = "false positive rate", "true positive rate"
    chart = Chart("ROC", (0.0, 1.0), (0.0, 1.0), x_label, y_label, area)
    chart.diagonal()
    chart.line(*thin(*ranked.roc()))
    return chart.figure(f"{area.capitalize()}.")


def _precision_recall(ranked: Ranked, share: float) -> str:
    told = f"{percent(share)} of the rows are positive"
    chart = Chart("Precision and recall", (0.0, 1.0), (0.0, 1.0), "recall", "precision", told)
    chart.level_at(share)
    chart.line(*thin(*ranked.precision_recall()))
    return chart.figure(f"The level line: {told}.")


def calibration_figure(
    found: Calibration, title: str = "Calibration", share: str = "share of positive rows"
) -> str:
    """Return predicted and actual shares of groups of rows as a figure."""
    told = f"mean distance of predicted and actual share {number(found.error, 3)}"
    chart = Chart(title, (0.0, 1.0), (0.0, 1.0), "mean predicted probability", share, told)
    chart.diagonal()
    chart.whiskers(found.predicted, *found.intervals())
    chart.line(found.predicted, found.actual)
    chart.points(found.predicted, found.actual, kind="big dots")
    words = f"{many(len(found.n_rows), 'group')} of rows by prediction, with 95 % intervals"
    return chart.figure(f"{words}; {told}.")


def _threshold(
    shown: Floats, is_positive: Truths, names: Any, what: str, border: float, suffix: str
) -> str:
    """Return a confusion matrix, and a slider that moves the threshold."""
    low, high = (0.0, 1.0) if border == 0.5 else span_of(shown, include=(0.0,))
    steps = np.append(np.linspace(low, high, _N_THRESHOLDS + 1), border)
    # Rounded first: what is counted is what is shown.
    thresholds = np.unique([float(f"{step:.4g}") for step in steps])
    # Rows at the threshold itself are not above it.
    positive, negative = np.sort(shown[is_positive]), np.sort(shown[~is_positive])
    n_true = len(positive) - np.searchsorted(positive, thresholds, "right")
    n_false = len(negative) - np.searchsorted(negative, thresholds, "right")
    start = int(np.searchsorted(thresholds, border))
    facts = {
        "thresholds": thresholds.tolist(),
        "truePositives": n_true.tolist(),
        "falsePositives": n_false.tolist(),
        "positives": len(positive),
        "negatives": len(negative),
    }
    tp, fp = int(n_true[start]), int(n_false[start])
    fn, tn = len(positive) - tp, len(negative) - fp
    no, yes = (text(name, 30) for name in names)
    cells = {
        "precision": tp / (tp + fp) if tp + fp else float("nan"),
        "recall": tp / len(positive) if len(positive) else float("nan"),
        "specificity": tn / len(negative) if len(negative) else float("nan"),
        "F1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else float("nan"),
        "accuracy": (tp + tn) / len(shown),
    }
    terms = "".join(
        f'<div><dt>{name}</dt><dd data-out="{name}">{percent(value)}</dd></div>'
        for name, value in cells.items()
    )
    return (
        f'<div class="threshold" data-threshold><h3>Confusion matrix at a threshold</h3>'
        f'<p class="slider" data-slider hidden><label for="threshold{suffix}">{what} above '
        f'<output for="threshold{suffix}" data-out="threshold">{border:g}</output> is predicted as '
        f'{yes}</label><input type="range" id="threshold{suffix}" min="0" '
        f'max="{len(thresholds) - 1}" value="{start}"></p>'
        f'<p class="note" data-static>At a {what} of {border:g}.</p>'
        '<div class="wide"><table class="confusion"><thead><tr><td></td>'
        f'<th scope="col">predicted {no}</th><th scope="col">predicted {yes}</th></tr></thead>'
        f'<tbody><tr><th scope="row">actual {no}</th><td data-out="tn">{tn:,}</td>'
        f'<td data-out="fp">{fp:,}</td></tr><tr><th scope="row">actual {yes}</th>'
        f'<td data-out="fn">{fn:,}</td><td data-out="tp">{tp:,}</td></tr></tbody></table></div>'
        f'<dl class="facts">{terms}</dl>'
        f'<script type="application/json">{to_json(facts)}</script></div>'
    )
