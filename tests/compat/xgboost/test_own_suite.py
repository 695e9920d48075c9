"""Behaviour that XGBoost's own tests state, in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import gossamer.compat.xgboost as xgb

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=200) > 0).astype(float)
BINARY = {"objective": "binary:logistic", "max_depth": 3}


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror", "count:poisson"])
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_saved_models_predict_the_same_bits(objective: str, ending: str, tmp_path: Path) -> None:
    """XGBoost keeps leaf values as float32, and so do its models in memory."""
    data = xgb.DMatrix(X, label=Y)
    model = xgb.train({"objective": objective}, data, 5)
    model.save_model(tmp_path / f"model.{ending}")
    loaded = xgb.Booster(model_file=tmp_path / f"model.{ending}")
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    assert json.loads(loaded.save_config())["learner"]["objective"]["name"] == objective


def test_names_without_a_format_mean_ubjson(tmp_path: Path) -> None:
    model = xgb.train(BINARY, xgb.DMatrix(X, label=Y), 2)
    with pytest.warns(UserWarning, match="saved as UBJSON"):
        model.save_model(tmp_path / "xgb.model")
    assert (tmp_path / "xgb.model").read_bytes()[:1] == b"{"
    loaded = xgb.Booster(model_file=tmp_path / "xgb.model")
    assert loaded.save_raw() == model.save_raw()


@pytest.mark.parametrize(
    "bad",
    [np.array([["a", "b"]]), np.ones((3, 2), complex), np.ones((3, 2)).astype("S"), [["a", 1.0]]],
    ids=["text", "complex", "bytes", "list"],
)
def test_arrays_without_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"numbers|numeric"):
        xgb.DMatrix(np.asarray(bad, dtype=object) if isinstance(bad, list) else bad)


def test_objects_may_be_numbers() -> None:
    data = xgb.DMatrix(np.array([[1, 2.5], [3, None]], dtype=object))
    assert data.num_nonmissing() == 3


@pytest.mark.parametrize("name", ["a<b", "a[b", "a]b"])
def test_names_that_dumps_cannot_hold(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be used"):
        xgb.DMatrix(X, feature_names=[name, "b", "c", "d"])


def test_names_of_a_multi_index() -> None:
    pandas = pytest.importorskip("pandas")
    columns = pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)])
    data = xgb.DMatrix(pandas.DataFrame(X, columns=columns))
    assert data.feature_names == ["a 1", "a 2", "b 1", "b 2"]


def test_indexing_mode(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("1 1:2 3:1\n0 2:3\n1 1:1 2:1 3:1\n")
    for mode, n_columns in (("0", 4), ("1", 3), ("-1", 3)):
        data = xgb.DMatrix(f"{path}?format=libsvm&indexing_mode={mode}")
        assert (data.num_row(), data.num_col()) == (3, n_columns)
    with pytest.raises(ValueError, match="indexing_mode"):
        xgb.DMatrix(f"{path}?format=libsvm&indexing_mode=2")
    path.write_text("1 0:2 3:1\n")
    assert xgb.DMatrix(f"{path}?format=libsvm&indexing_mode=-1").num_col() == 4
    with pytest.raises(ValueError, match="numbered 0"):
        xgb.DMatrix(f"{path}?format=libsvm&indexing_mode=1")


def test_sparse_matrices_of_every_format() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for kind in ("csr", "csc", "coo", "dok", "lil", "bsr"):
        data = xgb.DMatrix(sparse.csr_matrix(np.eye(3)).asformat(kind), label=[0, 1, 0])
        assert (data.num_row(), data.num_nonmissing()) == (3, 3)
        xgb.train({}, data, 1)


def test_a_series_is_a_column() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(X[:, 0], name="a")
    model = xgb.XGBClassifier(n_estimators=2).fit(series, Y.astype(int))
    assert model.n_features_in_ == 1
    assert model.predict(series).shape == (200,)


def test_early_stopping_keeps_its_scores() -> None:
    train, valid = xgb.DMatrix(X[:100], label=Y[:100]), xgb.DMatrix(X[100:], label=Y[100:])
    stop = xgb.callback.EarlyStopping(rounds=2, metric_name="error", data_name="valid")
    model = xgb.train(
        {**BINARY, "eval_metric": ["error", "logloss"]},
        train,
        50,
        evals=[(train, "train"), (valid, "valid")],
        callbacks=[stop],
        verbose_eval=False,
    )
    assert list(stop.stopping_history) == ["valid"]
    assert len(stop.stopping_history["valid"]["error"]) == model.num_boosted_rounds()


def test_callbacks_of_cv_see_the_folds() -> None:
    seen = []

    class Look(xgb.callback.TrainingCallback):
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            seen.append([fold.dtest.get_label() for fold in model.cvfolds])
            return False

    data = xgb.DMatrix(X, label=np.arange(200))
    folds = [(list(range(50)), [51, 60]), (list(range(100, 150)), [5, 8, 9])]
    xgb.cv({}, data, 1, folds=folds, callbacks=[Look()])
    np.testing.assert_array_equal(seen[0][0], [51, 60])
    np.testing.assert_array_equal(seen[0][1], [5, 8, 9])


def test_histogram_of_a_column_that_is_not_there() -> None:
    model = xgb.train(BINARY, xgb.DMatrix(X, label=Y), 2)
    for as_pandas in (True, False):
        assert model.get_split_value_histogram("nothing", as_pandas=as_pandas).shape == (0, 2)


def test_interactions_may_be_asked_for_approximately() -> None:
    data = xgb.DMatrix(X, label=Y)
    model = xgb.train(BINARY, data, 2)
    found = model.predict(data, pred_interactions=True, approx_contribs=True)
    np.testing.assert_array_equal(found, model.predict(data, pred_interactions=True))


def test_threads_of_estimators_by_their_other_name() -> None:
    model = xgb.XGBClassifier(n_estimators=1, nthread=2).fit(X, Y.astype(int))
    config = json.loads(model.get_booster().save_config())
    assert config["learner"]["generic_param"]["nthread"] == "2"


def test_files_of_estimators_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    xgb.XGBClassifier(n_estimators=1).fit(X, Y.astype(int)).save_model(path)
    for other in (xgb.XGBModel, xgb.XGBRegressor, xgb.XGBRanker):
        with pytest.raises(TypeError, match="another kind"):
            other().load_model(path)
    xgb.XGBRanker(n_estimators=1).fit(X, Y, group=[100, 100]).save_model(path)
    xgb.XGBRanker().load_model(path)


@pytest.mark.parametrize("code", [-1.0, 2.0**24])
@pytest.mark.parametrize("method", ["hist", "approx"])
def test_codes_that_are_not_categories(code: float, method: str) -> None:
    table = np.tile([[0.0, 1.0], [1.0, 0.0]], (50, 1))
    table[13, 1] = code
    for rows in (table, csr_matrix(table)):
        data = xgb.DMatrix(rows, np.arange(100), feature_types=["q", "c"])
        with pytest.raises(ValueError, match="column 1 has a code that is not a category"):
            xgb.train({"tree_method": method}, data, 1)
    xgb.train({"tree_method": method}, xgb.DMatrix(table, np.arange(100)), 1)


def test_a_forest_is_one_round() -> None:
    x = np.random.default_rng(0).normal(size=(200, 3))
    forest = xgb.XGBRFRegressor(n_estimators=4, n_jobs=1).fit(x, x[:, 0])
    booster = forest.get_booster()
    assert booster.num_boosted_rounds() == 1 and len(booster.get_dump()) == 4
    assert forest.get_xgb_params()["num_parallel_tree"] == 4
    shown = json.loads(booster.save_config())["learner"]["gradient_booster"]
    assert shown["gbtree_model_param"]["num_parallel_tree"] == "4"
    assert 0.8 < forest.score(x, x[:, 0]) < 1
    with pytest.raises(NotImplementedError, match="early_stopping_rounds"):
        xgb.XGBRFRegressor(early_stopping_rounds=3).fit(x, x[:, 0])


def test_evaluation_sets_of_rankings_need_queries() -> None:
    x = np.random.default_rng(0).normal(size=(40, 2))
    y, query = np.arange(40) % 3, np.repeat(np.arange(4), 10)
    with pytest.raises(ValueError, match="Either `group` or `qid`"):
        xgb.XGBRanker(n_estimators=1).fit(x, y, qid=query, eval_set=[(x, y)])


def test_rows_without_names_for_a_model_with_names() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    plain, named = xgb.DMatrix(x, x[:, 0]), xgb.DMatrix(x, x[:, 0], feature_names=["a", "b"])
    model = xgb.train({}, named, 2)
    with pytest.raises(ValueError, match="feature names differ"):
        model.predict(plain)
    found = model.predict(plain, validate_features=False)
    np.testing.assert_array_equal(found, model.predict(named))
    xgb.train({}, plain, 2).predict(named)


@pytest.mark.parametrize("rounds", [slice(-3, 0), slice(1, -1), slice(-3, None)])
def test_slices_count_from_the_first_round(rounds: slice) -> None:
    model = xgb.train({}, xgb.DMatrix(np.arange(50.0).reshape(-1, 1), np.arange(50)), 9)
    with pytest.raises(IndexError, match="counted from the first"):
        model[rounds]
    assert model[2:].num_boosted_rounds() == 7


def test_bounds_of_the_bins_of_a_training() -> None:
    data = xgb.DMatrix(np.random.default_rng(0).normal(size=(500, 3)), np.arange(500))
    assert len(data.get_quantile_cut()[1]) > 300
    xgb.train({"max_bin": 16}, data, 1)
    assert len(data.get_quantile_cut()[1]) == 17 * 3


@pytest.mark.parametrize("method", ["approx", "exact"])
def test_methods_that_need_values_in_memory(method: str) -> None:
    class Once(xgb.DataIter):
        left = True

        def next(self, input_data: Any) -> bool:
            given, self.left = self.left, False
            if given:
                input_data(data=np.eye(30), label=np.arange(30.0))
            return given

        def reset(self) -> None:
            self.left = True

    with pytest.raises(ValueError, match="Only the `hist` method"):
        xgb.train({"tree_method": method}, xgb.ExtMemQuantileDMatrix(Once()), 1)


def test_categories_in_another_order_are_recoded() -> None:
    pandas = pytest.importorskip("pandas")
    codes = RNG.integers(0, 4, 200)
    names = np.array(["a", "b", "c", "d"])[codes]
    frames = [
        pandas.DataFrame({"x": X[:, 0], "c": pandas.Categorical(names, categories=list(order))})
        for order in ("abcd", "bacd")
    ]
    label = X[:, 0] + np.array([0, 2, -1, 3])[codes]
    first, second = (xgb.DMatrix(frame, label, enable_categorical=True) for frame in frames)
    model = xgb.train({}, second, 3, xgb_model=xgb.train({}, first, 2))
    at_once = xgb.train({}, first, 5)
    for data in (first, second):
        np.testing.assert_allclose(model.predict(data), at_once.predict(data), rtol=1e-5)
    assert second.get_categories().by_column[1] == ("c", ("b", "a", "c", "d"))  # as it was given

    estimator = xgb.XGBRegressor(n_estimators=2, enable_categorical=True).fit(frames[0], label)
    further = xgb.XGBRegressor(n_estimators=3, enable_categorical=True)
    given = [(frame, label) for frame in frames]
    further.fit(frames[1], label, xgb_model=estimator, eval_set=given, verbose=False)
    first_log, second_log = (log["rmse"] for log in further.evals_result().values())
    error = np.sqrt(np.mean((at_once.predict(first) - label) ** 2))
    assert first_log == second_log == pytest.approx([*first_log[:2], error], rel=1e-5)
    np.testing.assert_allclose(further.predict(frames[0]), at_once.predict(first), rtol=1e-5)

    like = first.get_categories()
    again = xgb.DMatrix(frames[1], label, enable_categorical=True, feature_types=like)
    assert again.get_categories() == like
    assert again.feature_types == ["float", "c"]
    np.testing.assert_array_equal(again.get_data().toarray(), first.get_data().toarray())

    other = frames[1].assign(c=pandas.Categorical(np.where(codes == 0, "z", names)))
    with pytest.raises(ValueError, match="levels"):
        xgb.train({}, xgb.DMatrix(other, label, enable_categorical=True), 1, xgb_model=model)
