"""The regressor with objectives that predict more than a number, or times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from gossamer import DataError, Dataset, GossamerRegressor, train

RNG = np.random.default_rng(8)
X = RNG.normal(size=(400, 3))
Y = X[:, 0] + np.exp(0.5 * X[:, 1]) * RNG.normal(size=400)
TIMES = np.exp(X[:, 0] + 0.3 * RNG.normal(size=400))
CENSORED = RNG.random(400) < 0.3
SIGNED = np.where(CENSORED, -TIMES, TIMES)
BOUNDS = np.column_stack([TIMES, np.where(CENSORED, np.inf, TIMES)])
RECORDS = np.array(
    list(zip(~CENSORED, TIMES, strict=True)), dtype=[("event", bool), ("time", float)]
)


def test_gaussian() -> None:
    model = GossamerRegressor(objective="gaussian", n_estimators=20).fit(X, Y, eval_set=[(X, Y)])
    assert model.predict(X).shape == (400, 2)
    assert 0.3 < model.score(X, Y) < 1
    assert list(model.evals_result_["training"]) == ["gaussian_nll"]


def test_quantiles() -> None:
    model = GossamerRegressor(objective="quantile", quantile_alpha=[0.1, 0.5, 0.9])
    predicted = model.fit(X, Y, eval_set=[(X, Y)]).predict(X)
    assert predicted.shape == (400, 3)
    assert (np.diff(predicted, axis=1) >= 0).all()
    assert 0.3 < model.score(X, Y) < 1
    assert model.score(X, Y, sample_weight=np.ones(400)) == pytest.approx(model.score(X, Y))
    assert list(model.evals_result_["training"]) == ["quantile"]


@pytest.mark.parametrize("y", [SIGNED, BOUNDS, RECORDS], ids=["signs", "bounds", "records"])
def test_cox(y: Any) -> None:
    model = GossamerRegressor(objective="survival:cox", n_estimators=20)
    model.fit(X, y, eval_set=[(X[:100], y[:100])])
    booster = train({"objective": "cox"}, Dataset(X, SIGNED), 20)
    np.testing.assert_array_equal(model.predict(X), booster.predict(X))
    assert 0.8 < model.score(X, y) < 1
    assert list(model.evals_result_["valid_0"]) == ["cox-nloglik"]


@pytest.mark.parametrize("y", [TIMES, BOUNDS, RECORDS], ids=["times", "bounds", "records"])
def test_aft(y: Any) -> None:
    model = GossamerRegressor(objective="aft", aft_loss_distribution="logistic", n_estimators=20)
    model.fit(X, y, sample_weight=np.arange(400) % 3, eval_set=[(X[:100], y[:100])])
    assert (model.predict(X) > 0).all()
    assert 0.8 < model.score(X, y) < 1
    assert list(model.evals_result_["valid_0"]) == ["aft-nloglik"]
    scores = cross_val_score(GossamerRegressor(app="aft", n_estimators=10), X, y, cv=3)
    assert scores.mean() > 0.7


def test_bad_labels() -> None:
    with pytest.raises(DataError, match=r"row 0 .*does not fit objective=aft"):
        GossamerRegressor(objective="aft").fit(X, SIGNED - 1e3)
    with pytest.raises(DataError, match="y and X differ in length: got 399, expected 400"):
        GossamerRegressor(objective="cox").fit(X, SIGNED[:-1])
    with pytest.raises(ValueError, match="infinity"):
        GossamerRegressor().fit(X, BOUNDS)
    model = GossamerRegressor(objective="cox", n_estimators=2).fit(X, SIGNED)
    with pytest.raises(DataError, match=r"row 0 .*of the scored data does not fit objective=cox"):
        model.score(X, np.zeros(400))
