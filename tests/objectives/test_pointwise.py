"""Objectives of one score and one label: against NumPy losses, their differences and minima."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import (
    Booster,
    DataError,
    Dataset,
    ParameterError,
    _native,
    record_evaluation,
    train,
)
from gossamer.data import Targets
from gossamer.data.dataset import built_data
from gossamer.objectives import Gradients, Objective, make_objective
from gossamer.objectives.pointwise import Pointwise, best_constant
from gossamer.params import resolve
from gossamer.sampling import make_row_sampler

N_ROWS = 400
Array = np.ndarray


def softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


def huber(s: Array, y: Array, w: Any) -> Array:
    x = np.abs(s - y)
    return np.where(x <= 1.3, 0.5 * x**2, 1.3 * (x - 0.65))


def focal(s: Array, y: Array, w: Any) -> Array:
    z = np.where(y > 0, s, -s)
    return np.where(y > 0, 0.25, 0.75) * np.exp(-1.5 * softplus(z)) * softplus(-z)


def cross_entropy_lambda(s: Array, y: Array, w: Any) -> Array:
    exposure = (1 if w is None else w) * softplus(s)
    loss = (1 - y) * exposure - y * np.log(-np.expm1(-exposure))
    return loss if w is None else loss / w  # the weight is inside: not a factor


@dataclass(frozen=True)
class Case:
    """An objective, its loss in NumPy, and what its hessian is meant to be.

    `curvature` is a factor on the second derivative; None: the hessian is 1 times the weight.
    """

    loss: Callable[[Array, Array, Any], Array]
    labels: str = "any"
    params: dict[str, Any] = field(default_factory=dict)
    curvature: float | None = None


CASES = {
    "regression_l1": Case(lambda s, y, w: np.abs(s - y)),
    "huber": Case(huber, params={"alpha": 1.3}),
    "fair": Case(
        lambda s, y, w: 1.5 * np.abs(s - y) - 1.5**2 * np.log1p(np.abs(s - y) / 1.5),
        params={"fair_c": 1.5},
    ),
    "quantile": Case(
        lambda s, y, w: np.maximum(0.3 * (y - s), -0.7 * (y - s)), params={"alpha": 0.3}
    ),
    "pseudo_huber": Case(
        lambda s, y, w: 0.49 * (np.sqrt(1 + ((s - y) / 0.7) ** 2) - 1), params={"huber_slope": 0.7}
    ),
    "log_cosh": Case(lambda s, y, w: np.logaddexp(s - y, y - s) - np.log(2)),
    "expectile": Case(
        lambda s, y, w: np.where(y > s, 0.8, 0.2) * (s - y) ** 2,
        params={"expectile_alpha": 0.8},
        curvature=1.0,
    ),
    "poisson": Case(lambda s, y, w: np.exp(s) - y * s, "count", curvature=1.0),
    "gamma": Case(lambda s, y, w: y * np.exp(-s) + s, "positive", curvature=1.0),
    "tweedie": Case(
        lambda s, y, w: y * np.exp(-0.3 * s) / 0.3 + np.exp(0.7 * s) / 0.7,
        "count",
        {"tweedie_variance_power": 1.3},
        1.0,
    ),
    "cross_entropy": Case(lambda s, y, w: softplus(s) - y * s, "share", curvature=1.0),
    "cross_entropy_lambda": Case(cross_entropy_lambda, "share", curvature=1.0),
}
# Whose hessian is neither: tested one by one.
OTHERS = {
    "mape": Case(lambda s, y, w: np.abs(s - y) / np.maximum(1, np.abs(y))),
    "hinge": Case(lambda s, y, w: np.maximum(0, 1 - np.where(y > 0, s, -s)), "class"),
    "focal": Case(focal, "class", {"focal_gamma": 1.5, "focal_alpha": 0.25}),
}
ALL = CASES | OTHERS


def make_label(kind: str, rng: np.random.Generator, n_rows: int = N_ROWS) -> Array:
    label = {
        "any": lambda: 3 * rng.normal(size=n_rows) + 1,
        "positive": lambda: np.exp(rng.normal(size=n_rows)),
        "count": lambda: rng.poisson(1.5, n_rows),
        "share": lambda: rng.random(n_rows),
        "class": lambda: rng.random(n_rows) < 0.3,
    }[kind]()
    return label.astype(np.float32)


def make(name: str, *, weighted: bool, seed: int = 0) -> tuple[Objective, Targets]:
    rng = np.random.default_rng(seed)
    case = ALL[name]
    label = make_label(case.labels, rng)
    weight = rng.integers(1, 4, N_ROWS).astype(np.float32) * 0.5 if weighted else None
    objective = make_objective(
        resolve({"objective": name, **case.params}),
        built_data(Dataset(np.zeros((N_ROWS, 1)), label, weight=weight)).targets,
    )
    return objective, Targets(label, weight)


def gradients_of(objective: Objective, score: Array, targets: Targets) -> tuple[Array, Array]:
    has_hessian = objective.has_hessian(targets)
    out = Gradients.empty(targets.n_rows, objective.n_outputs, has_hessian=has_hessian)
    objective.fill_gradients(score, targets, out, 2)
    hessian = np.ones(targets.n_rows) if out.hessian is None else out.hessian
    return out.gradient.astype(np.float64), hessian.astype(np.float64)


def draw_scores(targets: Targets) -> Array:
    """Scores away from the kinks of the losses (at the label, 1.3 away from it, and at +-1)."""
    score = 2 * np.random.default_rng(7).normal(size=targets.n_rows)
    difference = np.abs(score - targets.label)
    is_near = (difference < 0.02) | (np.abs(difference - 1.3) < 0.02) | (abs(abs(score) - 1) < 0.02)
    score[is_near] += 0.0457
    return score


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ALL)
def test_the_native_loss_is_the_loss(name: str, weighted: bool) -> None:
    objective, targets = make(name, weighted=weighted)
    assert isinstance(objective, Pointwise)
    score = draw_scores(targets)
    weight = 1 if targets.weight is None else targets.weight.astype(np.float64)
    expected = (ALL[name].loss(score, targets.label.astype(float), targets.weight) * weight).sum()
    found = _native.sum_loss(objective.loss, score, targets.label, targets.weight, 2)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ALL)
def test_gradient_is_the_difference_of_the_loss(name: str, weighted: bool) -> None:
    objective, targets = make(name, weighted=weighted)
    score, step = draw_scores(targets), 1e-4
    label, weight = targets.label.astype(float), targets.weight
    factor = 1 if weight is None else weight.astype(float)
    loss = ALL[name].loss
    slope = (loss(score + step, label, weight) - loss(score - step, label, weight)) / (2 * step)
    gradient, _ = gradients_of(objective, score, targets)
    np.testing.assert_allclose(gradient, slope * factor, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", CASES)
def test_hessian_is_what_it_is_meant_to_be(name: str, weighted: bool) -> None:
    objective, targets = make(name, weighted=weighted)
    score, step = draw_scores(targets), 1e-3
    label, weight = targets.label.astype(float), targets.weight
    factor = np.ones(N_ROWS) if weight is None else weight.astype(float)
    curvature, loss = CASES[name].curvature, CASES[name].loss
    _, hessian = gradients_of(objective, score, targets)
    if curvature is None:
        assert objective.has_hessian(targets) is weighted
        np.testing.assert_array_equal(hessian, factor)
        return
    middle = 2 * loss(score, label, weight)
    bend = (
        loss(score + step, label, weight) + loss(score - step, label, weight) - middle
    ) / step**2
    np.testing.assert_allclose(hessian, curvature * bend * factor, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ALL)
def test_start_is_the_best_constant(name: str, weighted: bool) -> None:
    objective, targets = make(name, weighted=weighted)
    (start,) = objective.start_scores(targets)
    if name == "hinge":
        assert start == 0  # see there
        return
    assert isinstance(objective, Pointwise)

    def loss_at(score: float) -> float:
        scores = np.full(N_ROWS, score)
        return _native.sum_loss(objective.loss, scores, targets.label, targets.weight, 1)

    best = loss_at(start)
    for step in (1e-3, 1e-2, 0.1, 1.0):
        assert best <= loss_at(start + step) * (1 + 1e-12)
        assert best <= loss_at(start - step) * (1 + 1e-12)


@pytest.mark.parametrize("name", [n for n in ALL if n != "cross_entropy_lambda"])
def test_weights_are_repeated_rows(name: str) -> None:
    """In start values, gradients and leaf values alike."""
    rng = np.random.default_rng(3)
    case = ALL[name]
    label = make_label(case.labels, rng)
    repeat = rng.integers(1, 4, N_ROWS)
    table = (rng.random(N_ROWS) < 0.5).astype(np.float32)[:, np.newaxis]
    params = {
        "objective": name,
        "learning_rate": 1.0,
        "num_leaves": 2,
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "verbosity": -1,
        **case.params,
    }
    weighted = train(params, Dataset(table, label, weight=repeat), 1)
    repeated = train(params, Dataset(np.repeat(table, repeat, axis=0), np.repeat(label, repeat)), 1)
    found, expected = (
        booster.predict([[0.0], [1.0]], raw_score=True) for booster in (weighted, repeated)
    )
    # Histograms hold rounded gradients: few bits of each row.
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    assert found[0] != found[1]


@pytest.mark.parametrize("name", ALL)
def test_far_away_scores_give_finite_derivatives(name: str) -> None:
    objective, targets = make(name, weighted=True)
    for score in (-1e300, -800.0, 800.0, 1e300):
        gradient, hessian = gradients_of(objective, np.full(N_ROWS, score), targets)
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()
        assert (hessian >= 0).all()
        assert (np.sign(gradient[gradient != 0]) == np.sign(score)).all()


class TestHessiansOfTheirOwn:
    """Where the hessian is neither the second derivative nor 1."""

    def test_mape_weighs_rows_by_their_label(self) -> None:
        objective, targets = make("mape", weighted=True)
        _, hessian = gradients_of(objective, draw_scores(targets), targets)
        assert targets.weight is not None
        expected = targets.weight / np.maximum(1, np.abs(targets.label))
        np.testing.assert_allclose(hessian, expected, rtol=1e-6)

    def test_hinge_counts_rows_within_the_margin(self) -> None:
        objective, targets = make("hinge", weighted=False)
        score = draw_scores(targets)
        _, hessian = gradients_of(objective, score, targets)
        is_wrong = np.where(targets.label > 0, score, -score) < 1
        np.testing.assert_allclose(hessian, np.where(is_wrong, 1, 1e-6), rtol=1e-6)

    def test_focal_is_positive_and_never_below_the_second_derivative(self) -> None:
        objective, targets = make("focal", weighted=False)
        score, step = draw_scores(targets) * 3, 1e-3
        label = targets.label.astype(float)
        middle = 2 * focal(score, label, None)
        bend = (
            focal(score + step, label, None) + focal(score - step, label, None) - middle
        ) / step**2
        _, hessian = gradients_of(objective, score, targets)
        assert (hessian > 0).all()
        assert (hessian >= bend - 1e-6).all()
        assert (bend < 0).any()  # which is why

    def test_focal_without_focus_is_binary(self) -> None:
        label = make_label("class", np.random.default_rng(1))
        data = Dataset(np.zeros((N_ROWS, 1)), label)
        focal_0 = make_objective(
            resolve({"objective": "focal", "focal_gamma": 0}), built_data(data).targets
        )
        binary = make_objective(resolve({"objective": "binary"}), built_data(data).targets)
        score = draw_scores(Targets(label))
        for found, expected in zip(
            gradients_of(focal_0, score, Targets(label)),
            gradients_of(binary, score, Targets(label)),
            strict=True,
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
        assert focal_0.start_scores(Targets(label))[0] == pytest.approx(
            binary.start_scores(Targets(label))[0], abs=1e-5
        )


def test_tweedie_of_power_one_is_poisson() -> None:
    label = make_label("count", np.random.default_rng(1))
    data = Dataset(np.zeros((N_ROWS, 1)), label)
    tweedie = make_objective(
        resolve({"objective": "tweedie", "tweedie_variance_power": 1}), built_data(data).targets
    )
    score = draw_scores(Targets(label))
    gradient, hessian = gradients_of(tweedie, score, Targets(label))
    np.testing.assert_allclose(gradient, np.exp(score) - label, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(hessian, np.exp(score), rtol=1e-6)


def test_best_constant_of_labels_far_apart() -> None:
    """Newton's steps are useless here; bisection ends anyway."""
    label = np.array([-1e30, 0, 1, 1e30, 1e30], dtype=np.float32)
    loss = _native.LossArgs(_native.Loss.LOG_COSH)
    found = best_constant(loss, Targets(label), -1e30, 1e30)
    assert found == pytest.approx(1, abs=1e21)
    assert best_constant(loss, Targets(np.full(3, 5, dtype=np.float32)), 5, 5) == 5


