"""Metrics of several classes and of thresholds, compared with formulas and with LightGBM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics import Metric, make_metrics
from gossamer.objectives import Binary, Custom, Multiclass, Objective, Regression
from gossamer.params import resolve
from gossamer.params.traits import Kind, Traits

N_ROWS = 10_003  # the last rows fill no block of eight


@dataclass(frozen=True)
class Independent(Custom):
    """A sigmoid per class, which do not add up to 1."""

    traits: ClassVar[Traits] = Traits(Kind.CUSTOM, "named")

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        return 1 / (1 + np.exp(-0.7 * score.reshape(self.n_outputs, -1).T))


def make(name: str, objective: Objective) -> Metric:
    params = {"metric": name, "objective": objective.name, "num_class": objective.n_outputs}
    (metric,) = make_metrics(resolve(params), objective)
    return metric


def sample(n_classes: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, N_ROWS)
    score = np.round(3 * rng.normal(size=(N_ROWS, n_classes)))
    return score, label, (rng.random(N_ROWS) + 0.1).astype(np.float32)


def own_loss(probability: Any, label: Any, weight: Any) -> Any:
    own = probability[np.arange(len(label)), label]
    return np.average(-np.log(np.maximum(own, 1e-15)), weights=weight)


@pytest.mark.parametrize("n_classes", [2, 3, 26])
@pytest.mark.parametrize("weighted", [False, True])
def test_formulas(n_classes: int, weighted: bool) -> None:
    score, label, weight = sample(n_classes)
    weight = weight if weighted else None
    targets = Targets(label.astype(np.float32), weight)
    flat = score.T.ravel().copy()
    softmax = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    own = score[np.arange(N_ROWS), label][:, None]
    for objective, probability in (
        (Multiclass(n_classes), softmax),
        (Custom(n_classes), score),
        (Independent(n_classes), 1 / (1 + np.exp(-0.7 * score))),
    ):
        found = make("multi_logloss", objective).evaluate(flat, targets, objective, 2)
        assert found == pytest.approx(own_loss(probability, label, weight), rel=1e-6)
        for top_k in (1, 2):
            metric = make(f"multi_error@{top_k}", objective)
            wrong = (score >= own).sum(axis=1) > top_k
            expected = np.average(wrong, weights=weight)
            assert metric.evaluate(flat, targets, objective, 2) == pytest.approx(expected, rel=1e-6)


def test_lightgbm_agrees() -> None:
    lgb = pytest.importorskip("lightgbm")
    score, label, weight = (part[:2_000] for part in sample(4))
    flat, targets = score.T.ravel().copy(), Targets(label.astype(np.float32), weight)
    for theirs, ours in (
        ("multiclass", Multiclass(4)),
        ("multiclassova", Independent(4)),
        ("none", Custom(4)),
    ):
        params = {"objective": theirs, "num_class": 4, "sigmoid": 0.7, "verbose": -1}
        params |= {"metric": "multi_logloss,multi_error", "boost_from_average": False}
        data = lgb.Dataset(np.arange(2_000.0)[:, None], label=label, weight=weight, init_score=flat)
        for _, name, expected, _ in lgb.Booster(params, data).eval_train():
            found = make(name, ours).evaluate(flat, targets, ours)
            assert found == pytest.approx(expected, rel=1e-5)


def test_confident_and_wrong_scores() -> None:
    targets = Targets(np.array([0, 1, 2], dtype=np.float32))
    score = np.array([[-1e4, 1e4, 0.0], [0.0, 1e4, -1e4], [1e4, 1e4, 1e4]]).T.ravel().copy()
    objective = Multiclass(3)
    found = make("multi_logloss", objective).evaluate(score, targets, objective)
    assert found == pytest.approx((2e4 + 0 + np.log(3)) / 3)


def test_the_same_for_any_number_of_threads() -> None:
    score, label, weight = sample(5)
    flat, targets = score.T.ravel().copy(), Targets(label.astype(np.float32), weight)
    for name in ("multi_logloss", "multi_error"):
        metric = make(name, Multiclass(5))
        found = {metric.evaluate(flat, targets, Multiclass(5), n) for n in (1, 2, 3, 8)}
        assert len(found) == 1


def test_labels_outside_the_classes_are_refused() -> None:
    score, costs = np.zeros(6), np.zeros(9)
    for label in (-1, 3, np.nan):
        labels = np.array([0, label], dtype=np.float32)
        with pytest.raises(ValueError, match="label outside the classes"):
            _native.sum_multi_logloss(score, labels, None, 3, 1)
        with pytest.raises(ValueError, match="label outside the classes"):
            _native.auc_mu(score, labels, None, 3, costs, 1)
    with pytest.raises(ValueError, match="costs"):
        _native.auc_mu(score, np.zeros(2, dtype=np.float32), None, 3, costs[:8].copy(), 1)


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 0.7, 1.0])
def test_thresholds(threshold: float) -> None:
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, N_ROWS).astype(np.float32)
    score = rng.normal(size=N_ROWS)
    weight = rng.random(N_ROWS).astype(np.float32)
    targets = Targets(label, weight)
    probability = 1 / (1 + np.exp(-0.8 * score))
    for objective, predicted in (
        (Binary(0.8), probability),
        (Regression(), score),
        (Custom(), score),
    ):
        metric = make(f"error@{threshold}", objective)
        expected = np.average((predicted > threshold) != label, weights=weight)
        assert metric.evaluate(score, targets, objective, 2) == pytest.approx(expected, rel=1e-6)


def test_half_is_not_above_half() -> None:
    targets = Targets(np.array([0, 1, 1], dtype=np.float32))
    metric = make("binary_error", Binary())
    assert metric.evaluate(np.array([0.0, 0.0, 1e-9]), targets, Binary()) == pytest.approx(1 / 3)
