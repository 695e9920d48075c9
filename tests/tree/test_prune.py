"""Pruning: what is left of a tree is what a plain pruning of the whole tree leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import Booster, Dataset, ParameterError, threads, train
from gossamer.tree import Tree

RNG = np.random.default_rng(3)
N_ROWS = 300
TABLE = RNG.normal(size=(N_ROWS, 4)).round(1)
LABEL = np.sin(2 * TABLE[:, 0]) + TABLE[:, 1] * TABLE[:, 2] + RNG.normal(size=N_ROWS)
BASE: dict[str, Any] = {"min_data_in_leaf": 3, "num_leaves": 40, "verbosity": -1, "num_threads": 1}
POLICIES = ({"grow_policy": "depthwise", "max_depth": 5}, {"grow_policy": "lossguide"})

Node = tuple[Any, ...]


def reference(tree: Tree, gamma: float, place: int = 0) -> Node:
    """The tree under a node, pruned: (column, threshold, left, right), or (value, rows)."""
    k = tree.n_values
    if place < 0 or tree.n_leaves == 1:
        leaf = ~place if place < 0 else 0
        return tuple(tree.leaf_value[leaf * k : (leaf + 1) * k]), int(tree.leaf_count[leaf])
    children = [reference(tree, gamma, int(side[place])) for side in (tree.left, tree.right)]
    if tree.gain[place] < gamma and all(len(child) == 2 for child in children):
        return tuple(tree.node_value[place * k : (place + 1) * k]), int(tree.node_count[place])
    return int(tree.column[place]), float(tree.threshold[place]), *children


def first_tree(params: dict[str, Any], label: Any = LABEL, table: Any = TABLE) -> Tree:
    forest = train(params, Dataset(table, label), 1).model.forest
    return forest.tree(0) if forest.n_trees else Tree.constant(0.0)  # none: it could not split


@given(
    seed=st.integers(0, 1000),
    share=st.floats(0, 1.2),
    policy=st.sampled_from(POLICIES),
    options=st.sampled_from(
        [
            {},
            {"path_smooth": 3.0},
            {"lambda_l1": 2.0, "lambda_l2": 1.0},
            {"bagging_fraction": 0.5},
            {"feature_fraction_bynode": 0.5},
            {"feature_contri": [1, 0.3, 1, 1]},
            {"categorical_feature": [3], "min_data_per_group": 1},
        ]
    ),
    n_targets=st.sampled_from([1, 2]),
)
@settings(max_examples=80, deadline=None)
def test_the_pruned_tree_is_the_whole_tree_pruned(
    seed: int, share: float, policy: dict[str, Any], options: dict[str, Any], n_targets: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, size=(200, 4)).astype(float)
    label = table[:, 0] * (table[:, 1] > 4) + rng.normal(size=200)
    params = {**BASE, **policy, **options, "seed": seed}
    if n_targets > 1 and not {"feature_contri", "categorical_feature"} & options.keys():
        label = np.column_stack([label, np.abs(label)])
        params["multi_strategy"] = "multi_output_tree"
    whole = first_tree(params, label, table)
    gamma = share * float(whole.gain.max(initial=1.0))
    pruned = first_tree({**params, "prune": True, "gamma": gamma}, label, table)
    expected = reference(whole, gamma)
    if len(expected) == 2:  # all of it: such a tree counts for nothing
        assert pruned.n_leaves == 1 and not pruned.leaf_value.any()
    else:
        assert reference(pruned, 0.0) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_a_good_split_below_a_poor_one_is_kept(policy: dict[str, Any]) -> None:
    """Two columns that only tell something together: the first split gains next to nothing."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, size=(400, 2)).astype(float)
    label = np.where(table[:, 0] == table[:, 1], 1.0, -1.0) + 0.01 * table[:, 0]
    params = {**BASE, **policy, "gamma": 50.0}
    assert first_tree(params, label, table).n_leaves == 1
    pruned = first_tree({**params, "prune": True}, label, table)
    assert pruned.n_leaves == 4
    assert pruned.gain[0] < 50 < pruned.gain[1:].min()


def test_nothing_is_pruned_without_gamma() -> None:
    plain, pruned = (train({**BASE, "prune": on}, Dataset(TABLE, LABEL), 5) for on in (False, True))
    np.testing.assert_array_equal(plain.predict(TABLE), pruned.predict(TABLE))
    assert plain.num_trees() == pruned.num_trees()


