"""`tree_method="exact"` finds the trees that XGBoost's `exact` finds."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import gossamer
from gossamer.tree import Tree

xgboost = pytest.importorskip("xgboost")

N_ROWS, N_ROUNDS, DEPTH = 1500, 8, 5
OBJECTIVES = {
    "regression": "reg:squarederror",
    "binary": "binary:logistic",
    "poisson": "count:poisson",
}
Case = dict[str, Any]


def dense(seed: int, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(N_ROWS, 6)).astype(dtype)
    signal = 2 * table[:, 0] + table[:, 1] ** 2 + table[:, 2] * table[:, 3]
    return table, (signal + rng.normal(size=N_ROWS)).astype(np.float32)


def holes(seed: int, share: float) -> np.ndarray:
    return np.random.default_rng(seed).random((N_ROWS, 6)) < share


def dense_regression() -> Case:
    table, signal = dense(1)
    return {"table": table, "label": signal}


def dense_binary() -> Case:
    table, signal = dense(2)
    return {"table": table, "label": (signal > 1).astype(np.float32), "objective": "binary"}


def missing_values() -> Case:
    table, signal = dense(3)
    table[holes(3, 0.25)] = np.nan
    table[:, 5] = np.where(signal > np.median(signal), np.nan, table[:, 5])  # all against missing
    return {"table": table, "label": signal}


def missing_binary() -> Case:
    table, signal = dense(4)
    table[holes(4, 0.1)] = np.nan
    return {"table": table, "label": (signal > 1).astype(np.float32), "objective": "binary"}


def absent_entries() -> Case:
    rng = np.random.default_rng(5)
    table = sparse.random(N_ROWS, 25, 0.2, format="csr", dtype=np.float32, random_state=5)
    table.data -= np.float32(0.4)
    signal = np.asarray(table.sum(axis=1)).ravel() + 0.1 * rng.normal(size=N_ROWS)
    label = signal.astype(np.float32)
    return {"table": table, "label": label, "params": {"zero_as_missing": True}}


def weighted_counts() -> Case:
    table, signal = dense(6)
    rng = np.random.default_rng(6)
    weight = rng.uniform(0.2, 3.0, N_ROWS).astype(np.float32)
    label = rng.poisson(np.exp(signal / 4)).astype(np.float32)
    return {"table": table, "label": label, "weight": weight, "objective": "poisson"}


def few_values() -> Case:
    table, signal = dense(7)
    table[:, :4] = np.round(table[:, :4] * 3)
    return {"table": table, "label": signal}


def many_ties() -> Case:
    """More values than bins, each of several rows."""
    table, signal = dense(8)
    table[:] = np.round(table * 70) / 16
    table[holes(8, 0.1)] = np.nan
    return {"table": table, "label": signal}


CASES = [
    dense_regression,
    dense_binary,
    missing_values,
    missing_binary,
    absent_entries,
    weighted_counts,
    few_values,
    many_ties,
]


def train_peer(case: Case) -> tuple[Any, Any]:
    objective = case.get("objective", "regression")
    params = {
        "objective": OBJECTIVES[objective],
        "max_depth": DEPTH,
        "eta": 0.3,
        "reg_lambda": 1.0,
        "min_child_weight": 1.0,
        "tree_method": "exact",
        "base_score": 0.5,
        "nthread": 1,
    }
    if objective == "poisson":
        params["max_delta_step"] = 0.7
    data = xgboost.DMatrix(case["table"], case["label"], weight=case.get("weight"))
    return xgboost.train(params, data, N_ROUNDS), data


def train_ours(case: Case, grow_policy: str = "depthwise") -> gossamer.Booster:
    objective = case.get("objective", "regression")
    params = {
        "objective": objective,
        "max_depth": DEPTH,
        "num_leaves": 2**DEPTH,
        "grow_policy": grow_policy,
        "learning_rate": 0.3,
        "lambda_l2": 1.0,
        "min_sum_hessian_in_leaf": 1.0,
        "min_data_in_leaf": 0,
        "tree_method": "exact",
        "base_score": 0.5,
        "num_threads": 1,
        "verbosity": -1,
        **case.get("params", {}),
    }
    if objective == "poisson":
        params |= {"max_delta_step": 0.7, "poisson_max_delta_step": 0.7}
    data = gossamer.Dataset(case["table"], case["label"], weight=case.get("weight"))
    return gossamer.train(params, data, N_ROUNDS)


def values_of(table: Any) -> np.ndarray:
    """The table as XGBoost sees it: what is absent is missing."""
    if not sparse.issparse(table):
        return np.asarray(table)
    full = np.full(table.shape, np.nan, dtype=table.dtype)
    entries = table.tocoo()
    full[entries.row, entries.col] = entries.data
    return full


def left_of_peer(node: dict[str, Any], values: np.ndarray) -> np.ndarray:
    column = values[:, int(node["split"].removeprefix("f"))]
    is_left = column < np.float32(node["split_condition"])
    is_left[np.isnan(column)] = node["missing"] == node["yes"]
    return is_left


def left_of(tree: Tree, node: int, values: np.ndarray) -> np.ndarray:
    column = values[:, tree.column[node]].astype(np.float64)
    is_left = column <= tree.threshold[node]
    is_left[np.isnan(column)] = tree.default_left[node]
    return is_left


def check_tree(tree: Tree, peer: dict[str, Any], values: np.ndarray) -> int:
    """Compare all nodes; returns how many thresholds were compared."""
    waiting, n_compared = [(0 if tree.n_leaves > 1 else -1, peer, np.arange(len(values)))], 0
    while waiting:
        node, other, rows = waiting.pop()
        assert (node < 0) == ("leaf" in other)
        if node < 0:
            np.testing.assert_allclose(tree.leaf_value[~node], other["leaf"], rtol=1e-4, atol=1e-6)
            assert tree.leaf_count[~node] == len(rows)
            continue
        assert tree.column[node] == int(other["split"].removeprefix("f"))
        np.testing.assert_allclose(tree.gain[node], other["gain"], rtol=1e-3)
        theirs = {child["nodeid"]: child for child in other["children"]}
        children = [theirs[other["yes"]], theirs[other["no"]]]
        ours_left, theirs_left = (
            left_of(tree, node, values[rows]),
            left_of_peer(other, values[rows]),
        )
        if np.isinf(tree.threshold[node]):
            # All values against missing ones: where the peer puts its threshold, and which side
            # is which, says nothing.
            present = ~np.isnan(values[rows, tree.column[node]])
            np.testing.assert_array_equal(ours_left, present)
            if theirs_left[present].any():
                np.testing.assert_array_equal(theirs_left, present)
            else:
                np.testing.assert_array_equal(theirs_left, ~present)
                children.reverse()
        else:
            np.testing.assert_array_equal(ours_left, theirs_left)
            np.testing.assert_allclose(
                tree.threshold[node], np.float32(other["split_condition"]), rtol=3e-7, atol=1e-8
            )
            n_compared += 1
        waiting.append((int(tree.left[node]), children[0], rows[ours_left]))
        waiting.append((int(tree.right[node]), children[1], rows[~ours_left]))
    return n_compared


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_same_trees(make: Any) -> None:
    case = make()
    booster, (peer, data) = train_ours(case), train_peer(case)
    values = values_of(case["table"])
    dumped = peer.get_dump(dump_format="json", with_stats=True)
    trees = [booster.model.forest.tree(t) for t in range(booster.num_trees())]
    assert len(trees) == len(dumped) == N_ROUNDS
    for tree, other in zip(trees, dumped, strict=True):
        assert check_tree(tree, json.loads(other), values) >= DEPTH
    assert any(np.isinf(tree.threshold).any() for tree in trees) or make is not missing_values
    margin = peer.predict(data, output_margin=True)
    np.testing.assert_allclose(
        booster.predict(case["table"], raw_score=True), margin, rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(
        booster.predict(case["table"]), peer.predict(data), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("make", [dense_regression, missing_values, absent_entries])
def test_the_order_of_growth_does_not_matter(make: Any) -> None:
    """With room for all leaves, best first and level by level end in the same trees."""
    case = make()
    ours, level = train_ours(case, "lossguide"), train_ours(case)
    np.testing.assert_array_equal(ours.predict(case["table"]), level.predict(case["table"]))


@pytest.mark.parametrize("make", [few_values, many_ties])
def test_thresholds_lie_halfway_between_the_values_of_the_leaf(make: Any) -> None:
    case = make()
    booster, values, n_checked = train_ours(case), case["table"].astype(np.float64), 0
    for t in range(booster.num_trees()):
        tree = booster.model.forest.tree(t)
        waiting = [(0, np.arange(N_ROWS))]
        while waiting:
            node, rows = waiting.pop()
            if node < 0:
                continue
            is_left = left_of(tree, node, values[rows])
            column = values[rows, tree.column[node]]
            below, above = column[is_left & ~np.isnan(column)], column[~is_left & ~np.isnan(column)]
            if np.isfinite(tree.threshold[node]):
                assert tree.threshold[node] == (below.max() + above.min()) / 2
                n_checked += 1
            waiting.append((int(tree.left[node]), rows[is_left]))
            waiting.append((int(tree.right[node]), rows[~is_left]))
    assert n_checked > 50
