"""The lines below the title: what the model is, and how good."""

from __future__ import annotations

from typing import Any, Final

from gossamer.objectives import SeveralTargets
from gossamer.params.traits import Kind
from gossamer.report.given import Given
from gossamer.report.html import number, text

_TASKS: Final = {
    Kind.BINARY: "Binary classification",
    Kind.MULTICLASS: "Classification",
    Kind.RANKING: "Ranking",
    Kind.SURVIVAL: "Survival",
    Kind.CUSTOM: "An objective of one's own",
}


def task_of(objective: Any) -> str:
    """Return what a model is for.

    Example:
        >>> from gossamer.objectives import Regression
        >>> task_of(Regression())
        'Regression'
    """
    if isinstance(objective, SeveralTargets):
        return f"{task_of(objective.parts[0])} of {objective.n_outputs} targets"
    return _TASKS.get(objective.traits.kind, "Regression")


def summary(given: Given) -> str:
    """Return the facts about the model as a list of terms."""
    model, booster = given.model, given.booster
    objective = model.objective
    part = objective.parts[0] if isinstance(objective, SeveralTargets) else objective
    facts = [] if given.target is None else [("target", text(given.target))]
    facts.append(("task", f"{task_of(objective)} <small>({text(part.name)})</small>"))
    if given.source is not None:
        facts.append(("source", text(given.source)))
    facts.append(("date", given.date))
    if n_rows := trained_rows(given):
        facts.append(("rows in training", f"{n_rows:,}"))
    if given.table is not None:
        facts.append(("rows on this page", f"{given.n_rows:,}"))
    facts.append(("columns", f"{model.n_columns:,}"))
    rounds = f"{model.forest.n_rounds:,}"
    if model.forest.n_rounds == booster.best_iteration:
        rounds += " <small>(best)</small>"
    facts.append(("rounds", rounds))
    if model.forest.n_trees != model.forest.n_rounds:
        facts.append(("trees", f"{model.forest.n_trees:,}"))
    for data_name, metrics in list(booster.best_score.items())[-1:]:
        for metric, value in list(metrics.items())[:2]:
            facts.append((f"{text(metric)} of {text(data_name)}", number(value)))
    items = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{items}</dl>'


def trained_rows(given: Given) -> int:
    """Return the rows of the first tree; 0: not known. Sampled rows are not all of them."""
    data = given.booster.train_set
    if data is not None:
        return data.num_data()
    params, arrays = given.params, given.model.forest.arrays
    shares = (params.bagging_fraction, params.pos_bagging_fraction, params.neg_bagging_fraction)
    if min(shares) < 1 or params.data_sample_strategy == "goss":
        return 0
    first = given.model.forest.leaf_begin[:2]
    return int(arrays["leaf_count"][first[0] : first[1]].sum()) if len(first) > 1 else 0
