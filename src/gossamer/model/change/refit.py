"""Leaf values learned again on other data, with the splits as they are."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset, Table, Targets
from gossamer.data.built import BuiltData
from gossamer.data.dataset import built_data
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model.change.refit_linear import LeafData, refit_linear
from gossamer.model.model import Model
from gossamer.model.prediction.predict import fitting_table
from gossamer.model.training.base_model import BaseModel
from gossamer.model.training.scored_set import own_scores
from gossamer.objectives import Custom, Gradients, LeafRefit, Objective, make_objective
from gossamer.objectives.quantiles import weighted_quantile
from gossamer.params import Params
from gossamer.params.check_monotone import has_monotone
from gossamer.threads import resolve_threads
from gossamer.tree import Tree
from gossamer.tree.linear import Linear, join_linear

Array = npt.NDArray[np.float64]


def refit(
    model: Model,
    params: Params,
    data: Dataset,
    table: Any,
    decay_rate: float,
    validate_features: bool | None = None,
) -> Model:
    """Learn leaf values and the start again, round after round, as a training would.

    Args:
        model: The model; it is not changed.
        params: Parameters: objective, learning rate, penalties.
        data: Labels, weights, queries, scores to start from.
        table: The table that `data` was made of.
        decay_rate: Share of the old values that is kept.
        validate_features: As for `fitting_table`.

    Raises:
        ParameterError: If `decay_rate` is not a share, or the objective does not fit.
        DataError: If the data does not fit.
    """
    is_number = isinstance(decay_rate, Real) and not isinstance(decay_rate, bool)
    if not is_number or not 0 <= decay_rate <= 1:
        raise ParameterError.because(
            "decay_rate cannot be used", got=decay_rate, expected="a number from 0 to 1"
        )
    if isinstance(model.objective, Custom) and not callable(params.objective):
        raise ParameterError.because(
            "refit() needs the objective that the model was trained with",
            got=params.objective,
            expected="a function or a CustomObjective",
            hint="Pass it: refit(..., objective=...). A model file does not keep it.",
        )
    if model.average_output or model.derived is not None:
        raise NotSupportedError.because(
            "refit() does not know how to change this model",
            found="a random forest" if model.average_output else "target statistics",
            hint="Train a new model on the new data.",
        )
    if has_monotone(params):
        raise NotSupportedError.because(
            "refit() does not keep monotone_constraints",
            got=params.monotone_constraints,
            hint="Train a new model on the new data.",
        )
    built = built_data(data)
    objective = make_objective(params, built.targets, data)
    BaseModel(model).check_fits(built, objective)
    return _Refit(model, params, objective, built, float(decay_rate)).run(
        fitting_table(model, table, validate_features=validate_features)
    )


class _Refit:
    """One refit: the scores so far, and what the objective asks for."""

    def __init__(
        self, model: Model, params: Params, objective: Objective, data: BuiltData, decay_rate: float
    ) -> None:
        self.model, self.params, self.objective = model, params, objective
        self.keep = decay_rate
        self.targets: Targets = objective.prepare(data.targets)
        n_rows, n_outputs = data.n_rows, objective.n_outputs
        self.n_threads = resolve_threads(params.num_threads, n_rows, data.n_columns)
        self.start = model.start.copy()
        starts_itself = params.boost_from_average and params.base_score is None
        if starts_itself and data.rows.init_score is None:
            start = np.array(objective.start_scores(self.targets))
            if start.any():
                self.model = start_apart(model)
            self.start = self._blend(self.model.start, start)
        self.score = np.repeat(self.start, n_rows).reshape(n_outputs, n_rows)
        if (first := own_scores("refit", data, n_outputs)) is not None:
            self.score += first.reshape(n_outputs, n_rows)
        self.gradients = Gradients.empty(
            n_rows, n_outputs, has_hessian=objective.has_hessian(self.targets)
        )

    def _blend(self, old: Array, new: Array) -> Array:
        return self.keep * old + (1.0 - self.keep) * new

    def run(self, table: Table) -> Model:
        """Go through the rounds."""
        forest = self.model.forest
        state = self.objective.start_state(self.targets)
        k, n_rows = forest.trees_per_round, table.n_rows
        leaves = np.empty(n_rows * k, dtype=np.int32)
        leaf_value = forest.arrays["leaf_value"].copy()
        linear: list[tuple[Linear | None, Array]] = []
        for n_round in range(forest.n_rounds):
            first = n_round * k
            objective = self.objective.for_round(n_round, state)
            objective.fill_gradients(
                self.score.reshape(-1), self.targets, self.gradients, self.n_threads
            )
            state = objective.next_state(state, self.targets, self.gradients)
            forest.native.predict_leaves(table.values, first, first + k, leaves, self.n_threads)
            by_tree = leaves.reshape(n_rows, k).T
            before = self.score
            self.score = before.copy() if forest.n_parallel > 1 else before
            for i in range(k):
                tree = forest.tree(first + i)
                if tree.n_leaves == 1:
                    linear.append((tree.linear, tree.leaf_value))
                    continue  # it could not be split, and counts for nothing
                outputs = range(forest.n_outputs) if forest.n_values > 1 else [i % forest.n_outputs]
                leaf = np.ascontiguousarray(by_tree[i])
                values = self._leaf_values(tree, leaf, list(outputs), before)
                begin = int(forest.leaf_begin[first + i]) * forest.n_values
                leaf_value[begin : begin + values.size] = values.reshape(-1)
                if tree.linear is not None:
                    parts = self.gradients.split(self.objective.n_outputs)[outputs[0]]
                    data = LeafData(table.matrix, leaf, *parts)
                    arrays, added = refit_linear(
                        tree, values[:, 0], data, self.params, self._rate(), self.keep
                    )
                    linear.append((arrays, values[:, 0]))
                    self.score[outputs[0]] += added
                    continue
                linear.append((None, values[:, 0]))
                for column, output in enumerate(outputs):
                    self.score[output] += values[by_tree[i], column]
        return replace(
            self.model,
            objective=self.objective.for_prediction(),
            start=self.start,
            forest=replace(
                forest,
                arrays={**forest.arrays, "leaf_value": leaf_value},
                linear=None if forest.linear is None else join_linear(linear),
            ),
            params=self.params.to_dict(given_only=True),
            folds=None,
        )

    def _leaf_values(
        self, tree: Tree, leaf: npt.NDArray[np.int32], outputs: list[int], score: Array
    ) -> npt.NDArray[np.float64]:
        """Return the new values of a tree's leaves, leaves x outputs, from the round's scores."""
        rate = self._rate()
        old = tree.leaf_value.reshape(tree.n_leaves, -1)
        count = np.bincount(leaf, minlength=tree.n_leaves)
        new = old.copy()
        parts = self.gradients.split(self.objective.n_outputs)
        for column, output in enumerate(outputs):
            gradient, hessian = parts[output]
            weight = (
                count.astype(np.float64)
                if hessian is None
                else np.bincount(leaf, hessian, tree.n_leaves)
            )
            rule = self.objective.leaf_refit_of(output)
            if rule is None:
                slope = np.bincount(leaf, gradient, tree.n_leaves)
                found = leaf_outputs(tree, slope, weight, count, self.params, self._damp_from())
            else:
                found = self._from_residuals(
                    rule, leaf, output, hessian, tree.n_leaves, score[output]
                )
            blended = self._blend(old[:, column], found * rate)
            new[:, column] = np.where(weight > 0, blended, old[:, column])
        return new

    def _rate(self) -> float:
        return self.params.learning_rate / self.model.forest.n_parallel

    def _damp_from(self) -> float:
        return self.objective.damp_from if self.params.max_delta_step <= 0 else 0.0

    def _from_residuals(
        self,
        rule: LeafRefit,
        leaf: npt.NDArray[np.int32],
        output: int,
        hessian: npt.NDArray[np.float32] | None,
        n_leaves: int,
        score: Array,
    ) -> Array:
        """Values of leaves that are quantiles of their residuals, see `LeafRefit`."""
        label = self.targets.label.reshape(self.targets.n_targets, -1)
        residual = label[output if len(label) > 1 else 0] - score
        order = np.argsort(leaf, kind="stable")
        ends = np.searchsorted(leaf[order], np.arange(n_leaves + 1))
        values = np.zeros(n_leaves)
        for i in range(n_leaves):
            rows = order[ends[i] : ends[i + 1]]
            weight = np.ones(len(rows)) if hessian is None else hessian[rows].astype(np.float64)
            if not (weight > 0).any():
                continue
            values[i] = weighted_quantile(residual[rows], weight, rule.alpha)
            if rule.delta > 0:
                beyond = np.clip(residual[rows] - values[i], -rule.delta, rule.delta)
                values[i] += (weight * beyond).sum() / weight.sum()
        limit = self.params.max_delta_step
        return np.clip(values, -limit, limit) if limit > 0 else values


def start_apart(model: Model) -> Model:
    """Return the model with the start value that its first trees hold as its `start`.

    LightGBM's files have no start value of their own: it is part of the first trees, which then
    have another mean than 0.

    Example:
        >>> from gossamer import Booster, train
        >>> x = np.arange(100.0).reshape(-1, 1)
        >>> text = train({}, Dataset(x, x[:, 0] + 7.0), 2).model_to_string(format="lightgbm")
        >>> model = Booster(model_str=text).model
        >>> model.start, start_apart(model).start.round(3)
        (array([0.]), array([56.5]))
    """
    forest = model.forest
    has_start = model.start.any() or forest.n_rounds == 0
    if has_start or forest.n_values > 1 or forest.n_parallel > 1:
        return model
    n = forest.n_outputs
    start = np.array([_mean_value(forest.tree(i)) for i in range(n)])
    of_leaves = np.repeat(start, np.diff(forest.leaf_begin[: n + 1]))
    of_nodes = np.repeat(start, np.diff(forest.node_begin[: n + 1]))
    arrays = dict(forest.arrays)
    arrays["leaf_value"] = _less(arrays["leaf_value"], of_leaves)
    arrays["node_value"] = _less(arrays["node_value"], of_nodes)
    linear = forest.linear
    if linear is not None:
        names = ("linear_constant", "linear_low", "linear_high")
        linear = {**linear, **{name: _less(linear[name], of_leaves) for name in names}}
    return replace(model, start=start, forest=replace(forest, arrays=arrays, linear=linear))


def _mean_value(tree: Tree) -> float:
    """Return the mean value of a tree's leaves; files do not say what a single leaf weighs."""
    weight = tree.leaf_weight if tree.leaf_weight.sum() > 0 else None
    return float(np.average(tree.leaf_value, weights=weight))


