"""Where trainings start: means of labels, as XGBoost takes them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import xgboost

import gossamer.compat.xgboost as xgb

RNG = np.random.default_rng(12)
X = RNG.normal(size=(300, 4)).round(2)
Y = (X[:, 0] + RNG.normal(size=300) > 1).astype(float)
WEIGHT = RNG.random(300).round(2) + 0.5


def base_score(booster: Any) -> np.ndarray:
    config = json.loads(booster.save_config())
    return np.array(json.loads(config["learner"]["learner_model_param"]["base_score"]))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "params",
    [
        {"objective": "binary:logistic", "scale_pos_weight": 4.0},
        {"objective": "binary:logistic", "scale_pos_weight": 0.5},
        {"objective": "binary:logitraw"},
        {"objective": "binary:logitraw", "scale_pos_weight": 2.0},
        {"objective": "binary:logitraw", "base_score": 0.3},
    ],
    ids=str,
)
def test_scores_start_where_xgboosts_do(params: dict[str, Any], weight: Any) -> None:
    params = {**params, "tree_method": "exact", "max_depth": 2}
    ours = xgb.train(params, xgb.DMatrix(X, Y, weight=weight), 2)
    theirs = xgboost.train(params, xgboost.DMatrix(X, Y, weight=weight), 2)
    np.testing.assert_allclose(base_score(ours), base_score(theirs), rtol=1e-5)
    np.testing.assert_allclose(
        ours.predict(xgb.DMatrix(X)), theirs.predict(xgboost.DMatrix(X)), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_scores_of_classes_have_a_mean_of_zero(weight: Any) -> None:
    label = np.digitize(X[:, 1], [-1.0, 0.5])
    params = {"objective": "multi:softprob", "num_class": 3, "tree_method": "exact", "max_depth": 2}
    ours = xgb.train(params, xgb.DMatrix(X, label, weight=weight), 2)
    theirs = xgboost.train(params, xgboost.DMatrix(X, label, weight=weight), 2)
    np.testing.assert_allclose(base_score(ours), base_score(theirs), rtol=1e-4, atol=1e-6)
    assert base_score(ours).sum() == pytest.approx(0, abs=1e-6)


def test_a_start_that_is_given_is_shown_though_margins_are_used() -> None:
    params = {"objective": "binary:logistic", "base_score": 0.2}
    data = xgb.DMatrix(X, Y, base_margin=np.zeros(300))
    assert base_score(xgb.train(params, data, 1)) == pytest.approx([0.2])
    params = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.5}
    found = base_score(xgb.train(params, xgb.DMatrix(X, Y), 1))
    np.testing.assert_allclose(found, [0.5, 0.5, 0.5])


def test_metrics_are_added_to_those_of_a_model() -> None:
    lines = []
    for library in (xgb, xgboost):
        model = library.XGBRanker(n_estimators=2)
        model.fit(X, Y, qid=np.zeros(300, dtype=int))
        model.set_params(eval_metric="pre@32")
        lines.append(model.get_booster().eval_set([(library.DMatrix(X, Y), "rows")]))
    names = [[part.rpartition(":")[0] for part in line.split()[1:]] for line in lines]
    assert names[0] == names[1] == ["rows-ndcg@32", "rows-pre@32"]


def test_batches_of_dense_and_sparse_rows() -> None:
    from scipy.sparse import csr_matrix

    sparse = np.where(RNG.random((50, 4)) < 0.5, 0, RNG.normal(size=(50, 4)))

    class Batches(xgb.DataIter):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rest = [X, csr_matrix(sparse)]
            super().__init__()

        def next(self, input_data: Any) -> bool:
            if not self.rest:
                return False
            rows = self.rest.pop(0)
            input_data(data=rows, label=np.arange(rows.shape[0]))
            return True

        def reset(self) -> None:
            self.rest = [X, csr_matrix(sparse)]

    whole = np.vstack([X, np.where(sparse == 0, np.nan, sparse)])
    label = np.concatenate([np.arange(300), np.arange(50)])
    found = xgb.train({"max_depth": 3}, xgb.QuantileDMatrix(Batches()), 3)
    expected = xgb.train({"max_depth": 3}, xgb.QuantileDMatrix(whole, label), 3)
    np.testing.assert_array_equal(found.predict(xgb.DMatrix(X)), expected.predict(xgb.DMatrix(X)))
