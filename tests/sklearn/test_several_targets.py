"""Estimators on labels of several columns."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import accuracy_score, get_scorer, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from gossamer import DataError, GossamerClassifier, GossamerModel, GossamerRegressor
from gossamer.errors import NotSupportedError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
NUMBERS = np.column_stack([X[:, 0] ** 2, X[:, 1] + 0.1 * RNG.normal(size=300), 5 * X[:, 2]])
LABELS = (np.column_stack([X[:, 0], X[:, 1] - 1, X[:, 2] + RNG.normal(size=300)]) > 0).astype(int)


def test_regressor() -> None:
    model = GossamerRegressor(n_estimators=30).fit(X, NUMBERS)
    alone = [GossamerRegressor(n_estimators=30).fit(X, NUMBERS[:, k]) for k in range(3)]
    expected = np.column_stack([one.predict(X) for one in alone])
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.score(X, NUMBERS) == pytest.approx(r2_score(NUMBERS, expected))
    assert get_tags(model).target_tags.multi_output
    assert model.feature_importances_.sum() == sum(o.feature_importances_.sum() for o in alone)


def test_regressor_with_weights_scores_and_evaluation() -> None:
    seen = []

    def worst(y_true: Any, y_pred: Any, weight: Any) -> Any:
        seen.append((y_true.shape, y_pred.shape, weight.shape))
        return "worst", float(np.abs(y_true - y_pred).max()), False

    weight = np.ones(300)
    weight[:50] = 0  # left out
    model = GossamerRegressor(n_estimators=10).fit(
        X,
        NUMBERS,
        sample_weight=weight,
        init_score=np.zeros((300, 3)),
        eval_set=[(X[:90], NUMBERS[:90])],
        eval_sample_weight=[weight[:90] + 1],
        eval_init_score=[np.zeros((90, 3))],
        eval_metric=["mae", worst],
    )
    assert set(seen) == {((90, 3), (90, 3), (90,))}
    history = model.evals_result_["valid_0"]
    assert list(history) == ["l1", "l2", "worst"]
    found = np.abs(model.predict(X[:90]) - NUMBERS[:90])
    expected = np.average(found, axis=0, weights=weight[:90] + 1).mean()
    assert history["l1"][-1] == pytest.approx(expected, rel=1e-5)
    rest = GossamerRegressor(n_estimators=10).fit(X[50:], NUMBERS[50:], init_score=[[0] * 3] * 250)
    np.testing.assert_array_equal(model.predict(X), rest.predict(X))


def test_model_with_a_named_objective() -> None:
    model = GossamerModel(objective="binary", n_estimators=5).fit(X, LABELS)
    assert model.predict(X).shape == (300, 3)


def test_classifier() -> None:
    model = GossamerClassifier(n_estimators=20).fit(X, LABELS)
    alone = [GossamerClassifier(n_estimators=20).fit(X, LABELS[:, k]) for k in range(3)]
    for found, parts in (
        (model.predict(X), [one.predict(X) for one in alone]),
        (model.predict_proba(X), [one.predict_proba(X)[:, 1] for one in alone]),
        (model.decision_function(X), [one.decision_function(X) for one in alone]),
    ):
        np.testing.assert_array_equal(found, np.column_stack(parts))
    assert model.score(X, LABELS) == accuracy_score(LABELS, model.predict(X)) > 0.7
    assert [list(classes) for classes in model.classes_] == [[0, 1]] * 3
    assert model.n_classes_ == 2
    assert get_tags(model).classifier_tags.multi_label


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1_macro", "accuracy"])
def test_classifier_with_scorers(n_labels: int, scoring: str) -> None:
    """With two labels their classes must not be taken for those of one label."""
    y = LABELS[:, -n_labels:]
    scores = cross_val_score(GossamerClassifier(n_estimators=10), X, y, scoring=scoring, cv=3)
    assert scores.min() > 0.3
    model = GossamerClassifier(n_estimators=10).fit(X, y)
    assert get_scorer(scoring)(model, X, y) > 0.7


@pytest.mark.parametrize(
    "form",
    [
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: y.astype(np.uint8),
        lambda y: y.tolist(),
        csr_array,
    ],
    ids=["bool", "float", "uint8", "lists", "sparse"],
)
def test_indicators_of_any_type(form: Any) -> None:
    expected = GossamerClassifier(n_estimators=5).fit(X, LABELS).predict(X)
    y = form(LABELS)
    model = GossamerClassifier(n_estimators=5).fit(X, y, eval_set=[(X[:50], form(LABELS[:50]))])
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.predict(X).dtype == (y.dtype if hasattr(y, "dtype") else LABELS.dtype)
    assert len(model.evals_result_["valid_0"]["binary_logloss"]) == 5


def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    model = GossamerRegressor(n_estimators=5).fit(pd.DataFrame(X), frame)
    expected = GossamerRegressor(n_estimators=5).fit(X, NUMBERS).predict(X)
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X)), expected)


def test_copies() -> None:
    model = GossamerClassifier(n_estimators=5).fit(X, LABELS)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    refitted = clone(model).fit(X, LABELS[:, 0])
    assert refitted.predict(X).shape == (300,)
    assert model.fit(X, LABELS[:, 0]).predict_proba(X).shape == (300, 2)


@pytest.mark.parametrize("params", [{"is_unbalance": True}, {"scale_pos_weight": 20.0}])
def test_positive_rows_weigh_more_in_each_label(params: dict[str, Any]) -> None:
    plain = GossamerClassifier(n_estimators=5).fit(X, LABELS).predict_proba(X)
    weighted = GossamerClassifier(n_estimators=5, **params).fit(X, LABELS).predict_proba(X)
    rare = LABELS[:, 1].mean()
    assert rare < 0.3
    assert weighted[:, 1].mean() > plain[:, 1].mean()
    alone = GossamerClassifier(n_estimators=5, **params).fit(X, LABELS[:, 1])
    np.testing.assert_array_equal(weighted[:, 1], alone.predict_proba(X)[:, 1])


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 2}, "balanced", [{0: 1}, {0: 2}, {0: 1}]])
def test_class_weight_is_refused(class_weight: Any) -> None:
    for model in (GossamerClassifier, GossamerRegressor):
        with pytest.raises(NotSupportedError, match=r"class_weight.*3 columns.*scale_pos_weight"):
            model(class_weight=class_weight).fit(X, LABELS)
    with pytest.raises(NotSupportedError, match=r"class_weight.*3 columns"):
        GossamerClassifier().fit(
            X, LABELS, eval_set=[(X[:9], LABELS[:9])], eval_class_weight=["balanced"]
        )


@pytest.mark.parametrize(
    ("y", "text"),
    [
        (LABELS + 1, r"label \d of row \d+ of the training data.*got 2, expected 0 or 1"),
        (LABELS * 0.5, r"of the training data cannot be used: got 0\.5"),
        (LABELS.astype(str), r"label 0 of row 0.*MultiOutputClassifier"),
    ],
    ids=["two", "half", "text"],
)
def test_labels_that_are_no_indicators(y: Any, text: str) -> None:
    y = y.copy()
    if y.dtype.kind == "i":
        y[:, 0] = 1
    with pytest.raises(DataError, match=text):
        GossamerClassifier().fit(X, y)


@pytest.mark.parametrize("y", [LABELS[:, 0], LABELS[:, :2], LABELS + 1], ids=["1", "2", "values"])
def test_evaluation_labels_that_do_not_fit(y: Any) -> None:
    with pytest.raises(DataError, match="valid_0"):
        GossamerClassifier().fit(X, LABELS, eval_set=[(X[:50], y[:50])])


def test_evaluation_labels_of_other_targets() -> None:
    with pytest.raises(DataError, match=r"'valid_0'.*got 2, expected 3"):
        GossamerRegressor().fit(X, NUMBERS, eval_set=[(X[:50], NUMBERS[:50, :2])])
    with pytest.raises(DataError, match=r"'valid_0'.*one label per row"):
        GossamerClassifier().fit(X, LABELS[:, 0], eval_set=[(X[:50], LABELS[:50])])
    with pytest.raises(ValueError, match="NaN"):
        GossamerRegressor().fit(X, NUMBERS, eval_set=[(X[:50], np.full((50, 3), np.nan))])


def test_parameters_that_do_not_fit() -> None:
    with pytest.raises(ParameterError, match=r"multiclass does not fit.*3 columns"):
        GossamerClassifier(objective="multiclass").fit(X, LABELS)
    with pytest.raises(ParameterError, match="num_class"):
        GossamerClassifier(num_class=3).fit(X, LABELS)


def test_objective_functions_see_all_columns() -> None:
    def squares(y_true: Any, y_pred: Any) -> Any:
        assert y_true.shape == y_pred.shape == (300, 3)
        return y_pred - y_true, np.ones_like(y_pred)

    own = GossamerRegressor(objective=squares, n_estimators=5)
    own.fit(X, NUMBERS, eval_set=[(X, NUMBERS)])
    built_in = GossamerRegressor(boost_from_average=False, n_estimators=5).fit(X, NUMBERS)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-2, atol=1e-3)
    assert list(own.evals_result_["training"]) == ["l2"]
    with pytest.warns(UserWarning, match="raw scores"):
        assert GossamerClassifier(objective=squares).fit(X, LABELS).predict(X).shape == (300, 3)


@pytest.mark.parametrize("kind", ["numbers", "labels", "classes"])
def test_vector_leaves(kind: str) -> None:
    """One tree for all outputs, in each kind of estimator."""
    settings = {"n_estimators": 40, "multi_strategy": "multi_output_tree"}
    classes = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]
    y = {"numbers": NUMBERS, "labels": LABELS, "classes": classes}[kind]
    estimator = GossamerRegressor if kind == "numbers" else GossamerClassifier
    model = clone(estimator(**settings)).fit(X, y, eval_set=[(X, y)])
    assert model.booster_.num_trees() == 40
    assert model.booster_.num_model_per_iteration() == 1
    assert model.get_params()["multi_strategy"] == "multi_output_tree"
    plain = estimator(n_estimators=40).fit(X, y)
    assert model.score(X, y) > plain.score(X, y) - 0.1
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if kind == "classes":
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert list(model.classes_) == ["a", "b", "c"]
