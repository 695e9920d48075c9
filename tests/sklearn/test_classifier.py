from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from gossamer import Booster, GossamerClassifier
from gossamer.errors import NotSupportedError, ParameterError


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-7, 1000],
        [False, True],
        ["no", "yes"],
        [0.0, 3.0],
        [2**40, 2**41],
        ["a", "b", "c"],
        [10, 20, 30],
        [-1, 0, 1],
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.array, list, pd.Series, pd.Categorical], ids=str)
def test_labels_of_any_type(class_rows: Any, labels: list[Any], kind: Any) -> None:
    x, codes = class_rows
    codes = codes % len(labels)
    y = kind([labels[code] for code in codes])
    model = GossamerClassifier(n_estimators=10).fit(x, y)
    assert model.classes_.tolist() == labels
    assert model.n_classes_ == len(labels)
    predicted = model.predict(x)
    assert predicted.dtype == model.classes_.dtype
    assert set(predicted.tolist()) <= set(labels)
    plain = GossamerClassifier(n_estimators=10).fit(x, codes)
    np.testing.assert_array_equal(model.predict_proba(x), plain.predict_proba(x))
    assert model.score(x, y) == plain.score(x, codes) > 0.7


def test_two_classes(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier().fit(x, y)
    assert model.objective_ == "binary"
    probability, score = model.predict_proba(x), model.decision_function(x)
    assert probability.shape == (300, 2)
    assert score.shape == (300,)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-score)))
    np.testing.assert_array_equal(probability[:, 1], model.booster_.predict(x))
    np.testing.assert_array_equal(model.predict(x), (score > 0).astype(int))
    np.testing.assert_array_equal(model.predict(x, raw_score=True), score)
    assert model.predict(x, pred_leaf=True).shape == (300, 100)
    assert model.predict_proba(x, pred_leaf=True).shape == (300, 100)
    assert model.score(x, y) > 0.95


def test_several_classes(class_rows: Any) -> None:
    x, y = class_rows
    model = GossamerClassifier().fit(x, y)
    assert model.objective_ == "multiclass"
    probability, score = model.predict_proba(x), model.decision_function(x)
    assert probability.shape == score.shape == (300, 3)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(x), probability.argmax(axis=1))
    np.testing.assert_array_equal(model.predict_proba(x, raw_score=True), score)
    assert model.predict(x, pred_leaf=True).shape == (300, 300)