LEAVES: dict[str, tuple[dict[str, Any], Callable[[Array, Array], float]]] = {
    "regression_l1": ({}, lambda r, w: quantile(r, w, 0.5)),
    "quantile": ({"alpha": 0.8}, lambda r, w: quantile(r, w, 0.8)),
    "mape": ({}, lambda r, w: quantile(r, w, 0.5)),
    "huber": ({"alpha": 0.5}, lambda r, w: huber_step(r, w, 0.5)),
    "fair": ({"fair_c": 2.0}, lambda r, w: huber_step(r, w, 2.0)),
    "pseudo_huber": ({"huber_slope": 0.4}, lambda r, w: huber_step(r, w, 0.4)),
    "log_cosh": ({}, lambda r, w: huber_step(r, w, 1.0)),
}
SAMPLINGS: dict[str, dict[str, Any]] = {
    "all rows": {},
    "bagging": {"bagging_fraction": 0.5, "bagging_freq": 1},
    "goss": {"data_sample_strategy": "goss"},
}


def quantile(values: Array, weight: Array, alpha: float) -> float:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    first = int(np.searchsorted(below, alpha * below[-1] * (1 - 1e-9)))
    if abs(below[first] - alpha * below[-1]) < 1e-9 * below[-1]:
        return float(values[order[first : first + 2]].mean())
    return float(values[order[first]])


