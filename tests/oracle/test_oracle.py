"""The oracle itself, against small sums by hand and against LightGBM."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .bins import LARGEST, ColumnBins, bin_table, find_bins, find_cuts, midpoint
from .boosting import OBJECTIVES, fit
from .histogram import build_histogram
from .split import Split, SplitParams, Sums, find_best_split, leaf_output
from .tree import Node, grow_tree, leaves, predict_tree

# ---------------------------------------------------------------------------------------- bins


def test_cuts_lie_halfway_between_few_values() -> None:
    assert find_cuts([1, 1, 2, 2, 4, 4], max_bin=255, min_data_in_bin=1) == [1.5, 3.0]


def test_rare_values_share_a_bin() -> None:
    assert find_cuts([1, 2, 3, 4, 5, 6], max_bin=255, min_data_in_bin=3) == [3.5]


def test_many_values_get_bins_of_equal_size() -> None:
    assert find_cuts(list(range(100)), max_bin=4, min_data_in_bin=1) == [24.5, 49.5, 74.5]


def test_bins_are_fewer_where_rows_are_few() -> None:
    assert len(find_cuts(list(range(12)), max_bin=8, min_data_in_bin=4)) == 2


def test_heavy_value_closes_its_bin() -> None:
    values = [5] * 100 + list(range(6, 106))
    cuts = find_cuts(values, max_bin=5, min_data_in_bin=1)
    assert cuts[0] == 5.5
    assert len(cuts) == 4


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        (LARGEST / 2, LARGEST, LARGEST * 0.75),
        (3.0, math.inf, LARGEST),
        (LARGEST, math.inf, LARGEST),
        (-math.inf, 3.0, -LARGEST),
        (-math.inf, -LARGEST, -math.inf),
        (-math.inf, math.inf, LARGEST),
    ],
)
def test_midpoint_separates(low: float, high: float, expected: float) -> None:
    assert midpoint(low, high) == expected
    assert low <= expected < high


def test_missing_bin_is_last_and_costs_one_value_bin() -> None:
    values = np.array([*range(100), math.nan])
    column = find_bins(values, max_bin=10, min_data_in_bin=1)
    assert (column.n_value_bins, column.n_bins) == (9, 10)
    assert column.bin_of(math.nan) == 9
    assert find_bins(values, 10, 1, use_missing=False).n_bins == 10


def test_missing_values_without_a_bin_count_as_zero() -> None:
    column = find_bins(np.array([-1.0, 0.0, 1.0]), min_data_in_bin=1)
    assert column.bin_of(math.nan) == column.bin_of(0.0) == 1


def test_zero_can_be_missing() -> None:
    column = find_bins(np.array([0.0, 1.0, 2.0, 1e-36]), 255, 1, zero_as_missing=True)
    assert column.upper_bounds == (1.5, math.inf)
    assert [column.bin_of(v) for v in (0.0, math.nan, 1.0, 2.0)] == [2, 2, 0, 1]


def test_all_missing_column_has_one_empty_value_bin() -> None:
    column = find_bins(np.array([math.nan, math.nan]))
    assert (column.n_value_bins, column.n_bins) == (1, 2)


# ------------------------------------------------------------------------- histograms and splits


def test_histogram_sums_by_bin() -> None:
    histogram = build_histogram(
        np.array([0, 1, 1, 2]), 3, np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 0.5), [0, 1, 2]
    )
    assert histogram.tolist() == [[1, 0.5, 1], [5, 1, 2], [0, 0, 0]]


def best_split(histogram: list[list[float]], has_missing: bool) -> Split | None:
    """Best split of one feature, without limits."""
    table = np.array(histogram, dtype=float)
    column = ColumnBins((*range(len(table) - has_missing - 1), math.inf), has_missing)
    gradient, hessian, count = table.sum(axis=0)
    params = SplitParams(min_data_in_leaf=1)
    return find_best_split([table], [column], Sums(gradient, hessian, int(count)), 0.0, params)


def test_gain_is_without_the_half() -> None:
    split = best_split([[-2, 2, 2], [2, 2, 2]], has_missing=False)
    assert split == Split(gain=4.0, feature=0, bin_idx=0, missing_left=False)


def test_no_split_without_gain() -> None:
    assert best_split([[2, 2, 2], [2, 2, 2]], has_missing=False) is None


def test_missing_values_take_the_better_side() -> None:
    left = best_split([[-2, 2, 2], [2, 2, 2], [-1, 1, 1]], has_missing=True)
    right = best_split([[-2, 2, 2], [2, 2, 2], [1, 1, 1]], has_missing=True)
    assert left is not None and (left.bin_idx, left.missing_left) == (0, True)
    assert right is not None and (right.bin_idx, right.missing_left) == (0, False)


def test_values_can_part_from_missing() -> None:
    split = best_split([[-2, 2, 2], [2, 2, 2]], has_missing=True)
    assert split is not None and (split.bin_idx, split.missing_left) == (0, False)


def test_ties_go_to_the_smaller_bin_and_missing_right() -> None:
    empty = [0, 0, 0]
    split = best_split([[-2, 2, 2], empty, [2, 2, 2], empty], has_missing=True)
    assert split is not None and (split.bin_idx, split.missing_left) == (0, False)


def test_ties_go_to_the_smaller_feature() -> None:
    table = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]] * 4)
    columns = [find_bins(values) for values in table.T]
    tree = grow_tree(
        bin_table(table, columns),
        columns,
        np.array([-1.0, 1.0] * 4),
        np.ones(8),
        SplitParams(min_data_in_leaf=1),
    )
    assert tree.split is not None and tree.split.feature == 1


def test_outputs_are_clipped_then_smoothed() -> None:
    params = SplitParams(lambda_l1=1, lambda_l2=1, max_delta_step=0.5, path_smooth=3)
    sums = Sums(gradient=-9.0, hessian=3.0, count=3)  # -S(G) / (H + l2) = 2, clipped to 0.5
    assert leaf_output(sums, params, parent_output=None) == 0.5
    assert leaf_output(sums, params, parent_output=0.1) == pytest.approx(0.3)


# --------------------------------------------------------------------------------------- trees


def random_table(
    seed: int, n_rows: int = 400, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Small integers and a label that every column helps to predict.

    Not zero: LightGBM gives it a bin of its own. No useless column: LightGBM does not try a feature
    again below a leaf where none of its splits had a gain.
    """
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 9, size=(n_rows, 4)).astype(float)
    label = table @ [0.9, -0.6, 0.4, 0.7] + (table[:, 1] > 5) * table[:, 2] * 0.3
    label += rng.normal(size=n_rows)
    table[rng.random(table.shape) < missing] = np.nan
    return table, label


