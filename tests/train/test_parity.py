"""Not less accurate than LightGBM on small made-up data, and the same API."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer

lightgbm = pytest.importorskip("lightgbm")

N_TRAIN, N_TEST, N_COLUMNS = 3000, 3000, 8


def make(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(N_TRAIN + N_TEST, N_COLUMNS))
    signal = table[:, 0] + np.sin(2 * table[:, 1]) + table[:, 2] * table[:, 3]
    noisy = signal + rng.normal(size=len(table))
    table[rng.random(table.shape) < 0.05] = np.nan
    if kind == "binary":
        return table, (noisy > 0).astype(float)
    if kind == "multiclass":
        return table, np.digitize(noisy, [-1, 1]).astype(float)
    return table, noisy


def loss(kind: str, predicted: np.ndarray, label: np.ndarray) -> float:
    if kind == "regression":
        return float(np.mean((predicted - label) ** 2))
    if kind == "binary":
        predicted = np.column_stack([1 - predicted, predicted])
    own = predicted[np.arange(len(label)), label.astype(int)]
    return float(-np.mean(np.log(own)))


def loss_of(library: Any, params: dict[str, Any], kind: str, seed: int) -> float:
    table, label = make(seed, kind)
    data = library.Dataset(table[:N_TRAIN], label[:N_TRAIN])
    model = library.train({**params, "verbosity": -1, "num_threads": 1}, data, 60)
    return loss(kind, model.predict(table[N_TRAIN:]), label[N_TRAIN:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [
        {"objective": "regression"},
        {"objective": "regression", "num_leaves": 63, "min_data_in_leaf": 5, "lambda_l2": 1.0},
        {"objective": "binary"},
        {"objective": "binary", "bagging_fraction": 0.7, "bagging_freq": 1},
        {"objective": "binary", "feature_fraction": 0.6, "lambda_l1": 1.0},
        {"objective": "binary", "scale_pos_weight": 2.0, "max_depth": 4},
        {"objective": "multiclass", "num_class": 3},
    ],
    ids=str,
)
def test_losses_are_not_larger(params: dict[str, Any]) -> None:
    kind = params["objective"]
    losses = np.array(
        [
            [loss_of(library, params, kind, seed) for library in (gossamer, lightgbm)]
            for seed in range(4)
        ]
    )
    ours, theirs = losses.mean(axis=0)
    assert ours < theirs * 1.03  # twice the noise of these few seeds


def test_targets_over_ten_orders_of_magnitude() -> None:
    errors = np.empty((4, 2, 2))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(6000, 6))
        label = np.exp(4 * (0.8 * table[:, 0] + 0.5 * table[:, 1] + 0.3 * rng.normal(size=6000)))
        for i, library in enumerate((gossamer, lightgbm)):
            data = library.Dataset(table[:3000], label[:3000])
            model = library.train({"verbosity": -1, "num_threads": 1}, data, 60)
            error = model.predict(table[3000:]) - label[3000:]
            errors[seed, i] = np.sqrt(np.mean(error**2)), np.mean(np.abs(error))
    ratio = np.exp(np.mean(np.log(errors[:, 0] / errors[:, 1]), axis=0))
    assert (ratio < 1.02).all()


def test_the_first_tree_is_lightgbms() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 20, size=(800, 3)).astype(np.float64)
    label = 3 * (table[:, 0] > 11) + (table[:, 1] > 4) + rng.normal(size=800)
    params = {"num_leaves": 4, "min_data_in_bin": 1, "verbosity": -1, "learning_rate": 1.0}
    ours = gossamer.train(params, gossamer.Dataset(table, label), 1)
    theirs = lightgbm.train(params, lightgbm.Dataset(table, label), 1)
    np.testing.assert_allclose(ours.predict(table), theirs.predict(table), rtol=1e-5)
    np.testing.assert_array_equal(
        ours.predict(table, pred_leaf=True), theirs.predict(table, pred_leaf=True)
    )
    np.testing.assert_array_equal(ours.feature_importance(), theirs.feature_importance())
    np.testing.assert_allclose(
        ours.feature_importance("gain"), theirs.feature_importance("gain"), rtol=1e-4
    )


@pytest.mark.slow
def test_a_lightgbm_script_runs() -> None:
    """What an ordinary script does, with both libraries."""
    table, label = make(0, "binary")
    results = {}
    for lgb in (gossamer, lightgbm):
        train_set = lgb.Dataset(table[:N_TRAIN], label=label[:N_TRAIN], free_raw_data=False)
        valid_set = lgb.Dataset(table[N_TRAIN:], label=label[N_TRAIN:], reference=train_set)
        history: dict[str, Any] = {}
        booster = lgb.train(
            {"objective": "binary", "metric": ["auc", "binary_logloss"], "verbose": -1},
            train_set,
            num_boost_round=200,
            valid_sets=[train_set, valid_set],
            valid_names=["train", "valid"],
            callbacks=[
                lgb.early_stopping(stopping_rounds=10, verbose=False),
                lgb.record_evaluation(history),
                lgb.log_evaluation(0),
            ],
        )
        results[lgb.__name__] = {
            "datasets": list(history),
            "metrics": list(history["valid"]),
            "best": {name: list(scores) for name, scores in booster.best_score.items()},
            "trees": booster.num_trees() == booster.best_iteration,
            "shape": booster.predict(table).shape,
            "names": booster.feature_name(),
        }
        assert 5 < booster.best_iteration < 200
    assert results["gossamer"] == results["lightgbm"]