def test_pruned_to_nothing_training_ends() -> None:
    booster = train({**BASE, "prune": True, "gamma": 1e9}, Dataset(TABLE, LABEL), 5)
    assert booster.num_trees() == 1
    np.testing.assert_allclose(booster.predict(TABLE), LABEL.mean(), rtol=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"objective": "regression_l1"},
        {"objective": "huber", "bagging_fraction": 0.6},
        {"linear_tree": True},
        {"boosting": "dart", "drop_rate": 0.5},
        {"monotone_constraints": [1, 0, -1, 0], "monotone_constraints_method": "advanced"},
    ],
    ids=str,
)
def test_scores_of_the_rows_are_what_the_model_predicts(
    params: dict[str, Any], policy: dict[str, Any]
) -> None:
    data = Dataset(TABLE, LABEL)
    valid = Dataset(TABLE, LABEL, reference=data)
    params = {**BASE, **policy, **params, "prune": True, "gamma": 1.5}
    booster = train(params, data, 8, valid, keep_training_booster=True)
    training = booster.training
    assert training is not None
    raw = booster.predict(TABLE, raw_score=True)
    np.testing.assert_array_equal(training.valid[0].score, raw)
    np.testing.assert_allclose(training.train.score, raw, rtol=1e-12, atol=1e-12)
    leaves = booster.predict(TABLE, pred_leaf=True)
    forest = booster.model.forest
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        if "bagging_fraction" not in params:  # numbers of leaves have no gaps
            found = np.bincount(leaves[:, t], minlength=tree.n_leaves)
            np.testing.assert_array_equal(found, tree.leaf_count)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("vector", [False, True])
def test_threads(policy: dict[str, Any], vector: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    rng = np.random.default_rng(1)
    table = rng.normal(size=(20_000, 5)).astype(np.float32)
    label = table[:, 0] * table[:, 1] + rng.normal(size=len(table))
    params = {**BASE, **policy, "prune": True, "gamma": 30.0}
    whole = first_tree({**params, "gamma": 0.0}, label, table)
    assert first_tree(params, label, table).n_leaves < whole.n_leaves
    if vector:
        label = np.column_stack([label, table[:, 2] + label])
        params["multi_strategy"] = "multi_output_tree"
    found = [
        train({**params, "num_threads": n}, Dataset(table, label), 3).model_to_string()
        for n in (1, 2, 3, 8)
    ]
    assert len(set(found)) == 1


def test_as_xgboost() -> None:
    """Its exact trees are grown in full and then pruned; with few values candidates agree."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(4)
    table = rng.integers(0, 12, size=(500, 5)).astype(float)
    label = (table[:, 0] > 5) * table[:, 1] - table[:, 2] + rng.normal(size=500).round(2) * 4
    n_pruned = 0
    for gamma in (5.0, 40.0, 200.0, 1000.0):
        params: dict[str, Any] = {
            "max_depth": 5,
            "eta": 0.3,
            "lambda": 1.0,
            "gamma": gamma,
            "min_child_weight": 1.0,
            "base_score": 0.0,
            "nthread": 1,
        }
        theirs = xgboost.train({**params, "tree_method": "exact"}, xgboost.DMatrix(table, label), 4)
        ours = train(
            {
                **params,
                "grow_policy": "depthwise",
                "prune": True,
                "min_data_in_leaf": 1,
                "min_data_in_bin": 1,
                "verbosity": -1,
            },
            Dataset(table, label),
            4,
        )
        expected = theirs.predict(xgboost.DMatrix(table))
        np.testing.assert_allclose(ours.predict(table), expected, rtol=1e-4, atol=1e-4)
        frame = theirs.trees_to_dataframe()
        n_theirs = (frame.Feature == "Leaf").groupby(frame.Tree).sum()
        n_ours = [ours.model.forest.tree(t).n_leaves for t in range(ours.num_trees())]
        assert n_ours == n_theirs.tolist()[: len(n_ours)]
        n_pruned += sum(n < 32 for n in n_ours)
    assert n_pruned > 5


@pytest.mark.parametrize("method", ["exact", "approx"])
def test_other_methods(method: str) -> None:
    params = {**BASE, "grow_policy": "depthwise", "max_depth": 5, "tree_method": method}
    whole = first_tree(params)
    gamma = float(np.median(whole.gain))
    pruned = first_tree({**params, "prune": True, "gamma": gamma})
    assert reference(pruned, 0.0) == reference(whole, gamma)
    assert pruned.n_leaves < whole.n_leaves


def test_what_does_not_fit() -> None:
    with pytest.raises(ParameterError, match="prune does not fit cegb_penalty_feature_coupled"):
        train(
            {**BASE, "prune": True, "cegb_penalty_feature_coupled": [1, 1, 1, 1]},
            Dataset(TABLE, LABEL),
        )
    with pytest.raises(ParameterError, match="prune"):
        Booster({"prune": "maybe"}, Dataset(TABLE, LABEL))
