"""What LightGBM's examples in Python do, step by step, on tables of the same shape."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import gossamer.compat.lightgbm as lgb

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore:eval_set is deprecated:FutureWarning")
N_COLUMNS = 28


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Tab-separated files without header, the label first, and weights in files of their own."""
    rng = np.random.default_rng(7)
    for name, n_rows in (("train", 700), ("test", 100)):
        table = rng.normal(size=(n_rows, N_COLUMNS)).round(3)
        table[:, 21] = rng.integers(0, 5, n_rows)
        label = (table[:, 0] + table[:, 25] + rng.normal(size=n_rows) > 0).astype(float)
        np.savetxt(tmp_path / name, np.column_stack([label, table]), "%g", "\t")
        np.savetxt(tmp_path / f"{name}.weight", rng.random(n_rows) + 0.5, "%g")
    return tmp_path


def read(files: Path, name: str) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return a table whose columns are named by numbers, labels and weights."""
    frame = pd.read_csv(files / name, header=None, sep="\t")
    weight = pd.read_csv(files / f"{name}.weight", header=None)[0]
    return frame.drop(0, axis=1), frame[0], weight


def test_simple(files: Path) -> None:
    (x, y, _), (x_test, y_test, _) = read(files, "train"), read(files, "test")
    train_set = lgb.Dataset(x, y)
    params = {
        "boosting_type": "gbdt",
        "objective": "regression",
        "metric": {"l2", "l1"},
        "num_leaves": 31,
        "feature_fraction": 0.9,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        "verbose": 0,
    }
    booster = lgb.train(
        params,
        train_set,
        num_boost_round=20,
        valid_sets=lgb.Dataset(x_test, y_test, reference=train_set),
        callbacks=[lgb.early_stopping(stopping_rounds=5)],
    )
    booster.save_model(str(files / "model.txt"))
    error = booster.predict(x_test, num_iteration=booster.best_iteration) - y_test
    assert np.mean(error**2) == pytest.approx(booster.best_score["valid_0"]["l2"])


def log_likelihood(score: Any, data: Any) -> tuple[Any, Any]:
    p = 1 / (1 + np.exp(-score))
    return p - data.get_label(), p * (1 - p)


def error_rate(score: Any, data: Any) -> tuple[str, float, bool]:
    p = 1 / (1 + np.exp(-score))
    return "error", float(np.mean(data.get_label() != (p > 0.5))), False


def accuracy(score: Any, data: Any) -> tuple[str, float, bool]:
    return "accuracy", 1 - error_rate(score, data)[1], True


def test_advanced(files: Path) -> None:
    (x, y, weight), (x_test, y_test, w_test) = read(files, "train"), read(files, "test")
    names = [f"feature_{i}" for i in range(N_COLUMNS)]
    train_set = lgb.Dataset(
        x, y, weight=weight, feature_name=names, categorical_feature=[21], free_raw_data=False
    )
    valid_set = lgb.Dataset(x_test, y_test, reference=train_set, weight=w_test, free_raw_data=False)
    params: dict[str, Any] = {
        "boosting_type": "gbdt",
        "objective": "binary",
        "metric": "binary_logloss",
        "num_leaves": 31,
        "learning_rate": 0.05,
        "feature_fraction": 0.9,
        "bagging_fraction": 0.8,
        "bagging_freq": 5,
        "verbose": 0,
    }
    booster = lgb.train(params, train_set, num_boost_round=10, valid_sets=train_set)
    assert train_set.feature_name[6] == booster.feature_name()[6] == "feature_6"
    path = files / "model.txt"
    booster.save_model(path)
    assert len(json.loads(json.dumps(booster.dump_model(), indent=4))["tree_info"]) == 10
    assert len(list(booster.feature_importance())) == N_COLUMNS
    np.testing.assert_allclose(
        lgb.Booster(model_file=path).predict(x_test), booster.predict(x_test)
    )
    pickled = pickle.loads(pickle.dumps(booster))
    np.testing.assert_array_equal(
        pickled.predict(x_test, num_iteration=7), booster.predict(x_test, num_iteration=7)
    )
    rates = lgb.reset_parameter(learning_rate=lambda i: 0.05 * 0.99**i)
    fractions = lgb.reset_parameter(bagging_fraction=[0.7] * 5 + [0.6] * 5)
    further: list[dict[str, Any]] = [{}, {"callbacks": [rates]}, {"callbacks": [fractions]}]
    start: Any = path
    for arguments in further:
        start = lgb.train(
            params, train_set, 10, init_model=start, valid_sets=valid_set, **arguments
        )
    assert start.current_iteration() == 40
    own = {**params, "objective": log_likelihood}
    start = lgb.train(own, train_set, 10, init_model=start, feval=error_rate, valid_sets=valid_set)
    assert set(start.best_score["valid_0"]) == {"binary_logloss", "error"}
    start = lgb.train(
        own, train_set, 10, init_model=start, feval=[error_rate, accuracy], valid_sets=valid_set
    )
    assert set(start.best_score["valid_0"]) == {"binary_logloss", "error", "accuracy"}
    assert start.num_trees() == 60

    def add_at_round_five(env: Any) -> None:
        if env.iteration - env.begin_iteration == 5:
            env.model.add_valid(lgb.Dataset(x_test, y_test, reference=train_set), "new_valid")

    add_at_round_five.before_iteration = True  # type: ignore[attr-defined]
    add_at_round_five.order = 0  # type: ignore[attr-defined]
    last = lgb.train(params, train_set, 10, valid_sets=train_set, callbacks=[add_at_round_five])
    assert "new_valid" in last.best_score


def test_sklearn(files: Path) -> None:
    (x, y, _), (x_test, y_test, _) = read(files, "train"), read(files, "test")

    def squared_logs(y_true: Any, y_pred: Any) -> tuple[str, float, bool]:
        gap = np.log1p(np.maximum(y_pred, 0)) - np.log1p(y_true)
        return "RMSLE", float(np.sqrt(np.mean(gap**2))), False

    def relative(y_true: Any, y_pred: Any) -> tuple[str, float, bool]:
        mean = np.abs(np.mean(y_true) - y_true).sum()
        return "RAE", float(np.abs(y_pred - y_true).sum() / mean), False

    model = lgb.LGBMRegressor(num_leaves=31, learning_rate=0.05, n_estimators=20)
    for metric in ("l1", squared_logs, [squared_logs, relative]):
        model.fit(
            x,
            y,
            eval_set=[(x_test, y_test)],
            eval_metric=metric,
            callbacks=[lgb.early_stopping(stopping_rounds=5)],
        )
    assert set(model.best_score_["valid_0"]) == {"l2", "RMSLE", "RAE"}
    y_pred = model.predict(x_test, num_iteration=model.best_iteration_)
    assert relative(y_test, y_pred)[1] == pytest.approx(
        model.evals_result_["valid_0"]["RAE"][model.best_iteration_ - 1]
    )
    grid = {"learning_rate": [0.01, 0.1], "n_estimators": [5, 10]}
    assert GridSearchCV(lgb.LGBMRegressor(num_leaves=7), grid, cv=2).fit(x, y).best_params_


def test_plots(files: Path) -> None:
    (x, y, _), (x_test, y_test, _) = read(files, "train"), read(files, "test")
    names = [f"f{i + 1}" for i in range(N_COLUMNS)]
    train_set = lgb.Dataset(x, y, feature_name=names, categorical_feature=[21])
    record: dict[str, Any] = {}
    booster = lgb.train(
        {"num_leaves": 5, "metric": ("l1", "l2"), "verbose": 0},
        train_set,
        num_boost_round=20,
        valid_sets=[train_set, lgb.Dataset(x_test, y_test, reference=train_set)],
        callbacks=[lgb.log_evaluation(10), lgb.record_evaluation(record)],
    )
    assert lgb.plot_metric(record, metric="l1").get_ylabel() == "l1"
    assert len(lgb.plot_importance(booster, max_num_features=10).patches) == 10
    assert lgb.plot_split_value_histogram(booster, feature="f26", bins="auto") is not None
    assert lgb.plot_tree(booster, tree_index=13, figsize=(15, 15), show_info=["split_gain"])
    assert "digraph" in str(lgb.create_tree_digraph(booster, tree_index=13, name="Tree14"))


@pytest.mark.parametrize(("objective", "labels"), [("xentropy", "soft"), ("binary", "hard")])
def test_logistic_regression(objective: str, labels: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"continuous": np.arange(200), "categorical": np.repeat(range(8), 25)})
    p = 1 / (1 + np.exp(-(0.01 * frame["continuous"] - 1 + rng.normal(size=200) * 0.1)))
    y = p if labels == "soft" else rng.binomial(1, p)
    params = {"objective": objective, "feature_fraction": 1, "bagging_fraction": 1, "verbose": -1}
    booster = lgb.train(params, lgb.Dataset(frame, y), num_boost_round=10)
    found = booster.predict(frame)
    assert np.corrcoef(found, p)[0, 1] > 0.7
    if labels == "soft":
        with pytest.raises(lgb.basic.LightGBMError):
            lgb.train({**params, "objective": "binary"}, lgb.Dataset(frame, y), num_boost_round=1)


def test_sequences_in_several_files(files: Path) -> None:
    class Stored(lgb.Sequence):  # type: ignore[misc]
        def __init__(self, path: Path, batch_size: int) -> None:
            self.data = np.load(path, mmap_mode="r")
            self.batch_size = batch_size

        def __getitem__(self, index: Any) -> Any:
            return self.data[index]

        def __len__(self) -> int:
            return len(self.data)

    x, y, _ = read(files, "train")
    for i, part in enumerate((x[:350], x[350:])):
        np.save(files / f"{i}.npy", part.to_numpy())
    parts = [Stored(files / f"{i}.npy", 64) for i in range(2)]
    lgb.Dataset(parts, label=y.to_numpy(), params=None).save_binary(files / "parts.bin")
    lgb.Dataset(x.to_numpy(), label=y.to_numpy()).save_binary(files / "whole.bin")
    assert (files / "parts.bin").read_bytes() == (files / "whole.bin").read_bytes()
