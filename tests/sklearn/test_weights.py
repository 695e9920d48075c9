from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gossamer import GossamerClassifier, GossamerModel, GossamerRegressor
from gossamer.errors import DataError, ParameterError
from gossamer.sklearn.inputs import TrainingRows


def test_weight_zero_is_the_same_as_not_there(binary_rows: Any) -> None:
    x, y = binary_rows
    weight = np.random.default_rng(0).integers(0, 2, len(y))
    weighted = GossamerClassifier(min_child_samples=5).fit(x, y, sample_weight=weight)
    without = GossamerClassifier(min_child_samples=5).fit(x[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(weighted.predict_proba(x), without.predict_proba(x))


@pytest.mark.parametrize(
    "estimator",
    [GossamerClassifier, GossamerRegressor],
)
def test_weights_are_repetitions_up_to_rounding(estimator: type[GossamerModel]) -> None:
    """Where every value has a bin of its own; gradients are rounded, so not to the last bit."""
    rng = np.random.default_rng(3)
    x, y, weight = rng.random((15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    model = estimator(min_child_samples=1, min_data_in_bin=1, n_estimators=20)
    weighted = clone(model).fit(x, y, sample_weight=weight).predict(x, raw_score=True)
    repeated = clone(model).fit(x.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(weighted, repeated.predict(x, raw_score=True), atol=0.02)


def test_init_score_follows_the_rows_that_count(class_rows: Any) -> None:
    x, y = class_rows
    weight = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    init_score = np.random.default_rng(0).normal(size=(len(y), 3))
    kept = weight > 0
    expected = GossamerClassifier().fit(x[kept], y[kept], init_score=init_score[kept])
    for scores in (init_score, init_score.ravel(order="F")):
        found = GossamerClassifier().fit(x, y, sample_weight=weight, init_score=scores)
        np.testing.assert_array_equal(found.predict_proba(x), expected.predict_proba(x))


def test_rows_that_count_are_not_copied() -> None:
    rows = TrainingRows(np.eye(3), np.arange(3), np.ones(3), None)
    assert rows.that_count() is rows


def test_class_weight_is_a_sample_weight(class_rows: Any) -> None:
    x, y = class_rows
    names = np.array(["low", "middle", "high"])[y]
    class_weight = {"low": 1.0, "middle": 2.0, "high": 0.5}
    by_class = GossamerClassifier(class_weight=class_weight).fit(x, names)
    weight = [class_weight[name] for name in names]
    by_row = GossamerClassifier().fit(x, names, sample_weight=weight)
    np.testing.assert_array_equal(by_class.predict_proba(x), by_row.predict_proba(x))
    both = GossamerClassifier(class_weight=class_weight).fit(x, names, sample_weight=weight)
    squared = GossamerClassifier().fit(x, names, sample_weight=np.square(weight))
    np.testing.assert_array_equal(both.predict_proba(x), squared.predict_proba(x))


def test_balanced_classes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    y = x[:, 0] + rng.normal(size=500) > 2
    plain = GossamerClassifier(n_estimators=20).fit(x, y)
    balanced = GossamerClassifier(n_estimators=20, class_weight="balanced").fit(x, y)
    assert 0 < y.mean() < 0.2
    assert balanced.predict(x).mean() > plain.predict(x).mean()


def test_class_weight_of_zero_leaves_a_class_out(class_rows: Any) -> None:
    x, y = class_rows
    model = GossamerClassifier(class_weight={0: 1, 1: 1, 2: 0}).fit(x, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(x).shape == (300, 3)
    assert set(model.predict(x)) == {0, 1}


@pytest.mark.parametrize(
    ("weight", "what"),
    [
        (np.full(300, -1.0), "Negative"),
        (np.ones(299), "shape"),
        (np.full(300, np.nan), "NaN"),
        (np.zeros(300), "zero"),
        (np.ones((300, 2)), "1D"),
    ],
)
def test_bad_weights(binary_rows: Any, weight: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        GossamerClassifier().fit(*binary_rows, sample_weight=weight)


def test_no_class_counts(binary_rows: Any) -> None:
    with pytest.raises(DataError, match="zero for every row"):
        GossamerClassifier(class_weight={0: 0, 1: 0}).fit(*binary_rows)


@pytest.mark.parametrize(
    ("class_weight", "text"),
    [
        ("balance", "got 'balance', expected a dict"),
        (3.0, "got 3.0, expected a dict"),
        ({"low": 1, "lo": 2}, r"not among the labels: got 'lo', expected one of 'high', 'low'"),
        ({0: 1}, "not among the labels: got 0"),
        ({"low": -1}, "'low' cannot be used: got -1"),
        ({"low": np.nan}, "'low' cannot be used: got nan"),
        ({"low": np.inf}, "'low' cannot be used: got inf"),
        ({"low": "much"}, "'low' cannot be used: got 'much'"),
    ],
)
def test_class_weights_that_do_not_fit(binary_rows: Any, class_weight: Any, text: str) -> None:
    x, y = binary_rows
    names = np.array(["low", "high"])[y]
    with pytest.raises(ParameterError, match=text):
        GossamerClassifier(class_weight=class_weight).fit(x, names)
    with pytest.raises(ParameterError, match=text):
        GossamerClassifier().fit(
            x, names, eval_set=[(x[:50], names[:50])], eval_class_weight=[class_weight]
        )


def test_class_weights_may_leave_classes_out(class_rows: Any) -> None:
    x, y = class_rows
    some = GossamerClassifier(class_weight={np.int32(1): 2}, n_estimators=5).fit(x, y)
    all_of_them = GossamerClassifier(class_weight={0: 1.0, 1: 2.0, 2: 1.0}, n_estimators=5)
    np.testing.assert_array_equal(some.predict_proba(x), all_of_them.fit(x, y).predict_proba(x))


def test_balanced_classes_of_strings(binary_rows: Any) -> None:
    x, y = binary_rows
    by_name = GossamerClassifier(class_weight="balanced", n_estimators=5)
    by_name.fit(x, np.array(["a", "b"])[y])
    by_number = GossamerClassifier(class_weight="balanced", n_estimators=5).fit(x, y)
    np.testing.assert_array_equal(by_name.predict_proba(x), by_number.predict_proba(x))


def test_evaluation_data_may_lack_a_weighted_class(binary_rows: Any) -> None:
    x, y = binary_rows
    only = np.flatnonzero(y == 1)
    model = GossamerClassifier(n_estimators=2).fit(
        x, y, eval_set=[(x[only], y[only])], eval_class_weight=[{0: 2, 1: 3}]
    )
    assert len(model.evals_result_["valid_0"]["binary_logloss"]) == 2
