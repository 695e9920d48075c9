"""What the page comes to, in a few sentences, and the baseline that metrics are compared with."""

from __future__ import annotations

import numpy as np

from gossamer.data.findings import HEADING, Finding, find_in_columns, find_leak
from gossamer.data.table.columns import Column, LevelColumn
from gossamer.errors import GossamerError
from gossamer.metrics import make_metrics
from gossamer.model.inspection.changed_columns import values_of
from gossamer.report.given import Floats, Given
from gossamer.report.html import many, percent, text

# Columns that are looked at for things to know: a page is not a place for hundreds of remarks.
_MOST_COLUMNS = 500


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
    """Return sentences: how much better than guessing, what to check, when learning stopped."""
    sentences = [_beats_guessing(given), _stopped(given)]
    sentences += [text(finding.text, 400) for finding in _findings(given)]
    shown = "".join(f"<li>{sentence}</li>" for sentence in sentences if sentence)
    return f'<ul class="verdict" aria-label="{HEADING}">{shown}</ul>' if shown else ""


def _beats_guessing(given: Given) -> str:
    if given.targets is None:
        return ""
    base = baseline_scores(given)
    if base is None:
        return ""
    own = np.ascontiguousarray(given.scores.T).ravel()
    objective = given.model.objective
    try:
        metric = make_metrics(given.params, objective, given.targets.n_targets)[0]
        value = metric.evaluate(own, given.targets, objective)
        guess = metric.evaluate(base, given.targets, objective)
    except (GossamerError, IndexError):
        return ""
    if not (np.isfinite(value) and np.isfinite(guess)) or guess == value:
        return ""
    word = f"guessing (the same prediction for every row), by {text(metric.name)}"
    is_better = value > guess if metric.maximize else value < guess
    if not is_better:
        return f"On these rows the model is not better than {word}: it has learnt nothing of use."
    if metric.maximize or guess <= 0 or value < 0:
        return f"On these rows the model is better than {word}."
    return f"On these rows the model beats {word}: the error is {percent(1 - value / guess)} lower."


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
