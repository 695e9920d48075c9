"""`process_type="update"`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost

import gossamer.compat.xgboost as xgb
from gossamer import NotSupportedError, ParameterError

RNG = np.random.default_rng(8)
X = RNG.normal(size=(400, 4)).astype(np.float32)
Y = X[:, 0] + X[:, 1] ** 2
OTHER = RNG.normal(size=(300, 4)).astype(np.float32)
OTHER_Y = 2 * OTHER[:, 0] - OTHER[:, 1]
BASE = {"max_depth": 3, "eta": 0.3, "base_score": 0.5}


def _labels(objective: str, y: np.ndarray) -> np.ndarray:
    if objective == "multi:softprob":
        return np.digitize(y, [0.0, 1.0]).astype(float)
    return (y > 0).astype(float) if objective == "binary:logistic" else y


@pytest.mark.filterwarnings("ignore:.*You have manually specified:UserWarning")
@pytest.mark.parametrize("updater", ["refresh", "prune", "refresh,prune"])
@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic"])
def test_the_trees_are_xgboosts(objective: str, updater: str) -> None:
    params = {**BASE, "objective": objective}
    theirs = xgboost.train(params, xgboost.DMatrix(X, label=_labels(objective, Y)), 4)
    model = xgb.Booster(model_file=theirs.save_raw("json"))
    update = {**params, "process_type": "update", "updater": updater, "gamma": 3.0, "lambda": 2.0}
    label = _labels(objective, OTHER_Y)
    found = xgb.train(update, xgb.DMatrix(OTHER, label=label), 4, xgb_model=model)
    expected = xgboost.train(update, xgboost.DMatrix(OTHER, label=label), 4, xgb_model=theirs)
    assert model.num_boosted_rounds() == found.num_boosted_rounds() == 4
    np.testing.assert_allclose(
        found.predict(xgb.DMatrix(X)), expected.predict(xgboost.DMatrix(X)), rtol=1e-4, atol=1e-5
    )
    pairs = zip(found.get_dump(with_stats=True), expected.get_dump(with_stats=True), strict=True)
    for ours, others in pairs:
        assert ours.count("leaf=") == others.count("leaf=")
        np.testing.assert_allclose(_stats(ours, "cover="), _stats(others, "cover="), rtol=1e-4)
        np.testing.assert_allclose(
            _stats(ours, "gain="), _stats(others, "gain="), rtol=1e-3, atol=1e-3
        )


@pytest.mark.filterwarnings("ignore:.*You have manually specified:UserWarning")
def test_leaves_can_keep_their_values() -> None:
    data = xgb.DMatrix(OTHER, label=OTHER_Y)
    theirs = xgboost.train(BASE, xgboost.DMatrix(X, label=Y), 4)
    model = xgb.Booster(model_file=theirs.save_raw("json"))
    update = {**BASE, "process_type": "update", "updater": "refresh", "refresh_leaf": False}
    found = xgb.train(update, data, 4, xgb_model=model)
    expected = xgboost.train(update, xgboost.DMatrix(OTHER, OTHER_Y), 4, xgb_model=theirs)
    assert np.array_equal(found.predict(data), model.predict(data))
    for ours, others in zip(
        found.get_dump(with_stats=True), expected.get_dump(with_stats=True), strict=True
    ):
        np.testing.assert_allclose(_stats(ours, "cover="), _stats(others, "cover="), rtol=1e-4)


def _stats(dump: str, name: str) -> list[float]:
    return sorted(float(part.split(",")[0].split("\n")[0]) for part in dump.split(name)[1:])


def test_evaluation_follows_the_rounds() -> None:
    model = xgb.train(BASE, xgb.DMatrix(X, label=Y), 4)
    data = xgb.DMatrix(OTHER, label=OTHER_Y)
    history: Any = {}
    params = {**BASE, "process_type": "update", "updater": "refresh"}
    found = xgb.train(
        params, data, 3, xgb_model=model, evals=[(data, "v")], evals_result=history, verbose_eval=0
    )
    assert found.num_boosted_rounds() == 3 and len(history["v"]["rmse"]) == 3
    assert (np.diff(history["v"]["rmse"]) < 0).all()
    error = found.predict(data) - OTHER_Y
    assert history["v"]["rmse"][-1] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)


def test_own_trees_are_pruned() -> None:
    data = xgb.DMatrix(X, label=Y)
    model = xgb.train({**BASE, "max_depth": 6}, data, 1)
    params = {**BASE, "max_depth": 0, "process_type": "update", "updater": "prune", "gamma": 5.0}
    pruned = xgb.train(params, data, 1, xgb_model=model)
    expected = xgb.train({**BASE, "max_depth": 6, "gamma": 5.0}, data, 1)
    assert pruned.get_dump()[0].count("leaf=") == expected.get_dump()[0].count("leaf=")
    assert pruned.get_dump()[0].count("leaf=") < model.get_dump()[0].count("leaf=")
    np.testing.assert_allclose(pruned.predict(data), expected.predict(data), rtol=1e-6)


def test_several_classes() -> None:
    label = _labels("multi:softprob", OTHER_Y)
    params = {**BASE, "objective": "multi:softprob", "num_class": 3}
    model = xgb.train(params, xgb.DMatrix(X, label=_labels("multi:softprob", Y)), 4)
    data = xgb.DMatrix(OTHER, label=label)
    update = {**params, "process_type": "update", "updater": "refresh"}
    found = xgb.train(update, data, 4, xgb_model=model)
    hits = [float(np.mean(m.predict(data).argmax(axis=1) == label)) for m in (model, found)]
    assert hits[1] > hits[0]


def test_what_cannot_be_updated() -> None:
    data = xgb.DMatrix(X, label=Y)
    model = xgb.train(BASE, data, 2)
    params = {**BASE, "process_type": "update", "updater": "refresh"}
    with pytest.raises(ParameterError, match="Pass the model to change as xgb_model"):
        xgb.train(params, data, 2)
    with pytest.raises(ParameterError, match=r"expected 1\.\.2"):
        xgb.train(params, data, 3, xgb_model=model)
    with pytest.raises(ParameterError, match="got 'grow_histmaker'"):
        xgb.train({**params, "updater": "grow_histmaker"}, data, 2, xgb_model=model)
    with pytest.raises(NotSupportedError, match="residuals"):
        xgb.train({**params, "objective": "reg:absoluteerror"}, data, 2, xgb_model=model)
