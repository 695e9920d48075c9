from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import gossamer
from gossamer import GossamerRegressor
from gossamer.errors import DataError, GossamerError


def test_it_is_train(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(num_leaves=7, learning_rate=0.2).fit(x, y)
    booster = gossamer.train({"num_leaves": 7, "eta": 0.2}, gossamer.Dataset(x, y))
    np.testing.assert_array_equal(model.predict(x), booster.predict(x))
    assert model.score(x, y) > 0.95
    assert (model.n_features_, model.n_features_in_, model.objective_) == (4, 4, "regression")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_not_copied(number_rows: Any, dtype: Any, order: Any) -> None:
    from gossamer.sklearn.inputs import check_training

    x = np.asarray(number_rows[0] * 10, dtype=dtype, order=order)
    values, _ = check_training(GossamerRegressor(), x, number_rows[1], y_numeric=True)
    assert np.shares_memory(values, x)
    model = GossamerRegressor(n_estimators=3, verbose=-1).fit(x, number_rows[1])
    np.testing.assert_array_equal(model.predict(x), model.predict(x.astype(np.float64)))


def test_data_frame(number_rows: Any) -> None:
    x, y = number_rows
    frame = pd.DataFrame(x, columns=["a", "b", "größe", "[<weird>]"])
    model = GossamerRegressor().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.feature_name_ == list(frame.columns)
    np.testing.assert_array_equal(model.predict(frame), GossamerRegressor().fit(x, y).predict(x))
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(x)
    moved, wrong = frame[["b", "a", "größe", "[<weird>]"]], frame.rename(columns={"a": "z"})
    np.testing.assert_array_equal(model.predict(moved), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(wrong)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["a", "b"]])
    with pytest.raises(ValueError, match="feature names"):
        model.fit(frame, y, eval_set=[(frame.rename(columns={"a": "z"}), y)])


def test_data_frame_of_several_types(number_rows: Any) -> None:
    x, y = number_rows
    frame = pd.DataFrame({"float": x[:, 0].astype(np.float32), "flag": x[:, 1] > 0})
    frame["integer"] = pd.array((x[:, 2] * 10).astype(int), dtype="Int64")
    frame.loc[::7, "integer"] = pd.NA
    model = GossamerRegressor().fit(frame, y)
    expected = np.column_stack([frame["float"], frame["flag"], frame["integer"].astype(float)])
    np.testing.assert_array_equal(
        model.predict(frame), GossamerRegressor().fit(expected, y).predict(expected)
    )


def test_data_frame_with_numbers_for_names(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor().fit(pd.DataFrame(x), y)
    assert model.feature_name_ == ["0", "1", "2", "3"]
    assert not hasattr(model, "feature_names_in_")
    model.predict(x)


def test_feature_name(number_rows: Any) -> None:
    model = GossamerRegressor().fit(*number_rows, feature_name=["a", "b", "c", "d"])
    assert model.feature_name_ == model.booster_.feature_name() == ["a", "b", "c", "d"]
    model.fit(*number_rows, feature_name=np.array(["a", "b", "c", "d"]))
    assert model.feature_name_ == ["a", "b", "c", "d"]
    for wrong in (["a", "b"], "name"):
        with pytest.raises(DataError, match="feature_name"):
            model.fit(*number_rows, feature_name=wrong)
    assert GossamerRegressor().fit(*number_rows).feature_name_[0] == "Column_0"


def test_a_column_that_is_no_number_is_named(number_rows: Any) -> None:
    x, y = number_rows
    frame = pd.DataFrame(x, columns=list("abcd")).assign(odd=1j)
    with pytest.raises(DataError, match="'odd' of the data frame is not numeric"):
        GossamerRegressor().fit(frame, y)


def test_a_column_of_dates(number_rows: Any) -> None:
    x, y = number_rows
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(y)), unit="D")
    frame = pd.DataFrame(x, columns=list("abcd")).assign(day=days)
    model = GossamerRegressor(n_estimators=3).fit(frame, y)
    seconds = days.astype("datetime64[s]")
    again = model.predict(frame.assign(day=seconds))
    np.testing.assert_array_equal(again, model.predict(frame))
    with pytest.raises(DataError, match=r"'day' has another type .*expected dates"):
        model.predict(frame.assign(day=seconds.astype(np.int64).astype(float)))