def huber_step(residuals: Array, weight: Array, delta: float) -> float:
    median = quantile(residuals, weight, 0.5)
    return median + float(np.average(np.clip(residuals - median, -delta, delta), weights=weight))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", LEAVES)
def test_leaf_values_come_from_the_residuals(name: str, sampling: str, weighted: bool) -> None:
    """Of the rows in the bag, by the weights that the objective and the sampling give them."""
    rng = np.random.default_rng(5)
    table = rng.normal(size=(1001, 3)).astype(np.float32)
    label = (3 * table[:, 0] + rng.standard_t(2, 1001)).astype(np.float32)
    weight = (rng.random(1001) + 0.1).astype(np.float32) if weighted else None
    own, leaf_value = LEAVES[name]
    params = {"objective": name, "num_leaves": 7, "learning_rate": 1.0, "verbosity": -1}
    params |= own | SAMPLINGS[sampling]
    data = Dataset(table, label, weight=weight)
    booster = train(params, data, 2)
    before = booster.predict(table, num_iteration=1)
    leaves = booster.predict(table, pred_leaf=True)[:, 1]
    step = booster.predict(table) - before

    resolved, targets = resolve(params), Targets(label, weight)
    objective = make_objective(resolved, built_data(data).targets)
    gradients = Gradients.empty(1001, 1, has_hessian=objective.has_hessian(targets), weighable=True)
    objective.fill_gradients(before, targets, gradients, 1)
    counts = gradients.restore_hessian()
    bag = make_row_sampler(resolved, targets, 1).draw(1, gradients, 1)
    is_inside = np.ones(1001, dtype=bool)
    if bag is not None:
        is_inside[bag.outside] = False
    assert is_inside.all() == (sampling == "all rows")
    for k in range(7):
        rows = np.flatnonzero((leaves == k) & is_inside)
        expected = leaf_value(label[rows] - before[rows], counts[rows].astype(np.float64))
        np.testing.assert_allclose(step[leaves == k], expected, rtol=1e-5, atol=1e-6)


