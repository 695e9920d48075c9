"""The estimators in the tools of scikit-learn's world: names, categories, metadata, models."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from gossamer import GossamerClassifier, GossamerRanker, GossamerRegressor

ROUNDS = 8


@pytest.fixture(scope="module")
def cities() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=240),
            "city": pd.Categorical(rng.choice(["Bern", "Oslo", "Rome"], 240)),
            "age": rng.integers(0, 90, 240),
        }
    )
    return frame, (frame["size"] + (frame["city"] == "Oslo") > 0.3).to_numpy().astype(int)


# ---- tables through transformers ----


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_and_categories_arrive(cities: Any, library: str) -> None:
    frame, y = cities
    table = frame if library == "pandas" else pl.from_pandas(frame)
    scale = ColumnTransformer(
        [("scale", StandardScaler(), ["size"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    model = GossamerClassifier(n_estimators=ROUNDS)
    pipeline = make_pipeline(scale, model).set_output(transform=library).fit(table, y)
    booster = pipeline[-1].booster_
    assert booster.feature_name() == ["size", "city", "age"]
    assert booster.levels is not None and list(booster.levels.by_column.values()) == [
        ("Bern", "Oslo", "Rome")
    ]
    assert pipeline.score(table, y) > 0.9
    assert pipeline[:-1].get_feature_names_out().tolist() == booster.feature_name()
    # As good as without the scaler: trees do not care.
    direct = clone(model).fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(pipeline.predict_proba(table), direct, rtol=1e-6)


def test_categories_of_an_encoder(cities: Any) -> None:
    """Codes of an encoder, named as categories by what the encoder calls them."""
    frame, y = cities
    encode = ColumnTransformer(
        [("code", OrdinalEncoder(), make_column_selector(dtype_include="category"))],
        remainder="passthrough",
    ).set_output(transform="pandas")
    pipeline = make_pipeline(encode, GossamerClassifier(n_estimators=ROUNDS))
    pipeline.fit(frame, y, gossamerclassifier__categorical_feature=["code__city"])
    assert pipeline[-1].feature_name_ == ["code__city", "remainder__size", "remainder__age"]
    direct = GossamerClassifier(n_estimators=ROUNDS).fit(frame[["city", "size", "age"]], y)
    np.testing.assert_array_equal(
        pipeline.predict_proba(frame), direct.predict_proba(frame[["city", "size", "age"]])
    )


def test_selectors(number_rows: Any) -> None:
    x, y = number_rows
    frame = pd.DataFrame(x, columns=list("abcd"))
    model = GossamerRegressor(n_estimators=ROUNDS)
    select = SelectFromModel(model, threshold="1.5*mean").set_output(transform="pandas")
    assert list(select.fit_transform(frame, y).columns) == ["a"]
    assert select.get_feature_names_out().tolist() == ["a"]
    ranked = RFECV(model, cv=2, min_features_to_select=1).fit(frame, y)
    assert ranked.get_feature_names_out()[0] == "a"


# ---- metadata ----


@pytest.fixture
def routing() -> Any:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_and_evaluation_sets_are_routed(binary_rows: Any) -> None:
    x, y = binary_rows
    weight = np.where(y, 3.0, 0.5)
    model = GossamerClassifier(n_estimators=50, early_stopping_round=3, verbose=-1)
    model.set_fit_request(sample_weight=True, eval_set=True)
    pipeline = Pipeline([("model", model)], transform_input=["eval_set"])
    pipeline.fit(x, y, sample_weight=weight, eval_set=[(x[::2], y[::2])])
    direct = GossamerClassifier(n_estimators=50, early_stopping_round=3, verbose=-1)
    direct.fit(x, y, sample_weight=weight, eval_set=[(x[::2], y[::2])])
    np.testing.assert_array_equal(pipeline.predict_proba(x), direct.predict_proba(x))
    assert pipeline[-1].best_iteration_ == direct.best_iteration_


@pytest.mark.usefixtures("routing")
def test_evaluation_sets_go_through_the_transformers(binary_rows: Any) -> None:
    """`transform_input`: what the model evaluates is scaled like what it learns."""
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=ROUNDS).set_fit_request(eval_X=True, eval_y=True)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", model)], transform_input=["eval_X"])
    pipeline.fit(100 * x, y, eval_X=(100 * x[::2],), eval_y=(y[::2],))
    scaled = StandardScaler().fit(100 * x)
    direct = GossamerClassifier(n_estimators=ROUNDS)
    direct.fit(scaled.transform(100 * x), y, eval_set=[(scaled.transform(100 * x[::2]), y[::2])])
    assert pipeline[-1].evals_result_ == direct.evals_result_


@pytest.mark.usefixtures("routing")
def test_weights_reach_every_fold_of_a_search(binary_rows: Any) -> None:
    x, y = binary_rows
    weight = np.where(y, 3.0, 0.5)
    model = GossamerClassifier(n_estimators=ROUNDS).set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"num_leaves": [4, 8]}, cv=2).fit(x, y, sample_weight=weight)
    direct = GossamerClassifier(n_estimators=ROUNDS, **search.best_params_).fit(x, y, weight)
    np.testing.assert_array_equal(search.predict_proba(x), direct.predict_proba(x))
    plain = GridSearchCV(GossamerClassifier(n_estimators=ROUNDS), {"num_leaves": [4, 8]}, cv=2).fit(
        x, y
    )
    assert search.best_score_ != plain.best_score_
    found = cross_validate(
        model, x, y, cv=GroupKFold(2), params={"sample_weight": weight, "groups": np.arange(300)}
    )
    assert found["test_score"].min() > 0.7


@pytest.mark.usefixtures("routing")
def test_queries_are_routed() -> None:
    """Queries as one id per row can be split; rows of each query cannot."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 3))
    query = np.repeat(np.arange(20), 10)
    y = x[:, 0].round().clip(0, 3)
    model = GossamerRanker(n_estimators=ROUNDS).set_fit_request(query=True)
    found = cross_validate(
        model,
        x,
        y,
        cv=GroupKFold(2),
        scoring=lambda fitted, x, y: np.corrcoef(fitted.predict(x), y)[0, 1],
        params={"query": query, "groups": query},
    )
    assert found["test_score"].min() > 0.7


