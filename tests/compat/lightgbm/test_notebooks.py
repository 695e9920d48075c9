"""What notebooks do with LightGBM, written as their authors write it; the data are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, mean_squared_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split

import gossamer.compat.lightgbm as lgb

pytestmark = pytest.mark.filterwarnings("ignore:eval_set is deprecated:FutureWarning")

RNG = np.random.default_rng(2026)


def passengers(n: int = 600) -> pd.DataFrame:
    sex = RNG.choice(["male", "female"], n)
    pclass = RNG.choice([1, 2, 3], n)
    chance = 0.2 + 0.5 * (sex == "female") + 0.1 * (3 - pclass)
    return pd.DataFrame(
        {
            "PassengerId": np.arange(n),
            "Survived": (RNG.random(n) < chance).astype(int),
            "Pclass": pclass,
            "Name": [f"Mr. Number {i}" for i in range(n)],
            "Sex": sex,
            "Age": np.where(RNG.random(n) < 0.2, np.nan, RNG.normal(30, 12, n).clip(1, 80)),
            "Fare": RNG.exponential(30, n),
            "Embarked": RNG.choice(["S", "C", "Q", None], n),
        }
    )


def test_titanic(tmp_path: Path) -> None:
    df = passengers()
    df["Embarked"] = df["Embarked"].fillna("S")
    df = df.drop(["PassengerId", "Name"], axis=1)
    categoricals = ["Pclass", "Sex", "Embarked"]
    for col in categoricals:
        df[col] = df[col].astype("category")
    y = df.pop("Survived")
    X_train, X_valid, y_train, y_valid = train_test_split(
        df, y, test_size=0.3, random_state=42, stratify=y
    )
    lgb_train = lgb.Dataset(X_train, y_train, categorical_feature=categoricals)
    lgb_eval = lgb.Dataset(X_valid, y_valid, reference=lgb_train)
    evals_result: dict[str, Any] = {}
    params = {
        "task": "train",
        "boosting_type": "gbdt",
        "objective": "binary",
        "metric": {"binary_logloss", "auc"},
        "num_leaves": 15,
        "learning_rate": 0.05,
        "feature_fraction": 0.9,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        "verbose": -1,
    }
    model = lgb.train(
        params,
        lgb_train,
        num_boost_round=200,
        valid_sets=[lgb_train, lgb_eval],
        valid_names=["train", "valid"],
        callbacks=[
            lgb.early_stopping(stopping_rounds=20, verbose=False),
            lgb.log_evaluation(0),
            lgb.record_evaluation(evals_result),
        ],
    )
    y_pred = model.predict(X_valid, num_iteration=model.best_iteration)
    assert accuracy_score(y_valid, (y_pred > 0.5).astype(int)) > 0.65
    assert model.best_score["valid"]["auc"] == pytest.approx(roc_auc_score(y_valid, y_pred))
    assert len(evals_result["valid"]["auc"]) >= model.best_iteration
    importance = pd.DataFrame(
        {"feature": model.feature_name(), "gain": model.feature_importance("gain")}
    ).sort_values("gain", ascending=False)
    assert importance["feature"].iloc[0] == "Sex"
    model.save_model(str(tmp_path / "titanic.txt"), num_iteration=model.best_iteration)
    again = lgb.Booster(model_file=str(tmp_path / "titanic.txt"))
    np.testing.assert_allclose(again.predict(X_valid), y_pred)


def test_house_prices() -> None:
    n = 500
    train = pd.DataFrame(RNG.normal(size=(n, 6)), columns=[f"num{i}" for i in range(6)])
    train["Neighborhood"] = pd.Series(RNG.choice(list("ABCDE"), n)).astype("category")
    train["GarageYrBlt"] = np.where(RNG.random(n) < 0.1, np.nan, 1990.0)
    price = np.exp(11 + 0.3 * train["num0"] + 0.1 * train["Neighborhood"].cat.codes)
    y = np.log1p(price)
    test = train.sample(100, random_state=1)
    folds = KFold(n_splits=3, shuffle=True, random_state=2019)
    oof, predictions = np.zeros(n), np.zeros(len(test))
    importances = pd.DataFrame()
    for fold, (trn_idx, val_idx) in enumerate(folds.split(train)):
        model = lgb.LGBMRegressor(
            objective="regression",
            n_estimators=300,
            num_leaves=7,
            learning_rate=0.1,
            max_bin=55,
            bagging_fraction=0.8,
            bagging_freq=5,
            bagging_seed=9,
            feature_fraction=0.7,
            feature_fraction_seed=9,
            min_data_in_leaf=6,
            verbose=-1,
            n_jobs=-1,
        )
        model.fit(
            train.iloc[trn_idx],
            y.iloc[trn_idx],
            eval_set=[(train.iloc[val_idx], y.iloc[val_idx])],
            eval_metric="rmse",
            callbacks=[lgb.early_stopping(30, verbose=False)],
        )
        oof[val_idx] = model.predict(train.iloc[val_idx], num_iteration=model.best_iteration_)
        predictions += np.expm1(model.predict(test)) / folds.n_splits
        part = pd.DataFrame({"feature": train.columns, "importance": model.feature_importances_})
        importances = pd.concat([importances, part.assign(fold=fold)])
        assert set(model.evals_result_["valid_0"]) == {"rmse", "l2"}
    assert mean_squared_error(y, oof) ** 0.5 < 0.15
    assert np.corrcoef(predictions, price[test.index])[0, 1] > 0.9
    means = importances.groupby("feature")["importance"].mean().sort_values(ascending=False)
    assert means.index[0] == "num0"
    search = GridSearchCV(
        lgb.LGBMRegressor(verbose=-1, n_estimators=20),
        {"num_leaves": [3, 7], "reg_alpha": [0, 0.1]},
        cv=2,
        scoring="neg_root_mean_squared_error",
    ).fit(train.select_dtypes("number"), y)
    assert search.best_params_["num_leaves"] in (3, 7)


def test_m5(tmp_path: Path) -> None:
    n_items, n_days = 30, 40
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(n_items), n_days),
            "d": np.tile(np.arange(n_days), n_items),
            "item_id": np.repeat(RNG.integers(0, 9, n_items), n_days),
        }
    )
    level = np.repeat(RNG.gamma(2, 1, n_items), n_days)
    frame["sales"] = RNG.poisson(level * (1 + 0.5 * (frame["d"] % 7 >= 5)))
    for lag in (7, 14):
        frame[f"lag_{lag}"] = frame.groupby("id")["sales"].shift(lag)
        frame[f"rmean_{lag}"] = frame.groupby("id")[f"lag_{lag}"].transform(
            lambda x: x.rolling(3).mean()
        )
    frame["wday"] = (frame["d"] % 7).astype("int8")
    frame = frame.dropna()
    features = [c for c in frame.columns if c not in ("id", "d", "sales")]
    train, valid = frame[frame["d"] < 33], frame[frame["d"] >= 33]
    train_data = lgb.Dataset(
        train[features], label=train["sales"], categorical_feature=["item_id", "wday"]
    )
    train_data.save_binary(str(tmp_path / "train_data.bin"))
    train_data = lgb.Dataset(str(tmp_path / "train_data.bin"))
    valid_data = lgb.Dataset(valid[features], label=valid["sales"], reference=train_data)

    def bias(preds: np.ndarray, data: Any) -> tuple[str, float, bool]:
        return "bias", abs(float(np.mean(preds) - data.get_label().mean())), False

    lgb_params = {
        "boosting_type": "gbdt",
        "objective": "tweedie",
        "tweedie_variance_power": 1.1,
        "metric": "rmse",
        "subsample": 0.5,
        "subsample_freq": 1,
        "learning_rate": 0.1,
        "num_leaves": 2**5 - 1,
        "min_data_in_leaf": 20,
        "feature_fraction": 0.9,
        "max_bin": 255,
        "n_estimators": 40,
        "boost_from_average": False,
        "force_row_wise": True,
        "seed": 42,
        "verbose": -1,
    }
    model = lgb.train(lgb_params, train_data, valid_sets=[valid_data], feval=bias)
    assert model.num_trees() == 40
    assert set(model.best_score["valid_0"]) == {"rmse", "bias"}
    pred = model.predict(valid[features])
    assert (pred >= 0).all() and np.corrcoef(pred, valid["sales"])[0, 1] > 0.3


def test_santander() -> None:
    X = RNG.normal(size=(900, 10)).astype("float32")
    target = (X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=900) > 0.5).astype(int)
    train_df = pd.DataFrame(X, columns=[f"var_{i}" for i in range(10)])
    param = {
        "bagging_freq": 5,
        "bagging_fraction": 0.335,
        "boost_from_average": "false",
        "boost": "gbdt",
        "feature_fraction": 0.5,
        "learning_rate": 0.1,
        "max_depth": -1,
        "metric": "auc",
        "min_data_in_leaf": 20,
        "min_sum_hessian_in_leaf": 1.0,
        "num_leaves": 7,
        "num_threads": 2,
        "tree_learner": "serial",
        "objective": "binary",
        "is_unbalance": True,
        "verbosity": -1,
    }
    oof = np.zeros(len(train_df))
    for trn_idx, val_idx in StratifiedKFold(3, shuffle=True, random_state=4).split(X, target):
        trn_data = lgb.Dataset(train_df.iloc[trn_idx], label=target[trn_idx])
        val_data = lgb.Dataset(train_df.iloc[val_idx], label=target[val_idx])
        clf = lgb.train(
            param,
            trn_data,
            100,
            valid_sets=[trn_data, val_data],
            callbacks=[lgb.early_stopping(50, verbose=False), lgb.log_evaluation(1000)],
        )
        oof[val_idx] = clf.predict(train_df.iloc[val_idx], num_iteration=clf.best_iteration)
    assert roc_auc_score(target, oof) > 0.7
    result = lgb.cv(
        param,
        lgb.Dataset(train_df, target),
        30,
        nfold=3,
        stratified=True,
        seed=1,
        return_cvbooster=True,
    )
    assert len(result["valid auc-mean"]) == 30 and len(result["cvbooster"].boosters) == 3
