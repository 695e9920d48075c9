"""Tables with text and categories, as users of scikit-learn have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from gossamer import GossamerClassifier, GossamerRanker, GossamerRegressor
from gossamer.errors import DataError


@pytest.fixture
def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {
            "city": rng.choice(["Rome", "Bern", "Oslo"], 200),
            "age": rng.normal(size=200),
            "zip": pd.Categorical(rng.choice([10, 20, 30], 200)),
        }
    )
    effect = x["city"].map({"Rome": 2.0, "Bern": 0.0, "Oslo": 1.0})
    return x, effect.to_numpy() + 0.1 * rng.normal(size=200)


def test_frames(rows: Any) -> None:
    x, y = rows
    model = GossamerRegressor(n_estimators=20).fit(x, y)
    assert model.score(x, y) > 0.8
    assert model.feature_names_in_.tolist() == ["city", "age", "zip"]
    assert model.n_features_in_ == 3
    assert model.booster_.pandas_categorical == [["Bern", "Oslo", "Rome"], [10, 20, 30]]
    as_numbers = x.astype({"zip": int, "city": "category"})
    np.testing.assert_array_equal(model.predict(as_numbers), model.predict(x))


def test_tables_without_names(rows: Any) -> None:
    x, y = rows
    expected = GossamerRegressor(n_estimators=5).fit(x[["city", "age"]], y)
    objects = x[["city", "age"]].to_numpy(dtype=object)
    for table in (objects, objects.tolist()):
        model = GossamerRegressor(n_estimators=5).fit(table, y)
        assert model.n_features_in_ == 2
        np.testing.assert_array_equal(model.predict(table), expected.predict(x[["city", "age"]]))


def test_other_frames(rows: Any) -> None:
    pl = pytest.importorskip("polars")
    x, y = rows
    x = x[["city", "age"]]
    other = pl.DataFrame({name: x[name].tolist() for name in x.columns})
    model = GossamerRegressor(n_estimators=5).fit(other, y, eval_set=[(other, y)])
    expected = GossamerRegressor(n_estimators=5).fit(x, y).predict(x)
    np.testing.assert_array_equal(model.predict(other), expected)


def test_names_of_ones_own(rows: Any) -> None:
    x, y = rows
    names = ["a", "b", "c"]
    model = GossamerRegressor(n_estimators=5).fit(
        x, y, feature_name=names, eval_set=[(x[:9], y[:9])]
    )
    assert model.feature_name_ == names
    expected = GossamerRegressor(n_estimators=5).fit(x, y).predict(x)
    np.testing.assert_array_equal(model.predict(x), expected)


def test_evaluation_sets_have_the_codes_of_the_training_data(rows: Any) -> None:
    x, y = rows
    last = x[x["city"] == "Rome"]
    labels = y[(x["city"] == "Rome").to_numpy()]
    model = GossamerRegressor(n_estimators=5).fit(
        x, y, eval_set=[(last, labels), (x, y)], eval_sample_weight=[np.ones(len(last)), None]
    )
    found = model.evals_result_["valid_0"]["l2"][-1]
    assert found == pytest.approx(np.mean((model.predict(last) - labels) ** 2), rel=1e-5)


def test_rows_that_do_not_count(rows: Any) -> None:
    x, y = rows
    weight = np.r_[np.zeros(50), np.ones(150)]
    model = GossamerRegressor(n_estimators=5).fit(x, y, sample_weight=weight)
    expected = GossamerRegressor(n_estimators=5).fit(x[50:], y[50:])
    np.testing.assert_array_equal(model.predict(x), expected.predict(x))


def test_classes_and_queries(rows: Any) -> None:
    x, y = rows
    label = np.where(y > 1, "high", "low")
    model = GossamerClassifier(n_estimators=20).fit(x, label)
    assert model.score(x, label) > 0.8
    assert model.predict_proba(x).shape == (200, 2)
    ranker = GossamerRanker(n_estimators=5).fit(x, (y > 1).astype(int), group=[100, 100])
    assert len(set(ranker.predict(x).tolist())) > 1
    times = GossamerRegressor(n_estimators=5, objective="cox").fit(x, np.abs(y) + 1)
    assert len(times.predict(x)) == 200


def test_categorical_feature(rows: Any) -> None:
    x, y = rows
    GossamerRegressor(n_estimators=1).fit(x, y, categorical_feature=["city"])
    GossamerRegressor(n_estimators=1, categorical_feature="name:city,zip").fit(x, y)
    for wrong, words in ((["town"], "not there: got 'town'"), ([1], "'city' holds text")):
        with pytest.raises(DataError, match=words):
            GossamerRegressor().fit(x, y, categorical_feature=wrong)


def test_model_selection(rows: Any) -> None:
    x, y = rows
    assert cross_val_score(GossamerRegressor(n_estimators=20), x, y, cv=3).min() > 0.5
    pipeline = make_pipeline(FunctionTransformer(), GossamerRegressor(n_estimators=5))
    assert len(pipeline.fit(x, y).predict(x)) == 200


def test_what_does_not_fit(rows: Any) -> None:
    x, y = rows
    model = GossamerRegressor(n_estimators=2).fit(x, y)
    with pytest.raises(DataError, match=r"'age' .*got text such as .*, expected numbers"):
        model.predict(x.assign(age="old"))
    with pytest.raises(DataError, match=r"got numbers, expected text"):
        model.predict(x.assign(city=1))
    objects = x.to_numpy(dtype=object)
    with pytest.raises(ValueError, match="3 features"):
        GossamerRegressor(n_estimators=2).fit(objects, y).predict(objects[:, :2])
    moved = x[["age", "city", "zip"]]
    assert list(moved) != list(x)
    np.testing.assert_array_equal(model.predict(moved), model.predict(x))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(moved, validate_features=True)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x.rename(columns={"age": "years"}))
    numbers = GossamerRegressor(n_estimators=2).fit(x[["age"]], y)
    with pytest.raises(DataError, match=r"got text such as .*, expected numbers"):
        numbers.predict(pd.DataFrame({"age": ["old"]}))
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(x, y[:10])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(x, np.where(y > 1, np.nan, y))


def test_tags() -> None:
    assert GossamerRegressor().__sklearn_tags__().input_tags.categorical
