"""One tree for all outputs: `multi_strategy="multi_output_tree"`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gossamer import (
    Booster,
    CustomObjective,
    Dataset,
    ParameterError,
    early_stopping,
    record_evaluation,
    threads,
    train,
)

N_ROUNDS = 8
N_TRAIN = 900
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(1300, 6)).astype(np.float32)
TABLE[:, 5] = RNG.integers(0, 3, len(TABLE))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
_x = np.nan_to_num(TABLE)
NUMBERS = np.column_stack([_x[:, 0] ** 2, _x[:, 1] + _x[:, 2], 3 * _x[:, 3], _x[:, 0] * _x[:, 1]])
NUMBERS += 0.1 * RNG.normal(size=NUMBERS.shape)
LABELS = NUMBERS > 0.3
CLASSES = np.digitize(_x[:, 0] + _x[:, 1] * _x[:, 2], [-1.0, 0.2])
WEIGHT = RNG.exponential(size=len(TABLE))

BASE = {"multi_strategy": "multi_output_tree", "num_leaves": 12, "verbosity": -1, "num_threads": 2}


def two_squares(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    label = data.get_label()
    return scores - np.column_stack([label, -label]), np.full_like(scores, 2.0)


PROBLEMS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "regression": ({}, NUMBERS),
    "labels": ({"objective": "binary"}, LABELS),
    "classes": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "custom": ({"objective": two_squares, "num_class": 2}, NUMBERS[:, 0]),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bagging": {"bagging_fraction": 0.5, "bagging_freq": 1},
    "goss": {"boosting": "goss", "learning_rate": 0.5},
    "mvs": {"data_sample_strategy": "mvs"},
    "columns": {"feature_fraction": 0.6, "feature_fraction_bynode": 0.7},
    "extra trees": {"extra_trees": True},
    "depthwise": {"grow_policy": "depthwise", "max_depth": 3},
    "regularised": {"lambda_l1": 2.0, "lambda_l2": 3.0, "max_delta_step": 0.5, "path_smooth": 3.0},
}


def fit(problem: str, params: dict[str, Any], weighted: bool = False, **options: Any) -> Booster:
    own, label = PROBLEMS[problem]
    weight = WEIGHT[:N_TRAIN] if weighted else None
    data = Dataset(TABLE[:N_TRAIN], label[:N_TRAIN], weight=weight)
    valid = data.create_valid(TABLE[N_TRAIN:], label[N_TRAIN:])
    return train({**BASE, **own, **params}, data, N_ROUNDS, [valid], **options)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_parts_of_a_model_fit_each_other(problem: str, setting: str, weighted: bool) -> None:
    own, _ = PROBLEMS[problem]
    booster = fit(problem, SETTINGS[setting], weighted, keep_training_booster=True)
    forest = booster.model.forest
    k = forest.n_outputs
    assert booster.num_trees() == booster.current_iteration() == N_ROUNDS
    assert booster.num_model_per_iteration() == 1
    raw = booster.predict(TABLE, raw_score=True)
    assert raw.shape == (len(TABLE), k)

    # Scores kept while training are those of prediction, on both data sets.
    training = booster.training
    for scored, rows in (
        (training.train, slice(N_TRAIN)),
        (training.valid[0], slice(N_TRAIN, None)),
    ):
        np.testing.assert_allclose(scored.score.reshape(k, -1).T, raw[rows], rtol=1e-12, atol=1e-12)

    # Leaves, and rounds, add up.
    leaves = booster.predict(TABLE, pred_leaf=True)
    assert leaves.shape == (len(TABLE), N_ROUNDS)
    total = np.tile(booster.model.start, (len(TABLE), 1))
    for t in range(N_ROUNDS):
        values = np.stack([booster.get_leaf_output(t, i) for i in range(forest.tree(t).n_leaves)])
        assert values.shape[1] == k
        total += values[leaves[:, t]]
    np.testing.assert_allclose(total, raw, rtol=1e-12, atol=1e-12)
    front = booster.predict(TABLE, num_iteration=3, raw_score=True)
    back = booster.predict(TABLE, start_iteration=3, raw_score=True)
    np.testing.assert_allclose(front + back, raw, rtol=1e-12, atol=1e-12)
    assert not np.allclose(front, raw)

    assert booster.lower_bound() <= raw.min() <= raw.max() <= booster.upper_bound()
    n_nodes = sum(forest.tree(t).n_leaves - 1 for t in range(N_ROUNDS))
    assert booster.feature_importance("split").sum() == n_nodes
    assert booster.feature_importance("gain").sum() == pytest.approx(forest.arrays["gain"].sum())

    # And what is saved is the same model.
    if not callable(own.get("objective")):
        again = Booster(model_str=booster.model_to_string())
        np.testing.assert_array_equal(again.predict(TABLE), booster.predict(TABLE))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lambda_l2", [0.0, 4.0])
def test_values_are_newton_steps_of_each_output(weighted: bool, lambda_l2: float) -> None:
    booster = fit("regression", {"lambda_l2": lambda_l2, "learning_rate": 0.3}, weighted)
    leaves = booster.predict(TABLE[:N_TRAIN], pred_leaf=True, num_iteration=1)[:, 0]
    weight = WEIGHT[:N_TRAIN].astype(np.float32).astype(float) if weighted else np.ones(N_TRAIN)
    start = booster.model.start
    np.testing.assert_allclose(start, np.average(NUMBERS[:N_TRAIN], 0, weight), rtol=1e-6)
    gradient = (start - NUMBERS[:N_TRAIN]) * weight[:, None]
    tree = booster.model.forest.tree(0)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = -0.3 * gradient[rows].sum(0) / (weight[rows].sum() + lambda_l2)
        np.testing.assert_allclose(booster.get_leaf_output(0, leaf), expected, rtol=1e-4, atol=1e-5)
        assert tree.leaf_count[leaf] == rows.sum()
        assert tree.leaf_weight[leaf] == pytest.approx(weight[rows].sum(), rel=1e-5)

    # The gain of the root is the sum over the outputs.
    def gain(rows: np.ndarray) -> float:
        return float((gradient[rows].sum(0) ** 2 / (weight[rows].sum() + lambda_l2)).sum())

    x = TABLE[:N_TRAIN, tree.column[0]]
    left = np.where(np.isnan(x), tree.default_left[0] == 1, x <= tree.threshold[0])
    found = gain(left) + gain(~left) - gain(np.ones(N_TRAIN, dtype=bool))
    assert tree.gain[0] == pytest.approx(found, rel=1e-4)


def test_the_same_target_several_times_is_the_model_of_one() -> None:
    one = train({**BASE}, Dataset(TABLE, NUMBERS[:, 0]), 10)
    for k in (2, 7, 9):
        label = np.repeat(NUMBERS[:, :1], k, axis=1)
        several = train({**BASE}, Dataset(TABLE, label), 10).predict(TABLE)
        np.testing.assert_array_equal(several, np.repeat(several[:, :1], k, axis=1))
        # Gains are compared in floats: a split as good as the best may come first.
        error = ((one.predict(TABLE) - NUMBERS[:, 0]) ** 2).mean()
        assert ((several[:, 0] - NUMBERS[:, 0]) ** 2).mean() == pytest.approx(error, rel=0.02)


def test_one_output_has_plain_leaves() -> None:
    for label in (NUMBERS[:, 0], NUMBERS[:, :1]):
        booster = train({**BASE}, Dataset(TABLE, label), 3)
        plain = train({**BASE, "multi_strategy": "one_output_per_tree"}, Dataset(TABLE, label), 3)
        np.testing.assert_array_equal(booster.predict(TABLE), plain.predict(TABLE))
        assert booster.model.forest.n_values == 1


def test_an_output_without_gradients_keeps_its_start() -> None:
    label = np.column_stack([NUMBERS[:, 0], np.full(len(TABLE), 5.0)])
    predicted = train({**BASE}, Dataset(TABLE, label), 5).predict(TABLE)
    np.testing.assert_array_equal(predicted[:, 1], 5.0)
    assert np.ptp(predicted[:, 0]) > 1.0


def test_nothing_to_learn() -> None:
    booster = train({**BASE}, Dataset(TABLE, np.zeros((len(TABLE), 3))), 5)
    assert booster.num_trees() == 1
    np.testing.assert_array_equal(booster.predict(TABLE), np.zeros((len(TABLE), 3)))
    # With sampling a later round might differ: trees of one leaf, which add nothing.
    params = {**BASE, "bagging_fraction": 0.5, "bagging_freq": 1}
    booster = train(params, Dataset(TABLE, np.zeros((len(TABLE), 3))), 5)
    assert booster.num_trees() == booster.current_iteration() == 5
    np.testing.assert_array_equal(booster.predict(TABLE), np.zeros((len(TABLE), 3)))
    np.testing.assert_array_equal(booster.get_leaf_output(0, 0), np.zeros(3))
    assert Booster(model_str=booster.model_to_string()).num_trees() == 5


def test_constant_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)  # however small the data
    for num_threads in (1, 2, 3):
        data = Dataset(np.ones((500, 2)), NUMBERS[:500])
        booster = train({**BASE, "num_threads": num_threads}, data, 3)
        assert booster.num_trees() == 1
        np.testing.assert_allclose(booster.predict([[1.0, 2.0]])[0], NUMBERS[:500].mean(0), 1e-5)


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e30])
def test_the_scale_of_the_targets_does_not_matter(scale: float) -> None:
    plain = train({**BASE}, Dataset(TABLE, NUMBERS), 5).predict(TABLE)
    scaled = train({**BASE}, Dataset(TABLE, NUMBERS * scale), 5).predict(TABLE) / scale
    errors = [((p - NUMBERS) ** 2).mean() for p in (plain, scaled)]
    assert errors[1] == pytest.approx(errors[0], rel=0.02)
    assert errors[0] < 0.6 * NUMBERS.var(axis=0).mean()


def test_a_target_of_another_scale_takes_over() -> None:
    """Gains are sums over the targets: why the page says to bring them to one scale."""
    label = NUMBERS[:, :2] * [1.0, 1e6]
    booster = train({**BASE}, Dataset(TABLE, label), 3)
    assert set(np.flatnonzero(booster.feature_importance())) <= {1, 2}


@pytest.mark.parametrize("read", [csr_array, csc_array])
def test_sparse_tables(read: Any) -> None:
    table = np.where(RNG.random((1300, 40)) < 0.1, RNG.integers(1, 4, (1300, 40)), 0).astype(float)
    label = table[:, :3] @ RNG.normal(size=(3, 5)) + 0.1 * RNG.normal(size=(1300, 5))
    dense = train({**BASE}, Dataset(table, label), 5)
    sparse = train({**BASE}, Dataset(read(table), label), 5)
    np.testing.assert_array_equal(sparse.predict(table), dense.predict(table))
    np.testing.assert_array_equal(sparse.predict(read(table)), dense.predict(table))
    leaves = [dense.predict(x, pred_leaf=True) for x in (table, read(table))]
    np.testing.assert_array_equal(leaves[0], leaves[1])


def test_metrics_are_those_of_the_predictions() -> None:
    history: dict[str, Any] = {}
    booster = fit("regression", {"metric": "l2"}, callbacks=[record_evaluation(history)])
    for n in (1, 4, N_ROUNDS):
        predicted = booster.predict(TABLE[N_TRAIN:], num_iteration=n)
        error = ((predicted - NUMBERS[N_TRAIN:]) ** 2).mean()
        assert history["valid_0"]["l2"][n - 1] == pytest.approx(error, rel=1e-5)


def test_early_stopping() -> None:
    data = Dataset(TABLE[:300], NUMBERS[:300])
    valid = data.create_valid(TABLE[N_TRAIN:], NUMBERS[N_TRAIN:])
    params = {**BASE, "learning_rate": 0.9, "min_data_in_leaf": 3}
    booster = train(params, data, 200, [valid], callbacks=[early_stopping(3, verbose=False)])
    assert 0 < booster.best_iteration < 150
    best = booster.predict(TABLE[N_TRAIN:])
    again = booster.predict(TABLE[N_TRAIN:], num_iteration=booster.best_iteration)
    np.testing.assert_array_equal(best, again)
    error = ((best - NUMBERS[N_TRAIN:]) ** 2).mean()
    assert booster.best_score["valid_0"]["l2"] == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("setting", ["plain", "bagging", "goss"])
def test_rollback(setting: str) -> None:
    data = Dataset(TABLE[:N_TRAIN], NUMBERS[:N_TRAIN])
    booster = Booster({**BASE, **SETTINGS[setting]}, data)
    booster.add_valid(data.create_valid(TABLE[N_TRAIN:], NUMBERS[N_TRAIN:]), "valid")
    for _ in range(3):
        booster.update()
    predicted, scores = booster.predict(TABLE), booster.eval_valid() + booster.eval_train()
    booster.update()
    assert not np.array_equal(booster.predict(TABLE), predicted)
    longer = booster.predict(TABLE)
    booster.rollback_one_iter()
    assert booster.current_iteration() == booster.num_trees() == 3
    np.testing.assert_array_equal(booster.predict(TABLE), predicted)
    assert booster.eval_valid() + booster.eval_train() == scores
    booster.update()
    np.testing.assert_array_equal(booster.predict(TABLE), longer)


def test_a_validation_set_may_come_late() -> None:
    data = Dataset(TABLE[:N_TRAIN], NUMBERS[:N_TRAIN])
    valid = [data.create_valid(TABLE[N_TRAIN:], NUMBERS[N_TRAIN:]) for _ in range(2)]
    booster = Booster({**BASE}, data).add_valid(valid[0], "early")
    for _ in range(3):
        booster.update()
    booster.add_valid(valid[1], "late")
    booster.update()
    early, late = booster.eval_valid()
    assert early[2] == late[2]


def test_init_scores() -> None:
    start = RNG.normal(size=NUMBERS.shape)
    booster = train({**BASE}, Dataset(TABLE, NUMBERS, init_score=start), 30)
    before = ((start - NUMBERS) ** 2).mean()
    assert ((start + booster.predict(TABLE) - NUMBERS) ** 2).mean() < 0.5 * before


def test_a_function_given_by_round() -> None:
    data = Dataset(TABLE, NUMBERS[:, 0])
    booster = Booster({**BASE, "objective": "none", "num_class": 2}, data)
    for _ in range(3):
        booster.update(fobj=two_squares)
    given = {**BASE, "objective": two_squares, "num_class": 2}
    expected = train(given, Dataset(TABLE, NUMBERS[:, 0]), 3)
    np.testing.assert_array_equal(booster.predict(TABLE), expected.predict(TABLE))
    assert booster.num_trees() == 3


def test_a_function_with_a_link() -> None:
    def logistic(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        p = 1 / (1 + np.exp(-scores))
        return p - data.get_label(), p * (1 - p)

    objective = CustomObjective(logistic, link="sigmoid")
    booster = train({**BASE, "objective": objective}, Dataset(TABLE, LABELS), 20)
    own = train({**BASE, "objective": "binary"}, Dataset(TABLE, LABELS), 20)
    share = ((booster.predict(TABLE) > 0.5) == LABELS).mean()
    assert share == pytest.approx(((own.predict(TABLE) > 0.5) == LABELS).mean(), abs=0.02)


def test_rows_without_a_label_for_some_targets() -> None:
    """Neither gradient nor hessian: they say nothing about that target."""
    known = RNG.random(NUMBERS.shape) < 0.5
    known[_x[:, 4] > 0, 1] = False  # leaves of such rows alone: the value of this target is 0

    def some(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
        return np.where(known, scores - data.get_label(), 0.0), known.astype(float)

    params = {**BASE, "objective": some, "num_class": 4, "min_sum_hessian_in_leaf": 0.0}
    booster = train(
        {**params, "num_leaves": 40, "min_data_in_leaf": 5}, Dataset(TABLE, NUMBERS), 20
    )
    predicted = booster.predict(TABLE)
    assert np.abs(predicted).max() < 3 * np.abs(NUMBERS).max()
    for k in range(3):
        rows = ~known[:, k] & (_x[:, 4] <= 0)  # never seen
        error = ((predicted[rows, k] - NUMBERS[rows, k]) ** 2).mean()
        assert error < 0.5 * (NUMBERS[rows, k] ** 2).mean()


def test_the_strategy_is_fixed_once_training() -> None:
    booster = Booster({**BASE}, Dataset(TABLE, NUMBERS))
    booster.update()
    with pytest.raises(ParameterError, match="multi_strategy cannot change during a training"):
        booster.reset_parameter({"multi_strategy": "one_output_per_tree"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("multi", "one of one_output_per_tree, multi_output_tree"),
        ("", "one of one_output_per_tree, multi_output_tree"),
        (1, "a name"),
        (True, "a name"),
    ],
)
def test_bad_values(value: Any, expected: str) -> None:
    with pytest.raises(ParameterError, match=f"multi_strategy.*got {value!r}, expected {expected}"):
        train({"multi_strategy": value}, Dataset(TABLE, NUMBERS), 1)


@pytest.mark.parametrize(("tree", "leaf"), [(N_ROUNDS, 0), (-1, 0), (0, 99), (0, -1)])
def test_no_such_leaf(tree: int, leaf: int) -> None:
    with pytest.raises(ParameterError, match="no such"):
        fit("regression", {}).get_leaf_output(tree, leaf)


def test_as_good_as_a_tree_per_output() -> None:
    """Where the outputs hang on the same columns one tree is worth several."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3000, 6))
    latent = np.column_stack([x[:, 0] + x[:, 1] ** 2, np.sin(2 * x[:, 2])])
    y = latent @ rng.normal(size=(2, 10)) + rng.normal(size=(3000, 10))
    common = {"learning_rate": 0.1, "num_leaves": 31, "verbosity": -1}
    errors = {}
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        data = Dataset(x[:2000], y[:2000])
        booster = train({**common, "multi_strategy": strategy}, data, 80)
        errors[strategy] = ((booster.predict(x[2000:]) - y[2000:]) ** 2).mean()
    assert errors["multi_output_tree"] < errors["one_output_per_tree"]


