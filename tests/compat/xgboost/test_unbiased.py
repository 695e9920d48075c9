"""`lambdarank_unbiased` against XGBoost."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xgboost

import gossamer.compat.xgboost as xgb
from gossamer import Dataset, ParameterError, train

RNG = np.random.default_rng(5)
N_QUERIES, SIZE = 60, 12
X = RNG.normal(size=(N_QUERIES * SIZE, 5)).round(2)
RELEVANCE = np.clip((X[:, 0] + 0.5 * RNG.normal(size=len(X)) + 1.5).astype(int), 0, 3)
# Rows further down their query are clicked less often, whatever they are.
SEEN = 1 / (1 + np.tile(np.arange(SIZE), N_QUERIES))
CLICK = (RNG.random(len(X)) < SEEN * RELEVANCE / 3).astype(int)
# Without a click a query has no pairs, and rows without gradients may go to either side of a split.
CLICK[::SIZE] = 1
RELEVANCE[::SIZE] = np.maximum(RELEVANCE[::SIZE], 1)
CLICK[1::SIZE] = 0
GROUP = [SIZE] * N_QUERIES
BASE = {"eta": 0.3, "max_depth": 3, "tree_method": "exact", "lambdarank_unbiased": True}


def both(params: dict[str, Any], label: np.ndarray, n_rounds: int = 6) -> tuple[Any, Any]:
    ours = xgb.train(params, xgb.DMatrix(X, label=label, group=GROUP), n_rounds)
    theirs = xgboost.train(params, xgboost.DMatrix(X, label=label, group=GROUP), n_rounds)
    return ours, theirs


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise", "rank:map"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"lambdarank_bias_norm": 0.0, "lambdarank_normalization": False},
        {"lambdarank_score_normalization": False, "lambdarank_bias_norm": 3.0},
    ],
    ids=str,
)
def test_predictions_are_xgboosts(objective: str, params: dict[str, Any]) -> None:
    label = CLICK if objective == "rank:map" else CLICK * RELEVANCE
    ours, theirs = both({**BASE, **params, "objective": objective}, label)
    found = ours.predict(xgb.DMatrix(X))
    expected = theirs.predict(xgboost.DMatrix(X))
    assert np.isclose(found, expected, rtol=1e-3, atol=1e-3).mean() > 0.98
    biased, _ = both({**BASE, "lambdarank_unbiased": False, "objective": objective}, label)
    assert np.abs(found - biased.predict(xgb.DMatrix(X))).max() > 0.01


def test_the_first_rows_alone() -> None:
    params = {**BASE, "objective": "rank:ndcg", "lambdarank_num_pair_per_sample": 4}
    ours, theirs = both(params, CLICK * RELEVANCE, 2)
    found, expected = ours.predict(xgb.DMatrix(X)), theirs.predict(xgboost.DMatrix(X))
    assert np.isclose(found, expected, rtol=1e-3, atol=1e-3).mean() > 0.98


def test_pairs_that_are_drawn_rank_as_well_as_xgboosts() -> None:
    params = {**BASE, "objective": "rank:ndcg", "lambdarank_pair_method": "mean"}
    ours, theirs = both(params, CLICK, 20)
    quality = [
        np.corrcoef(RELEVANCE, model.predict(matrix))[0, 1]
        for model, matrix in ((ours, xgb.DMatrix(X)), (theirs, xgboost.DMatrix(X)))
    ]
    assert quality[0] == pytest.approx(quality[1], abs=0.05)


def test_the_ratios_that_are_learned_are_xgboosts() -> None:
    params = {**BASE, "objective": "rank:ndcg"}
    _, theirs = both(params, CLICK)
    objective = json.loads(theirs.save_config())["learner"]["objective"]
    expected = [*objective["ti+"][:SIZE], *objective["tj-"][:SIZE]]
    ours = xgb.Booster(params, [xgb.DMatrix(X, label=CLICK, group=GROUP)])
    data = xgb.DMatrix(X, label=CLICK, group=GROUP)
    for n_round in range(6):
        ours.update(data, n_round)
    config = json.loads(ours.save_config())["learner"]["objective"]
    assert config["lambdarank_param"]["lambdarank_unbiased"] == "1"
    np.testing.assert_allclose([*config["ti+"], *config["tj-"]], expected, rtol=1e-3)


def test_estimators_take_it() -> None:
    model = xgb.XGBRanker(n_estimators=3, lambdarank_unbiased=True)
    model.fit(X, CLICK, qid=np.repeat(np.arange(N_QUERIES), SIZE))
    plain = xgb.XGBRanker(n_estimators=3)
    plain.fit(X, CLICK, qid=np.repeat(np.arange(N_QUERIES), SIZE))
    assert (model.predict(X) != plain.predict(X)).any()


def test_threads_do_not_matter() -> None:
    params = {"objective": "lambdarank", "lambdarank_unbiased": True, "verbose": -1}
    found = [
        train({**params, "num_threads": n}, Dataset(X, CLICK, group=GROUP), 5).predict(X)
        for n in (1, 3)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    plain = train({"objective": "lambdarank", "verbose": -1}, Dataset(X, CLICK, group=GROUP), 5)
    assert (found[0] != plain.predict(X)).any()


def test_positions_are_refused() -> None:
    data = Dataset(X, CLICK, group=GROUP, position=np.tile(np.arange(SIZE), N_QUERIES))
    with pytest.raises(ParameterError, match="lambdarank_unbiased"):
        train({"objective": "lambdarank", "lambdarank_unbiased": True}, data, 2)
