"""The estimators among scikit-learn's tools."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier, VotingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gossamer import GossamerClassifier, GossamerRegressor


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_grid_search(binary_rows: Any, backend: str) -> None:
    grid = {"num_leaves": [4, 15], "max_bin": [15, 63]}
    search = GridSearchCV(GossamerClassifier(n_estimators=20), grid, cv=2, n_jobs=2)
    with joblib.parallel_config(backend):
        search.fit(*binary_rows)
    alone = GridSearchCV(GossamerClassifier(n_estimators=20), grid, cv=2).fit(*binary_rows)
    assert search.best_params_ == alone.best_params_
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )
    assert search.best_score_ > 0.8
    np.testing.assert_array_equal(
        search.predict_proba(binary_rows[0]), alone.predict_proba(binary_rows[0])
    )


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy", "average_precision"])
def test_scorers(binary_rows: Any, scoring: str) -> None:
    model = GossamerClassifier(n_estimators=20)
    assert cross_val_score(model, *binary_rows, cv=3, scoring=scoring).min() > -0.5


def test_a_search_reports_a_bad_parameter(binary_rows: Any) -> None:
    search = GridSearchCV(GossamerClassifier(), {"num_leafs": [4]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="num_leaf"):
        search.fit(*binary_rows)


def test_pipeline_with_names(number_rows: Any) -> None:
    frame = pd.DataFrame(number_rows[0], columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), GossamerRegressor())
    pipeline.set_output(transform="pandas").fit(frame, number_rows[1])
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    assert pipeline.score(frame, number_rows[1]) > 0.9


def test_early_stopping_in_a_pipeline(number_rows: Any) -> None:
    x, y = number_rows
    pipeline = make_pipeline(
        StandardScaler(), GossamerRegressor(early_stopping_round=3, verbose=-1)
    )
    pipeline.fit(x, y, gossamerregressor__eval_set=[(x[:50], y[:50])])
    assert "valid_0" in pipeline[-1].evals_result_


def test_metadata_routing(binary_rows: Any) -> None:
    x, y = binary_rows
    weight = np.where(y, 3.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        model = GossamerClassifier(n_estimators=10)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(x, y, sample_weight=weight)
        scores = cross_validate(model, x, y, cv=2, params={"sample_weight": weight})
    direct = make_pipeline(StandardScaler(), GossamerClassifier(n_estimators=10))
    direct.fit(x, y, gossamerclassifier__sample_weight=weight)
    np.testing.assert_array_equal(pipeline.predict_proba(x), direct.predict_proba(x))
    assert scores["test_score"].min() > 0.7


def test_other_tools(binary_rows: Any, number_rows: Any) -> None:
    classifier = GossamerClassifier(n_estimators=10)
    regressor = GossamerRegressor(n_estimators=30)
    x, y = number_rows
    assert SelectFromModel(regressor).fit(x, y).get_support()[0]
    assert VotingRegressor([("a", regressor), ("b", regressor)]).fit(x, y).score(x, y) > 0.8
    assert MultiOutputRegressor(regressor).fit(x, np.c_[y, -y]).score(x, np.c_[y, -y]) > 0.8
    scaled = TransformedTargetRegressor(regressor, func=np.arcsinh, inverse_func=np.sinh)
    assert scaled.fit(x, y).score(x, y) > 0.8
    fitted = regressor.fit(x, y)
    importance = permutation_importance(fitted, x, y, n_repeats=2, random_state=0)
    assert importance["importances_mean"].argmax() == 0
    x, y = binary_rows
    assert CalibratedClassifierCV(classifier, cv=2).fit(x, y).score(x, y) > 0.8
    stack = StackingClassifier([("a", classifier)], LogisticRegression(), cv=2)
    assert stack.fit(x, y).score(x, y) > 0.8