@pytest.mark.parametrize("growth", ["leafwise", "depthwise"])
def test_tree_keeps_to_its_limits(growth: str) -> None:
    table, label = random_table(seed=1, missing=0.1)
    columns = [find_bins(values) for values in table.T]
    params = SplitParams(min_data_in_leaf=10)
    tree = grow_tree(
        bin_table(table, columns),
        columns,
        -label,
        np.ones(len(label)),
        params,
        num_leaves=12,
        max_depth=4,
        growth=growth,
    )
    found = list(leaves(tree))
    assert 2 <= len(found) <= 12
    assert max(leaf.depth for leaf in found) <= 4
    assert min(len(leaf.rows) for leaf in found) >= 10
    assert sorted(row for leaf in found for row in leaf.rows) == list(range(len(table)))
    predicted = predict_tree(tree, table, columns)
    for leaf in found:
        assert leaf.value == pytest.approx(label[leaf.rows].mean())
        assert set(predicted[leaf.rows]) == {leaf.value}


def test_depthwise_fills_a_level_before_the_next() -> None:
    table, label = random_table(seed=2)
    columns = [find_bins(values) for values in table.T]
    tree = grow_tree(
        bin_table(table, columns),
        columns,
        -label,
        np.ones(len(label)),
        SplitParams(),
        num_leaves=6,
        growth="depthwise",
    )
    assert [leaf.depth for leaf in leaves(tree)] == [3, 3, 3, 3, 2, 2]


