"""Symmetric trees: all leaves of a level have the same split, the best one for all of them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import SplitParams, Sums, bin_table, build_histogram, find_bins, leaf_output
from oracle.split import divide_bins
from oracle.symmetric import Candidate, LevelLeaf, gain_in_leaf, level_gains
from oracle.tables import draw_table

import gossamer
from gossamer.tree import Tree

NAMES = {field.name for field in fields(SplitParams)}
SYMMETRIC = {"grow_policy": "symmetric", "verbosity": -1}


class Leaf:
    """A leaf of the growing tree: its number there, its rows, and what the oracle knows of it."""

    def __init__(self, number: int, rows: np.ndarray, known: LevelLeaf) -> None:
        self.number, self.rows, self.known = number, rows, known


class Checker:
    """Follows a tree level by level, and asks the oracle whether each split was the best one.

    Splits of equal gain are equally good: which of them has the larger last bit is chance.
    """

    def __init__(self, table: np.ndarray, gradient: np.ndarray, params: dict[str, Any]) -> None:
        binning = {name: params[name] for name in ("max_bin", "min_data_in_bin") if name in params}
        self.columns = [find_bins(column, **binning) for column in table.T]
        self.binned = bin_table(table, self.columns)
        self.gradient = gradient
        self.rules = SplitParams(**{name: params[name] for name in NAMES & params.keys()})
        self.n_levels = params.get("max_depth", 6)

    def make_leaf(self, number: int, rows: np.ndarray, parent: float | None) -> Leaf:
        ones = np.ones(len(self.gradient))
        histograms = [
            build_histogram(self.binned[:, f], column.n_bins, self.gradient, ones, rows.tolist())
            for f, column in enumerate(self.columns)
        ]
        sums = Sums(float(self.gradient[rows].sum()), float(len(rows)), len(rows))
        value = leaf_output(sums, self.rules, parent)
        return Leaf(number, rows, LevelLeaf(histograms, sums, value))

    def check(self, tree: Tree) -> list[Leaf]:
        """Check all of the tree; returns its leaves."""
        is_leaf = tree.n_leaves == 1
        level = [self.make_leaf(~0 if is_leaf else 0, np.arange(len(self.binned)), None)]
        n_nodes = 0  # nodes are numbered in the order in which they were split
        for _ in range(self.n_levels):
            gains = level_gains([leaf.known for leaf in level], self.columns, self.rules)
            best = max(gains.values(), default=0.0)
            if best <= self.rules.min_gain_to_split:
                break
            assert n_nodes < tree.n_leaves - 1, "the best split was not made"
            used = self.candidate_of(tree, n_nodes)
            assert gains[used] == pytest.approx(best, rel=1e-9)
            below: list[Leaf] = []
            for leaf in level:
                gain = gain_in_leaf(leaf.known, self.columns, used, self.rules)
                if gain > 0:
                    assert tree.default_left[leaf.number] == tree.default_left[n_nodes]
                    below += self.check_split(tree, leaf, used, gain)
                else:  # it stays
                    below.append(leaf)
            n_nodes += len(below) - len(level)
            level = below
        assert n_nodes == tree.n_leaves - 1
        return level

    def candidate_of(self, tree: Tree, node: int) -> Candidate:
        feature = int(tree.column[node])
        column = self.columns[feature]
        threshold = tree.threshold[node]
        with np.errstate(over="ignore"):
            just_below = threshold if np.isinf(threshold) else np.nextafter(threshold, -np.inf)
        bin_idx = int(np.searchsorted(column.upper_bounds, just_below))
        return feature, bin_idx, bool(tree.default_left[node]) and column.has_missing

    def check_split(self, tree: Tree, leaf: Leaf, used: Candidate, gain: float) -> list[Leaf]:
        """The leaf has the split of its level; returns its children."""
        node = leaf.number
        assert node >= 0 and self.candidate_of(tree, node) == used
        assert tree.gain[node] == pytest.approx(gain, rel=1e-9)
        assert tree.node_count[node] == len(leaf.rows)
        sides = divide_bins(self.columns[used[0]], used[1], used[2])
        goes_left = np.isin(self.binned[leaf.rows, used[0]], sides[0])
        value = leaf.known.value
        return [
            self.make_leaf(int(tree.left[node]), leaf.rows[goes_left], value),
            self.make_leaf(int(tree.right[node]), leaf.rows[~goes_left], value),
        ]


def check(table: np.ndarray, label: np.ndarray, params: dict[str, Any]) -> Tree:
    """Grow one tree for squared error from zero: gradients are minus the labels, hessians 1."""
    fixed = {"boost_from_average": False, "learning_rate": 1.0, **SYMMETRIC}
    booster = gossamer.train(params | fixed, gossamer.Dataset(table, label), 1)
    forest = booster.model.forest
    tree = forest.tree(0) if forest.n_trees else Tree.constant(0.0)
    expected = np.zeros(len(table))
    for leaf in Checker(table, -label, params).check(tree):
        assert leaf.number < 0, "a node that no level has split"
        if tree.n_leaves > 1:
            expected[leaf.rows] = leaf.known.value
    np.testing.assert_allclose(booster.predict(table), expected, rtol=1e-12, atol=1e-12)
    return tree


def make_data(seed: int, n_rows: int = 120, *, missing: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, size=(n_rows, 4)).astype(np.float64)
    table[:, 3] = rng.normal(size=n_rows)
    if missing:
        table[rng.random(size=table.shape) < 0.2] = np.nan
    label = np.round(3 * table[:, 0] % 7 + 2 * (table[:, 3] > 0) + rng.integers(-3, 4, n_rows))
    label = np.nan_to_num(label)
    return table, label - np.round(label.mean())


CASES: list[dict[str, Any]] = [
    {},
    {"min_data_in_leaf": 1, "max_depth": 3},
    {"min_data_in_leaf": 1, "min_data_in_bin": 1, "max_depth": 7},
    {"min_data_in_leaf": 9, "max_depth": 5},
    {"min_data_in_leaf": 1, "lambda_l2": 3.0},
    {"min_data_in_leaf": 1, "lambda_l1": 1.0, "lambda_l2": 0.5},
    {"min_data_in_leaf": 2, "path_smooth": 4.0, "max_delta_step": 2.0},
    {"min_data_in_leaf": 1, "min_gain_to_split": 12.0},
    {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 9.0},
    {"min_data_in_leaf": 1, "max_bin": 5},
]


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("params", CASES, ids=str)
def test_trees_equal_the_oracles(params: dict[str, Any], missing: bool) -> None:
    for seed in range(2):
        tree = check(*make_data(seed, missing=missing), params)
        assert tree.n_leaves > 2


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_trees_equal_the_oracles_on_anything(data: st.DataObject) -> None:
    table, labels = draw_table(data)
    params = data.draw(
        st.fixed_dictionaries(
            {
                "min_data_in_leaf": st.integers(1, 4),
                "min_data_in_bin": st.integers(1, 3),
                "max_depth": st.integers(1, 5),
            },
            optional={
                "lambda_l1": st.sampled_from([0.5, 1.0]),
                "lambda_l2": st.sampled_from([0.5, 1.0]),
                "max_delta_step": st.sampled_from([0.25, 1.0]),
            },
        )
    )
    check(table, labels, params)


def splits_of(tree: Tree) -> set[tuple[int, float, bool]]:
    return set(
        zip(tree.column.tolist(), tree.threshold.tolist(), tree.default_left.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"feature_fraction_bylevel": 0.5},
        {"feature_fraction_bynode": 0.4},
        {"extra_trees": True},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
    ],
    ids=str,
)
def test_a_tree_has_as_many_splits_as_levels(more: dict[str, Any]) -> None:
    """Leaves that wait for a later level draw the same features and thresholds as the others."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(3000, 8))
    table[rng.random(table.shape) < 0.1] = np.nan
    label = np.nan_to_num(table) @ rng.normal(size=8) + rng.normal(size=3000)
    params = {**SYMMETRIC, "max_depth": 5, **more}
    model = gossamer.train(params, gossamer.Dataset(table, label), 20)
    trees = [model.model.forest.tree(i) for i in range(20)]
    assert all(len(splits_of(tree)) <= 5 and tree.n_leaves <= 32 for tree in trees)
    assert np.mean([tree.n_leaves for tree in trees]) > 16
    columns = {tuple(sorted({column for column, *_ in splits_of(tree)})) for tree in trees}
    assert len(columns) > 5


