"""A `CustomObjective` in the estimators."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gossamer import CustomObjective, Dataset, GossamerClassifier, GossamerRegressor
from gossamer.errors import ParameterError


def sigmoid(score: Any) -> Any:
    return 1 / (1 + np.exp(-score))


def logistic(score: Any, data: Dataset) -> Any:
    p = sigmoid(score)
    return p - data.get_label(), p * (1 - p)


def log_odds(data: Dataset) -> Any:
    share = data.get_label().mean(axis=0, dtype=np.float64)
    return np.log(share / (1 - share))


def softmax_loss(score: Any, data: Dataset) -> Any:
    exp = np.exp(score - score.max(axis=1, keepdims=True))
    p = exp / exp.sum(axis=1, keepdims=True)
    is_class = np.eye(score.shape[1])[data.get_label().astype(int)]
    return p - is_class, score.shape[1] / (score.shape[1] - 1) * p * (1 - p)


def both(score: Any) -> Any:
    p = sigmoid(score)
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize("link", ["sigmoid", sigmoid, both], ids=["name", "function", "columns"])
def test_two_classes(binary_rows: Any, link: Any) -> None:
    x, y = binary_rows
    names = np.array(["no", "yes"])[y]
    objective = CustomObjective(logistic, start=log_odds, link=link)
    model = clone(GossamerClassifier(objective=objective, n_estimators=20)).fit(x, names)
    built_in = GossamerClassifier(n_estimators=20).fit(x, names)
    np.testing.assert_allclose(model.predict_proba(x), built_in.predict_proba(x), atol=1e-3)
    assert (model.predict(x) == built_in.predict(x)).mean() > 0.99
    np.testing.assert_allclose(model.predict(x, raw_score=True), model.decision_function(x), atol=0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert isinstance(model.objective_, CustomObjective)


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_two_classes_with_softmax(binary_rows: Any, n_outputs: int | None) -> None:
    x, y = binary_rows
    objective = CustomObjective(softmax_loss, link="softmax", n_outputs=n_outputs, metric="merror")
    model = GossamerClassifier(objective=objective, n_estimators=20).fit(x, y, eval_set=[(x, y)])
    proba = model.predict_proba(x)
    assert proba.shape == (300, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(x), proba.argmax(axis=1))
    error = model.evals_result_["training"]["multi_error"][-1]
    assert error == pytest.approx((model.predict(x) != y).mean())
    assert ((model.decision_function(x) > 0) == model.predict(x)).all()


def test_several_classes(class_rows: Any) -> None:
    x, y = class_rows
    objective = CustomObjective(softmax_loss, link="softmax", metric="multi_logloss")
    model = GossamerClassifier(objective=objective, n_estimators=20)
    names = np.array(["a", "b", "c"])[y]
    model.fit(x, names, eval_set=[(x, names)])
    proba = model.predict_proba(x)
    assert proba.shape == (300, 3)
    assert (model.predict(x) == names).mean() > 0.9
    own = -np.log(proba[np.arange(300), y]).mean()
    assert model.evals_result_["training"]["multi_logloss"][-1] == pytest.approx(own, rel=1e-6)
    with pytest.raises(ParameterError, match=r"n_outputs.*got 1, expected 3"):
        wrong = CustomObjective(softmax_loss, n_outputs=1)
        GossamerClassifier(objective=wrong).fit(x, y)


def test_several_labels(class_rows: Any) -> None:
    x, y = class_rows
    labels = np.eye(3, dtype=int)[y]
    objective = CustomObjective(logistic, start=log_odds, link="sigmoid", metric="auc")
    model = GossamerClassifier(objective=objective, n_estimators=20)
    model.fit(x, labels, eval_set=[(x, labels)])
    built_in = GossamerClassifier(n_estimators=20).fit(x, labels)
    # Gradients are rounded, so that splits of nearly the same gain may differ.
    assert np.abs(model.predict_proba(x) - built_in.predict_proba(x)).mean() < 0.002
    assert (model.predict(x) == labels).mean() > 0.9
    assert model.evals_result_["training"]["auc"][-1] > 0.9


def test_without_a_link_scores_are_raw(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(objective=CustomObjective(logistic), n_estimators=5).fit(x, y)
    with pytest.warns(UserWarning, match="raw scores"):
        np.testing.assert_array_equal(model.predict(x), model.decision_function(x))


def test_regressor(number_rows: Any) -> None:
    x, y = number_rows
    counts = np.random.default_rng(0).poisson(np.exp(y / 4))

    def poisson(score: Any, data: Dataset) -> Any:
        return np.exp(score) - data.get_label(), np.exp(score)

    objective = CustomObjective(
        poisson, start=lambda d: np.log(d.get_label().mean()), link="exp", metric="l1"
    )
    model = GossamerRegressor(objective=objective).fit(x, counts, eval_set=[(x, counts)])
    assert model.predict(x).min() > 0
    assert model.score(x, counts) > 0.5
    assert list(model.evals_result_["training"]) == ["l1"]
    plain = GossamerRegressor(objective=CustomObjective(poisson)).fit(
        x, counts, eval_set=[(x, counts)]
    )
    assert plain.evals_result_ == {}