# ------------------------------------------------------------------------------------- boosting


@pytest.mark.parametrize(("objective", "n_outputs"), [("l2", 1), ("binary", 1), ("multiclass", 3)])
def test_gradients_are_derivatives(objective: str, n_outputs: int) -> None:
    rng = np.random.default_rng(3)
    score = rng.normal(size=(20, n_outputs))
    label = rng.integers(0, max(2, n_outputs), size=20).astype(float)

    def loss(score: np.ndarray) -> np.ndarray:
        if objective == "l2":
            return (score[:, 0] - label) ** 2 / 2
        if objective == "binary":
            return np.log1p(np.exp(score[:, 0])) - label * score[:, 0]
        picked = score[np.arange(20), label.astype(int)]
        return np.log(np.exp(score).sum(axis=1)) - picked

    gradients, hessians = OBJECTIVES[objective].gradients(score, label)
    factor = n_outputs / (n_outputs - 1) if objective == "multiclass" else 1
    for k in range(n_outputs):
        step = np.zeros(n_outputs)
        step[k] = 1e-4
        up, here, down = loss(score + step), loss(score), loss(score - step)
        np.testing.assert_allclose(gradients[:, k], (up - down) / 2e-4, atol=1e-6)
        np.testing.assert_allclose(
            hessians[:, k], factor * (up - 2 * here + down) / 1e-8, atol=1e-5
        )


def test_training_ends_when_nothing_splits() -> None:
    table, label = random_table(seed=4, n_rows=30)
    model = fit(table, label, params=SplitParams(min_data_in_leaf=20))
    assert model.trees == []
    np.testing.assert_allclose(model.predict(table), label.mean())


def test_weight_counts_like_repetition() -> None:
    table, label = random_table(seed=5, n_rows=80)
    weight = np.random.default_rng(5).integers(1, 4, size=80)
    columns = [find_bins(values, min_data_in_bin=1) for values in table.T]
    shared = {
        "params": SplitParams(min_data_in_leaf=1, min_sum_hessian_in_leaf=12),
        "columns": columns,
        "n_rounds": 3,
        "num_leaves": 5,
    }
    weighted = fit(table, label, weight=weight, **shared)
    repeated = fit(np.repeat(table, weight, axis=0), np.repeat(label, weight), **shared)
    np.testing.assert_allclose(weighted.predict(table), repeated.predict(table), rtol=1e-12)


# ----------------------------------------------------------------------------- against LightGBM

COMMON = {"min_data_in_bin": 1, "num_threads": 1, "verbose": -1, "feature_pre_filter": False}
ROUNDS, RATE = 3, 0.1


def train_lightgbm(table: np.ndarray, label: np.ndarray, params: dict[str, object]) -> list[dict]:
    """Trees of LightGBM, as it dumps them."""
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(table, label)
    booster = lightgbm.train({**COMMON, "learning_rate": RATE, **params}, data, ROUNDS)
    return [info["tree_structure"] for info in booster.dump_model()["tree_info"]]