def test_what_nobody_asked_for_is_refused(binary_rows: Any) -> None:
    x, y = binary_rows
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"),
    ):
        cross_validate(GossamerClassifier(), x, y, params={"sample_weight": np.ones(300)})


# ---- searches ----


def test_halving(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=ROUNDS, min_child_samples=5)
    grid = {"num_leaves": [2, 4, 8], "max_bin": [7, 63]}
    by_rows = HalvingGridSearchCV(model, grid, cv=2, random_state=0).fit(x, y)
    assert by_rows.score(x, y) > 0.8
    by_rounds = HalvingRandomSearchCV(
        model, grid, n_candidates=6, resource="n_estimators", max_resources=20, cv=2, random_state=0
    ).fit(x, y)
    assert by_rounds.best_estimator_.n_estimators_ > 2
    assert by_rounds.score(x, y) > 0.8


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_random_search(binary_rows: Any, backend: str) -> None:
    x, y = binary_rows
    space = {"model__learning_rate": [0.05, 0.1, 0.3], "model__lambda_l2": [0.0, 1.0]}
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GossamerClassifier(n_jobs=1))])
    pipeline.set_params(model__n_estimators=ROUNDS)
    search = RandomizedSearchCV(pipeline, space, n_iter=3, cv=2, random_state=0, n_jobs=2)
    with joblib.parallel_config(backend):
        search.fit(x, y)
    assert set(search.best_params_) == set(space)
    again = clone(pipeline).set_params(**search.best_params_).fit(x, y)
    np.testing.assert_array_equal(search.predict_proba(x), again.predict_proba(x))


def test_curves(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=ROUNDS, min_child_samples=5)
    _, _, scores = learning_curve(model, x, y, cv=2, train_sizes=[0.3, 1.0])
    assert scores[1].mean() > scores[0].mean()
    train, _ = validation_curve(model, x, y, param_name="num_leaves", param_range=[2, 8], cv=2)
    assert train[1].mean() > train[0].mean()


