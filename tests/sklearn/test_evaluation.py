from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import GossamerClassifier, GossamerRegressor
from gossamer.errors import DataError, ParameterError


def test_early_stopping(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=500, learning_rate=0.3)
    model.fit(
        x[:200],
        y[:200],
        eval_set=[(x[200:], y[200:])],
        eval_metric="auc",
        callbacks=[gossamer.early_stopping(10, verbose=False)],
    )
    history = model.evals_result_["valid_0"]
    assert list(history) == ["auc", "binary_logloss"]
    assert 0 < model.best_iteration_ == model.n_estimators_ == model.n_iter_
    assert model.best_iteration_ < len(history["auc"]) < 500
    best = {name: values[model.best_iteration_ - 1] for name, values in history.items()}
    assert model.best_score_ == {"valid_0": best}
    np.testing.assert_array_equal(
        model.predict_proba(x), model.predict_proba(x, num_iteration=model.best_iteration_)
    )


def test_early_stopping_as_a_parameter(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=500, early_stopping_round=5, verbose=-1)
    model.fit(x[:150], y[:150], eval_X=x[150:], eval_y=y[150:])
    assert 0 < model.best_iteration_ < 500


def test_without_evaluation(number_rows: Any) -> None:
    model = GossamerRegressor().fit(*number_rows)
    assert model.evals_result_ == {}
    assert model.best_score_ == {}
    assert model.best_iteration_ == 0


def test_three_ways_to_say_it(number_rows: Any) -> None:
    x, y = number_rows
    a, b = (x[:99], y[:99]), (x[99:], y[99:])

    def history(**arguments: Any) -> Any:
        return GossamerRegressor(n_estimators=3).fit(x, y, **arguments).evals_result_

    two = history(eval_set=[a, b])
    assert list(two) == ["valid_0", "valid_1"]
    assert two == history(eval_set=[list(a), list(b)])
    assert two == history(eval_X=(a[0], b[0]), eval_y=(a[1], b[1]))
    assert {"valid_0": two["valid_0"]} == history(eval_set=a) == history(eval_set=[a])
    assert {"valid_0": two["valid_0"]} == history(eval_X=a[0], eval_y=a[1])
    named = history(eval_set=[a, b], eval_names=["first", "second"])
    assert list(named) == ["first", "second"]
    assert list(history(eval_set=[a], eval_names="only")) == ["only"]


def test_the_training_data_itself(number_rows: Any) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=3).fit(x, y, eval_set=[(x, y), (x[:9], y[:9])])
    assert list(model.evals_result_) == ["training", "valid_1"]
    model.fit(x, y, eval_set=[(x, y)], eval_names=["train"])
    assert list(model.evals_result_) == ["train"]


def test_weights_and_scores_of_evaluation_sets(class_rows: Any) -> None:
    x, y = class_rows
    names = np.array(["a", "b", "c"])[y]
    weight = np.arange(len(y)) % 3 + 1.0
    by_class = {"a": 1.0, "b": 2.0, "c": 3.0}
    product = weight * [by_class[name] for name in names]
    copies = [(x.copy(), names) for _ in range(3)]
    model = GossamerClassifier(n_estimators=3).fit(
        x,
        names,
        eval_set=copies,
        eval_sample_weight=[weight, product, None],
        eval_class_weight={0: by_class},
        eval_init_score=[None, None, np.zeros((300, 3))],
        eval_metric="error",
    )
    history = model.evals_result_
    assert history["valid_0"] == history["valid_1"]
    assert list(history["valid_0"]) == ["multi_error", "multi_logloss"]
    assert history["valid_0"] != history["valid_2"]


def test_labels_of_evaluation_sets(binary_rows: Any) -> None:
    x, y = binary_rows
    names = np.array(["no", "yes"])[y]
    model = GossamerClassifier(n_estimators=3)
    for labels in (names[:50], names[:50].tolist(), names[:50].astype(object)):
        model.fit(x, names, eval_set=[(x[:50], labels)])
    with pytest.raises(DataError, match=r"'valid_0'.*got 'maybe', expected one of 'no', 'yes'"):
        model.fit(x, names, eval_set=[(x[:1], ["maybe"])])
    with pytest.raises(DataError, match=r"sorted|does not occur"):
        model.fit(x, names, eval_set=[(x[:2], np.array(["no", 1], dtype=object))])
    with pytest.raises(DataError, match="differ in length"):
        model.fit(x, names, eval_set=[(x[:2], ["no"])])
    # A number is the same class whatever its type.
    GossamerClassifier(n_estimators=1).fit(x, y, eval_set=[(x, y.astype(float)), (x, y > 0)])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (None, ["binary_logloss"]),
        ("auc", ["auc", "binary_logloss"]),
        ("auc, error", ["auc", "binary_error", "binary_logloss"]),
        (["multi_logloss", "multi_error"], ["binary_logloss", "binary_error"]),
        ("binary", ["binary_logloss"]),
        ([], ["binary_logloss"]),
    ],
    ids=str,
)
def test_metrics(binary_rows: Any, metric: Any, expected: list[str]) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=1).fit(x, y, eval_set=[(x, y)], eval_metric=metric)
    assert list(model.evals_result_["training"]) == expected


@pytest.mark.parametrize(
    ("params", "metric", "expected"),
    [
        ({"metric": "mae"}, None, ["l1"]),
        ({"metrics": "mae,rmse"}, "l2", ["l2", "l1", "rmse"]),
        ({"metric": ["mae"]}, ["l1"], ["l1"]),
        ({"metric": "None"}, None, []),
        ({"objective": "rmse"}, None, ["rmse"]),
        ({"objective": "rmse"}, "l1", ["l1", "rmse"]),
        ({"objective": lambda y, p: (p - y, p * 0 + 1)}, None, ["l2"]),
    ],
    # A function's address would give every worker of pytest-xdist other names.
    ids=lambda value: re.sub(r" at 0x\w+", "", str(value)),
)
def test_metrics_with_a_parameter(
    number_rows: Any, params: Any, metric: Any, expected: list[str]
) -> None:
    x, y = number_rows
    model = GossamerRegressor(n_estimators=1, **params)
    model.fit(x, y, eval_set=[(x, y)], eval_metric=metric)
    assert list(model.evals_result_.get("training", {})) == expected


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"eval_set": 3}, r"expected \[\(X, y\), \.\.\.\]"),
        ({"eval_set": [1, 2]}, r"expected \[\(X, y\), \.\.\.\]"),
        ({"eval_X": [[1.0]]}, "only one of eval_X and eval_y"),
        ({"eval_y": [1.0]}, "only one of eval_X and eval_y"),
        ({"eval_set": [], "eval_X": 1, "eval_y": 1}, "given twice"),
        ({"eval_X": (1, 2), "eval_y": (1,)}, "do not match"),
        ({"eval_X": (1,), "eval_y": 1}, "do not match"),
        ({"eval_names": ["a"]}, "Pass eval_set as well"),
        ({"eval_sample_weight": np.ones(3)}, "ndarray, expected a list of 0|Pass eval_set"),
        ({"eval_init_score": {3: [0.0]}}, "got 3"),
        ({"eval_metric": "no_metric"}, "metric is not a known name"),
        ({"eval_metric": [3]}, "metric"),
        ({"callbacks": [gossamer.early_stopping(3)]}, "nothing to evaluate"),
    ],
    ids=str,
)
def test_bad_arguments(number_rows: Any, arguments: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        GossamerRegressor().fit(*number_rows, **arguments)