TRAINABLE = {name: (case.labels, case.params) for name, case in ALL.items()} | {
    "hinge": ("class", {"metric": "hinge"}),  # the classes themselves are soon right
    "squared_log_error": ("positive", {}),
    "binary:logitraw": ("class", {"sigmoid": 0.7}),
    "multiclassova": ("classes", {"num_class": 3, "sigmoid": 0.7}),
    "multi:softmax": ("classes", {"num_class": 3}),
    "regression": ("positive", {"reg_sqrt": True}),
}


def make_training(name: str, n_rows: int = 600) -> tuple[dict[str, Any], Array, Array]:
    kind, params = TRAINABLE[name]
    rng = np.random.default_rng(11)
    table = rng.normal(size=(n_rows, 3)).astype(np.float32)
    if kind == "classes":
        label = np.digitize(table[:, 0] + 0.3 * rng.normal(size=n_rows), [-0.5, 0.5])
    else:
        label = np.sort(make_label(kind, rng, n_rows))[np.argsort(np.argsort(table[:, 0]))]
    return {"objective": name, "verbosity": -1, **params}, table, label.astype(np.float32)


@pytest.mark.parametrize("name", TRAINABLE)
def test_training_improves_and_a_saved_model_predicts_the_same(name: str) -> None:
    params, table, label = make_training(name)
    history: dict[str, Any] = {}
    data = Dataset(table, label)
    booster = train(
        {**params, "min_data_in_leaf": 5},
        data,
        40,
        valid_sets=[data],
        callbacks=[record_evaluation(history)],
    )
    (values,) = (list(metrics.values()) for metrics in history.values())
    assert values[0][-1] < values[0][0]
    loaded = Booster(model_str=booster.model_to_string())
    np.testing.assert_array_equal(loaded.predict(table), booster.predict(table))
    np.testing.assert_array_equal(
        loaded.predict(table, raw_score=True), booster.predict(table, raw_score=True)
    )
    assert np.isfinite(booster.predict(table)).all()


