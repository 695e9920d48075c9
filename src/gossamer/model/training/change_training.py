"""Changing a training under way: its trees; and its state, for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer import _native
from gossamer.data.dataset import given_rows
from gossamer.errors import DataError, NotSupportedError
from gossamer.model.change.edit import (
    changed_leaf_values,
    check_constant,
    shuffled_rounds,
    with_leaf_values,
)
from gossamer.model.files.check import check_forest
from gossamer.model.model import Model
from gossamer.model.training.one_at_a_time import one_at_a_time
from gossamer.model.training.training import Training
from gossamer.params.check_method import splits_by_value
from gossamer.tree import Forest, Tree


@one_at_a_time
def change_leaf(training: Training, tree_id: int, leaf_id: int, value: Any) -> None:
    """Give a leaf of a training's model another value; scores follow.

    Raises:
        ParameterError: If there is no such leaf, or the value does not fit.
        NotSupportedError: If later rounds have weighed the tree.
    """
    forest, n_base = training.to_model().forest, training.n_base_trees
    values = changed_leaf_values(forest, tree_id, leaf_id, value)
    if training.base is not None and tree_id < n_base:
        model = training.base.model
        _set_base(training, replace(model, forest=with_leaf_values(model.forest, tree_id, values)))
        return
    _refuse_weights(training, "set_leaf_output()")
    check_constant(forest)
    t = tree_id - n_base
    arrays = {**vars(Tree.from_arrays(training.trees[t])), "leaf_value": values}
    tree: Any = Tree(**arrays)
    if tree.n_leaves > 1:
        tree = _native_tree(training, arrays, tree.n_values)
    training.trees[t] = tree
    training.replay()


def _set_base(training: Training, model: Model) -> None:
    """Continue from another model of the same shape than before; scores follow.

    Raises:
        DataError: If a data set cannot be scored by it.
    """
    assert training.base is not None
    base = replace(training.base, model=model)
    every = (training.train, *training.valid)
    scores = [base.scores(s.data, s.name, given_rows(s.given), s.n_threads) for s in every]
    training.base = base
    training.train, *training.valid = (
        replace(scored, base=score) for scored, score in zip(every, scores, strict=True)
    )
    training.replay()


@one_at_a_time
def shuffle_rounds(training: Training, start_iteration: int, end_iteration: int) -> None:
    """Put rounds of this training into another order; scores follow.

    Raises:
        ParameterError: If there are no such rounds.
        DataError: If rounds of `init_model` are among them.
        NotSupportedError: If later rounds have weighed the trees.
    """
    n_rounds = training.to_model().forest.n_rounds
    order = shuffled_rounds(n_rounds, start_iteration, end_iteration)
    n_base = n_rounds - training.n_rounds
    if order[:n_base] != list(range(n_base)):
        raise DataError.because(
            "rounds of init_model cannot be shuffled while training continues from it",
            got=start_iteration,
            expected=f"start_iteration >= {n_base}",
            hint="Call free_dataset() first.",
        )
    _refuse_weights(training, "shuffle_models()")
    k, moved = training.trees_per_round, [i - n_base for i in order[n_base:]]
    training.trees = [tree for i in moved for tree in training.trees[i * k : (i + 1) * k]]
    training.replay()


def _refuse_weights(training: Training, action: str) -> None:
    if training.boosting.rescales:
        raise NotSupportedError.because(
            f"{action} cannot change a training with boosting={training.params.boosting}",
            hint="Call free_dataset() first: the model can be changed, but not trained on.",
        )


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
        "is_started": training.is_started,
        "states": training.states,
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
        raise ValueError("the start scores do not fit the outputs")
    n_rounds, rest = divmod(forest.n_trees, training.trees_per_round)
    if rest or len(state["states"]) != n_rounds + 1:
        raise ValueError("a round is incomplete")
    trees = []
    for t in range(forest.n_trees):
        tree: Any = forest.tree(t)
        trees.append(_native_tree(training, vars(tree), n_values) if tree.n_leaves > 1 else tree)
    training.trees = trees
    training.start = start
    training.is_started = bool(state["is_started"])
    training.states = list(state["states"])
    training.boosting.restore(state["mode"])
    training.replay()


def _native_tree(training: Training, arrays: Mapping[str, Any], n_values: int) -> _native.Tree:
    """Return a tree of a training from its arrays by name."""
    by_value = splits_by_value(training.params)
    return _native.make_tree(training.train.table.bins, dict(arrays), n_values, by_value)