def test_multiclass_with_two_classes(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(objective="softmax", num_class=2).fit(x, y, eval_set=[(x, y)])
    assert model.booster_.num_model_per_iteration() == 2
    assert list(model.evals_result_["training"]) == ["multi_logloss"]
    probability, score = model.predict_proba(x), model.decision_function(x)
    assert probability.shape == (300, 2)
    assert score.shape == (300,)
    np.testing.assert_array_equal(model.predict(x), (score > 0).astype(int))
    assert model.score(x, y) > 0.95


def test_rounds(binary_rows: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier(n_estimators=20).fit(x, y)
    short = GossamerClassifier(n_estimators=5).fit(x, y)
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(model, method)(x, num_iteration=5), getattr(short, method)(x)
        )
    first = model.decision_function(x, num_iteration=5)
    rest = model.decision_function(x, start_iteration=5)
    np.testing.assert_allclose(first + rest, model.decision_function(x))


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"objective": "binary"}, "got 3 classes, expected 2"),
        ({"objective": "regression"}, "one of binary, .*multiclass, .*or a function"),
        ({"num_class": 4}, "got 4, expected 3"),
        ({"app": "l2"}, "not one for classes"),
    ],
    ids=str,
)
def test_objectives_that_do_not_fit(class_rows: Any, params: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        GossamerClassifier(**params).fit(*class_rows)


@pytest.mark.parametrize(
    "y",
    [
        np.linspace(0, 1, 300),
        [None] * 300,
        [np.nan, *([1.0] * 299)],
        np.full((300, 2), 2),
        np.array(["a", 1] * 150, dtype=object),
        [1] * 299,
    ],
    ids=["continuous", "none", "nan", "two columns", "mixed", "too few"],
)
def test_bad_labels(binary_rows: Any, y: Any) -> None:
    with pytest.raises(ValueError, match=r".{15}"):
        GossamerClassifier().fit(binary_rows[0], y)


FACTS = """
best_iteration_ best_score_ booster_ evals_result_ feature_importances_ feature_name_ n_estimators_
n_features_ n_iter_ objective_
"""


def test_not_fitted() -> None:
    model = GossamerClassifier()
    x = np.zeros((2, 2))
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(model, method)(x)
    for name in FACTS.split():
        with pytest.raises(NotFittedError):
            getattr(model, name)
    for name in ("classes_", "n_classes_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("dump", [pickle, joblib], ids=["pickle", "joblib"])
def test_pickle(class_rows: Any, dump: Any, tmp_path: Any) -> None:
    x, y = class_rows
    names = np.array(["a", "b", "c"])[y]
    model = GossamerClassifier(max_bin=31).fit(x, names, eval_set=[(x[:50], names[:50])])
    path = tmp_path / "model"
    with path.open("wb") as file:
        dump.dump(model, file)
    with path.open("rb") as file:
        again = dump.load(file)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    assert again.get_params() == model.get_params()
    assert again.evals_result_ == model.evals_result_
    again.fit(x, y)


def test_the_model_file_speaks_of_numbers(binary_rows: Any, tmp_path: Any) -> None:
    x, y = binary_rows
    model = GossamerClassifier().fit(x, y)
    model.booster_.save_model(tmp_path / "model")
    booster = Booster(model_file=tmp_path / "model")
    np.testing.assert_array_equal(booster.predict(x), model.predict_proba(x)[:, 1])


def test_fitting_again(binary_rows: Any, class_rows: Any) -> None:
    model = GossamerClassifier()
    first = model.fit(*binary_rows).predict_proba(binary_rows[0])
    assert model.fit(*class_rows).predict_proba(class_rows[0]).shape == (300, 3)
    np.testing.assert_array_equal(model.fit(*binary_rows).predict_proba(binary_rows[0]), first)
    assert model.n_classes_ == 2


class TestOtherObjectives:
    """Losses for classes other than the default ones."""

    rng = np.random.default_rng(3)
    table = rng.normal(size=(600, 3))
    two = np.where(table[:, 0] + 0.3 * rng.normal(size=600) > 0, "yes", "no")
    three = np.digitize(table[:, 0] + 0.3 * rng.normal(size=600), [-0.5, 0.5]) * 10

    def fit(self, objective: str, y: np.ndarray, **params: Any) -> GossamerClassifier:
        model = GossamerClassifier(n_estimators=10, objective=objective, verbosity=-1, **params)
        return model.fit(self.table, y)

    @pytest.mark.parametrize("objective", ["binary:logitraw", "focal", "cross_entropy"])
    def test_two_classes(self, objective: str) -> None:
        model = self.fit(objective, self.two)
        probability = model.predict_proba(self.table)
        score = model.decision_function(self.table)
        np.testing.assert_allclose(probability[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-12)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        np.testing.assert_array_equal(model.predict(self.table), model.classes_[(score > 0) * 1])
        assert model.score(self.table, self.two) > 0.85

    def test_logitraw_is_binary(self) -> None:
        raw = self.fit("binary:logitraw", self.two, sigmoid=0.5)
        binary = self.fit("binary", self.two, sigmoid=0.5)
        np.testing.assert_array_equal(
            raw.predict_proba(self.table), binary.predict_proba(self.table)
        )

    def test_hinge_has_classes_but_no_probabilities(self) -> None:
        model = self.fit("hinge", self.two)
        assert model.score(self.table, self.two) > 0.85
        with pytest.raises(NotSupportedError, match="objective=hinge has no probabilities"):
            model.predict_proba(self.table)
        assert model.predict_proba(self.table, raw_score=True).shape == (600,)

    @pytest.mark.parametrize("objective", ["multiclassova", "multi:softmax"])
    def test_several_classes(self, objective: str) -> None:
        model = self.fit(objective, self.three)
        probability = model.predict_proba(self.table)
        assert probability.shape == (600, 3)
        best = model.classes_[probability.argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(self.table), best)
        assert model.score(self.table, self.three) > 0.85
        if objective == "multi:softmax":
            softmax = self.fit("multiclass", self.three).predict_proba(self.table)
            np.testing.assert_array_equal(probability, softmax)

    @pytest.mark.parametrize("objective", ["hinge", "focal"])
    def test_too_many_classes(self, objective: str) -> None:
        with pytest.raises(ParameterError, match=f"objective={objective} does not fit the labels"):
            self.fit(objective, self.three)
