"""Permutation importance: what a metric loses when a column no longer says anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.arguments import check_count
from gossamer.data import Table
from gossamer.data.built import BuiltData
from gossamer.errors import DataError, ParameterError
from gossamer.metrics import Metric, make_metrics
from gossamer.model.inspection.changed_columns import change_columns, row_blocks, values_of
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, fitting_table, predict
from gossamer.objectives import Custom, Objective, make_objective
from gossamer.params import Params
from gossamer.threads import resolve_threads

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """How much worse a metric becomes when the values of a column are shuffled.

    Attributes:
        metric: Name of the metric.
        score: Its value on the data as it is.
        values: (columns, repeats): how much worse it becomes, above 0 if the column helps.
        names: Names of the columns.
    """

    metric: str
    score: float
    values: Floats
    names: list[str]

    @property
    def mean(self) -> Floats:
        """The mean of each column over the repeats."""
        found: Floats = self.values.mean(axis=1)
        return found

    @property
    def std(self) -> Floats:
        """The standard deviation of each column over the repeats."""
        found: Floats = self.values.std(axis=1)
        return found


def permutation_importance(
    model: Model,
    data: object,
    given: BuiltData,
    params: Params,
    options: PredictOptions,
    n_repeats: int,
    seed: int,
) -> PermutationImportance:
    """Shuffle one column after another and look at the metric.

    The order of a column depends on `seed`, the column and the repeat alone. Columns without a
    split are not tried: nothing changes.

    Args:
        model: The model.
        data: The user's table.
        given: Labels, weights and queries of its rows; its columns are not looked at.
        params: The model's parameters, with the one metric to look at.
        options: Rounds and threads.
        n_repeats: How often each column is shuffled.
        seed: Seed of the orders.
    """
    check_count(n_repeats, "n_repeats", least=1)
    check_count(seed, "seed", least=0, most=2**64 - 1)
    table = fitting_table(model, data, options.disable_shape_check)
    if given.n_rows != table.n_rows:
        raise DataError.because(
            "label and data differ in length",
            got=given.n_rows,
            expected=f"{table.n_rows}, one per row of the data",
        )
    objective = _objective(model, params, given)
    metric = _one_metric(params, objective, given.targets.n_targets)
    n_rows, matrix = table.n_rows, table.matrix
    n_threads = resolve_threads(options.num_threads, n_rows, max(model.forest.n_trees, 1))

    def evaluate(column: int = -1, order: npt.NDArray[np.int64] | None = None) -> float:
        score = np.empty((objective.n_outputs, n_rows))
        own = None if order is None else values_of(matrix, column)
        for rows in row_blocks(n_rows):
            changed = {} if own is None or order is None else {column: own[order[rows]]}
            part = change_columns(matrix, rows, changed)
            score[:, rows] = _raw_scores(model, part, options).T
        return metric.evaluate(score.reshape(-1), given.targets, objective, n_threads)

    baseline = evaluate()
    values = np.zeros((model.n_columns, n_repeats))
    for column in used_columns(model):
        for repeat in range(n_repeats):
            order = np.random.default_rng([seed, column, repeat]).permutation(n_rows)
            worse = evaluate(column, order) - baseline
            values[column, repeat] = -worse if metric.maximize else worse
    return PermutationImportance(metric.name, baseline, values, list(model.names))


def used_columns(model: Model) -> list[int]:
    """Return the user's columns that a prediction depends on, increasing."""
    found = set()
    for column in _native.used_columns(model.forest.native).tolist():
        if column < model.n_columns:
            found.add(column)
        elif model.derived is not None:
            found |= set(model.derived.sources_of(column - model.n_columns))
    return sorted(found)


def _raw_scores(model: Model, part: Table, options: PredictOptions) -> Floats:
    raw = PredictOptions(
        options.first_round, options.last_round, raw_score=True, num_threads=options.num_threads
    )
    found: Floats = predict(model, part, raw).reshape(part.n_rows, -1)
    return found


def _objective(model: Model, params: Params, given: BuiltData) -> Objective:
    """The objective, after checking the labels against it."""
    if isinstance(model.objective, Custom):
        return model.objective
    objective = make_objective(params, given.targets)
    if objective.n_outputs != model.objective.n_outputs:
        raise DataError.because(
            "the labels do not fit the model",
            found=f"labels for {objective.n_outputs} outputs",
            expected=f"{model.objective.n_outputs}",
        )
    return objective


def _one_metric(params: Params, objective: Objective, n_targets: int) -> Metric:
    metrics = make_metrics(params, objective, n_targets)
    if len(metrics) != 1:
        raise ParameterError.because(
            "permutation importance looks at one metric",
            got=[metric.name for metric in metrics],
            expected="one",
            hint="Pass its name as metric.",
        )
    return metrics[0]
