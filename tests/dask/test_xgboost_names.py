"""XGBoost's names on a Dask cluster: the bytes of the same names on one machine."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client

import gossamer
import gossamer.compat.xgboost as xgb
from gossamer.compat.xgboost import dask as dxgb

N = 17_000
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 4))
TABLE[RNG.random(TABLE.shape) < 0.1] = np.nan
LABEL = np.nan_to_num(TABLE[:, 0]) - np.abs(np.nan_to_num(TABLE[:, 1]))
WEIGHT = RNG.random(N) + 0.5
PARAMS = {"max_depth": 3, "nthread": 1}
SIZES = (9_001, 5_000, 2_999)


def chunked(values: np.ndarray) -> da.Array:
    return da.from_array(values, chunks=(SIZES, *([(s,) for s in values.shape[1:]])))


def test_train_and_predict(client: Client) -> None:
    rows = xgb.DMatrix(TABLE, LABEL, weight=WEIGHT)
    history: dict[str, Any] = {}
    local = xgb.train(
        PARAMS, rows, 4, evals=[(rows, "train")], evals_result=history, verbose_eval=False
    )
    data = dxgb.DaskDMatrix(client, chunked(TABLE), chunked(LABEL), weight=chunked(WEIGHT))
    found = dxgb.train(client, PARAMS, data, 4, evals=[(data, "train")], verbose_eval=False)
    assert found["booster"].save_raw("json") == local.save_raw("json")
    assert found["history"] == history
    for model, table in ((found, data), (found["booster"], chunked(TABLE))):
        predictions = dxgb.predict(client, model, table)
        np.testing.assert_array_equal(predictions.compute(), local.predict(rows))
    margin = dxgb.inplace_predict(client, found, chunked(TABLE), predict_type="margin")
    np.testing.assert_array_equal(margin.compute(), local.predict(rows, output_margin=True))


def test_early_stopping_is_global(client: Client) -> None:
    params = {**PARAMS, "eta": 0.9, "objective": "binary:logistic", "eval_metric": "auc"}
    label = (LABEL > 0).astype(float)
    valid = np.roll(label, 3)
    rows, others = xgb.DMatrix(TABLE, label), xgb.DMatrix(TABLE, valid)
    options: dict[str, Any] = {"early_stopping_rounds": 2, "verbose_eval": False}
    local = xgb.train(params, rows, 20, evals=[(others, "v")], **options)
    data = dxgb.DaskQuantileDMatrix(client, chunked(TABLE), chunked(label), max_bin=256)
    checked = dxgb.DaskDMatrix(client, chunked(TABLE), chunked(valid))
    found = dxgb.train(client, params, data, 20, evals=[(checked, "v")], **options)["booster"]
    assert found.best_iteration == local.best_iteration < 19
    assert found.best_score == local.best_score


def test_classifier(client: Client) -> None:
    classes = np.array(["no", "maybe", "yes"])[np.digitize(LABEL, [-1.0, 0.0])]
    frame = pd.DataFrame(TABLE, columns=list("abcd"))
    options: dict[str, Any] = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
    local = xgb.XGBClassifier(**options).fit(TABLE, classes)
    model = dxgb.DaskXGBClassifier(**options)
    model.client = client
    model.fit(chunked(TABLE), chunked(classes), eval_set=[(chunked(TABLE), chunked(classes))])
    assert list(model.classes_) == list(local.classes_)
    np.testing.assert_array_equal(model.predict(chunked(TABLE)).compute(), local.predict(TABLE))
    proba = model.predict_proba(chunked(TABLE)).compute()
    np.testing.assert_array_equal(proba, local.predict_proba(TABLE))
    assert len(model.evals_result()["validation_0"]["mlogloss"]) == 3
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.to_local().predict(TABLE), local.predict(TABLE))
    named = dxgb.DaskXGBClassifier(**options)
    named.client = client
    named.fit(dd.from_pandas(frame, npartitions=2), dd.from_pandas(pd.Series(classes), 2))
    found = named.predict(dd.from_pandas(frame, npartitions=3)).compute()
    np.testing.assert_array_equal(found, local.predict(TABLE))


def test_regressor_and_ranker(client: Client) -> None:
    options: dict[str, Any] = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
    local = xgb.XGBRegressor(**options).fit(TABLE, LABEL, sample_weight=WEIGHT)
    model = dxgb.DaskXGBRegressor(**options)
    model.client = client
    model.fit(chunked(TABLE), chunked(LABEL), sample_weight=chunked(WEIGHT))
    assert model.get_booster().save_raw("json") == local.get_booster().save_raw("json")
    grades, qid = np.digitize(LABEL, [-1.0, 0.0]), np.arange(N) // 20
    ranker = dxgb.DaskXGBRanker(**options)
    ranker.client = client
    ranker.fit(chunked(TABLE), chunked(grades), qid=chunked(qid))
    alone = xgb.XGBRanker(**options).fit(TABLE, grades, qid=qid)
    np.testing.assert_array_equal(ranker.predict(chunked(TABLE)).compute(), alone.predict(TABLE))


def test_what_cannot_be_used_is_refused(client: Client) -> None:
    data = dxgb.DaskDMatrix(client, chunked(TABLE), chunked(LABEL)[:9_001])
    with pytest.raises(gossamer.DataError, match="label and the table differ in partitions"):
        dxgb.train(client, PARAMS, data, 1)
    with pytest.raises(gossamer.NotSupportedError, match="tree_method"):
        dxgb.train(client, {"tree_method": "exact"}, data, 1)
    with pytest.raises(gossamer.DataError, match="must be a DaskDMatrix"):
        dxgb.train(client, PARAMS, xgb.DMatrix(TABLE), 1)  # type: ignore[arg-type]