@pytest.mark.parametrize("objective", ["regression", "multiclass"])
def test_as_good_as_xgboost(objective: str) -> None:
    xgb = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 5))
    # No products of columns: which of them is split first is chance, and decides all.
    y = np.column_stack([x[:, 0] + x[:, 1] ** 2, np.sin(3 * x[:, 2]), x[:, 0] - x[:, 3]])
    y += 0.1 * rng.normal(size=y.shape)
    common = {"max_depth": 4, "eta": 0.2, "lambda": 1.0, "min_child_weight": 5}
    common |= {"multi_strategy": "multi_output_tree"}
    own = {"grow_policy": "depthwise", "min_data_in_leaf": 1, "verbosity": -1, "num_leaves": 16}
    theirs = {"tree_method": "hist", "nthread": 1, "verbosity": 0}
    if objective == "multiclass":
        y = y.argmax(axis=1)
        own |= {"objective": "multiclass", "num_class": 3}
        theirs |= {"objective": "multi:softprob", "num_class": 3}

    def error(predicted: np.ndarray) -> float:
        if objective == "multiclass":
            return float(-np.log(predicted[np.arange(1000), y[3000:]]).mean())
        return float(((predicted - y[3000:]) ** 2).mean())

    ours = train({**common, **own}, Dataset(x[:3000], y[:3000]), 60)
    other = xgb.train({**common, **theirs}, xgb.DMatrix(x[:3000], y[:3000]), 60)
    assert error(ours.predict(x[3000:])) < 1.04 * error(other.predict(xgb.DMatrix(x[3000:])))
