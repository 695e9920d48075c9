"""What notebooks do with XGBoost, written as their authors write it; the data are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler

import gossamer.compat.xgboost as xgb

RNG = np.random.default_rng(2026)


def test_otto(tmp_path: Path) -> None:
    X = RNG.poisson(1.0, size=(900, 12))
    names = LabelEncoder().fit_transform([f"Class_{c}" for c in X[:, :4].argmax(axis=1) + 1])
    X_train, X_test, y_train, y_test = train_test_split(X, names, test_size=0.25, random_state=0)
    dtrain = xgb.DMatrix(X_train, label=y_train)
    dtest = xgb.DMatrix(X_test, label=y_test)
    param = {
        "objective": "multi:softprob",
        "eval_metric": ["merror", "mlogloss"],
        "num_class": 4,
        "eta": 0.3,
        "max_depth": 4,
        "min_child_weight": 1,
        "subsample": 0.9,
        "colsample_bytree": 0.8,
        "nthread": 2,
        "seed": 1,
        "verbosity": 0,
    }
    watchlist = [(dtrain, "train"), (dtest, "eval")]
    history: dict[str, Any] = {}
    bst = xgb.train(
        param,
        dtrain,
        60,
        evals=watchlist,
        early_stopping_rounds=10,
        evals_result=history,
        verbose_eval=False,
    )
    prob = bst.predict(dtest, iteration_range=(0, bst.best_iteration + 1))
    assert prob.shape == (len(y_test), 4)
    assert log_loss(y_test, prob) == pytest.approx(bst.best_score, abs=1e-4)
    assert len(history["eval"]["mlogloss"]) >= bst.best_iteration
    assert set(bst.get_fscore()) <= {f"f{i}" for i in range(12)}
    assert set(bst.get_score(importance_type="gain")) >= {"f0", "f1", "f2", "f3"}
    bst.save_model(tmp_path / "otto.json")
    again = xgb.Booster()
    again.load_model(tmp_path / "otto.json")
    np.testing.assert_allclose(
        again.predict(dtest, iteration_range=(0, bst.best_iteration + 1)), prob, rtol=1e-5
    )
    scores = xgb.cv(param, dtrain, num_boost_round=10, nfold=3, stratified=True, seed=0)
    assert list(scores.columns)[:2] == ["train-merror-mean", "train-merror-std"]
    assert len(scores) == 10


def test_house_prices(tmp_path: Path) -> None:
    n = 500
    data = pd.DataFrame(RNG.normal(size=(n, 5)), columns=["Lot", "Area", "Year", "Rooms", "Bath"])
    data.loc[RNG.random(n) < 0.1, "Lot"] = np.nan
    y = 12 + 0.4 * data["Area"] + 0.2 * data["Year"] ** 2
    X_train, X_valid, y_train, y_valid = train_test_split(data, y, random_state=5)
    model = xgb.XGBRegressor(
        n_estimators=500,
        learning_rate=0.1,
        max_depth=4,
        subsample=0.8,
        colsample_bytree=0.8,
        reg_alpha=0.1,
        reg_lambda=1,
        objective="reg:squarederror",
        n_jobs=2,
        early_stopping_rounds=20,
        random_state=7,
    )
    model.fit(X_train, y_train, eval_set=[(X_train, y_train), (X_valid, y_valid)], verbose=False)
    results = model.evals_result()
    assert min(results["validation_1"]["rmse"]) == pytest.approx(model.best_score)
    assert model.score(X_valid, y_valid) > 0.9
    assert data.columns[model.feature_importances_.argmax()] in ("Area", "Year")
    joblib.dump(model, tmp_path / "model.pkl")
    np.testing.assert_array_equal(
        joblib.load(tmp_path / "model.pkl").predict(X_valid), model.predict(X_valid)
    )
    axes = xgb.plot_importance(model, max_num_features=3)
    assert len(axes.patches) == 3
    search = RandomizedSearchCV(
        xgb.XGBRegressor(n_estimators=15),
        {"max_depth": [2, 3, 4], "gamma": [0, 0.1], "min_child_weight": [1, 5]},
        n_iter=3,
        cv=2,
        random_state=1,
    ).fit(data.fillna(-1), y)
    assert search.best_estimator_.get_booster().num_boosted_rounds() == 15


def test_rossmann() -> None:
    n = 800
    store = pd.DataFrame(
        {
            "Store": RNG.integers(0, 20, n),
            "DayOfWeek": RNG.integers(1, 8, n),
            "Promo": RNG.integers(0, 2, n),
            "StateHoliday": RNG.choice(["0", "a", "b"], n),
        }
    )
    sales = 4000 + 100 * store["Store"] + 1500 * store["Promo"] + RNG.normal(0, 200, n)
    store["StateHoliday"] = store["StateHoliday"].map({"0": 0, "a": 1, "b": 2})

    def rmspe_xg(yhat: np.ndarray, y: Any) -> tuple[str, float]:
        label = np.expm1(y.get_label())
        yhat = np.expm1(yhat)
        return "rmspe", float(np.sqrt(np.mean((1 - yhat / label) ** 2)))

    X_train, X_valid, y_train, y_valid = train_test_split(store, np.log1p(sales), random_state=10)
    dtrain, dvalid = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_valid, y_valid)
    params = {
        "objective": "reg:squarederror",
        "booster": "gbtree",
        "eta": 0.3,
        "max_depth": 5,
        "subsample": 0.9,
        "colsample_bytree": 0.7,
        "seed": 1301,
    }
    gbm = xgb.train(
        params,
        dtrain,
        100,
        evals=[(dtrain, "train"), (dvalid, "eval")],
        early_stopping_rounds=30,
        custom_metric=rmspe_xg,
        verbose_eval=False,
    )
    yhat = np.expm1(gbm.predict(dvalid))
    assert np.sqrt(np.mean((1 - yhat / np.expm1(y_valid)) ** 2)) < 0.1
    importance = sorted(gbm.get_score(importance_type="gain").items(), key=lambda item: -item[1])
    assert importance[0][0] == "Promo"


def test_fraud() -> None:
    n = 900
    frame = pd.DataFrame(
        {
            "amount": RNG.exponential(50, n),
            "card": pd.Series(RNG.choice(["visa", "master", "amex"], n)).astype("category"),
            "hour": RNG.integers(0, 24, n),
        }
    )
    y = ((frame["amount"] > 100) & (frame["hour"] < 8)) | (RNG.random(n) < 0.01)
    y = y.astype(int)
    ratio = float((y == 0).sum() / (y == 1).sum())
    oof = np.zeros(n)
    for train, valid in StratifiedKFold(3, shuffle=True, random_state=0).split(frame, y):
        clf = xgb.XGBClassifier(
            n_estimators=50,
            max_depth=4,
            learning_rate=0.2,
            scale_pos_weight=ratio,
            eval_metric="auc",
            tree_method="hist",
            enable_categorical=True,
            random_state=42,
        )
        clf.fit(
            frame.iloc[train],
            y.iloc[train],
            eval_set=[(frame.iloc[valid], y.iloc[valid])],
            verbose=False,
        )
        oof[valid] = clf.predict_proba(frame.iloc[valid])[:, 1]
    assert roc_auc_score(y, oof) > 0.85
    pipeline = make_pipeline(StandardScaler(), xgb.XGBClassifier(n_estimators=20))
    pipeline.fit(frame[["amount", "hour"]], y)
    assert accuracy_score(y, pipeline.predict(frame[["amount", "hour"]])) > 0.95
    onehot = OneHotEncoder().fit_transform(frame[["card"]])
    assert xgb.XGBClassifier(n_estimators=3).fit(onehot, y).predict(onehot).shape == (n,)
