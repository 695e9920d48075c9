"""Changing a model by hand: values of leaves, the order of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model.model import Model
from gossamer.model.prediction.predict import as_number
from gossamer.tree import Forest

# Shuffling is for looking at a model in another order: the same one every time, as in LightGBM.
_SHUFFLE_KEY: Final = 17


def leaf_values(forest: Forest, tree: int, leaf: int) -> npt.NDArray[np.float64]:
    """Return the values of a tree's leaves, leaves x values, once there is such a leaf.

    Raises:
        ParameterError: If there is no such tree, or no such leaf in it, or these are not numbers.
    """
    tree = as_number("tree_id", tree, "the number of a tree")
    leaf = as_number("leaf_id", leaf, "the number of a leaf")
    if not 0 <= tree < forest.n_trees:
        raise ParameterError.because(
            "there is no such tree", got=tree, expected=f"0..{forest.n_trees - 1}"
        )
    values = forest.tree(tree).leaf_value.reshape(-1, forest.n_values)
    if not 0 <= leaf < len(values):
        raise ParameterError.because(
            "there is no such leaf", got=leaf, expected=f"0..{len(values) - 1}"
        )
    return values


def check_leaf_value(value: Any, n_values: int) -> npt.NDArray[np.float64]:
    """Return the values of a leaf as an array.

    Raises:
        ParameterError: If there is not one finite number for each output.

    Example:
        >>> check_leaf_value(0.5, 1)
        array([0.5])
    """
    try:
        values = np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    if len(values) != n_values or not np.isfinite(values).all():
        numbers = "a finite number" if n_values == 1 else f"{n_values} finite numbers"
        raise ParameterError.because(
            "the value of a leaf cannot be used", got=value, expected=numbers
        )
    return values


def changed_leaf_values(
    forest: Forest, tree: int, leaf: int, value: Any
) -> npt.NDArray[np.float64]:
    """Return the values of a tree's leaves, one after another, with another value of one leaf.

    Raises:
        ParameterError: If there is no such leaf, or the value does not fit.
    """
    values = leaf_values(forest, tree, leaf).copy()
    values[leaf] = check_leaf_value(value, forest.n_values)
    return values.ravel()


def check_constant(forest: Forest) -> None:
    """Check that leaves are constants.

    Raises:
        NotSupportedError: If they are linear.
    """
    if forest.linear is not None:
        raise NotSupportedError.because(
            "set_leaf_output() cannot change linear leaves",
            found="a model of linear_tree",
            expected="leaves with a constant",
        )


def with_leaf_values(forest: Forest, tree: int, values: npt.NDArray[np.float64]) -> Forest:
    """Return the forest with other values in the leaves of one tree.

    Raises:
        NotSupportedError: If its leaves are linear.
    """
    check_constant(forest)
    begin, end = (int(forest.leaf_begin[t]) * forest.n_values for t in (tree, tree + 1))
    changed = forest.arrays["leaf_value"].copy()
    changed[begin:end] = values
    return replace(forest, arrays={**forest.arrays, "leaf_value": changed})


def change_leaf_of(model: Model, tree_id: int, leaf_id: int, value: Any) -> Model:
    """Return the model with another value in one leaf of one tree.

    Raises:
        ParameterError: If there is no such leaf, or the value does not fit.
        NotSupportedError: If its leaves are linear.
    """
    values = changed_leaf_values(model.forest, tree_id, leaf_id, value)
    forest = with_leaf_values(model.forest, tree_id, values)
    return replace(model, forest=forest, folds=None)


def shuffle_rounds_of(model: Model, start_iteration: int, end_iteration: int) -> Model:
    """Return the model with some rounds in a random order, which is always the same.

    Raises:
        ParameterError: If there are no such rounds.
    """
    order = shuffled_rounds(model.forest.n_rounds, start_iteration, end_iteration)
    return replace(model, forest=permute_rounds(model.forest, order), folds=None)


def shuffled_rounds(n_rounds: int, first: int, end: int) -> list[int]:
    """Return the rounds in an order that is random from `first` to before `end`.

    Raises:
        ParameterError: If there are no such rounds.

    Example:
        >>> shuffled_rounds(5, 1, -1)
        [0, 2, 4, 3, 1]
    """
    first, end = as_number("start_iteration", first), as_number("end_iteration", end)
    end = n_rounds if end <= 0 else end
    if not 0 <= first <= end <= n_rounds:
        raise ParameterError.because(
            "there are no such rounds to shuffle",
            found=f"{first} to {end}",
            expected=f"0 <= start_iteration <= end_iteration <= {n_rounds}",
        )
    order = list(range(n_rounds))
    for i in range(end - 1, first, -1):
        j = first + _native.random_bits(_SHUFFLE_KEY, i) % (i - first + 1)
        order[i], order[j] = order[j], order[i]
    return order


def permute_rounds(forest: Forest, order: Sequence[int]) -> Forest:
    """Return the forest with its rounds in another order."""
    k = forest.trees_per_round
    trees = [forest.tree(t) for i in order for t in range(i * k, (i + 1) * k)]
    if not trees:
        return forest
    return Forest.from_trees(trees, forest.n_outputs, forest.n_columns, forest.n_parallel)
