"""`quality`: settings that are chosen, and a user's own that win."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.ensemble.presets import choose_preset
from gossamer.errors import ParameterError
from gossamer.model.files import model_file


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 5))
    return x, x[:, 0] + np.sin(2 * x[:, 1]) + 0.5 * rng.normal(size=800)


def test_fast_is_what_train_gives(rows: Any) -> None:
    x, y = rows
    params = {"verbose": -1}
    fast = gs.train_quality(params, gs.Dataset(x, y), "fast")
    plain = gs.train(params, gs.Dataset(x, y))
    assert model_file.to_bytes(fast.model) == model_file.to_bytes(plain.model)


def test_good_finds_its_rounds(rows: Any) -> None:
    x, y = rows
    model = gs.train_quality({"verbose": -1}, gs.Dataset(x, y), "good")
    assert 1 <= model.current_iteration() <= 200
    preset = choose_preset("good", {}, has_categories=False)
    shown = {name: v for name, v in preset.params.items() if name != "early_stopping_round"}
    assert shown.items() <= model.model.params.items()
    assert "held_out" in model.best_score


def test_best_mixes_members(rows: Any) -> None:
    x, y = rows
    model = gs.train_quality({"verbose": -1}, gs.Dataset(x, y), "best", num_boost_round=40)
    facts = model.fold_facts_
    assert len(facts) == 8
    assert {each["params"].get("num_leaves") for each in facts} == {None, 15, 63}
    assert any(each["params"].get("extra_trees") for each in facts)
    assert model.model.params["learning_rate"] == 0.04


def test_own_parameters_win(rows: Any) -> None:
    x, y = rows
    params = {"verbose": -1, "eta": 0.2, "max_leaves": 5, "subsample": 0.5}
    model = gs.train_quality(params, gs.Dataset(x, y), "best", num_boost_round=5, nfold=4)
    assert len(model.fold_facts_) == 4
    for i in range(4):
        own = model.fold_member(i).model.params
        assert own["learning_rate"] == 0.2
        assert own["num_leaves"] == 5
        assert own["bagging_fraction"] == 0.5
    chosen = choose_preset("best", {"max_depth": 3}, has_categories=True)
    assert not any("num_leaves" in each or "extra_trees" in each for each in chosen.members)
    assert (
        "bagging_freq" not in choose_preset("good", {"boosting": "rf"}, has_categories=False).params
    )


def test_best_takes_longer_steps_where_rounds_have_several_trees(rows: Any) -> None:
    x, y = rows
    classes = np.digitize(y, [-0.5, 0.5])
    params = {"objective": "multiclass", "num_class": 3, "verbose": -1}
    model = gs.train_quality(params, gs.Dataset(x, classes), "best", 4, nfold=4)
    assert [model.fold_member(i).model.params["learning_rate"] for i in range(4)] == [0.08] * 4
    assert model.params["early_stopping_round"] == 25
    own = {"learning_rate": 0.03, "early_stopping_rounds": 7}
    mine = choose_preset("best", own, has_categories=False, n_outputs=3)
    assert not any("learning_rate" in each for each in (mine.params, *mine.members))
    assert "early_stopping_round" not in mine.params
    both = np.column_stack([y, -y])
    several = gs.train_quality({"verbose": -1}, gs.Dataset(x, both), "best", 4, nfold=4)
    assert several.model.params["learning_rate"] == 0.08


def test_estimators(rows: Any) -> None:
    x, y = rows
    best = gs.GossamerRegressor(quality="best", n_estimators=20, verbose=-1).fit(x, y)
    assert len(best.oof_score_by_fold_["l2"]) == 8
    good = gs.GossamerClassifier(quality="good", verbose=-1).fit(x, y > 0)
    assert good.n_estimators_ <= 200
    fast = gs.GossamerRegressor(quality="fast", verbose=-1).fit(x, y)
    plain = gs.GossamerRegressor(verbose=-1).fit(x, y)
    assert np.array_equal(fast.predict(x), plain.predict(x))
    few = gs.GossamerRegressor(quality="best", folds=3, n_estimators=5, verbose=-1).fit(x, y)
    assert len(few.booster_.fold_facts_) == 3
    with pytest.raises(ParameterError, match="'fast', 'good' or 'best'"):
        gs.GossamerRegressor(quality="excellent").fit(x, y)
    with pytest.raises(ParameterError, match="quality='good'"):
        gs.GossamerRegressor(quality="good").fit(x, y, eval_set=[(x, y)])


def test_time_limits(rows: Any) -> None:
    x, y = rows
    began = time.monotonic()
    for quality in ("fast", "good"):
        params = {"verbose": -1, "learning_rate": 1e-4, "num_threads": 1}
        model = gs.train_quality(
            params, gs.Dataset(x, y), quality, num_boost_round=50_000, time_limit=0.5
        )
        assert 1 <= model.current_iteration() < 50_000
    estimator = gs.GossamerRegressor(n_estimators=100_000, time_limit=0.3, verbose=-1).fit(x, y)
    assert estimator.n_estimators_ < 100_000
    assert time.monotonic() - began < 120


def test_what_cannot_be_combined_is_refused(rows: Any) -> None:
    with pytest.raises(ParameterError, match="best"):
        gs.train_quality({}, gs.Dataset(*rows), "good", nfold=3)
    with pytest.raises(ParameterError, match="quality"):
        gs.train_quality({}, gs.Dataset(*rows), "magic")
