"""Objectives and metrics that users write."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from gossamer import GossamerClassifier, GossamerRegressor
from gossamer.errors import DataError, ParameterError


def squares(y_true: Any, y_pred: Any) -> Any:
    return y_pred - y_true, np.ones_like(y_pred)


def weighted_squares(y_true: Any, y_pred: Any, weight: Any) -> Any:
    return (y_pred - y_true) * weight, np.ones_like(y_pred) * weight


def all_arguments(y_true: Any, y_pred: Any, weight: Any, group: Any) -> Any:
    assert group is None
    return weighted_squares(y_true, y_pred, weight)


class Logistic:
    """An object that can be called."""

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        p = 1 / (1 + np.exp(-y_pred))
        return p - y_true, p * (1 - p)


def softmax_loss(y_true: Any, y_pred: Any) -> Any:
    exp = np.exp(y_pred - y_pred.max(axis=1, keepdims=True))
    p = exp / exp.sum(axis=1, keepdims=True)
    is_class = np.eye(y_pred.shape[1])[y_true.astype(int)]
    return p - is_class, 2 * p * (1 - p)


def test_objective_function(number_rows: Any) -> None:
    x, y = number_rows
    own = GossamerRegressor(objective=squares).fit(x, y)
    built_in = GossamerRegressor(boost_from_average=False).fit(x, y)
    np.testing.assert_allclose(own.predict(x), built_in.predict(x), rtol=1e-3, atol=1e-3)
    assert own.objective_ is squares


@pytest.mark.parametrize("function", [weighted_squares, all_arguments])
def test_objective_function_with_weights(number_rows: Any, function: Any) -> None:
    x, y = number_rows
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    own = GossamerRegressor(objective=function).fit(x, y, sample_weight=weight)
    built_in = GossamerRegressor(boost_from_average=False).fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(own.predict(x), built_in.predict(x), rtol=1e-2, atol=1e-2)


def test_classifier_with_a_function_returns_raw_scores(binary_rows: Any) -> None:
    x, y = binary_rows
    names = np.array(["no", "yes"])[y]
    model = GossamerClassifier(objective=Logistic()).fit(x, names, eval_set=[(x, names)])
    assert list(model.evals_result_["training"]) == ["binary_logloss"], "as in LightGBM"
    score = model.decision_function(x)
    assert ((score > 0) == y).mean() > 0.9
    for method in (model.predict, model.predict_proba):
        with pytest.warns(UserWarning, match="raw scores"):
            np.testing.assert_array_equal(method(x), score)


def test_classifier_with_a_function_of_several_classes(class_rows: Any) -> None:
    x, y = class_rows
    model = GossamerClassifier(objective=softmax_loss).fit(x, y)
    score = model.decision_function(x)
    assert score.shape == (300, 3)
    assert (score.argmax(axis=1) == y).mean() > 0.9


def worst(y_true: Any, y_pred: Any) -> Any:
    return "worst", float(np.abs(y_true - y_pred).max()), False


def mean_weight(y_true: Any, y_pred: Any, weight: Any) -> Any:
    return "mean_weight", float(weight.mean()), True


def test_metric_functions(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=4).fit(
        x,
        y,
        eval_set=[(x[:100], y[:100])],
        eval_sample_weight=[np.full(100, 2.5)],
        eval_metric=[worst, "mae", mean_weight],
    )
    history = model.evals_result_["valid_0"]
    assert list(history) == ["l1", "l2", "worst", "mean_weight"]
    expected = np.abs(model.predict(x[:100]) - y[:100]).max()
    np.testing.assert_allclose(history["worst"][-1], expected, rtol=1e-5)
    assert history["mean_weight"] == [2.5] * 4


def test_metric_function_of_classes(class_rows: Any) -> None:
    x, y = class_rows
    seen = []

    def shapes(y_true: Any, y_pred: Any) -> Any:
        seen.append((y_true.shape, y_pred.shape, set(y_true.tolist())))
        return [("one", 1.0, True), ("two", 2.0, False)]

    model = GossamerClassifier(n_estimators=1).fit(
        x,
        np.array(["a", "b", "c"])[y],
        eval_set=[(x, np.array(["a", "b", "c"])[y])],
        eval_metric=shapes,
    )
    assert seen == [((300,), (300, 3), {0.0, 1.0, 2.0})]
    assert list(model.evals_result_["valid_0"]) == ["multi_logloss", "one", "two"]


@pytest.mark.parametrize(
    "function", [lambda: 0, lambda y: 0, lambda a, b, c, d, e: 0], ids=["0", "1", "5"]
)
def test_functions_with_other_arguments(number_rows: Any, function: Any) -> None:
    with pytest.raises(ParameterError, match=r"objective.*y_true, y_pred"):
        GossamerRegressor(objective=function).fit(*number_rows)
    with pytest.raises(ParameterError, match=r"eval_metric.*y_true, y_pred"):
        GossamerRegressor().fit(*number_rows, eval_metric=function)


def test_functions_that_hide_their_arguments(number_rows: Any) -> None:
    def take_all(*arguments: Any) -> Any:
        return "n", float(len(arguments)), True

    named = partial(lambda y_true, y_pred, *, name: (name, 1.0, True), name="partial")
    x, y = number_rows
    model = GossamerRegressor(n_estimators=1).fit(
        x, y, eval_set=[(x, y)], eval_metric=[take_all, named]
    )
    history = model.evals_result_["training"]
    assert history["n"] == [4.0]
    assert history["partial"] == [1.0]


def test_functions_that_return_something_else(number_rows: Any) -> None:
    x, y = number_rows
    with pytest.raises(DataError, match="gradients and hessians"):
        GossamerRegressor(objective=lambda y, p: p).fit(x, y)
    with pytest.raises(DataError, match="higher is better"):
        GossamerRegressor().fit(x, y, eval_set=[(x, y)], eval_metric=lambda y, p: 0.5)
