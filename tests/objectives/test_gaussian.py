"""Mean and variance: derivatives, start, floor of the deviation, calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from gossamer import Booster, DataError, Dataset, ParameterError, train
from gossamer.data import Targets
from gossamer.metrics.distribution import CRPS, GaussianLoss
from gossamer.objectives import Gaussian, Gradients, objective_from_config
from gossamer.params import resolve

RNG = np.random.default_rng(5)
N_ROWS = 200
QUIET = {"verbosity": -1, "num_threads": 1, "objective": "gaussian"}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(5)


def make_targets(*, weighted: bool = False) -> Targets:
    weight = (RNG.random(N_ROWS) + 0.5).astype(np.float32) if weighted else None
    return Targets((3 + 2 * RNG.normal(size=N_ROWS)).astype(np.float32), weight)


def make(targets: Targets) -> Gaussian:
    return Gaussian.from_params(resolve({"objective": "gaussian"}), targets)


def loss(mean: Any, log_sigma: Any, label: Any) -> Any:
    return -stats.norm.logpdf(label, mean, np.exp(log_sigma))


def gradients_of(
    objective: Gaussian, score: np.ndarray, targets: Targets
) -> tuple[np.ndarray, np.ndarray]:
    out = Gradients.empty(targets.n_rows, 2, has_hessian=True)
    objective.fill_gradients(score, targets, out, 2)
    assert out.hessian is not None
    return out.gradient.astype(float).reshape(2, -1), out.hessian.astype(float).reshape(2, -1)


@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_loss(weighted: bool) -> None:
    targets = make_targets(weighted=weighted)
    objective, step = make(targets), 1e-4
    mean, log_sigma = 3 + RNG.normal(size=N_ROWS), RNG.normal(size=N_ROWS)
    weight = 1.0 if targets.weight is None else targets.weight.astype(np.float64)
    label = targets.label.astype(np.float64)
    gradient, hessian = gradients_of(objective, np.concatenate([mean, log_sigma]), targets)
    slope = (loss(mean + step, log_sigma, label) - loss(mean - step, log_sigma, label)) / 2 / step
    np.testing.assert_allclose(gradient[0], weight * slope * objective.scale**2, rtol=1e-4)
    slope = (loss(mean, log_sigma + step, label) - loss(mean, log_sigma - step, label)) / 2 / step
    np.testing.assert_allclose(gradient[1], weight * slope, rtol=1e-4, atol=1e-4)
    information = objective.scale**2 / np.exp(2 * log_sigma)
    np.testing.assert_allclose(hessian[0], weight * information, rtol=1e-5)


def test_hessians_are_the_fisher_information_or_more() -> None:
    label = RNG.normal(1.0, 0.5, size=1000).astype(np.float32)
    targets = Targets(label)
    score = np.concatenate([np.full(len(label), 1.0), np.full(len(label), math.log(0.5))])
    _, hessian = gradients_of(Gaussian(2, 1.0, -20.0), score, targets)
    np.testing.assert_allclose(hessian[0], 1 / 0.5**2, rtol=1e-6)
    z = (label - 1.0) / 0.5
    np.testing.assert_allclose(hessian[1], np.maximum(2, 1 + z.astype(float) ** 2), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_start_is_the_minimiser(weighted: bool) -> None:
    targets = make_targets(weighted=weighted)
    objective = make(targets)
    start = np.array(objective.start_scores(targets))

    def mean_loss(score: np.ndarray) -> float:
        return GaussianLoss().evaluate(np.repeat(score, N_ROWS), targets, objective)

    least = mean_loss(start)
    for change in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert mean_loss(start + change) > least


def test_weights_are_repeated_rows() -> None:
    targets = make_targets()
    times = RNG.integers(0, 4, N_ROWS)
    weighted = Targets(targets.label, times.astype(np.float32))
    repeated = Targets(np.repeat(targets.label, times))
    found, wanted = (make(t).start_scores(t) for t in (weighted, repeated))
    assert found == pytest.approx(wanted, rel=1e-12)


def test_metrics() -> None:
    targets = make_targets(weighted=True)
    mean, log_sigma = 3 + RNG.normal(size=N_ROWS), RNG.normal(size=N_ROWS)
    score, objective = np.concatenate([mean, log_sigma]), make(targets)
    expected = targets.average(loss(mean, log_sigma, targets.label))
    assert GaussianLoss().evaluate(score, targets, objective) == pytest.approx(expected, rel=1e-6)
    one = Targets(np.array([1.5], dtype=np.float32))

    def squared(x: float) -> float:
        return float((stats.norm.cdf(x, 0.3, 2.0) - (x >= 1.5)) ** 2)

    expected = integrate.quad(squared, -30, 1.5)[0] + integrate.quad(squared, 1.5, 30)[0]
    found = CRPS().evaluate(np.array([0.3, math.log(2.0)]), one, objective)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e6, 1e-30])
def test_constant_labels(value: float) -> None:
    x = RNG.normal(size=(100, 2))
    data = Dataset(x, np.full(100, value))
    booster = train(QUIET, data, 10, [data])
    mean, sigma = booster.predict(x).T
    assert np.isfinite(mean).all() and np.isfinite(booster.best_score["training"]["gaussian_nll"])
    assert (sigma > 0).all()
    np.testing.assert_allclose(mean, np.float32(value), atol=1e-5 * max(abs(value), 1))


def test_labels_that_are_learnt_by_heart() -> None:
    """Deviations shrink towards the floor and stay there; nothing overflows."""
    x = np.arange(60.0).reshape(-1, 1)
    params = {**QUIET, "min_data_in_leaf": 1, "learning_rate": 1.0, "num_leaves": 60}
    booster = train(params, Dataset(x, np.arange(60) * 1e4), 300)
    mean, sigma = booster.predict(x).T
    assert np.isfinite(mean).all()
    assert (sigma >= 0.99e-6 * 1e4 * np.arange(60).std()).all()


def test_outliers_do_not_overshoot() -> None:
    x = RNG.normal(size=(500, 2))
    y = RNG.normal(size=500)
    y[::50] *= 1e5
    data = Dataset(x, y)
    booster = train({**QUIET, "learning_rate": 0.5}, data, 50, [data])
    assert np.isfinite(booster.predict(x)).all()
    assert np.isfinite(booster.best_score["training"]["gaussian_nll"])


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_the_scale_of_the_labels_does_not_matter(factor: float) -> None:
    """But for rounding, which may change a split here and there."""
    x = RNG.normal(size=(400, 3))
    y = x[:, 0] + RNG.normal(size=400) * np.exp(x[:, 1])
    found = []
    for scale in (1.0, factor):
        data = Dataset(x, y * scale)
        booster = train(QUIET, data, 10, [data])
        found.append(booster.best_score["training"]["gaussian_nll"] - math.log(scale))
    assert found[1] == pytest.approx(found[0], abs=0.02)


def test_calibrated_on_heteroscedastic_data() -> None:
    x = RNG.uniform(-1, 1, size=(6000, 2))
    sigma = np.exp(x[:, 1])
    y = 3 * x[:, 0] + sigma * RNG.normal(size=6000)
    params = {**QUIET, "num_leaves": 8, "min_data_in_leaf": 100, "metric": "gaussian_nll,crps"}
    train_set = Dataset(x[:4000], y[:4000])
    valid = train_set.create_valid(x[4000:], y[4000:])
    booster = train(params, train_set, 50, [valid])
    mean, found = booster.predict(x[4000:]).T
    assert np.corrcoef(np.log(found), x[4000:, 1])[0, 1] > 0.95
    inside = np.abs(y[4000:] - mean) < stats.norm.ppf(0.95) * found
    assert inside.mean() == pytest.approx(0.9, abs=0.03)
    best = loss(3 * x[4000:, 0], x[4000:, 1], y[4000:]).mean()
    assert booster.best_score["valid_0"]["gaussian_nll"] < best + 0.05


def test_names_files_and_metrics(tmp_path: Any) -> None:
    x, y = RNG.normal(size=(100, 2)), RNG.normal(size=100)
    for name in ("normal", "mean_variance"):
        assert resolve({"objective": name}).objective == "gaussian"
    booster = train(QUIET, Dataset(x, y), 5)
    booster.save_model(tmp_path / "model")
    loaded = Booster(model_file=tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(x), booster.predict(x))
    objective = Gaussian(2, 3.0, -4.0)
    assert objective_from_config(objective.to_config()) == objective
    with pytest.raises(ParameterError, match="metric does not fit objective=gaussian: got 'auc'"):
        train({**QUIET, "metric": "auc"}, Dataset(x, y), 1)
    with pytest.raises(DataError, match="labels are too large"):
        train(QUIET, Dataset(x, y * 1e26), 1)