LINKS: dict[str, Callable[[Array], Array]] = {
    "poisson": np.exp,
    "gamma": np.exp,
    "tweedie": np.exp,
    "squared_log_error": np.expm1,
    "regression": lambda s: np.sign(s) * s**2,  # with reg_sqrt
    "focal": lambda s: 1 / (1 + np.exp(-s)),
    "cross_entropy": lambda s: 1 / (1 + np.exp(-s)),
    "cross_entropy_lambda": lambda s: np.log1p(np.exp(s)),
    "hinge": lambda s: (s > 0).astype(float),
    "binary:logitraw": lambda s: s,
    "multiclassova": lambda s: 1 / (1 + np.exp(-0.7 * s)),
    "multi:softmax": lambda s: s.argmax(axis=1).astype(float),
    "regression_l1": lambda s: s,
}


@pytest.mark.parametrize("name", LINKS)
def test_predictions_are_the_link_of_the_scores(name: str) -> None:
    params, table, label = make_training(name)
    booster = train(params, Dataset(table, label), 5)
    expected = LINKS[name](booster.predict(table, raw_score=True))
    np.testing.assert_allclose(booster.predict(table), expected, rtol=1e-12)


def test_reg_sqrt_trains_on_signed_roots() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(500, 2)).astype(np.float32)
    label = (rng.normal(size=500) * 50).astype(np.float32)
    root = np.sign(label) * np.sqrt(np.abs(label))
    for objective in ("regression", "regression_l1", "fair"):
        params = {"objective": objective, "verbosity": -1}
        plain = train(params, Dataset(table, root), 5).predict(table)
        squared = train({**params, "reg_sqrt": True}, Dataset(table, label), 5).predict(table)
        np.testing.assert_allclose(squared, np.sign(plain) * plain**2, rtol=1e-12)


def test_ova_is_one_binary_model_per_class() -> None:
    params, table, label = make_training("multiclassova")
    predicted = train({**params, "is_unbalance": True}, Dataset(table, label), 5).predict(table)
    for k in range(3):
        binary = {"objective": "binary", "sigmoid": 0.7, "is_unbalance": True, "verbosity": -1}
        alone = train(binary, Dataset(table, label == k), 5).predict(table)
        np.testing.assert_array_equal(predicted[:, k], alone)


