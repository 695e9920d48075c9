"""Estimators that train over folds, or hold rows out by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import gossamer as gs
from gossamer.errors import NotSupportedError, ParameterError


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 5))
    return x, x[:, 0] + np.sin(2 * x[:, 1]) + 0.5 * rng.normal(size=600)


def test_regressor(rows: Any) -> None:
    x, y = rows
    model = gs.GossamerRegressor(folds=4, verbose=-1, num_leaves=7).fit(x, y)
    assert len(model.oof_score_by_fold_["l2"]) == 4
    assert model.oof_prediction_.shape == (600,)
    assert model.oof_score_["l2"] == pytest.approx(np.mean((model.oof_prediction_ - y) ** 2), 1e-4)
    assert model.booster_.current_iteration() == model.n_estimators_
    assert "folds" in clone(model).get_params()
    assert clone(model).set_params(folds=3).get_params()["folds"] == 3
    again = gs.GossamerRegressor(verbose=-1, num_leaves=7).set_params(folds=4).fit(x, y)
    assert np.array_equal(again.predict(x), model.predict(x))


def test_classifier(rows: Any, tmp_path: Any) -> None:
    x, y = rows
    names = np.array(["low", "mid", "high"])[np.digitize(y, [-0.5, 0.5])]
    model = gs.GossamerClassifier(folds=KFold(3), n_estimators=20, verbose=-1).fit(x, names)
    assert model.oof_prediction_.shape == (600, 3)
    assert set(model.predict(x)) <= {"low", "mid", "high"}
    assert max(facts["rounds"] for facts in model.booster_.fold_facts_) <= 20
    model.save_model(tmp_path / "model.gsm")
    again = gs.GossamerClassifier().load_model(tmp_path / "model.gsm")
    assert np.array_equal(again.oof_prediction_, model.oof_prediction_)


def test_ranker(rows: Any) -> None:
    x, y = rows
    model = gs.GossamerRanker(folds=3, n_estimators=10, verbose=-1)
    model.fit(x, np.clip(np.round(y), 0, 3), group=[20] * 30)
    assert model.oof_prediction_.shape == (600,)


def test_rows_of_weight_zero_are_predicted_too(rows: Any) -> None:
    x, y = rows
    weight = np.ones(600)
    weight[::7] = 0
    model = gs.GossamerRegressor(folds=3, n_estimators=5, verbose=-1)
    model.fit(x, y, sample_weight=weight)
    assert np.isfinite(model.oof_prediction_).all()


def test_early_stopping_auto(rows: Any) -> None:
    x, y = rows
    model = gs.GossamerRegressor(early_stopping="auto", verbose=-1).fit(x, y)
    n_rounds = model.n_estimators_
    assert 1 <= n_rounds < 1000
    assert list(model.best_score_) == ["held_out"]
    alone = gs.GossamerRegressor(n_estimators=n_rounds, verbose=-1).fit(x, y)
    assert np.array_equal(alone.predict(x), model.predict(x))
    few = gs.GossamerRegressor(early_stopping="auto", n_estimators=6, verbose=-1).fit(x, y)
    assert few.n_estimators_ <= 6
    by_number = gs.GossamerRegressor(early_stopping=3, verbose=-1)
    by_number.fit(x[:400], y[:400], eval_set=[(x[400:], y[400:])])
    assert by_number.best_iteration_ > 0


def test_early_stopping_auto_of_classes_and_queries(rows: Any) -> None:
    x, y = rows
    model = gs.GossamerClassifier(early_stopping="auto", n_estimators=30, verbose=-1)
    assert model.fit(x, y > 0).n_estimators_ <= 30
    ranker = gs.GossamerRanker(early_stopping="auto", n_estimators=30, verbose=-1)
    assert ranker.fit(x, np.clip(np.round(y), 0, 3), group=[20] * 30).n_estimators_ <= 30


def test_what_cannot_be_combined_is_refused(rows: Any) -> None:
    x, y = rows
    model = gs.GossamerRegressor(folds=3, verbose=-1)
    with pytest.raises(ParameterError, match="eval_set cannot be combined with folds"):
        model.fit(x, y, eval_set=[(x, y)])
    with pytest.raises(ParameterError, match="callbacks"):
        model.fit(x, y, callbacks=[gs.early_stopping(3)])
    with pytest.raises(ParameterError, match="init_model"):
        model.fit(x, y, init_model=gs.GossamerRegressor(n_estimators=2).fit(x, y))
    with pytest.raises(ParameterError, match="auto"):
        gs.GossamerRegressor(folds=3, early_stopping="auto").fit(x, y)
    with pytest.raises(ParameterError, match="nfold"):
        gs.GossamerRegressor(folds=1).fit(x, y)
    with pytest.raises(AttributeError, match="oof_score_"):
        _ = gs.GossamerRegressor(n_estimators=2).fit(x, y).oof_score_


def test_clusters_refuse(rows: Any) -> None:
    pytest.importorskip("dask")
    from gossamer.dask import DaskGossamerRegressor

    for arguments in ({"folds": 3}, {"quality": "best"}, {"time_limit": 3}):
        with pytest.raises(NotSupportedError, match=next(iter(arguments))):
            DaskGossamerRegressor(**arguments).fit(*rows)
