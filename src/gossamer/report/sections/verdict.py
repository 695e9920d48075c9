"""What the page comes to, in a few sentences, and the baseline that metrics are compared with."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.data.findings import HEADING, Finding, find_in_columns, find_leak
from gossamer.data.table.columns import Column, LevelColumn
from gossamer.errors import GossamerError
from gossamer.metrics import Metric, make_metrics
from gossamer.model.inspection.changed_columns import values_of
from gossamer.params.traits import Kind
from gossamer.report.given import Floats, Given
from gossamer.report.html import many, percent, text

# Columns that are looked at for things to know: a page is not a place for hundreds of remarks.
_MOST_COLUMNS = 500
_ERRORS: Final = {Kind.BINARY: "binary_error", Kind.MULTICLASS: "multi_error"}


def baseline_scores(given: Given) -> Floats | None:
    """Return the raw scores of the best constant prediction, class by class; None: not known."""
    assert given.targets is not None
    try:
        constant = given.model.objective.start_scores(given.targets)
    except (GossamerError, NotImplementedError, ValueError):
        return None
    found = np.repeat(np.asarray(constant, np.float64), given.targets.n_rows)
    return found if len(found) == given.scores.size and np.isfinite(found).all() else None


def verdict(given: Given) -> str:
    """Return sentences: how much better than a constant, what to check, when learning stopped."""
    sentences = [_which_rows(given), _beats_guessing(given), _predicts_worse_classes(given)]
    sentences.append(_stopped(given))
    sentences += [text(finding.text, 400) for finding in _findings(given)]
    shown = "".join(f"<li>{sentence}</li>" for sentence in sentences if sentence)
    return f'<ul class="verdict" aria-label="{HEADING}">{shown}</ul>' if shown else ""


def _which_rows(given: Given) -> str:
    """Return a sentence if the labels are the training's: a model knows those rows."""
    if given.held_out is not None:
        return (
            "These are the training rows. Each one is judged by the models that were not trained "
            "on it, so expect about the same on new rows."
        )
    if given.is_training:
        return "These are the training rows: expect worse predictions on new rows."
    return ""


def _beats_guessing(given: Given) -> str:
    base = None if given.targets is None else baseline_scores(given)
    if base is None:
        return ""
    metric, value = _evaluate(given, None, np.ascontiguousarray(given.judged_scores.T).ravel())
    guess = _evaluate(given, None, base)[1]
    if metric is None or not (np.isfinite(value) and np.isfinite(guess)) or guess == value:
        return ""
    word = "a constant prediction"
    is_better = value > guess if metric.maximize else value < guess
    if not is_better:
        return (
            f"On these rows the model is not better than {word}, by {text(metric.name)}: it has "
            "learnt nothing useful."
        )
    if metric.maximize or guess <= 0 or value < 0:
        return f"On these rows the model is better than {word}, by {text(metric.name)}."
    lower = percent(1 - value / guess)
    return f"On these rows the model is better than {word}: {text(metric.name)} is {lower} lower."


def _predicts_worse_classes(given: Given) -> str:
    """Return a sentence if the most frequent class alone would be right more often."""
    name = _ERRORS.get(given.model.objective.traits.kind)
    if given.targets is None or name is None:
        return ""
    wrong = _evaluate(given, name, np.ascontiguousarray(given.judged_scores.T).ravel())[1]
    counts = np.unique(given.targets.label, return_counts=True)[1]
    guess = 1 - counts.max() / counts.sum()
    if not wrong > guess:
        return ""
    return (
        f"Its classes are wrong for {percent(wrong)} of the rows; the most frequent class alone "
        f"would be wrong for {percent(guess)}. Use probabilities, or another threshold."
    )


def _evaluate(given: Given, name: str | None, scores: Floats) -> tuple[Metric | None, float]:
    """Return a metric (None: the model's first) and its value; None and NaN: not known."""
    assert given.targets is not None
    objective = given.model.objective
    try:
        params = given.params if name is None else given.params.replace(metric=name)
        metric = make_metrics(params, objective, given.targets.n_targets)[0]
        return metric, metric.evaluate(scores, given.targets, objective)
    except (GossamerError, IndexError):
        return None, float("nan")


def _stopped(given: Given) -> str:
    best = given.booster.best_iteration
    n_trained = max((len(v) for part in given.history.values() for v in part.values()), default=0)
    if 0 < best < n_trained:
        return f"It stopped improving at round {best:,} of {n_trained:,}."
    if best > 0 and best == n_trained > 1:
        return f"It still improved in the last of {many(n_trained, 'round')}: more may help."
    return ""


def _findings(given: Given) -> list[Finding]:
    found = list(find_leak(list(given.model.names), given.gains.tolist()))
    if given.table is None or given.model.n_columns > _MOST_COLUMNS:
        return found
    columns: dict[str, Column] = {}
    for i, column in enumerate(given.model.names):
        values = values_of(given.table.matrix, i).astype(np.float64)
        levels = given.levels_of(i)
        if levels is not None:
            codes = np.where(np.isnan(values), -1, values).astype(np.intp)
            columns[column] = LevelColumn(codes, list(levels), "text")
        else:
            columns[column] = values
    targets = given.targets
    one = targets is not None and targets.n_targets == 1
    label = targets.label if one and targets is not None else None
    return [*found, *find_in_columns(columns, (), label)]