def test_softmax_chooses_the_class_of_multiclass() -> None:
    params, table, label = make_training("multi:softmax")
    classes = train(params, Dataset(table, label), 5).predict(table)
    shares = train({**params, "objective": "multiclass"}, Dataset(table, label), 5).predict(table)
    np.testing.assert_array_equal(classes, shares.argmax(axis=1))


def test_alpha_is_the_expectile_unless_it_has_its_own_name() -> None:
    assert resolve({"objective": "expectile"}).expectile_alpha == 0.5
    assert resolve({"objective": "expectile", "alpha": 0.2}).expectile_alpha == 0.2
    both = {"objective": "expectile", "alpha": 0.2, "expectile_alpha": 0.7}
    assert resolve(both).expectile_alpha == 0.7


@pytest.mark.parametrize(
    ("name", "bad", "expected"),
    [
        ("poisson", [1, -0.5], "got -0.5, expected numbers >= 0"),
        ("tweedie", [1, -2], "got -2.0, expected numbers >= 0"),
        ("gamma", [1, 0], "got 0.0, expected numbers > 0"),
        ("squared_log_error", [1, -1], "got -1.0, expected numbers > -1"),
        ("cross_entropy", [0.5, 1.5], "got 1.5, expected numbers from 0 to 1"),
        ("cross_entropy_lambda", [0.5, -0.5], "got -0.5, expected numbers from 0 to 1"),
        ("hinge", [0, 2], "got 2.0, expected 0 or 1"),
        ("focal", [0, -2], "got -2.0, expected 0 or 1"),
        ("binary:logitraw", [0, 0.5], "got 0.5, expected 0 or 1"),
    ],
)
def test_labels_that_do_not_fit(name: str, bad: list[float], expected: str) -> None:
    params = {"objective": name, "verbosity": -1, "min_data_in_leaf": 1}
    with pytest.raises(DataError) as caught:
        train(params, Dataset([[0.0], [1.0]], bad), 1)
    text = str(caught.value)
    assert f"label of row 1 of the training data does not fit objective={name}" in text
    assert expected.split(", ")[0].removeprefix("got ") in text
    assert expected.split("expected ")[1] in text
    good = [1.0, 1.0] if name != "hinge" else [0.0, 1.0]
    data = Dataset([[0.0], [1.0]], good)
    with pytest.raises(DataError, match="does not fit objective"):
        train(params, data, 1, valid_sets=[data.create_valid([[0.0], [1.0]], bad)])


@pytest.mark.parametrize("name", ["poisson", "tweedie"])
def test_labels_that_are_all_zero(name: str) -> None:
    params = {"objective": name, "verbosity": -1}
    with pytest.raises(DataError, match=f"all 0, which objective={name}"):
        train(params, Dataset([[0.0], [1.0]], [0, 0]), 1)
    with pytest.raises(DataError, match="at least one positive label of positive weight"):
        train(params, Dataset([[0.0], [1.0]], [0, 3], weight=[1, 0]), 1)


def test_exposures_must_be_positive() -> None:
    params = {"objective": "cross_entropy_lambda", "verbosity": -1}
    with pytest.raises(DataError, match="weight of row 1 of the training data"):
        train(params, Dataset([[0.0], [1.0]], [0, 1], weight=[1, 0]), 1)