@pytest.mark.parametrize(
    ("x", "error", "what"),
    [
        (np.zeros(5), ValueError, "2D"),
        (np.zeros((5, 2, 2)), ValueError, "dim 3"),
        (np.zeros((0, 3)), ValueError, "0 sample"),
        (np.zeros((5, 0)), ValueError, "0 feature"),
        (np.full((5, 1), b"a"), ValueError, "could not convert|numeric"),
        (np.zeros((5, 1), dtype=complex), ValueError, "omplex"),
        (np.float64(3.0), ValueError, "2D|scalar"),
        (np.zeros((4, 2)), ValueError, "inconsistent"),
    ],
)
def test_bad_tables(x: Any, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        GossamerRegressor().fit(x, np.zeros(5))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_bad_labels(number_rows: Any, bad: float) -> None:
    x, y = number_rows
    y = y.copy()
    y[7] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity|label"):
        GossamerRegressor().fit(x, y)


def test_missing_and_infinite_values_are_fine(number_rows: Any) -> None:
    x, y = number_rows
    x = x.copy()
    x[::3, 0], x[1::3, 1], x[2::3, 1] = np.nan, np.inf, -np.inf
    assert GossamerRegressor().fit(x, y).score(x, y) > 0.8


def test_predicting_other_columns(number_rows: Any) -> None:
    model = GossamerRegressor().fit(*number_rows)
    with pytest.raises(ValueError, match="3 features, but GossamerRegressor is expecting 4"):
        model.predict(np.zeros((2, 3)))


def test_a_fit_that_fails_leaves_nothing_old(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor().fit(x, y)
    with pytest.raises(GossamerError, match="out of range"):
        model.set_params(num_leaves=0).fit(x, y)
    assert model.predict(x).shape == (300,), "the data was not even looked at"
    with pytest.raises(GossamerError, match="differ in length"):
        model.set_params(num_leaves=31).fit(x[:, :2], y, eval_set=[(x[:, :2], y[:5])])
    with pytest.raises(NotFittedError):
        model.predict(x)


def test_init_score(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=5).fit(x, y, init_score=y)
    np.testing.assert_allclose(model.predict(x), 0, atol=1e-5)
    with pytest.raises(DataError, match="init_score"):
        model.fit(x, y, init_score=y[:5])


def test_contributions(number_rows: Any) -> None:
    model = GossamerRegressor().fit(*number_rows)
    values = model.predict(number_rows[0], pred_contrib=True)
    np.testing.assert_allclose(values.sum(axis=1), model.predict(number_rows[0]))


def test_callbacks(number_rows: Any, capsys: Any) -> None:
    x, y = number_rows
    decay = gossamer.reset_parameter(learning_rate=lambda i: 0.1 * 0.9**i)
    callbacks = [gossamer.log_evaluation(5), decay]
    GossamerRegressor(n_estimators=10).fit(x, y, eval_set=[(x, y)], callbacks=callbacks)
    assert len(callbacks) == 2
    assert capsys.readouterr().out.startswith("[5]\ttraining's l2: ")


def test_pickle_with_a_local_objective(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(objective=half_squares).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.objective_ is half_squares


def half_squares(y_true: Any, y_pred: Any) -> Any:
    return y_pred - y_true, np.ones_like(y_pred)


def test_one_row_takes_the_short_way(number_rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_jobs=2, n_estimators=5).fit(x, y)
    expected = model.predict(x)
    as_float = x.astype(np.float32)
    expected_f32 = model.predict(as_float)
    for i in range(10):
        for n_jobs in (None, 1, 2, -1):
            np.testing.assert_array_equal(model.predict(x[i : i + 1], n_jobs=n_jobs), expected[i])
        found = model.predict(as_float[i : i + 1])
        np.testing.assert_array_equal(found, expected_f32[i])
        assert found.shape == (1,)
        raw = model.predict(x[i : i + 1], raw_score=True, num_iteration=2)
        np.testing.assert_array_equal(raw, model.predict(x, raw_score=True, num_iteration=2)[i])

    # Neither scikit-learn's checks nor the machinery for tables are asked.
    def fail(*args: Any, **kwargs: Any) -> None:
        raise AssertionError

    for _ in range(2):
        model.predict(x[:1], n_jobs=1)
    monkeypatch.setattr("gossamer.sklearn.inputs.validate_data", fail)
    monkeypatch.setattr("gossamer.model.trained_model.predict", fail)
    for n_jobs in (None, 1, 2):
        np.testing.assert_array_equal(model.predict(x[:1], n_jobs=n_jobs), expected[:1])


def test_one_row_keeps_its_checks(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=3).fit(x, y)
    for _ in range(3):
        model.predict(x[:1])
    with pytest.raises(ValueError, match="features"):
        model.predict(x[:1, :2])
    with pytest.raises(ValueError, match="2D array"):
        model.predict(x[0])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(x[:0])
    with pytest.raises(ValueError, match="Complex data"):
        model.predict(x[:1].astype(complex))
    with pytest.raises(GossamerError, match="num_threads"):
        model.predict(x[:1], n_jobs="many")
    named = GossamerRegressor(n_estimators=3).fit(pd.DataFrame(x, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="feature names"):
        named.predict(x[:1])


def test_columns_are_taken_by_name() -> None:
    """In one way by boosters and estimators: any order, but no other names."""
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    x = np.random.default_rng(3).normal(size=(100, 3))
    for library in (pandas, polars):
        frame = library.DataFrame({name: x[:, i] for i, name in enumerate("abc")})
        other = frame[["c", "a", "b"]]
        model = GossamerRegressor(n_estimators=3).fit(frame, x[:, 0])
        for found in (model.predict(other), model.booster_.predict(other)):
            np.testing.assert_array_equal(found, model.predict(frame))
        scores = GossamerRegressor(n_estimators=3).fit(frame, x[:, 0], eval_set=[(other, x[:, 0])])
        assert scores.evals_result_["valid_0"]["l2"][-1] < np.var(x[:, 0])
        with pytest.raises(ValueError, match="order"):
            model.predict(other, validate_features=True)
        assert not np.array_equal(model.predict(other, validate_features=False), found)
        renamed = library.DataFrame({name: x[:, i] for i, name in enumerate("abz")})
        for predict in (model.predict, model.booster_.predict):
            with pytest.raises(ValueError, match="z"):
                predict(renamed)
