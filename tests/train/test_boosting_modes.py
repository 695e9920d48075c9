"""dart and rf from the outside: threads, estimators, early stopping, beside LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import Dataset, GossamerClassifier, GossamerRegressor, early_stopping, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(12_000, 6)).astype(np.float32)
TABLE[RNG.random(TABLE.shape) < 0.05] = np.nan
SIGNAL = np.nan_to_num(TABLE[:, 0] + np.sin(2 * TABLE[:, 1]) + TABLE[:, 2] * TABLE[:, 3])
LABEL = SIGNAL + RNG.normal(size=len(TABLE))
CLASSES = np.digitize(LABEL, [-1, 1])
DART = {"boosting": "dart", "drop_rate": 0.3, "skip_drop": 0.2}
FOREST = {"boosting": "rf", "bagging_fraction": 0.6, "feature_fraction": 0.8}
CLASS_PARAMS = {"objective": "multiclass", "num_class": 3}
VECTOR = {**CLASS_PARAMS, "multi_strategy": "multi_output_tree"}


@pytest.mark.parametrize("mode", [DART, FOREST, {**DART, "bagging_fraction": 0.5}], ids=str)
@pytest.mark.parametrize("params", [{}, {"objective": "quantile"}, CLASS_PARAMS, VECTOR], ids=str)
def test_bytes_do_not_depend_on_threads(mode: dict[str, Any], params: dict[str, Any]) -> None:
    label = CLASSES if "num_class" in params else LABEL
    models, results = set(), set()
    for n_threads in (1, 2, 3, 8):
        data = Dataset(TABLE, label=label)
        valid = data.create_valid(TABLE[:5000], label=label[:5000])
        own = {**mode, **params, "num_threads": n_threads, "verbosity": -1}
        model = train(own, data, 12, valid_sets=valid)
        models.add(model.model_to_string())
        results.add(tuple(model.best_score["valid_0"].values()))
    assert len(models) == 1
    assert len(results) == 1


@pytest.mark.parametrize("mode", ["dart", "rf"])
def test_estimators(mode: str) -> None:
    more = {"subsample": 0.5, "subsample_freq": 1} if mode == "rf" else {"drop_rate": 0.3}
    table, valid = TABLE[:2000], TABLE[2000:4000]
    args = {"boosting_type": mode, "n_estimators": 15, "verbosity": -1, **more}
    model = GossamerRegressor(**args).fit(table, LABEL[:2000])
    params = {"boosting": mode, "verbosity": -1, **more}
    plain = train(params, Dataset(table, label=LABEL[:2000]), 15)
    np.testing.assert_array_equal(model.predict(valid), plain.predict(valid))
    classifier = GossamerClassifier(**args)
    classifier.fit(
        table,
        CLASSES[:2000],
        eval_set=[(valid, CLASSES[2000:4000])],
        callbacks=[early_stopping(5, verbose=False)],
    )
    assert classifier.score(valid, CLASSES[2000:4000]) > 0.55
    best = classifier.best_score_["valid_0"]["multi_logloss"]
    probability = classifier.predict_proba(valid)[np.arange(2000), CLASSES[2000:4000]]
    assert best == pytest.approx(-np.log(probability).mean(), 1e-12)


def test_schedules() -> None:
    rates = [0.1 + 0.02 * i for i in range(10)]
    schedule = gossamer.reset_parameter(learning_rate=rates, drop_rate=lambda i: 0.1 * i)
    data = Dataset(TABLE[:2000], label=LABEL[:2000])
    booster = train(
        {**DART, "verbosity": -1}, data, 10, callbacks=[schedule], keep_training_booster=True
    )
    training = booster.training
    assert training is not None
    found = training.boosting.state()["rates"]
    assert all(0 < own <= rate for own, rate in zip(found, rates, strict=True))
    assert found[0] == rates[0] and found != rates
    np.testing.assert_array_equal(booster.predict(TABLE[:2000]), training.train.score)
    with pytest.raises(gossamer.ParameterError, match="boosting cannot change"):
        booster.reset_parameter({"boosting": "gbdt"})


def loss(kind: str, predicted: np.ndarray, label: np.ndarray) -> float:
    if kind == "regression":
        return float(np.mean((predicted - label) ** 2))
    own = predicted[np.arange(len(label)), label]
    return float(-np.mean(np.log(own)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [
        {"boosting": "dart"},
        {"boosting": "dart", "uniform_drop": True, "skip_drop": 0.0, "max_drop": 5},
        {"boosting": "dart", "xgboost_dart_mode": True},
        {"boosting": "dart", **CLASS_PARAMS},
        {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1, "feature_fraction": 0.8},
        {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1, **CLASS_PARAMS},
    ],
    ids=str,
)
def test_not_worse_than_lightgbm(params: dict[str, Any]) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    kind = str(params.get("objective", "regression"))
    label = CLASSES if kind == "multiclass" else LABEL
    # Chance decides how many trees are left out: a lot of noise, so many small trainings.
    args = {**params, "num_leaves": 15, "verbosity": -1, "num_threads": 1}
    losses = np.empty((2, 16))
    for i, library in enumerate((gossamer, lightgbm)):
        for seed in range(16):
            data = library.Dataset(TABLE[:2000], label[:2000])
            model = library.train({**args, "seed": seed + 1}, data, 30)
            losses[i, seed] = loss(kind, model.predict(TABLE[8000:]), label[8000:])
    own, other = losses.mean(axis=1)
    noise = np.hypot(*losses.std(axis=1)) / 4
    assert own < other + 3 * noise
    assert noise < 0.03 * other
