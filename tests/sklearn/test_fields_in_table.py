"""`fit(frame, "target")`: labels, weights and queries as columns of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import gossamer as gs
from gossamer import DataError, GossamerClassifier, GossamerRanker, GossamerRegressor

KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
    "lazy": lambda frame: pl.LazyFrame(frame.to_dict("list")),
    "pyarrow": lambda frame: pa.table(frame.to_dict("list")),
    "dict": lambda frame: frame.to_dict("list"),
    "records": lambda frame: frame.to_dict("records"),
}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "size": rng.normal(size=200),
            "target": 0,
            "city": rng.choice(["Bern", "Oslo", "Rome"], 200),
            "weight": rng.uniform(1, 2, 200),
        }
    )
    rows["target"] = rows["size"] + (rows["city"] == "Oslo") > 0.4
    return rows


FEATURES = ["size", "city"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [[False, True], ["no", "yes"], [3, 7]], ids=str)
def test_the_same_as_by_hand(frame: pd.DataFrame, kind: str, names: list[Any]) -> None:
    frame = frame.assign(target=np.where(frame["target"], names[1], names[0]))
    model = GossamerClassifier(n_estimators=5)
    direct = clone(model).fit(frame[FEATURES], frame["target"], frame["weight"])
    table = KINDS[kind](frame)
    model.fit(table, "target", "weight", eval_set=[(table, "target")])
    assert model.feature_name_ == FEATURES
    assert model.classes_.tolist() == names
    expected = direct.predict_proba(frame[FEATURES])
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    np.testing.assert_array_equal(model.predict_proba(KINDS[kind](frame[FEATURES])), expected)
    assert model.score(table, "target") == direct.score(frame[FEATURES], frame["target"])
    assert model.score(table, "target", "weight") == direct.score(
        frame[FEATURES], frame["target"], frame["weight"]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_data_sets_take_the_same_names(frame: pd.DataFrame, kind: str) -> None:
    params = {"objective": "binary", "verbose": -1}
    train_set = gs.Dataset(KINDS[kind](frame), label="target", weight="weight")
    valid_set = train_set.create_valid(KINDS[kind](frame), "target")
    history: dict[str, Any] = {}
    callback = gs.record_evaluation(history)
    model = gs.train(params, train_set, 5, valid_sets=[valid_set], callbacks=[callback])
    direct = GossamerClassifier(n_estimators=5).fit(frame, "target", "weight")
    np.testing.assert_array_equal(model.predict(frame[FEATURES]), direct.predict_proba(frame)[:, 1])
    assert len(history["valid_0"]["binary_logloss"]) == 5


def test_a_column_is_a_feature_or_not(frame: pd.DataFrame) -> None:
    """Here the weight is one to training, and none to the evaluation."""
    with pytest.raises(ValueError, match=r"now missing:\s+- weight"):
        GossamerClassifier().fit(
            frame, "target", eval_set=[(frame[::2], "target")], eval_sample_weight=["weight"]
        )


def test_weights_of_evaluation_sets(frame: pd.DataFrame) -> None:
    by_name, by_hand = GossamerClassifier(n_estimators=5), GossamerClassifier(n_estimators=5)
    valid = frame[::2]
    by_name.fit(
        frame, "target", "weight", eval_set=[(valid, "target")], eval_sample_weight=["weight"]
    )
    by_hand.fit(
        frame[FEATURES],
        frame["target"],
        frame["weight"],
        eval_X=valid[FEATURES],
        eval_y=valid["target"],
        eval_sample_weight=[valid["weight"]],
    )
    assert by_name.evals_result_ == by_hand.evals_result_


@pytest.mark.parametrize("argument", ["group", "query", "qid"])
def test_queries(argument: str) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=200), "user": np.repeat(np.arange(20), 10)})
    frame["grade"] = frame["x"].round().clip(0, 3).astype(int)
    model = GossamerRanker(n_estimators=5)
    model.fit(frame, "grade", **{argument: "user"}, eval_set=[(frame, "grade")], eval_qid=["user"])
    direct = GossamerRanker(n_estimators=5).fit(frame[["x"]], frame["grade"], group=[10] * 20)
    np.testing.assert_array_equal(model.predict(frame), direct.predict(frame[["x"]]))
    assert model.feature_name_ == ["x"]


def test_several_targets(frame: pd.DataFrame) -> None:
    rows = pd.DataFrame({"x": frame["size"], "low": frame["size"] - 1, "high": frame["size"] + 1})
    model = GossamerRegressor(n_estimators=5).fit(rows, ["low", "high"])
    direct = GossamerRegressor(n_estimators=5).fit(rows[["x"]], rows[["low", "high"]])
    np.testing.assert_array_equal(model.predict(rows), direct.predict(rows[["x"]]))
    expected = direct.score(rows[["x"]], rows[["low", "high"]])
    assert model.score(rows, ["low", "high"]) == pytest.approx(expected)


def test_a_list_of_labels_is_no_list_of_names() -> None:
    frame = pd.DataFrame({"yes": [1.0, 2.0], "no": [2.0, 1.0]})
    with pytest.warns(UserWarning, match="no split is possible"):
        model = GossamerClassifier().fit(frame, ["yes", "no"])
    assert model.feature_name_ == ["yes", "no"]


def test_what_was_named_before_does_not_matter(frame: pd.DataFrame) -> None:
    model = GossamerRegressor(n_estimators=2).fit(frame, "size", "weight")
    model.fit(frame[["size", "weight"]], frame["target"].astype(float))
    assert model.feature_name_ == ["size", "weight"]
    assert model.predict(frame[["size", "weight"]]).shape == (200,)
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(frame[["size", "weight", "target"]])


def test_mistakes(frame: pd.DataFrame) -> None:
    model = GossamerClassifier()
    with pytest.raises(DataError, match=r"y names a column .* got 'targt'.*Did you mean target"):
        model.fit(frame, "targt")
    with pytest.raises(DataError, match="sample_weight names a column that is not in the table"):
        model.fit(frame, "target", sample_weight="wheight")
    with pytest.raises(DataError, match=r"y names a column, but .* have no names"):
        model.fit(np.zeros((3, 2)), "target")
    for call in (lambda: model.fit("a.parquet", "y"), lambda: model.fit("a.parquet", [0, 1])):
        with pytest.raises(DataError, match=r"a table in memory.*Read the file first"):
            call()
