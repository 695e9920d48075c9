"""Metrics, compared with scikit-learn and with formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import DataError, Dataset, ParameterError
from gossamer.data import Targets
from gossamer.metrics import EvalResult, Metric, evaluate_custom, make_metrics
from gossamer.objectives import Binary, Custom, Multiclass, Objective, Regression
from gossamer.params import resolve

sk = pytest.importorskip("sklearn.metrics")

RNG = np.random.default_rng(0)
N_ROWS = 20_000  # several blocks
WEIGHTS = [None, (RNG.random(N_ROWS) + 0.1).astype(np.float32)]


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make(name: str, objective: Objective, **params: Any) -> Metric:
    given = {"metric": name, "objective": objective.name, **params}
    if objective.n_outputs > 1:
        given["num_class"] = objective.n_outputs
    (metric,) = make_metrics(resolve(given), objective)
    return metric


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("l2", sk.mean_squared_error),
        ("l1", sk.mean_absolute_error),
        ("rmse", sk.root_mean_squared_error),
    ],
)
def test_errors_of_numbers(name: str, reference: Any, weight: Any, n_threads: int) -> None:
    label = RNG.normal(size=N_ROWS).astype(np.float32)
    score = RNG.normal(size=N_ROWS)
    metric = make(name, Regression())
    found = metric.evaluate(score, Targets(label, weight), Regression(), n_threads)
    assert found == pytest.approx(reference(label, score, sample_weight=weight), rel=1e-6)
    assert (metric.name, metric.maximize) == (name, False)


def sigmoid(score: np.ndarray, steepness: float) -> np.ndarray:
    return 1 / (1 + np.exp(-steepness * score))


@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "maximize", "reference"),
    [
        ("binary_logloss", False, lambda y, p, w: sk.log_loss(y, p, sample_weight=w)),
        (
            "binary_error",
            False,
            lambda y, p, w: 1 - sk.accuracy_score(y, p > 0.5, sample_weight=w),
        ),
        ("auc", True, lambda y, p, w: sk.roc_auc_score(y, p, sample_weight=w)),
        ("l2", False, lambda y, p, w: sk.mean_squared_error(y, p, sample_weight=w)),
    ],
)
def test_two_classes(name: str, maximize: bool, reference: Any, weight: Any) -> None:
    label = (RNG.random(N_ROWS) < 0.3).astype(np.float32)
    score = np.round(RNG.normal(size=N_ROWS) + label, 2)  # with ties
    metric = make(name, Binary(0.8))
    found = metric.evaluate(score, Targets(label, weight), Binary(0.8), 2)
    assert found == pytest.approx(reference(label, sigmoid(score, 0.8), weight), rel=1e-5)
    assert metric.maximize is maximize


@pytest.mark.parametrize("name", ["binary_logloss", "binary_error"])
def test_other_objectives_are_taken_to_predict_probabilities(name: str) -> None:
    label = (RNG.random(N_ROWS) < 0.3).astype(np.float32)
    score = RNG.normal(size=N_ROWS)
    probability = sigmoid(score, 1.0)
    expected = make(name, Binary()).evaluate(score, Targets(label), Binary())
    for objective in (Regression(), Custom()):
        found = make(name, objective).evaluate(probability, Targets(label), objective)
        assert found == pytest.approx(expected, rel=1e-6)


def test_logloss_of_certain_and_wrong_predictions_is_finite() -> None:
    targets = Targets(np.array([0, 1], dtype=np.float32))
    score = np.array([800.0, -800.0])
    assert np.isfinite(make("binary_logloss", Binary()).evaluate(score, targets, Binary()))
    probability = np.array([1.0, 0.0])
    found = make("binary_logloss", Custom()).evaluate(probability, targets, Custom())
    assert np.isfinite(found)


def test_auc_of_one_class_is_one() -> None:
    targets = Targets(np.ones(5, dtype=np.float32))
    assert make("auc", Binary()).evaluate(np.arange(5.0), targets, Binary()) == 1.0


@pytest.mark.parametrize("weight", WEIGHTS, ids=["plain", "weighted"])
def test_several_classes(weight: Any) -> None:
    label = RNG.integers(0, 4, N_ROWS)
    score = RNG.normal(size=(N_ROWS, 4)) + 2 * np.eye(4)[label]
    probability = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    targets, flat = Targets(label.astype(np.float32), weight), score.T.ravel().copy()
    objective = Multiclass(4)
    found = make("multi_logloss", objective).evaluate(flat, targets, objective, 2)
    assert found == pytest.approx(sk.log_loss(label, probability, sample_weight=weight), rel=1e-6)
    for top_k in (1, 2):
        metric = make("multi_error", objective, multi_error_top_k=top_k)
        expected = 1 - sk.top_k_accuracy_score(label, score, k=top_k, sample_weight=weight)
        assert metric.evaluate(flat, targets, objective, 2) == pytest.approx(expected)
        assert metric.name == ("multi_error" if top_k == 1 else "multi_error@2")
    raw = probability.T.ravel().copy()
    found = make("multi_logloss", Custom(4)).evaluate(raw, targets, Custom(4))
    assert found == pytest.approx(sk.log_loss(label, probability, sample_weight=weight), rel=1e-6)


def test_metrics_are_the_same_for_any_number_of_threads() -> None:
    label = (RNG.random(N_ROWS) < 0.3).astype(np.float32)
    score = RNG.normal(size=N_ROWS)
    for name in ("l1", "l2", "binary_logloss", "binary_error", "auc"):
        metric = make(name, Binary())
        values = {metric.evaluate(score, Targets(label), Binary(), n) for n in (1, 2, 3, 8)}
        assert len(values) == 1


class TestRegistry:
    """Which metrics a training evaluates."""

    def names(self, objective: Objective, **params: Any) -> list[str]:
        given = {"objective": objective.name, **params}
        if objective.n_outputs > 1:
            given["num_class"] = objective.n_outputs
        return [metric.name for metric in make_metrics(resolve(given), objective)]

    def test_the_objectives_own(self) -> None:
        assert self.names(Regression()) == ["l2"]
        assert self.names(Binary()) == ["binary_logloss"]
        assert self.names(Multiclass(3)) == ["multi_logloss"]
        assert self.names(Custom()) == []

    def test_those_asked_for_in_their_order(self) -> None:
        assert self.names(Binary(), metric=["auc", "error", "auc"]) == ["auc", "binary_error"]

    def test_none(self) -> None:
        assert self.names(Binary(), metric="none") == []
        assert self.names(Binary(), metric=()) == []
        assert self.names(Binary(), metric=[]) == ["binary_logloss"]  # as in LightGBM


class TestCustomMetrics:
    """Metrics written by the user."""

    data = Dataset([[0.0], [1.0]], label=[0, 1])
    predictions = np.array([0.25, 0.75])

    def evaluate(self, functions: Any) -> list[EvalResult]:
        return evaluate_custom(functions, self.predictions, self.data, "valid")

    def test_one_function_one_result(self) -> None:
        seen: list[Any] = []

        def mean(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
            seen.extend([predictions, data])
            return "mean", np.float32(predictions.mean()), True

        assert self.evaluate(mean) == [EvalResult("valid", "mean", 0.5, True)]
        assert seen[0] is self.predictions
        assert seen[1] is self.data

    def test_several_functions_and_several_results(self) -> None:
        one = lambda p, d: ("one", 1, True)  # noqa: E731
        two = lambda p, d: [("two", 2, False), ("three", 3, True)]  # noqa: E731
        both = (("four", 4, False), ("five", 5, False))
        results = self.evaluate([one, two, lambda p, d: both])
        assert [r.metric_name for r in results] == ["one", "two", "three", "four", "five"]
        assert [r.maximize for r in results] == [True, False, True, False, False]

    def test_none(self) -> None:
        assert self.evaluate(None) == []
        assert self.evaluate([]) == []

    def test_a_generator_of_results(self) -> None:
        def several(predictions: np.ndarray, data: Dataset) -> Any:
            yield "one", 1, True
            yield "two", 2, False

        assert [r.metric_value for r in self.evaluate(several)] == [1, 2]

    def test_no_results(self) -> None:
        assert self.evaluate(lambda p, d: []) == []

    def test_functions_do_not_see_what_others_change(self) -> None:
        def change(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
            predictions += 1
            return "mean", predictions.mean(), True

        assert [r.metric_value for r in self.evaluate([change, change])] == [1.5, 1.5]

    def test_exceptions_pass_through(self) -> None:
        def fails(predictions: np.ndarray, data: Dataset) -> Any:
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            self.evaluate(fails)

    @pytest.mark.parametrize("functions", ["auc", 3, ["auc"], [lambda p, d: ("a", 1, True), None]])
    def test_no_function(self, functions: Any) -> None:
        with pytest.raises(ParameterError, match="feval must be a function"):
            self.evaluate(functions)

    @pytest.mark.parametrize(
        "returned",
        [
            0.5,
            ("name", 1.0),
            None,
            ("name", "x", True),
            "abc",
            ("name", "1.5", True),
            ("name", 1.5, "False"),
            (1, 1.5, True),
            ["name", 1.5, True],
            [("one", 1, True), ("two", 2)],
            {"name": 1.5},
            np.zeros(3),
            ("name", 10**400, True),
        ],
    )
    def test_other_returns(self, returned: Any) -> None:
        with pytest.raises(DataError, match="a metric function returned an unexpected value"):
            self.evaluate(lambda p, d: returned)