def test_a_category_is_tried_against_the_others() -> None:
    rng = np.random.default_rng(0)
    level = rng.integers(0, 6, 2000)
    other = rng.normal(size=2000)
    label = 3.0 * (level == 3) + (other > 0) + 0.1 * rng.normal(size=2000)
    table = pd.DataFrame({"level": pd.Categorical(level), "other": other})
    params = {**SYMMETRIC, "max_depth": 2, "cat_target_statistics": "off", "learning_rate": 1.0}
    model = gossamer.train(params, gossamer.Dataset(table, label), 1)
    rows = pd.DataFrame(
        {"level": pd.Categorical([3, 1, 5, 99, None], categories=range(100)), "other": 1.0}
    )
    expected = [4.0, 1.0, 1.0, 1.0, 1.0]  # what was never seen goes with the rest
    np.testing.assert_allclose(model.predict(rows), expected, atol=0.02)


@pytest.mark.parametrize("objective", ["binary", "regression_l1", "poisson"])
def test_files_formats_and_shapley_values(objective: str, tmp_path: Path) -> None:
    table, label = make_data(5, 2000, missing=True)
    label = (label > 0) if objective == "binary" else np.abs(label)
    params = {**SYMMETRIC, "objective": objective, "min_data_in_leaf": 1, "lambda_l2": 3.0}
    model = gossamer.train(params, gossamer.Dataset(table, label), 10)
    expected = model.predict(table)
    for name in ("model.gsm", "model.txt"):
        model.save_model(tmp_path / name)
        read = gossamer.Booster(model_file=tmp_path / name)
        np.testing.assert_allclose(read.predict(table), expected, rtol=1e-12)
    shares = model.predict(table[:50], pred_contrib=True)
    scores = model.predict(table[:50], raw_score=True)
    np.testing.assert_allclose(shares.sum(axis=1), scores, rtol=1e-9, atol=1e-9)