def _less(values: npt.NDArray[Any], first: Array) -> npt.NDArray[Any]:
    """Return values of which the first ones have become smaller."""
    found = values.copy()
    found[: len(first)] -= first
    return found


def leaf_outputs(
    tree: Tree,
    slope: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    count: npt.NDArray[Any],
    params: Params,
    damp_from: float,
) -> Array:
    """Return what each leaf asks for, before shrinkage: `leaf_output` of the native core.

    Args:
        tree: The tree; path smoothing looks at the nodes above a leaf.
        slope: Sum of the gradients of each leaf.
        weight: Sum of the hessians.
        count: Number of rows.
        params: Penalties, limits, smoothing.
        damp_from: Where values are damped; 0: nowhere.
    """

    def output(g: Array, h: Array) -> Array:
        size = np.maximum(np.abs(g) - params.lambda_l1, 0.0)
        below = h + params.lambda_l2
        value = np.where(below > 0, -np.copysign(size, g) / np.where(below > 0, below, 1.0), 0.0)
        if damp_from > 0:
            length = np.maximum(np.abs(value), damp_from)
            damped = np.copysign(damp_from * (2.0 - damp_from / length), value)
            value = np.where(np.abs(value) > damp_from, damped, value)
        limit = params.max_delta_step
        return np.clip(value, -limit, limit) if limit > 0 else value

    if params.path_smooth <= 0:
        return output(slope, weight)
    n_nodes = len(tree.column)
    # Nodes first, then leaves; children follow their parents.
    left, right = (np.where(c < 0, n_nodes + ~c, c) for c in (tree.left, tree.right))
    sums = np.zeros((n_nodes + tree.n_leaves, 3))
    sums[n_nodes:] = np.column_stack([slope, weight, count])
    for node in range(n_nodes - 1, -1, -1):
        sums[node] = sums[left[node]] + sums[right[node]]
    values = output(sums[:, 0], sums[:, 1])
    trust = sums[:, 2] / params.path_smooth
    for node in range(n_nodes):
        for child in (left[node], right[node]):
            values[child] = (values[child] * trust[child] + values[node]) / (trust[child] + 1.0)
    return values[n_nodes:]