# ---- models of models ----


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_of_a_fitted_model(binary_rows: Any, method: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=ROUNDS).fit(x[:200], y[:200])
    before = model.booster_.model_to_string()
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), method=method).fit(x, y)
    assert calibrated.score(x, y) > 0.8
    assert model.booster_.model_to_string() == before
    found = calibrated.predict_proba(x)[:, 1]
    assert found.mean() == pytest.approx(y.mean(), abs=0.05)


def test_calibration_with_folds_names_and_categories(cities: Any) -> None:
    frame, y = cities
    calibrated = CalibratedClassifierCV(GossamerClassifier(n_estimators=ROUNDS), cv=2)
    assert calibrated.fit(frame, y).score(frame, y) > 0.9


def test_frozen_in_a_vote(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=ROUNDS).fit(x, y)
    vote = VotingClassifier([("a", FrozenEstimator(model)), ("b", clone(model))], voting="soft")
    np.testing.assert_array_equal(vote.fit(x, y).predict_proba(x), model.predict_proba(x))


def test_one_against_the_rest(class_rows: Any) -> None:
    x, y = class_rows
    model = OneVsRestClassifier(GossamerClassifier(n_estimators=ROUNDS)).fit(x, y)
    assert model.score(x, y) > 0.8
    labels = np.c_[y == 0, y == 1].astype(int)
    chain = ClassifierChain(GossamerClassifier(n_estimators=ROUNDS)).fit(x, labels)
    assert chain.score(x, labels) > 0.7


def test_partial_dependence(cities: Any) -> None:
    frame, y = cities
    model = GossamerClassifier(n_estimators=ROUNDS).fit(frame, y)
    size = partial_dependence(model, frame, ["size"], grid_resolution=5, kind="both")
    assert size["average"][0, -1] > size["average"][0, 0]
    assert size["individual"].shape == (1, 240, 5)
    city = partial_dependence(model, frame, ["city"], categorical_features=["city"])
    assert city["grid_values"][0].tolist() == ["Bern", "Oslo", "Rome"]
    assert city["average"][0].argmax() == 1


def test_predictions_of_folds(cities: Any) -> None:
    frame, y = cities
    model = GossamerClassifier(n_estimators=ROUNDS)
    found = cross_val_predict(model, frame, y, cv=3, method="predict_proba")
    assert ((found[:, 1] > 0.5) == y).mean() > 0.85


# ---- parallel, copies, displays ----


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_fitted_models_in_workers(cities: Any, backend: str) -> None:
    frame, y = cities
    model = GossamerClassifier(n_estimators=ROUNDS, n_jobs=1).fit(frame, y)
    parts = [frame[i::3] for i in range(3)]
    with joblib.parallel_config(backend):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(model.predict_proba)(p) for p in parts)
    for part, prediction in zip(parts, found, strict=True):
        np.testing.assert_array_equal(prediction, model.predict_proba(part))


def test_copies(cities: Any, tmp_path: Path) -> None:
    frame, y = cities
    model = make_pipeline(GossamerClassifier(n_estimators=ROUNDS, max_bin=31)).fit(frame, y)
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again[-1].get_params() == model[-1].get_params()
        assert again[-1].feature_names_in_.tolist() == ["size", "city", "age"]


def test_skops(cities: Any, tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    frame, y = cities
    model = GossamerClassifier(n_estimators=ROUNDS).fit(frame, y)
    io.dump(model, tmp_path / "model.skops")
    unknown = io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("gossamer.") for name in unknown)
    again = io.load(tmp_path / "model.skops", trusted=unknown)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_displays(cities: Any) -> None:
    frame, y = cities
    model = GossamerClassifier(num_leaves=7, max_bin=31)
    assert repr(model) == "GossamerClassifier(max_bin=31, num_leaves=7)"
    pipeline = make_pipeline(model)
    before = pipeline._repr_html_()
    assert "max_bin" in before and "Not fitted" in before
    assert (
        "Fitted"
        in pipeline.set_params(gossamerclassifier__n_estimators=2).fit(frame, y)._repr_html_()
    )
