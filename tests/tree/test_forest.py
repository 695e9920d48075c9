"""Trees one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.tree import Forest, Tree
from gossamer.tree.tree import LEAF_ARRAYS, NODE_ARRAYS


@pytest.fixture(scope="module")
def forest() -> Forest:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    booster = gossamer.train({}, gossamer.Dataset(table, table[:, 0]), 6)
    forest: Forest = booster.model.forest
    return forest


def assert_equal(a: Forest, b: Forest) -> None:
    np.testing.assert_array_equal(a.node_begin, b.node_begin)
    np.testing.assert_array_equal(a.leaf_begin, b.leaf_begin)
    for name in a.arrays:
        np.testing.assert_array_equal(a.arrays[name], b.arrays[name])


def test_types_are_those_of_the_table(forest: Forest) -> None:
    for name, dtype in (NODE_ARRAYS | LEAF_ARRAYS).items():
        assert forest.arrays[name].dtype == dtype


def test_trees_taken_out_and_put_back(forest: Forest) -> None:
    trees = [forest.tree(t) for t in range(forest.n_trees)]
    assert [tree.n_leaves for tree in trees] == np.diff(forest.leaf_begin).tolist()
    assert_equal(Forest.from_trees(trees, 1, 3), forest)


def test_slices_and_extensions_are_inverse(forest: Forest) -> None:
    front, back = forest.slice(0, 4), forest.slice(4, 6)
    assert (front.n_trees, back.n_trees) == (4, 2)
    assert_equal(front.extend(back.tree(t) for t in range(2)), forest)


def test_a_slice_predicts_its_part(forest: Forest) -> None:
    table = np.random.default_rng(1).normal(size=(20, 3))
    expected, found = np.zeros(20), np.zeros(20)
    forest.native.predict(table, 2, 5, expected, 1)
    part = forest.slice(2, 5)
    part.native.predict(table, 0, 3, found, 1)
    np.testing.assert_array_equal(found, expected)


def test_an_empty_forest_predicts_nothing() -> None:
    empty = Forest.from_trees([], 1, 2)
    score = np.full(4, 7.0)
    empty.native.predict(np.zeros((4, 2)), 0, 0, score, 1)
    assert (empty.n_trees, empty.n_rounds, score.tolist()) == (0, 0, [7.0] * 4)


def test_rounds_count_trees_per_output() -> None:
    trees = [Tree.constant(float(i)) for i in range(6)]
    forest = Forest.from_trees(trees, 3, 1)
    assert forest.n_rounds == 2
    score = np.zeros(3)
    forest.native.predict(np.zeros((1, 1)), 0, 6, score, 1)
    assert score.tolist() == [0 + 3, 1 + 4, 2 + 5]


def _changed(forest: Forest, name: str, place: int, value: Any) -> Forest:
    arrays = {key: array.copy() for key, array in forest.arrays.items()}
    arrays[name][place] = value
    return Forest(1, 1, forest.n_columns, forest.node_begin, forest.leaf_begin, arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("column", 3),
        ("column", -1),
        ("threshold", np.nan),
        ("missing_kind", 3),
        ("left", 0),  # a cycle
        ("left", 10**6),
        ("right", -(10**6)),
        ("leaf_value", np.inf),
    ],
)
def test_what_is_no_tree_is_refused(forest: Forest, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="tree 0"):
        _ = _changed(forest, name, 0, value).native