def assert_same_tree(ours: Node, theirs: dict, table: np.ndarray, bias: float) -> None:
    """Same splits, gains and leaf values. LightGBM's first tree holds the start value, our bias."""
    if ours.is_leaf:
        assert "leaf_value" in theirs
        assert ours.value * RATE + bias == pytest.approx(theirs["leaf_value"], abs=1e-6)
        return
    split = ours.split
    assert split is not None and ours.left is not None and ours.right is not None
    assert split.feature == theirs["split_feature"]
    assert split.gain == pytest.approx(theirs["split_gain"], rel=1e-4)
    values = table[ours.rows, split.feature]
    children = [theirs["left_child"], theirs["right_child"]]
    if not np.isnan(values).any():
        assert ours.threshold == pytest.approx(theirs["threshold"], rel=1e-12)
    else:
        # Bins can be empty here, so that several splits are the same; we settle ties otherwise than
        # LightGBM. It must send the same rows to one side, be it the other one.
        goes_left = np.where(
            np.isnan(values), theirs["default_left"], values <= theirs["threshold"]
        )
        left_rows = np.array(ours.rows)[goes_left.astype(bool)].tolist()
        assert left_rows in (ours.left.rows, ours.right.rows)
        if left_rows == ours.right.rows:
            children.reverse()
    assert_same_tree(ours.left, children[0], table, bias)
    assert_same_tree(ours.right, children[1], table, bias)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"min_data_in_leaf": 40},
        {"min_sum_hessian_in_leaf": 30.0},
        {"min_gain_to_split": 10.0},
        {"lambda_l1": 8.0},
        {"lambda_l2": 10.0},
        {"max_delta_step": 3.0},
        {"path_smooth": 20.0},
        {"lambda_l1": 3.0, "lambda_l2": 2.0, "max_delta_step": 3.0, "path_smooth": 8.0},
    ],
    ids=lambda params: ",".join(params) or "default",
)
@pytest.mark.parametrize("shape", [{"num_leaves": 9}, {"num_leaves": 31, "max_depth": 3}])
def test_l2_trees_equal_lightgbm(
    params: dict[str, float], missing: float, shape: dict[str, int]
) -> None:
    table, label = random_table(seed=11, missing=missing)
    theirs = train_lightgbm(table, label, {"objective": "l2", **params, **shape})
    model = fit(
        table,
        label,
        n_rounds=ROUNDS,
        learning_rate=RATE,
        params=SplitParams(**params),
        columns=[find_bins(values, min_data_in_bin=1) for values in table.T],
        **shape,
    )
    assert len(theirs) == len(model.trees) == ROUNDS
    for i, (tree, dump) in enumerate(zip(model.trees, theirs, strict=True)):
        bias = model.start[0] if i == 0 else 0.0
        assert_same_tree(tree[0], dump, table, bias)


@pytest.mark.parametrize(("objective", "n_classes"), [("binary", 1), ("multiclass", 3)])
def test_classification_trees_equal_lightgbm(objective: str, n_classes: int) -> None:
    # LightGBM estimates counts from hessians, so only the hessian limits the leaves here.
    table, score = random_table(seed=12, n_rows=600)
    label = np.digitize(score, np.quantile(score, [0.3, 0.8][: max(1, n_classes - 1)])) * 1.0
    limits = {"min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 10.0}
    theirs = train_lightgbm(
        table, label, {"objective": objective, "num_class": n_classes, "num_leaves": 6, **limits}
    )
    model = fit(
        table,
        label,
        objective=objective,
        n_classes=n_classes,
        n_rounds=ROUNDS,
        learning_rate=RATE,
        params=SplitParams(**limits),
        columns=[find_bins(values, min_data_in_bin=1) for values in table.T],
        num_leaves=6,
    )
    ours = [tree for round_trees in model.trees for tree in round_trees]
    assert len(ours) == len(theirs)
    for i, (tree, dump) in enumerate(zip(ours, theirs, strict=True)):
        bias = model.start[i] if i < n_classes else 0.0
        assert_same_tree(tree, dump, table, bias)


def test_many_values_bin_as_in_lightgbm() -> None:
    rng = np.random.default_rng(13)
    values = np.concatenate([rng.gamma(2.0, size=900) + 0.1, np.full(150, 1.0), np.full(60, 2.5)])
    label = rng.normal(size=len(values))
    n_bins = 20
    # A tree of single-bin leaves has every cut as a threshold. LightGBM keeps one bin for zero.
    theirs = train_lightgbm(
        values[:, None],
        label,
        {"max_bin": n_bins + 1, "num_leaves": 64, "min_data_in_leaf": 1, "min_data_in_bin": 3},
    )
    thresholds: set[float] = set()
    pending = theirs[:1]
    while pending:
        node = pending.pop()
        if "threshold" in node:
            thresholds.add(node["threshold"])
            pending += [node["left_child"], node["right_child"]]
    cuts = find_cuts(list(values), n_bins, min_data_in_bin=3)
    np.testing.assert_allclose(sorted(thresholds), cuts, rtol=1e-12)
