"""Linear leaves of trees, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.tree import Forest, Tree
from gossamer.tree.linear import LINEAR_ARRAYS, join_linear, plain_leaves, take_leaves


@pytest.fixture(scope="module")
def forest() -> Forest:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    params = {"linear_tree": True, "min_data_in_leaf": 5}
    booster = gossamer.train(params, gossamer.Dataset(table, np.sin(table[:, 0])), 6)
    forest: Forest = booster.model.forest
    return forest


def assert_equal(a: Any, b: Any) -> None:
    assert (a is None) == (b is None)
    for name in a or ():
        np.testing.assert_array_equal(a[name], b[name])


def test_types_are_those_of_the_table(forest: Forest) -> None:
    assert forest.linear is not None
    assert list(forest.linear) == list(LINEAR_ARRAYS)
    for name, dtype in LINEAR_ARRAYS.items():
        assert forest.linear[name].dtype == dtype


def test_trees_taken_out_and_put_back(forest: Forest) -> None:
    trees = [forest.tree(t) for t in range(forest.n_trees)]
    assert trees[0].linear is None  # the first tree is plain
    assert all(tree.linear is not None for tree in trees[1:])
    assert_equal(Forest.from_trees(trees, 1, 3).linear, forest.linear)
    assert_equal(Tree.from_arrays(trees[1]).linear, trees[1].linear)


def test_slices_and_extensions_are_inverse(forest: Forest) -> None:
    for cut in (0, 1, 4):
        front, back = forest.slice(0, cut), forest.slice(cut, 6)
        again = front.extend(back.tree(t) for t in range(6 - cut))
        assert_equal(again.linear, forest.linear)
    assert forest.slice(0, 1).linear is None
    assert forest.slice(2, 2).linear is None


def test_plain_trees_in_between(forest: Forest) -> None:
    table = np.random.default_rng(1).normal(size=(20, 3))
    trees = [forest.tree(2), Tree.constant(5.0), forest.tree(3)]
    score, parts = np.zeros(20), np.full(20, 5.0)
    Forest.from_trees(trees, 1, 3).native.predict(table, 0, 3, score, 1)
    forest.native.predict(table, 2, 4, parts, 1)
    np.testing.assert_allclose(score, parts, atol=1e-12)


def test_joining_nothing() -> None:
    values = np.array([1.0, 2.0])
    assert join_linear([]) is None
    assert join_linear([(None, values), (None, values)]) is None
    assert take_leaves(plain_leaves(values), 0, 2) is None
    assert join_linear([(None, values), (plain_leaves(values), values)]) is None


def test_the_largest_value_is_that_of_a_row(forest: Forest) -> None:
    tree = forest.tree(3)
    assert tree.linear is not None
    bounds = np.abs([tree.linear["linear_low"], tree.linear["linear_high"]])
    assert tree.largest_value == max(bounds.max(), np.abs(tree.leaf_value).max())
