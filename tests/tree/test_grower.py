"""The native grower behind its Python face."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer.data import Targets
from gossamer.data.storage.binned import bin_table
from gossamer.data.table.matrix import Table
from gossamer.objectives import Custom, Gradients, LeafRefit, Objective, Regression
from gossamer.params import resolve
from gossamer.sampling import Bag
from gossamer.tree import TreeGrower, make_grow_params

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 5))
GRADIENT = (TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2]).astype(np.float32)
GRADIENTS = Gradients(GRADIENT, None, False)
TARGETS = Targets(-GRADIENT)


class _Median(Regression):
    leaf_refit = LeafRefit(0.5)  # type: ignore[assignment]


def make_grower(objective: Objective | None = None, **params: Any) -> TreeGrower:
    resolved = resolve(params)
    return TreeGrower(bin_table(Table(TABLE), resolved), resolved, objective or Regression())


@pytest.mark.parametrize(
    ("params", "name", "value"),
    [
        ({"num_leaves": 9}, "num_leaves", 9),
        ({"max_depth": 5}, "max_depth", 5),
        ({"max_depth": -3}, "max_depth", 0),
        ({"grow_policy": "depthwise"}, "depthwise", True),
        ({"grow_policy": "symmetric"}, "symmetric", True),
        ({"grow_policy": "symmetric"}, "depthwise", True),
        ({"grow_policy": "symmetric"}, "max_depth", 6),
        ({"extra_trees": True}, "extra_trees", True),
        ({"learning_rate": 0.3}, "learning_rate", 0.3),
        ({"lambda_l1": 0.5}, "lambda_l1", 0.5),
        ({"lambda_l2": 0.5}, "lambda_l2", 0.5),
        ({"min_gain_to_split": 0.5}, "min_gain_to_split", 0.5),
        ({"min_sum_hessian_in_leaf": 0.5}, "min_sum_hessian", 0.5),
        ({"min_data_in_leaf": 7}, "min_data", 7),
        ({"max_delta_step": 0.5}, "max_delta_step", 0.5),
        ({"max_delta_step": -1}, "max_delta_step", 0),
        ({"path_smooth": 0.5}, "path_smooth", 0.5),
        ({"feature_fraction": 0.5}, "fraction_by_tree", 0.5),
        ({"feature_fraction_bylevel": 0.5}, "fraction_by_level", 0.5),
        ({"feature_fraction_bynode": 0.5}, "fraction_by_node", 0.5),
        ({"histogram_pool_size": 2}, "max_histogram_bytes", 2 * 2**20),
        ({"histogram_pool_size": 1e300}, "max_histogram_bytes", 2**60),
        ({"max_cat_threshold": 2**40}, "max_cat_threshold", 2**16),
        ({"max_cat_to_onehot": 2**40}, "max_cat_to_onehot", 2**16),
    ],
)
def test_parameters_reach_the_native_grower(
    params: dict[str, Any], name: str, value: float
) -> None:
    assert getattr(make_grow_params(resolve(params)), name) == value
    default = getattr(make_grow_params(resolve({})), name)
    if name != "max_depth" and "max_delta_step" not in params:
        assert default != value


def test_scores_of_all_rows_get_the_leaf_values() -> None:
    score = np.zeros(400)
    (tree,) = make_grower().grow(GRADIENTS, None, 0, score, TARGETS, 1)
    assert tree.n_leaves > 10
    assert sorted(set(score)) == sorted(set(tree.leaf_value))
    values, counts = np.unique(score, return_counts=True)
    assert dict(zip(tree.leaf_value, tree.leaf_count, strict=True)) == dict(
        zip(values, counts, strict=True)
    )


def test_rows_outside_the_bag_get_scores_too() -> None:
    inside = np.arange(0, 400, 2, dtype=np.uint32)
    bag = Bag(inside, 400)
    score = np.zeros(400)
    (tree,) = make_grower().grow(GRADIENTS, bag, 0, score, TARGETS, 1)
    assert tree.leaf_count.sum() == 200
    assert set(score) == set(tree.leaf_value)


@pytest.mark.parametrize("rows", [[0, 2, 1], [5, 5], [399, 0]], ids=str)
def test_rows_of_a_bag_must_increase(rows: list[int]) -> None:
    bag = Bag(np.array(rows, dtype=np.uint32), 400)
    with pytest.raises(ValueError, match="rows must increase"):
        make_grower().grow(GRADIENTS, bag, 0, np.zeros(400), TARGETS, 1)


def test_a_tree_that_cannot_split_adds_nothing() -> None:
    score = np.full(400, 0.25)
    (tree,) = make_grower(min_data_in_leaf=300).grow(GRADIENTS, None, 0, score, TARGETS, 1)
    assert tree.n_leaves == 1
    np.testing.assert_allclose(score, 0.25, rtol=1e-15)


@pytest.mark.parametrize("params", [{"feature_fraction": 0.4}, {"extra_trees": True}], ids=str)
def test_random_choices_depend_on_round_and_output(params: dict[str, Any]) -> None:
    gradients = Gradients(np.tile(GRADIENT, 2), None, False)

    def choices(n_round: int) -> list[tuple[list[int], list[float]]]:
        grower = make_grower(Custom(2), **params)
        trees = grower.grow(gradients, None, n_round, np.zeros(800), TARGETS, 1)
        return [(tree.column.tolist(), tree.threshold.tolist()) for tree in trees]

    first, second = choices(0)
    assert choices(0) == [first, second]
    assert first != second
    assert choices(1)[0] != first


@pytest.mark.parametrize("bagged", [False, True])
@pytest.mark.parametrize("n_outputs", [2, 3, 7])
def test_trees_side_by_side_are_those_grown_one_after_another(n_outputs: int, bagged: bool) -> None:
    each = [np.float32(GRADIENT * np.cos(k)) + TABLE[:, 3].astype("f4") for k in range(n_outputs)]
    hessian = np.abs(np.concatenate(each)) + np.float32(0.1)
    bag = None
    if bagged:
        rows = np.arange(400, dtype=np.uint32)
        bag = Bag(rows[rows % 3 > 0], 400)
    found = []
    for n_threads in (1, 2, 3, 8):
        score = np.zeros(400 * n_outputs)
        trees = make_grower(Custom(n_outputs), min_data_in_leaf=3).grow(
            Gradients(np.concatenate(each), hessian, True), bag, 0, score, TARGETS, n_threads
        )
        assert len(trees) == n_outputs
        found.append([score, *(t.leaf_value for t in trees), *(t.threshold for t in trees)])
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_leaf_values_are_refitted_to_quantiles_of_the_residuals() -> None:
    label = np.float32(TABLE[:, 0] * 3)
    score = np.full(400, 0.5)
    grower = TreeGrower(
        bin_table(Table(TABLE), resolve({"learning_rate": 1})),
        resolve({"learning_rate": 1}),
        _Median(),
    )
    (tree,) = grower.grow(
        Gradients(np.sign(score - label).astype(np.float32), None, False),
        None,
        0,
        score,
        Targets(label),
        1,
    )
    for value in np.unique(score):
        own = label[score == value].astype(np.float64) - 0.5
        assert value - 0.5 == pytest.approx(np.median(own), rel=1e-12)
    assert set(score - 0.5) == set(tree.leaf_value)


def test_is_random() -> None:
    assert not make_grower().is_random
    assert make_grower(extra_trees=True).is_random
    assert make_grower(feature_fraction_bynode=0.9).is_random


def test_stats_count_the_work() -> None:
    grower = make_grower()
    grower.grow(GRADIENTS, None, 0, np.zeros(400), TARGETS, 1)
    assert grower.stats()["rounds"] == 1
