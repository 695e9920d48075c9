"""Changing a training under way: its trees, its data; and its state, for a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.errors import DataError, NotSupportedError, message
from gossamer.model.base_model import RawRows
from gossamer.model.check import check_forest
from gossamer.model.edit import check_constant
from gossamer.model.model import Model
from gossamer.model.training import Training, one_at_a_time
from gossamer.objectives import Custom, Objective, make_custom, make_objective
from gossamer.objectives.several import check_same_targets
from gossamer.sampling import make_row_sampler
from gossamer.tree import Forest, Tree, TreeGrower


@one_at_a_time
def set_leaf_values(training: Training, t: int, values: npt.NDArray[np.float64]) -> None:
    """Give the leaves of a tree of this training other values; scores follow."""
    _refuse_weights(training, "set_leaf_output()")
    check_constant(training.to_model().forest)
    arrays = {**vars(Tree.from_arrays(training.trees[t])), "leaf_value": values}
    tree: Any = Tree(**arrays)
    if tree.n_leaves > 1:
        tree = training.native_tree(arrays, tree.n_values)
    training.trees[t] = tree
    training.replay()


@one_at_a_time
def set_base(training: Training, model: Model) -> None:
    """Continue from another model of the same shape than before; scores follow.

    Raises:
        DataError: If a data set cannot be scored by it.
    """
    assert training.base is not None
    base = replace(training.base, model=model)
    every = (training.train, *training.valid)
    scores = [base.scores(s.data, s.name, RawRows.of(s.data), s.n_threads) for s in every]
    training.base = base
    training.train, *training.valid = (
        replace(scored, base=score) for scored, score in zip(every, scores, strict=True)
    )
    training.replay()


@one_at_a_time
def move_rounds(training: Training, order: Sequence[int]) -> None:
    """Put the rounds of this training into another order; scores follow."""
    _refuse_weights(training, "shuffle_models()")
    k = training.trees_per_round
    training.trees = [tree for i in order for tree in training.trees[i * k : (i + 1) * k]]
    training.replay()


def _refuse_weights(training: Training, action: str) -> None:
    if training.boosting.rescales:
        raise NotSupportedError(
            message(
                f"{action} cannot change a training with boosting={training.params.boosting}",
                hint="Call free_dataset() first: the model can be changed, but not trained on.",
            )
        )


@one_at_a_time
def use_data(training: Training, train_set: Dataset) -> None:
    """Train on other data from now on, which has the bins of the data so far.

    Raises:
        DataError: If it has other bins, or labels that do not fit.
    """
    if training._derived is not None:
        raise NotSupportedError(
            message(
                "update() cannot change the data of a training with target statistics",
                hint="Train with cat_target_statistics=off.",
            )
        )
    raw = None if training.base is None else RawRows.of(train_set)
    before = training.train.data
    if train_set is not before:
        train_set.use_params(training.params).set_reference(before)
    train_set.make_trainable()
    if not train_set.binned.binning.is_same(before.binned.binning):
        raise DataError(
            message(
                "the new training data has other bins than the data so far",
                hint="Make it with reference=train_set, or take a subset().",
            )
        )
    check_same_targets(train_set.targets, before.targets, "training")
    # Nothing is changed before all of it is known to fit.
    function = getattr(training.objective, "function", None)
    if isinstance(training.objective, Custom) and function is not None:
        objective: Objective = make_custom(function, train_set, training.n_outputs)
    else:
        objective = make_objective(training.params, train_set)
    scored = training.train
    if train_set is not before or raw is not None or training.base is None:
        # (otherwise: scored by the base when its table was still there)
        scored = training._scored(train_set, "training", raw)
    training._targets = objective.prepare(train_set.targets)
    training.objective, training.train = objective, scored
    # What was learned beside the trees (position biases) was about the data so far.
    training._states = [training.objective.start_state(training._targets)] * len(training._states)
    training._sampler = make_row_sampler(training.params, training._targets, training.n_outputs)
    training._gradients = training._make_gradients()
    training._grower = TreeGrower(
        train_set.binned,
        training.params,
        training.objective,
        train_set.get_feature_name(),
        train_set.feature_weights,
    )
    training.replay()


@one_at_a_time
def get_state(training: Training) -> dict[str, Any]:
    """Return what a checkpoint must keep so that training can go on bit for bit.

    The trees, what their sum starts from, and what the objective has learned. Scores are not
    kept: they follow from the trees, and from what the mode of boosting knows of them.
    """
    forest = Forest.from_trees(training.trees, training.n_outputs, 0)
    return {
        "forest": forest.arrays,
        "linear": forest.linear,
        "n_leaves": [tree.n_leaves for tree in training.trees],
        "start": training.start,
        "is_started": training._is_started,
        "states": training._states,
        "mode": training.boosting.state(),
    }


@one_at_a_time
def set_state(training: Training, state: dict[str, Any]) -> None:
    """Take over what `get_state` returned in another process, with the same data.

    Raises:
        ValueError, KeyError, IndexError, RuntimeError: If the trees do not fit the data.
    """
    n_values = training.n_outputs // training.trees_per_set
    leaf_begin = np.cumsum([0, *state["n_leaves"]], dtype=np.int64)
    node_begin = leaf_begin - np.arange(len(leaf_begin))
    n_columns = training.train.table.binning.n_columns
    forest = Forest(
        training.n_outputs,
        n_values,
        n_columns,
        node_begin,
        leaf_begin,
        state["forest"],
        state["linear"],
    )
    check_forest(forest)
    start = np.asarray(state["start"], dtype=np.float64)
    if start.shape != training.start.shape or not np.isfinite(start).all():
        raise ValueError("the start scores are not those of the outputs")
    n_rounds, rest = divmod(forest.n_trees, training.trees_per_round)
    if rest or len(state["states"]) != n_rounds + 1:
        raise ValueError("a round is incomplete")
    trees = []
    for t in range(forest.n_trees):
        tree: Any = forest.tree(t)
        trees.append(training.native_tree(vars(tree), n_values) if tree.n_leaves > 1 else tree)
    training.trees = trees
    training.start = start
    training._is_started = bool(state["is_started"])
    training._states = list(state["states"])
    training.boosting.restore(state["mode"])
    training.replay()
