"""Native trees from their arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, _native, train
from gossamer.data.dataset import built_data
from gossamer.tree import Tree
from gossamer.tree.tree import LEAF_ARRAYS, NODE_ARRAYS

RNG = np.random.default_rng(23)
TABLE = RNG.normal(size=(500, 5))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
TABLE[:, 4] = 1.0  # no feature
LABEL = np.nansum(TABLE[:, :3], axis=1)


@pytest.fixture
def data() -> Dataset:
    """Binned rows."""
    return Dataset(TABLE, LABEL).construct()


@pytest.fixture
def arrays(data: Dataset) -> dict[str, Any]:
    """The arrays of a tree that was grown on them."""
    return dict(vars(train({"num_leaves": 9, "verbosity": -1}, data, 1).model.forest.tree(0)))


def test_there_and_back(data: Dataset, arrays: dict[str, Any]) -> None:
    tree = _native.make_tree(built_data(data).table.bins, arrays, 1)
    for name, array in vars(Tree.from_arrays(tree)).items():
        np.testing.assert_array_equal(array, arrays[name])
    score = np.zeros(500)
    _native.add_tree_to_scores(built_data(data).table.bins, tree, None, score, 1)
    leaves = np.bincount(np.searchsorted(np.sort(arrays["leaf_value"]), score), minlength=9)
    assert sorted(leaves) == sorted(arrays["leaf_count"])


def test_one_leaf(data: Dataset) -> None:
    tree = _native.make_tree(built_data(data).table.bins, vars(Tree.constant(0.5)), 1)
    assert tree.n_leaves == 1


def test_what_bins_cannot_answer(data: Dataset, arrays: dict[str, Any]) -> None:
    for name, node, value in [
        ("threshold", 3, 0.123456),
        ("threshold", 2, np.nan),
        ("column", 1, 4),
        ("column", 1, 99),
        ("column", 1, -1),
        ("missing_kind", 5, 2),
    ]:
        changed = {**arrays, name: arrays[name].copy()}
        changed[name][node] = value
        with pytest.raises(IndexError, match=str(node)):
            _native.make_tree(built_data(data).table.bins, changed, 1)


@pytest.mark.parametrize("child", [0, 8, -10, 1000])
def test_children_that_do_not_exist(data: Dataset, arrays: dict[str, Any], child: int) -> None:
    changed = {**arrays, "right": arrays["right"].copy()}
    changed["right"][0] = child
    with pytest.raises(ValueError, match="a child does not exist"):
        _native.make_tree(built_data(data).table.bins, changed, 1)


def test_arrays_that_do_not_fit(data: Dataset, arrays: dict[str, Any]) -> None:
    for name in (*NODE_ARRAYS, *LEAF_ARRAYS):
        with pytest.raises(ValueError, match="has length"):
            _native.make_tree(built_data(data).table.bins, {**arrays, name: arrays[name][:-1]}, 1)
        with pytest.raises((RuntimeError, TypeError)):
            _native.make_tree(
                built_data(data).table.bins, {**arrays, name: arrays[name].astype("f2")}, 1
            )
        with pytest.raises(KeyError):
            _native.make_tree(
                built_data(data).table.bins, {k: v for k, v in arrays.items() if k != name}, 1
            )
    with pytest.raises(ValueError, match="_value has length"):
        _native.make_tree(built_data(data).table.bins, arrays, 2)
    with pytest.raises(ValueError, match="at least one leaf"):
        _native.make_tree(built_data(data).table.bins, arrays, 0)
