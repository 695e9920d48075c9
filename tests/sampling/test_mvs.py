"""Minimal variance sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import sampling as oracle

from gossamer import _native
from gossamer.objectives import Gradients
from gossamer.params import resolve
from gossamer.sampling import Bag, Mvs, make_key
from gossamer.sampling.keys import Stream

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make_gradients(gradient: np.ndarray, hessian: np.ndarray | None = None) -> Gradients:
    n_outputs, n_rows = gradient.shape
    made = Gradients.empty(n_rows, n_outputs, has_hessian=hessian is not None, weighable=True)
    made.gradient[:] = gradient.ravel()
    if hessian is not None:
        assert made.hessian is not None
        made.hessian[:] = hessian.ravel()
    return made


def draw(gradients: Gradients, n_outputs: int = 1, n_round: int = 0, **params: Any) -> Bag:
    resolved = resolve({"data_sample_strategy": "mvs", **params})
    mvs = Mvs(resolved, len(gradients.gradient) // n_outputs, n_outputs)
    bag = mvs.draw(n_round, gradients, 2)
    assert bag is not None
    return bag


def random_data(n_rows: int, n_outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    gradient = np.exp(RNG.normal(size=(n_outputs, n_rows))) * RNG.choice([-1, 1], n_rows)
    return gradient.astype(np.float32), RNG.random((n_outputs, n_rows)).astype(np.float32)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("reg", [0.0, 0.5, "auto"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_same_as_with_sorts(n_outputs: int, reg: float | str, share: float) -> None:
    n_rows = 20_001
    gradient, hessian = random_data(n_rows, n_outputs)
    number = reg
    if reg == "auto":
        number = (np.abs(gradient).sum(dtype=float) / hessian.sum(dtype=float)) ** 2
    assert not isinstance(number, str)
    score = oracle.score_rows(gradient, hessian, number)
    chance = oracle.mvs_chances(score, share * n_rows)
    assert chance.sum() == pytest.approx(share * n_rows)
    key = make_key(3, Stream.MVS, 4)
    random = (oracle.random_bits(key, np.arange(n_rows)) >> np.uint64(11)) * 2.0**-53
    gradients = make_gradients(gradient, hessian)
    bag = draw(gradients, n_outputs, 4, bagging_fraction=share, mvs_reg=reg)
    is_in = np.zeros(n_rows, dtype=bool)
    is_in[bag.inside] = True
    is_clear = np.abs(random - chance) > 1e-5 * chance  # mu is found to six digits
    assert is_clear.mean() > 0.99
    np.testing.assert_array_equal(is_in[is_clear], (random < chance)[is_clear])
    np.testing.assert_array_equal(bag.outside, np.flatnonzero(~is_in))
    weight = np.where(is_in, 1 / chance, 1.0)
    np.testing.assert_allclose(gradients.gradient, (gradient * weight).ravel(), rtol=1e-5)
    assert gradients.hessian is not None
    np.testing.assert_allclose(gradients.hessian, (hessian * weight).ravel(), rtol=1e-5)


def test_sums_are_right_on_average() -> None:
    gradient, hessian = random_data(2000)
    sums = []
    for n_round in range(600):
        gradients = make_gradients(gradient, hessian)
        bag = draw(gradients, n_round=n_round)
        assert gradients.hessian is not None
        sums.append([part[bag.inside].sum() for part in (gradients.gradient, gradients.hessian)])
    mean, error = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(len(sums))
    assert np.all(error > 0)
    assert np.all(np.abs(mean - [gradient.sum(), hessian.sum()]) < 4 * error)


def test_less_noise_than_goss_and_bagging() -> None:
    """Which is what it is for: the sum of gradients at the same share of rows."""
    n_rows = 2000
    gradient, _ = random_data(n_rows)

    def noise(draw_sum: Any) -> float:
        return float(np.std([draw_sum(i) for i in range(300)]))

    def by_mvs(n_round: int) -> float:
        gradients = make_gradients(gradient)
        bag = draw(gradients, n_round=n_round, bagging_fraction=0.3, mvs_reg=0.0)
        return float(gradients.gradient[bag.inside].sum())

    def by_goss(n_round: int) -> float:
        gradients, rows = make_gradients(gradient), np.empty(n_rows, np.uint32)
        sampler = _native.GradientSampler(n_rows, 1)
        hessian = gradients.restore_hessian()
        sampler.score(gradients.gradient, hessian, 0.0, 1)
        sampler.sample_goss(400, 200, n_round * 977, gradients.gradient, hessian, rows, 1)
        return float(gradients.gradient[rows[:600]].sum())

    def by_bagging(n_round: int) -> float:
        rows = np.random.default_rng(n_round).choice(n_rows, 600, replace=False)
        return float(gradient[0, rows].sum() / 0.3)

    assert noise(by_mvs) < noise(by_goss) < noise(by_bagging)


@pytest.mark.parametrize(
    ("params", "share"),
    [({}, 0.3), ({"top_rate": 0.1}, 0.2), ({"bagging_fraction": 0.5}, 0.5)],
    ids=str,
)
def test_share(params: dict[str, Any], share: float) -> None:
    bag = draw(make_gradients(random_data(20_000)[0]), **params)
    assert len(bag.inside) / 20_000 == pytest.approx(share, abs=0.01)


def test_off() -> None:
    params = resolve({"data_sample_strategy": "mvs", "top_rate": 0.6, "other_rate": 0.4})
    mvs = Mvs(params, 100, 1)
    assert not mvs.is_on and not mvs.weighs_rows
    assert mvs.draw(0, make_gradients(random_data(100)[0]), 1) is None


def test_there_is_always_a_row() -> None:
    for n_round in range(10):
        gradients = make_gradients(np.zeros((1, 5), dtype=np.float32))
        bag = draw(gradients, n_round=n_round, mvs_reg=0.0)
        assert (len(bag.inside), len(bag.outside)) == (1, 4)
        assert gradients.hessian is not None
        assert np.all(gradients.hessian == 1)


def test_hessians_that_nobody_fills_in_are_1_again() -> None:
    gradients = make_gradients(random_data(500)[0])
    first = draw(gradients)
    assert gradients.hessian is not None
    weights = gradients.hessian.copy()
    gradients.gradient[:] /= weights
    second = draw(gradients)
    np.testing.assert_array_equal(first.inside, second.inside)
    np.testing.assert_allclose(gradients.hessian, weights, rtol=1e-5)