def test_poisson_takes_half_steps_where_counts_are_rare() -> None:
    """As LightGBM does everywhere: there the default is 0.7, elsewhere whole steps."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 2))
    rate = np.exp(np.clip(x[:, 0], -1, 1))
    for label, step in ((rng.poisson(0.1 * rate), 0.7), (rng.poisson(50 * rate), 1e-300)):

        def text(label: Any = label, **more: Any) -> bytes:
            params = {"objective": "poisson", "verbosity": -1, **more}
            return train(params, Dataset(x, label), 5).predict(x).tobytes()

        assert text() == text(poisson_max_delta_step="auto") == text(poisson_max_delta_step=step)
        assert text() != text(poisson_max_delta_step=0.3)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"objective": "quantile", "alpha": 1.0}, "alpha is out of range"),
        ({"objective": "huber", "alpha": 0.0}, "alpha is out of range"),
        ({"objective": "expectile", "alpha": 1.5}, "expectile_alpha.* is out of range"),
        ({"objective": "expectile", "expectile_alpha": 0}, "expectile_alpha is out of range"),
        ({"objective": "fair", "fair_c": 0}, "fair_c is out of range"),
        ({"objective": "poisson", "poisson_max_delta_step": 0}, "poisson_max_delta_step is out"),
        ({"objective": "tweedie", "tweedie_variance_power": 2}, "tweedie_variance_power is out"),
        ({"objective": "pseudo_huber", "huber_slope": -1}, "huber_slope is out of range"),
        ({"objective": "focal", "focal_gamma": -1}, "focal_gamma is out of range"),
        ({"objective": "focal", "focal_alpha": 1}, "focal_alpha is out of range"),
        ({"objective": "poisson", "reg_sqrt": True}, "reg_sqrt does not fit objective=poisson"),
        ({"objective": "multiclassova"}, "objective=multiclassova needs num_class"),
        ({"objective": "multi:softmax"}, "objective=multi:softmax needs num_class"),
        ({"objective": "hinge", "num_class": 3}, "num_class does not fit objective=hinge"),
    ],
)
def test_parameters_that_do_not_fit(params: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        train({**params, "verbosity": -1}, Dataset([[0.0], [1.0]], [1, 0]), 1)


def test_parameters_of_the_objective_stay_as_they_are_during_a_training() -> None:
    booster = Booster({"objective": "huber", "alpha": 1.0}, Dataset([[0.0], [1.0]], [1, 0]))
    with pytest.raises(ParameterError, match="alpha"):
        booster.reset_parameter({"alpha": 2.0})


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6, width=32), st.integers(0, 5)), min_size=1, max_size=200
    ),
    st.sampled_from([0.01, 0.25, 0.5, 0.9]),
)
def test_a_quantile_has_its_share_on_both_sides(
    rows: list[tuple[float, int]], alpha: float
) -> None:
    values = np.array([value for value, _ in rows], dtype=np.float32)
    weight = np.array([count for _, count in rows], dtype=np.float32)
    found = _native.weighted_quantile(values, weight, alpha)
    if not weight.any():
        assert found == 0
        return
    total = weight.sum(dtype=np.float64)
    assert weight[values < found].sum() <= alpha * total * (1 + 1e-12)
    assert weight[values > found].sum() <= (1 - alpha) * total * (1 + 1e-12)


class TestNativeChecks:
    """Bindings refuse what would read or write outside an array."""

    label = np.zeros(3, dtype=np.float32)

    def test_lengths(self) -> None:
        loss = _native.LossArgs(_native.Loss.L1)
        out = np.empty(3, dtype=np.float32)
        for score, gradient in ((np.zeros(2), out), (np.zeros(3), out[:2])):
            with pytest.raises(ValueError, match="length"):
                _native.gradients_of(loss, score, self.label, None, gradient, None, 1)
        with pytest.raises(ValueError, match="length"):
            _native.gradients_of(loss, np.zeros(3), self.label, None, out, out[:2], 1)
        with pytest.raises(ValueError, match="length"):
            _native.sum_loss(loss, np.zeros(2), self.label, None, 1)
        with pytest.raises(ValueError, match="length"):
            _native.apply_link(_native.Link.EXP, np.zeros(2), np.zeros(3), 1)

    def test_losses_of_predictions_have_no_derivatives(self) -> None:
        out = np.empty(3, dtype=np.float32)
        with pytest.raises(ValueError, match="no derivatives"):
            _native.gradients_of(
                _native.LossArgs(_native.Loss.SQUARED_LOG),
                np.zeros(3),
                self.label,
                None,
                out,
                None,
                1,
            )

    def test_quantiles(self) -> None:
        with pytest.raises(ValueError, match="alpha"):
            _native.weighted_quantile(self.label, None, 1.5)
