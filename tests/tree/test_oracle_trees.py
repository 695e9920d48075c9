"""Whole trees, compared with the oracle's.

Gradients are integers, so sums are exact in both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import (
    Split,
    SplitParams,
    Sums,
    bin_table,
    build_histogram,
    find_best_split,
    find_bins,
    grow_tree,
    leaf_output,
    leaf_score,
)
from oracle.split import divide_bins, is_too_small, sum_bins
from oracle.tables import draw_table

import gossamer
from gossamer.tree import Tree

NAMES = {field.name for field in fields(SplitParams)}


@dataclass
class Leaf:
    """A leaf of the growing tree, by the oracle's reckoning."""

    rows: list[int]
    sums: Sums
    value: float
    depth: int
    best: Split | None


class Checker:
    """Follows a tree split by split, and asks the oracle whether each was the best one.

    Splits of equal gain are equally good: which of them has the larger last bit is chance.
    """

    def __init__(self, table: np.ndarray, gradient: np.ndarray, params: dict[str, Any]) -> None:
        names = ("max_bin", "min_data_in_bin", "use_missing", "zero_as_missing")
        binning = {name: params[name] for name in names if name in params}
        self.columns = [find_bins(column, **binning) for column in table.T]
        self.binned = bin_table(table, self.columns)
        self.gradient = gradient
        self.rules = SplitParams(**{name: params[name] for name in NAMES & params.keys()})
        self.num_leaves = params.get("num_leaves", 31)
        self.max_depth = params.get("max_depth", -1)
        self.depthwise = params.get("grow_policy") == "depthwise"

    def histograms(self, rows: list[int]) -> list[np.ndarray]:
        ones = np.ones(len(self.gradient))
        return [
            build_histogram(self.binned[:, f], column.n_bins, self.gradient, ones, rows)
            for f, column in enumerate(self.columns)
        ]

    def make_leaf(self, rows: list[int], parent: Leaf | None) -> Leaf:
        sums = Sums(float(self.gradient[rows].sum()), float(len(rows)), len(rows))
        value = leaf_output(sums, self.rules, parent.value if parent else None)
        depth = parent.depth + 1 if parent else 0
        best = None
        if self.max_depth <= 0 or depth < self.max_depth:
            best = find_best_split(self.histograms(rows), self.columns, sums, value, self.rules)
        # What is left of a gain of zero after rounding is not a gain.
        if best is not None and best.gain <= 1e-9:
            best = None
        return Leaf(rows, sums, value, depth, best)

    def check(self, tree: Tree) -> dict[int, Leaf]:
        """Check all of the tree; returns its leaves."""
        frontier = {
            0 if tree.n_leaves > 1 else ~0: self.make_leaf([*range(len(self.binned))], None)
        }
        for node in range(tree.n_leaves - 1):
            self.check_turn(frontier, node)
            leaf = frontier.pop(node)
            left, right = self.check_split(tree, node, leaf)
            frontier[int(tree.left[node])] = self.make_leaf(left, leaf)
            frontier[int(tree.right[node])] = self.make_leaf(right, leaf)
        if tree.n_leaves < self.num_leaves:
            assert all(leaf.best is None for leaf in frontier.values())
        if tree.n_leaves > 1:
            for number, leaf in frontier.items():
                assert tree.leaf_value[~number] == pytest.approx(leaf.value, rel=1e-12, abs=1e-12)
                assert tree.leaf_count[~number] == leaf.sums.count
                assert tree.leaf_weight[~number] == leaf.sums.hessian
        return frontier

    def check_turn(self, frontier: dict[int, Leaf], node: int) -> None:
        """It is this leaf's turn: the best one, or the first of the shallowest ones."""
        able = {number: leaf for number, leaf in frontier.items() if leaf.best}
        assert node in able
        if self.depthwise:
            assert node == min(able, key=lambda number: able[number].depth)
        else:
            assert able[node].best.gain == pytest.approx(
                max(leaf.best.gain for leaf in able.values()), rel=1e-9
            )

    def check_split(self, tree: Tree, node: int, leaf: Leaf) -> tuple[list[int], list[int]]:
        """The split has the best gain of all; returns the rows it sends left and right."""
        feature = int(tree.column[node])
        column = self.columns[feature]
        threshold = tree.threshold[node]
        with np.errstate(over="ignore"):
            just_below = threshold if np.isinf(threshold) else np.nextafter(threshold, -np.inf)
        bin_idx = int(np.searchsorted(column.upper_bounds, just_below))
        missing_left = bool(tree.default_left[node])
        sides = divide_bins(column, bin_idx, missing_left)
        left, right = (sum_bins(self.histograms(leaf.rows)[feature], side) for side in sides)
        assert not is_too_small(left, self.rules)
        assert not is_too_small(right, self.rules)
        gain = sum(leaf_score(sums, self.rules, leaf.value) for sums in (left, right))
        gain -= leaf_score(leaf.sums, self.rules, leaf.value)
        assert leaf.best is not None
        assert gain == pytest.approx(leaf.best.gain, rel=1e-9)
        assert tree.gain[node] == pytest.approx(gain, rel=1e-9)
        assert tree.node_count[node] == leaf.sums.count
        assert tree.node_value[node] == pytest.approx(leaf.value, rel=1e-12, abs=1e-12)
        goes_left = np.isin(self.binned[leaf.rows, feature], sides[0])
        rows = np.array(leaf.rows)
        return rows[goes_left].tolist(), rows[~goes_left].tolist()


