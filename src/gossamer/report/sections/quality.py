"""How good predictions are: what is drawn depends on the task."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.data import Targets
from gossamer.errors import GossamerError
from gossamer.metrics import make_metrics
from gossamer.objectives import Objective, SeveralTargets
from gossamer.params.traits import Kind
from gossamer.report.given import Floats, Given
from gossamer.report.html import note, number, table, text
from gossamer.report.sections.binary import binary
from gossamer.report.sections.distribution import gaussian, quantiles
from gossamer.report.sections.multiclass import multiclass
from gossamer.report.sections.ranking import ranking
from gossamer.report.sections.regression import regression
from gossamer.report.sections.survival import survival
from gossamer.report.sections.verdict import baseline_scores

_TARGETS: Final = 6

# Metrics that are shown in addition to the model's own.
_METRICS: Final = {
    Kind.BINARY: ("auc", "average_precision", "binary_logloss", "binary_error"),
    Kind.MULTICLASS: ("multi_logloss", "multi_error", "auc_mu"),
    Kind.RANKING: ("ndcg", "map"),
    Kind.SURVIVAL: ("c_index",),
    Kind.REGRESSION: ("rmse", "l1", "r2"),
}


def quality(given: Given) -> str:
    """Return metrics, and charts of labels against predictions."""
    if given.table is None:
        return note(
            "To see how good the predictions are, pass rows with labels: <code>data</code> "
            "and <code>label</code>."
        )
    if given.targets is None:
        return note("There are no labels: pass <code>label</code>.")
    parts = [_metrics(given)]
    if given.is_sample:
        parts.append(
            note(
                f"These are {len(given.rows):,} of {given.n_rows:,} rows, chosen at random (the "
                "same ones each time)."
            )
        )
    if given.has_weight:
        parts.append(note("Row weights are ignored here: every row counts the same."))
    objective = given.model.objective
    if not isinstance(objective, SeveralTargets):
        return "".join(parts) + _of_one(
            given, objective, given.targets, given.judged_scores, given.judged_predictions, ""
        )
    for k, part in enumerate(objective.parts[:_TARGETS]):
        parts.append(f"<h3>Target {k}</h3>")
        score, prediction = given.judged_scores[:, [k]], given.judged_predictions[:, k]
        parts.append(_of_one(given, part, given.targets.target(k), score, prediction, f"-{k}"))
    if len(objective.parts) > _TARGETS:
        parts.append(note(f"The first {_TARGETS} of {len(objective.parts):,} targets are drawn."))
    return "".join(parts)


def _of_one(
    given: Given,
    objective: Objective,
    targets: Targets,
    scores: Floats,
    predictions: Any,
    suffix: str,
) -> str:
    """Return the charts of one target."""
    label = targets.label.astype(np.float64)
    traits = objective.traits
    is_binary = traits.takes_shares and np.isin(label, (0.0, 1.0)).all()
    if traits.kind is Kind.BINARY or is_binary:
        shares = predictions if traits.gives_probabilities else None
        return binary(given, label > 0, scores[:, 0], shares, suffix)
    if traits.kind is Kind.MULTICLASS:
        return multiclass(given, label.astype(np.int64), scores, predictions)
    if traits.kind is Kind.RANKING:
        return ranking(given, targets, scores[:, 0])
    if traits.kind is Kind.SURVIVAL:
        return survival(objective, targets, predictions)
    if traits.kind is Kind.QUANTILES:
        return quantiles(objective, label, predictions)
    if traits.kind is Kind.DISTRIBUTION:
        return gaussian(label, predictions)
    if traits.kind is Kind.CUSTOM:
        return _custom(given, targets, scores, predictions, suffix)
    return regression(label, predictions, _alpha(given, objective))


def _alpha(given: Given, objective: Objective) -> float | None:
    """The quantile that a model was trained for; None: none, or it is not known."""
    if not objective.traits.takes_quantiles or not given.booster.params:
        return None
    params = given.params
    return params.quantile_alpha[0] if params.quantile_alpha else params.alpha


def _custom(given: Given, targets: Targets, scores: Floats, predictions: Any, suffix: str) -> str:
    """An objective of the user's: read its labels as what they look like."""
    if targets.n_targets > 1 or np.shape(predictions) != (targets.n_rows,):
        return note(
            "This is a custom objective with several outputs, whose meaning is not known. "
            "No charts are drawn."
        )
    label = targets.label.astype(np.float64)
    told = note("This is a custom objective: the charts are chosen from the labels.")
    if np.isin(label, (0.0, 1.0)).all():
        return told + binary(given, label > 0, scores[:, 0], None, suffix)
    return told + regression(label, predictions)


def _metrics(given: Given) -> str:
    """Return a table of metrics: the training's, and the usual ones of the task."""
    targets, objective = given.targets, given.model.objective
    assert targets is not None
    part = objective.parts[0] if isinstance(objective, SeveralTargets) else objective
    own = given.params.metric
    names = list(own) if own is not None else [part.own_metric] if part.own_metric else []
    names += _METRICS.get(part.traits.kind, ())
    score = np.ascontiguousarray(given.judged_scores.T).ravel()
    base = baseline_scores(given)
    found: dict[str, tuple[str, str, str, str]] = {}
    for name in names:
        try:
            metrics = make_metrics(given.params.replace(metric=name), objective, targets.n_targets)
            values = [(m, m.evaluate(score, targets, objective)) for m in metrics]
        except GossamerError:  # not for this objective, or not for these labels
            continue
        for metric, value in values:
            better = "higher" if metric.maximize else "lower"
            guess = "\u2013"
            if base is not None:
                guess = number(metric.evaluate(base, targets, objective), 6)
            found[metric.name] = (text(metric.name), number(value, 6), guess, f"{better} is better")
    if not found:
        return ""
    head = ("metric", "model", "baseline", "")
    told = note("The baseline predicts the best constant for these labels.")
    return table(head, found.values(), kinds="tnnt") + told
