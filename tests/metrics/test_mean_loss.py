"""Metrics that are means of losses, compared with formulas and with the peers' own values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gossamer import DataError, Dataset, ParameterError, train
from gossamer.data import Targets
from gossamer.data.dataset import built_data
from gossamer.metrics import Metric, make_metrics
from gossamer.objectives import Binary, Multiclass, Regression, make_objective
from gossamer.params import resolve

N_ROWS = 20_001  # several blocks and a tail
Array = np.ndarray


def make(name: str, **params: Any) -> Metric:
    (metric,) = make_metrics(resolve({"metric": name, **params}), Regression())
    return metric


def mean(values: Array, weight: Any) -> float:
    return float(np.average(values, weights=weight))


def lgamma(y: Array) -> Array:
    return np.array([math.lgamma(value) for value in y])


def pinball(y: Array, p: Array, alpha: float) -> Array:
    return np.maximum(alpha * (y - p), (alpha - 1) * (y - p))


def huber(y: Array, p: Array, alpha: float) -> Array:
    x = np.abs(y - p)
    return np.where(x <= alpha, 0.5 * x**2, alpha * (x - 0.5 * alpha))


def tweedie(y: Array, p: Array, power: float) -> Array:
    return -y * p ** (1 - power) / (1 - power) + p ** (2 - power) / (2 - power)


def gamma_deviance(y: Array, p: Array) -> Array:
    return 2 * (y / p - np.log(y / p) - 1)


FORMULAS: dict[str, tuple[dict[str, Any], Any]] = {
    "quantile": ({"alpha": 0.3, "objective": "quantile"}, lambda y, p: pinball(y, p, 0.3)),
    "mape": ({}, lambda y, p: np.abs(y - p) / np.maximum(1, np.abs(y))),
    "huber": ({"alpha": 0.6, "objective": "huber"}, lambda y, p: huber(y, p, 0.6)),
    "fair": ({"fair_c": 2}, lambda y, p: 2 * np.abs(y - p) - 4 * np.log1p(np.abs(y - p) / 2)),
    "mphe": ({"huber_slope": 0.5}, lambda y, p: 0.25 * (np.sqrt(1 + 4 * (y - p) ** 2) - 1)),
    "log_cosh": ({}, lambda y, p: np.log(np.cosh(y - p))),
    "expectile": (
        {"expectile_alpha": 0.8},
        lambda y, p: np.where(y > p, 0.8, 0.2) * (y - p) ** 2,
    ),
    "poisson": ({}, lambda y, p: p - y * np.log(p)),
    "poisson-nloglik": ({}, lambda y, p: p - y * np.log(p) + lgamma(y + 1)),
    "gamma": ({}, lambda y, p: y / p + np.log(p)),
    "gamma-nloglik": ({}, lambda y, p: y / p + np.log(p)),
    "gamma-deviance": ({}, gamma_deviance),
    "tweedie": ({"tweedie_variance_power": 1.3}, lambda y, p: tweedie(y, p, 1.3)),
    "tweedie-nloglik@1.7": ({}, lambda y, p: tweedie(y, p, 1.7)),
    "tweedie-nloglik": ({"tweedie_variance_power": 1}, lambda y, p: p - y * np.log(p)),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", FORMULAS)
def test_mean_of_a_loss(name: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    label = np.exp(rng.normal(size=N_ROWS)).astype(np.float32)
    predicted = np.exp(rng.normal(size=N_ROWS))
    weight = (rng.random(N_ROWS) + 0.1).astype(np.float32) if weighted else None
    params, formula = FORMULAS[name]
    metric = make(name, **params)
    values = {
        metric.evaluate(predicted, Targets(label, weight), Regression(), n) for n in (1, 2, 3, 8)
    }
    assert len(values) == 1
    expected = mean(formula(label.astype(np.float64), predicted), weight)
    assert values.pop() == pytest.approx(expected, rel=1e-6)
    assert not metric.maximize


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_metrics_that_are_more_than_a_mean(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    label = np.exp(rng.normal(size=N_ROWS)).astype(np.float32)
    predicted = label * np.exp(0.1 * rng.normal(size=N_ROWS))
    weight = (rng.random(N_ROWS) + 0.1).astype(np.float32) if weighted else None
    factor = np.ones(N_ROWS) if weight is None else weight
    targets = Targets(label, weight)

    def value(name: str) -> float:
        return make(name).evaluate(predicted, targets, Regression(), 2)

    total = (factor * gamma_deviance(label, predicted)).sum()
    assert value("gamma_deviance") == pytest.approx(total, rel=1e-6)
    difference = np.log1p(predicted) - np.log1p(label)
    assert value("rmsle") == pytest.approx(math.sqrt(mean(difference**2, weight)), rel=1e-6)
    variance = mean((label - mean(label, weight)) ** 2, weight)
    expected = 1 - mean((label - predicted) ** 2, weight) / variance
    assert value("r2") == pytest.approx(expected, rel=1e-6)
    assert make("r2").maximize


def test_r2_of_constant_labels() -> None:
    targets = Targets(np.full(3, 2, dtype=np.float32))
    assert make("r2").evaluate(np.full(3, 2.0), targets, Regression()) == 1
    assert make("r2").evaluate(np.zeros(3), targets, Regression()) == 0


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_cross_entropies(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    label = rng.random(N_ROWS).astype(np.float32)
    label[:10], label[10:20] = 0, 1
    predicted = rng.random(N_ROWS)
    predicted[5:15] = 0, 1, 0, 1, 0, 1, 0, 1, 0, 1
    weight = (rng.random(N_ROWS) + 0.1).astype(np.float32) if weighted else None
    targets = Targets(label, weight)

    def entropy(y: Array, p: Array) -> Array:
        one, zero = np.maximum(p, 1e-12), np.maximum(1 - p, 1e-12)
        return -y * np.log(one) - (1 - y) * np.log(zero)

    def value(name: str) -> float:
        return make(name).evaluate(predicted, targets, Regression(), 2)

    y = label.astype(np.float64)
    plain = mean(entropy(y, predicted), weight)
    assert value("cross_entropy") == pytest.approx(plain, rel=1e-6)
    own = mean(entropy(y, y), weight)
    assert value("kullback_leibler") == pytest.approx(plain - own, rel=1e-5)
    exposure = predicted * (1 if weight is None else weight)
    expected = mean(entropy(y, -np.expm1(-exposure)), None)
    assert value("cross_entropy_lambda") == pytest.approx(expected, rel=1e-6)


def test_hinge_is_of_raw_scores() -> None:
    targets = Targets(np.array([0, 0, 1, 1], dtype=np.float32))
    score = np.array([-2.0, 0.5, 0.25, 3.0])
    found = make("hinge").evaluate(score, targets, Binary())
    assert found == (0 + 1.5 + 0.75 + 0) / 4


def test_losses_are_of_predictions() -> None:
    """The link of the objective comes first."""
    label = np.array([1, 2, 4], dtype=np.float32)
    objective = make_objective(
        resolve({"objective": "poisson"}), built_data(Dataset(np.zeros((3, 1)), label)).targets
    )
    found = make("mape").evaluate(np.log([1.0, 1.0, 2.0]), Targets(label), objective)
    assert found == pytest.approx((0 + 0.5 + 0.5) / 3)


def test_multi_logloss_of_one_against_all() -> None:
    """Of the probability of the own class, as it is: probabilities need not sum to 1."""
    label = np.array([0, 1, 2, 1], dtype=np.float32)
    params = resolve({"objective": "multiclassova", "num_class": 3})
    objective = make_objective(params, built_data(Dataset(np.zeros((4, 1)), label)).targets)
    score = np.random.default_rng(0).normal(size=(3, 4))
    own = 1 / (1 + np.exp(-score[label.astype(int), np.arange(4)]))
    (metric,) = make_metrics(params, objective)
    assert metric.name == "multi_logloss"
    found = metric.evaluate(score.ravel(), Targets(label), objective)
    assert found == pytest.approx(-np.log(own).mean())
    softmax = resolve({"objective": "multi:softmax", "num_class": 3})
    (metric,) = make_metrics(softmax, objective)
    made = make_objective(softmax, built_data(Dataset(np.zeros((4, 1)), label)).targets)
    assert metric.evaluate(score.ravel(), Targets(label), made) == metric.evaluate(
        score.ravel(), Targets(label), Multiclass(3)
    )


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("poisson", -1),
        ("gamma", -1),
        ("gamma-deviance", -0.5),
        ("tweedie", -1),
        ("rmsle", -2),
        ("cross_entropy", 1.5),
        ("kullback_leibler", -0.5),
        ("cross_entropy_lambda", 2),
        ("hinge", 2),
    ],
)
def test_labels_that_do_not_fit(name: str, label: float) -> None:
    targets = Targets(np.array([0.5, label], dtype=np.float32))
    with pytest.raises(DataError, match=f"a label does not fit the metric {name}"):
        make(name).evaluate(np.ones(2), targets, Regression())


@pytest.mark.parametrize("argument", ["x", "2", "0.5", "nan"])
def test_powers_that_do_not_fit(argument: str) -> None:
    with pytest.raises(ParameterError, match="power of the variance"):
        make(f"tweedie-nloglik@{argument}")


def test_names_with_arguments() -> None:
    assert make("tweedie-nloglik").name == "tweedie-nloglik@1.5"
    assert make("tweedie-nloglik@1.25").name == "tweedie-nloglik@1.25"
    with pytest.raises(ParameterError, match="takes no number after the @"):
        make("mape@3")
    with pytest.raises(ParameterError, match="alpha is not a quantile"):
        make("quantile", objective="huber", alpha=3)


def make_data(objective: str) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(4)
    table = rng.normal(size=(2000, 3)).astype(np.float32)
    label = np.exp(0.5 * table[:, 0] + 0.5 * rng.normal(size=2000))
    if objective.startswith("cross_entropy"):
        label = label / label.max()
    return table, label.astype(np.float32), (rng.random(2000) + 0.5).astype(np.float32)


LIGHTGBM = {
    "regression": ["l1", "l2", "rmse", "quantile", "mape", "huber", "fair", "r2"],
    "gamma": ["gamma", "gamma_deviance", "poisson", "tweedie"],
    "cross_entropy": ["cross_entropy", "kullback_leibler"],
    "cross_entropy_lambda": ["cross_entropy_lambda", "cross_entropy"],
}


@pytest.mark.parametrize("objective", LIGHTGBM)
def test_values_are_lightgbms(objective: str) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table, label, weight = make_data(objective)
    data, history = lightgbm.Dataset(table, label, weight=weight), {}
    params = {"objective": objective, "metric": LIGHTGBM[objective], "verbose": -1}
    booster = lightgbm.train(
        params, data, 5, valid_sets=[data], callbacks=[lightgbm.record_evaluation(history)]
    )
    predicted = booster.predict(table)
    for name, values in history["training"].items():
        found = make(name).evaluate(predicted, Targets(label, weight), Regression())
        assert found == pytest.approx(values[-1], rel=1e-5), name


XGBOOST = {
    "reg:squarederror": ["rmse", "mae", "rmsle", "mphe"],
    "reg:gamma": ["gamma-nloglik", "gamma-deviance", "tweedie-nloglik@1.3", "poisson-nloglik"],
}


@pytest.mark.parametrize("objective", XGBOOST)
def test_values_are_xgboosts(objective: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    table, label, weight = make_data(objective)
    data, history = xgboost.DMatrix(table, label, weight=weight), {}
    params = {"objective": objective, "eval_metric": XGBOOST[objective], "nthread": 1}
    booster = xgboost.train(
        params, data, 5, evals=[(data, "train")], evals_result=history, verbose_eval=False
    )
    predicted = booster.predict(data).astype(np.float64)
    for name, values in history["train"].items():
        found = make(name).evaluate(predicted, Targets(label, weight), Regression())
        assert found == pytest.approx(values[-1], rel=1e-4), name


def test_objectives_evaluate_their_own_loss() -> None:
    """The default metric of an objective, by name."""
    found = {}
    table, label, _ = make_data("cross_entropy")
    for name in ("regression_l1", "huber", "poisson", "tweedie", "gamma", "squared_log_error"):
        data = Dataset(table, label)
        booster = train({"objective": name, "verbosity": -1}, data, 1, keep_training_booster=True)
        found[name] = booster.eval_train()[0].metric_name
    assert found == {
        "regression_l1": "l1",
        "huber": "huber",
        "poisson": "poisson",
        "tweedie": "tweedie",
        "gamma": "gamma",
        "squared_log_error": "rmsle",
    }