def test_it_continues_with_another_policy_in_between() -> None:
    table, label = make_data(6, 1000)
    data = gossamer.Dataset(table, label)
    policies = ["symmetric", "lossguide", "symmetric"]
    change = gossamer.reset_parameter(grow_policy=policies)
    model = gossamer.train({"verbosity": -1}, data, 3, callbacks=[change])
    trees = [model.model.forest.tree(i) for i in range(3)]
    assert [len(splits_of(tree)) <= 6 for tree in trees] == [True, False, True]


REFUSED: dict[str, Any] = {
    "monotone_constraints": [1, 0, 0, 0],
    "interaction_constraints": [[0, 1], [2, 3]],
    "feature_contri": [0.5, 1.0, 1.0, 1.0],
    "cegb_penalty_split": 0.1,
    "cegb_penalty_feature_lazy": [0.1] * 4,
    "cegb_penalty_feature_coupled": [0.1] * 4,
    "forcedsplits_filename": "splits.json",
    "tree_method": "exact",
    "multi_strategy": "multi_output_tree",
    "max_memory": 1000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_name(name: str) -> None:
    params = {**SYMMETRIC, name: REFUSED[name]}
    with pytest.raises(gossamer.NotSupportedError, match=f"cannot be combined with {name}"):
        gossamer.train(params, gossamer.Dataset(*make_data(0)), 1)


def test_there_are_at_most_16_levels() -> None:
    with pytest.raises(gossamer.ParameterError, match=r"max_depth is too large .* at most 16"):
        gossamer.train({**SYMMETRIC, "max_depth": 17}, gossamer.Dataset(*make_data(0)), 1)


@pytest.mark.parametrize("min_data", [2, 20, 60])
def test_sparse_columns_with_few_entries(min_data: int) -> None:
    """Columns with fewer entries than a leaf needs have no histograms: they are left out."""
    rng = np.random.default_rng(1)
    x = np.zeros((400, 300))
    for column, n_entries in enumerate(rng.integers(1, 80, 300)):
        x[rng.choice(400, n_entries, replace=False), column] = rng.integers(1, 4, n_entries)
    y = rng.normal(size=400)
    params = {**SYMMETRIC, "min_data_in_leaf": min_data, "enable_bundle": False, "max_depth": 4}
    models = []
    for sparse in (False, True):
        data = gossamer.Dataset(x, y, params={**params, "is_enable_sparse": sparse})
        model = gossamer.train({**params, "is_enable_sparse": sparse}, data, 30)
        models.append(model.trees_to_dataframe())
    pd.testing.assert_frame_equal(*models)
