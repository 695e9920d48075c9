"""The estimators: scripts that run with both libraries, then ours alone."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV, cross_val_score

import gossamer.compat.xgboost as ours
from gossamer.errors import DataError, NotSupportedError, ParameterError


@pytest.fixture
def classes(few_values: Any) -> Any:
    return few_values.x, np.digitize(few_values.y, [10, 30])


def test_regressor(xgb: Any, few_values: Any) -> None:
    model = xgb.XGBRegressor(n_estimators=30, max_depth=3, n_jobs=1).fit(*few_values)
    found = model.predict(few_values.x)
    assert found.shape == (500,) and found.dtype == np.float32
    assert model.score(*few_values) > 0.95
    importances = model.feature_importances_
    assert importances.shape == (4,) and importances.dtype == np.float32
    assert importances.sum() == pytest.approx(1) and importances.argmax() == 1
    assert model.n_features_in_ == 4 and model.get_num_boosting_rounds() == 30
    assert model.get_booster().num_boosted_rounds() == 30
    assert model.apply(few_values.x).shape == (500, 30)
    assert model.intercept_ == pytest.approx(few_values.y.mean(), rel=1e-4)


def test_classifier_of_two_classes(xgb: Any, few_values: Any) -> None:
    y = (few_values.y > 10).astype(int)
    model = xgb.XGBClassifier(n_estimators=20, n_jobs=1).fit(few_values.x, y)
    probabilities = model.predict_proba(few_values.x)
    assert probabilities.shape == (500, 2) and probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(few_values.x), probabilities.argmax(axis=1))
    margin = model.predict(few_values.x, output_margin=True)
    np.testing.assert_allclose(1 / (1 + np.exp(-margin)), probabilities[:, 1], rtol=1e-4)
    assert model.classes_.tolist() == [0, 1] and model.n_classes_ == 2
    assert model.score(few_values.x, y) > 0.95


def test_classifier_of_more_classes(xgb: Any, classes: Any) -> None:
    x, y = classes
    for objective in ("binary:logistic", "multi:softprob", "multi:softmax"):
        model = xgb.XGBClassifier(objective=objective, n_estimators=15, n_jobs=1).fit(x, y)
        assert model.predict_proba(x).shape == (500, 3)
        assert (model.predict(x) == y).mean() > 0.95
    assert model.apply(x).shape == (500, 45)


def test_early_stopping(xgb: Any, numbers: Any) -> None:
    x, y = numbers
    model = xgb.XGBRegressor(
        n_estimators=200,
        learning_rate=1.0,
        early_stopping_rounds=4,
        eval_metric=["rmse", "mae"],
        n_jobs=1,
    )
    model.fit(x[:300], y[:300], eval_set=[(x[:300], y[:300]), (x[300:], y[300:])], verbose=False)
    result = model.evals_result()
    assert list(result) == ["validation_0", "validation_1"]
    errors = result["validation_1"]["mae"]
    best = int(np.argmin(errors))
    assert model.best_iteration == best and model.best_score == pytest.approx(errors[best])
    assert len(errors) == best + 5
    found = mean_absolute_error(y[300:], model.predict(x[300:]))
    assert found == pytest.approx(errors[best], rel=1e-4)
    whole = model.predict(x[300:], iteration_range=(0, best + 5))
    assert mean_absolute_error(y[300:], whole) == pytest.approx(errors[-1], rel=1e-4)


def test_lines(xgb: Any, numbers: Any, capsys: Any) -> None:
    model = xgb.XGBRegressor(n_estimators=3, n_jobs=1)
    model.fit(*numbers, eval_set=[numbers], verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"[{i}]\tvalidation_0-rmse" for i in range(3)]
    model.fit(*numbers, eval_set=[numbers], verbose=False)
    assert capsys.readouterr().out == ""


def test_functions(xgb: Any, few_values: Any) -> None:
    def squares(y_true: Any, y_pred: Any) -> Any:
        return y_pred - y_true, np.ones_like(y_pred)

    model = xgb.XGBRegressor(
        objective=squares, eval_metric=mean_absolute_error, n_estimators=10, n_jobs=1
    )
    model.fit(*few_values, eval_set=[few_values], verbose=False)
    errors = model.evals_result()["validation_0"]["mean_absolute_error"]
    assert errors[-1] == pytest.approx(
        mean_absolute_error(few_values.y, model.predict(few_values.x)), rel=1e-4
    )
    same = xgb.XGBRegressor(base_score=0.5, n_estimators=10, n_jobs=1).fit(*few_values)
    np.testing.assert_allclose(
        model.predict(few_values.x), same.predict(few_values.x), rtol=1e-3, atol=1e-2
    )


def test_weights_and_margins(xgb: Any, few_values: Any) -> None:
    x, y = few_values
    model = xgb.XGBRegressor(n_estimators=5, n_jobs=1)
    heavy = np.where(y > 30, 100.0, 1.0)
    weighted = model.fit(x, y, sample_weight=heavy).predict(x).mean()
    assert weighted > model.fit(x, y).predict(x).mean() + 1
    margin = np.full(500, 10.0)
    model.fit(x, y, base_margin=margin)
    moved = model.predict(x, base_margin=margin + 5)
    np.testing.assert_allclose(moved, model.predict(x, base_margin=margin) + 5, rtol=1e-4)


def test_ranker(xgb: Any, queries: Any) -> None:
    x, y = queries
    qid = np.arange(400) // 10
    model = xgb.XGBRanker(n_estimators=10, n_jobs=1, eval_metric="ndcg@5")
    model.fit(x, y, qid=qid, eval_set=[(x, y)], eval_qid=[qid])
    assert model.evals_result()["validation_0"]["ndcg@5"][-1] > 0.95
    by_group = clone(model).fit(x, y, group=[10] * 40, eval_set=[(x, y)], eval_group=[[10] * 40])
    np.testing.assert_array_equal(by_group.predict(x), model.predict(x))
    with pytest.raises(ValueError, match=r"qid|group"):
        xgb.XGBRanker().fit(x, y)


def test_forests(xgb: Any, few_values: Any, classes: Any) -> None:
    forest = xgb.XGBRFRegressor(n_estimators=30, n_jobs=1, random_state=1).fit(*few_values)
    assert 0.9 < forest.score(*few_values) < 1
    assert forest.get_params()["subsample"] == 0.8
    votes = xgb.XGBRFClassifier(n_estimators=30, n_jobs=1, random_state=1).fit(*classes)
    assert votes.score(*classes) > 0.9 and votes.predict_proba(classes[0]).shape == (500, 3)


def test_model_selection(xgb: Any, few_values: Any) -> None:
    grid = {"max_depth": [1, 3], "reg_lambda": [1.0]}
    search = GridSearchCV(xgb.XGBRegressor(n_estimators=10, n_jobs=1), grid, cv=3)
    assert search.fit(*few_values).best_params_["max_depth"] == 3
    scores = cross_val_score(
        xgb.XGBClassifier(n_estimators=5, n_jobs=1), few_values.x, few_values.y > 10, cv=3
    )
    assert scores.min() > 0.85


def test_parameters(xgb: Any) -> None:
    model = xgb.XGBRegressor(max_depth=3, max_bin=7, foo=1)
    params = model.get_params()
    assert params["max_depth"] == 3 and params["foo"] == 1 and params["learning_rate"] is None
    assert "missing" in params and "missing" not in model.get_xgb_params()
    assert model.get_xgb_params()["max_bin"] == 7
    model.set_params(max_depth=4, min_child_weight=2)
    assert clone(model).get_params()["max_depth"] == 4
    assert xgb.XGBClassifier().get_params()["objective"] == "binary:logistic"
    assert xgb.XGBRanker().get_params()["objective"] == "rank:ndcg"


def test_missing_values(xgb: Any, few_values: Any) -> None:
    filled = np.where(np.isnan(few_values.x), -1, few_values.x)
    model = xgb.XGBRegressor(n_estimators=5, n_jobs=1).fit(*few_values)
    marked = xgb.XGBRegressor(n_estimators=5, n_jobs=1, missing=-1).fit(filled, few_values.y)
    np.testing.assert_array_equal(marked.predict(filled), model.predict(few_values.x))


def test_continued_training_and_files(xgb: Any, few_values: Any, tmp_path: Any) -> None:
    model = xgb.XGBRegressor(n_estimators=3, n_jobs=1).fit(*few_values)
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = xgb.XGBRegressor()
    loaded.load_model(path)
    expected = model.predict(few_values.x)
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(other.predict(few_values.x), expected, rtol=1e-6)
    more = xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(*few_values, xgb_model=model)
    assert more.get_booster().num_boosted_rounds() == 5


def test_frames(xgb: Any, few_values: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(few_values.x, columns=list("abcd"))
    model = xgb.XGBRegressor(n_estimators=3, n_jobs=1).fit(frame, few_values.y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.get_booster().feature_names == list("abcd")
    frame["kind"] = pandas.Categorical(np.where(few_values.y > 20, "x", "y"))
    with pytest.raises(ValueError, match="enable_categorical"):
        xgb.XGBRegressor().fit(frame, few_values.y)
    model = xgb.XGBRegressor(n_estimators=10, n_jobs=1, enable_categorical=True)
    model.fit(frame, few_values.y, eval_set=[(frame, few_values.y)], verbose=False)
    assert model.feature_importances_[4] > 0.1 and model.score(frame, few_values.y) > 0.9


def test_not_fitted(xgb: Any, few_values: Any) -> None:
    model = xgb.XGBClassifier()
    with pytest.raises(NotFittedError):
        model.predict(few_values.x)
    with pytest.raises(NotFittedError):
        model.get_booster()
    model = xgb.XGBRegressor(n_estimators=1).fit(*few_values)
    with pytest.raises(ValueError, match="eval_set"):
        model.evals_result()
    with pytest.raises(AttributeError, match="best_iteration"):
        model.best_iteration  # noqa: B018
    with pytest.raises(ValueError, match="early stopping"):
        xgb.XGBRegressor(early_stopping_rounds=3).fit(*few_values)


def test_signatures_are_the_same() -> None:
    theirs = pytest.importorskip("xgboost")
    for name in ("XGBModel", "XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFRegressor"):
        for method in ("__init__", "fit", "predict", "apply"):
            mine, other = (
                inspect.signature(getattr(getattr(module, name), method)).parameters
                for module in (ours, theirs)
            )
            assert set(mine) == set(other), (name, method)
        mine_params, their_params = (getattr(m, name)().get_params() for m in (ours, theirs))
        assert set(mine_params) == set(their_params)
        for key, value in their_params.items():
            assert mine_params[key] == value or key == "missing"


# ---- ours alone ----


def test_classes_may_be_anything(few_values: Any, tmp_path: Any) -> None:
    y = np.array(["low", "mid", "high"])[np.digitize(few_values.y, [10, 30])]
    model = ours.XGBClassifier(n_estimators=10)
    model.fit(few_values.x, y, eval_set=[(few_values.x, y)], verbose=False)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert (model.predict(few_values.x) == y).mean() > 0.95
    model.save_model(tmp_path / "model.ubj")
    loaded = ours.XGBClassifier()
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(few_values.x), model.predict(few_values.x))
    with pytest.raises(DataError, match="does not occur"):
        model.fit(few_values.x, y, eval_set=[(few_values.x, ["none"] * 500)])


def test_several_labels(few_values: Any) -> None:
    y = np.column_stack([few_values.y > 10, few_values.y > 30]).astype(int)
    model = ours.XGBClassifier(n_estimators=10).fit(few_values.x, y)
    assert model.predict_proba(few_values.x).shape == (500, 2)
    assert (model.predict(few_values.x) == y).mean() > 0.95


def test_scores_and_halves_of_other_objectives(few_values: Any) -> None:
    y = few_values.y > 10
    raw = ours.XGBClassifier(objective="binary:logitraw", n_estimators=10).fit(few_values.x, y)
    score = raw.predict(few_values.x, output_margin=True)
    found = raw.predict_proba(few_values.x)[:, 1]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-score)), atol=1e-6)
    assert (raw.predict(few_values.x) == y).mean() > 0.9
    hinge = ours.XGBClassifier(objective="binary:hinge", n_estimators=10).fit(few_values.x, y)
    assert (hinge.predict(few_values.x) == y).mean() > 0.9


def test_queries_in_a_column(queries: Any) -> None:
    pandas = pytest.importorskip("pandas")
    qid = np.arange(400) // 10
    frame = pandas.DataFrame(queries.x, columns=list("abcde")).assign(qid=qid)
    model = ours.XGBRanker(n_estimators=5).fit(frame, queries.y)
    same = ours.XGBRanker(n_estimators=5).fit(queries.x, queries.y, qid=qid)
    np.testing.assert_array_equal(model.predict(frame), same.predict(queries.x))
    with pytest.raises(DataError, match="twice"):
        ours.XGBRanker().fit(queries.x, queries.y, qid=qid, group=[10] * 40)
    with pytest.raises(ParameterError, match="does not accept a function"):
        ours.XGBRanker(objective=len).fit(queries.x, queries.y, qid=qid)


def test_forests_refuse_to_stop_early(few_values: Any) -> None:
    with pytest.raises(NotSupportedError, match="early_stopping_rounds"):
        ours.XGBRFRegressor(early_stopping_rounds=3).fit(*few_values)


def test_nothing_old_is_left_after_a_failure(few_values: Any) -> None:
    model = ours.XGBRegressor(n_estimators=2).fit(*few_values)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(few_values.x, few_values.y[:3])
    with pytest.raises(NotFittedError):
        model.predict(few_values.x)


def test_the_seed_may_be_drawn(few_values: Any) -> None:
    def predictions(state: Any) -> Any:
        model = ours.XGBRegressor(n_estimators=3, subsample=0.5, random_state=state)
        return model.fit(*few_values).predict(few_values.x)

    first, second = (predictions(np.random.RandomState(i)) for i in (0, 0))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, predictions(1))


def test_scikit_learn_is_imported_when_it_is_needed() -> None:
    script = (
        "import sys, gossamer.compat.xgboost as xgb; assert 'sklearn' not in sys.modules;"
        "xgb.XGBRegressor(); assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="DaskDMatrix"):
        ours.DaskDMatrix  # noqa: B018


# ---- what was wrong without a word ----


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_saved_labels(xgb: Any, numbers: Any, tmp_path: Any, ending: str) -> None:
    labels = (np.nan_to_num(numbers.x[:, :3]) > 0).astype(int)
    model = xgb.XGBClassifier(n_estimators=5, n_jobs=1).fit(numbers.x, labels)
    path = tmp_path / f"model.{ending}"
    model.save_model(path)
    loaded = xgb.XGBClassifier()
    loaded.load_model(path)
    np.testing.assert_array_equal(loaded.predict(numbers.x), model.predict(numbers.x))
    np.testing.assert_allclose(
        loaded.predict_proba(numbers.x), model.predict_proba(numbers.x), rtol=1e-5
    )
    assert loaded.n_classes_ == 2


def test_metrics_of_scikit_learn_get_weights(xgb: Any, numbers: Any) -> None:
    x, y = numbers
    weight = np.where(y > 1, 5.0, 1.0)
    model = xgb.XGBRegressor(n_estimators=3, eval_metric=mean_absolute_error, n_jobs=1)
    model.fit(x, y, eval_set=[(x, y)], sample_weight_eval_set=[weight], verbose=False)
    found = model.evals_result()["validation_0"]
    assert list(found) == ["rmse", "mean_absolute_error"]
    expected = mean_absolute_error(y, model.predict(x), sample_weight=weight)
    assert found["mean_absolute_error"][-1] == pytest.approx(expected, rel=1e-5)


def test_functions_that_take_no_weights(xgb: Any, numbers: Any) -> None:
    def bias(y_true: Any, y_pred: Any) -> float:
        return float(np.mean(y_pred - y_true))

    x, y = numbers
    model = xgb.XGBRegressor(n_estimators=3, eval_metric=bias, n_jobs=1)
    with pytest.raises((TypeError, ParameterError), match="weight"):
        model.fit(x, y, eval_set=[(x, y)], sample_weight_eval_set=[np.ones(len(y))], verbose=False)


def test_own_metrics_of_softmax_see_classes(xgb: Any, classes: Any) -> None:
    x, y = classes

    def share(y_true: Any, y_pred: Any) -> float:
        return float(np.mean(y_true == y_pred))

    model = xgb.XGBClassifier(
        objective="multi:softmax", eval_metric=share, n_estimators=3, n_jobs=1
    )
    model.fit(x, y, eval_set=[(x, y)], verbose=False)
    found = model.evals_result()["validation_0"]["share"][-1]
    assert found == pytest.approx(np.mean(model.predict(x) == y))
    assert model.predict_proba(x).shape == (500, 3)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1, rtol=1e-5)


def test_probabilities_of_a_saved_softmax(xgb: Any, classes: Any, tmp_path: Any) -> None:
    x, y = classes
    model = xgb.XGBClassifier(objective="multi:softmax", n_estimators=3, n_jobs=1).fit(x, y)
    model.save_model(tmp_path / "model.json")
    loaded = xgb.XGBClassifier()
    loaded.load_model(tmp_path / "model.json")
    np.testing.assert_allclose(loaded.predict_proba(x), model.predict_proba(x), rtol=1e-5)


def test_scores_of_a_ranker(xgb: Any, queries: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(queries.x, columns=list("abcde")).assign(qid=np.arange(400) // 10)
    model = xgb.XGBRanker(n_estimators=5, n_jobs=1, eval_metric=["ndcg@2", "ndcg@5"])
    model.fit(frame, queries.y, eval_set=[(frame, queries.y)], verbose=False)
    expected = model.evals_result()["validation_0"]["ndcg@5"][-1]
    assert model.score(frame, queries.y) == pytest.approx(expected, rel=1e-5)