def check(table: np.ndarray, label: np.ndarray, params: dict[str, Any]) -> Tree:
    """Grow one tree for squared error from zero: gradients are minus the labels, hessians 1."""
    fixed = {"boost_from_average": False, "learning_rate": 1.0}
    booster = gossamer.train(params | fixed | {"verbosity": -1}, gossamer.Dataset(table, label), 1)
    forest = booster.model.forest
    tree = forest.tree(0) if forest.n_trees else Tree.constant(0.0)
    leaves = Checker(table, -label, params).check(tree)
    expected = np.zeros(len(table))
    if tree.n_leaves > 1:
        for leaf in leaves.values():
            expected[leaf.rows] = leaf.value
    np.testing.assert_allclose(booster.predict(table), expected, rtol=1e-12, atol=1e-12)
    return tree


def make_data(seed: int, n_rows: int = 90, *, missing: bool = False) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 12, size=(n_rows, 4)).astype(np.float64)
    table[:, 3] = rng.normal(size=n_rows)
    if missing:
        table[rng.random(size=table.shape) < 0.2] = np.nan
    label = np.round(3 * table[:, 0] % 7 + 2 * (table[:, 3] > 0) + rng.integers(-3, 4, n_rows))
    label = np.nan_to_num(label)
    return table, label - np.round(label.mean())


CASES: list[dict[str, Any]] = [
    {},
    {"min_data_in_leaf": 1},
    {"min_data_in_leaf": 1, "min_data_in_bin": 1, "num_leaves": 60},
    {"min_data_in_leaf": 3, "max_depth": 3},
    {"min_data_in_leaf": 3, "max_depth": 4, "grow_policy": "depthwise"},
    {"min_data_in_leaf": 2, "num_leaves": 11, "grow_policy": "depthwise"},
    {"min_data_in_leaf": 1, "lambda_l1": 3.0},
    {"min_data_in_leaf": 1, "lambda_l2": 2.5},
    {"min_data_in_leaf": 1, "lambda_l1": 1.0, "lambda_l2": 0.5},
    {"min_data_in_leaf": 1, "max_delta_step": 0.75},
    {"min_data_in_leaf": 2, "path_smooth": 4.0},
    {"min_data_in_leaf": 2, "path_smooth": 2.0, "lambda_l1": 1.0, "max_delta_step": 2.0},
    {"min_data_in_leaf": 1, "min_gain_to_split": 12.0},
    {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 9.0},
    {"min_data_in_leaf": 1, "max_bin": 5},
    {"num_leaves": 2},
]


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("params", CASES, ids=str)
def test_trees_equal_the_oracles(params: dict[str, Any], missing: bool) -> None:
    for seed in range(2):
        tree = check(*make_data(seed, missing=missing), params)
        assert tree.n_leaves > 1


@pytest.mark.parametrize("params", [{"zero_as_missing": True}, {"use_missing": False}], ids=str)
def test_other_kinds_of_missing(params: dict[str, Any]) -> None:
    for seed in range(2):
        tree = check(*make_data(seed, missing=True), params | {"min_data_in_leaf": 2})
        assert tree.n_leaves > 1


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_trees_equal_the_oracles_on_anything(data: st.DataObject) -> None:
    table, labels = draw_table(data)
    params = data.draw(
        st.fixed_dictionaries(
            {
                "min_data_in_leaf": st.integers(1, 4),
                "min_data_in_bin": st.integers(1, 3),
                "num_leaves": st.integers(2, 12),
                "grow_policy": st.sampled_from(["lossguide", "depthwise"]),
            },
            optional={
                "lambda_l1": st.sampled_from([0.5, 1.0]),
                "lambda_l2": st.sampled_from([0.5, 1.0]),
                "max_delta_step": st.sampled_from([0.25, 1.0]),
                "max_depth": st.integers(1, 4),
            },
        )
    )
    check(table, labels, params)


def test_the_second_round_follows_the_first() -> None:
    table, label = make_data(0)
    params = {"boost_from_average": False, "learning_rate": 0.5, "min_data_in_leaf": 5}
    booster = gossamer.train(params, gossamer.Dataset(table, label), 2)
    after_one = booster.predict(table, num_iteration=1)
    columns = [find_bins(column) for column in table.T]
    gradient = (after_one - label).astype(np.float32).astype(np.float64)
    root = grow_tree(
        bin_table(table, columns),
        columns,
        gradient,
        np.ones(len(label)),
        SplitParams(min_data_in_leaf=5),
    )
    tree = booster.model.forest.tree(1)
    assert root.split is not None
    assert (tree.column[0], tree.threshold[0]) == (root.split.feature, root.threshold)
    assert tree.gain[0] == pytest.approx(root.split.gain, rel=1e-5)
