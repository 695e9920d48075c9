"""Losses of the task benchmarks against slow or known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.tasks.losses import LOSSES, evaluate
from benchmarks.tasks.problem import Part


def part_of(y: list[float], weight: list[float] | None = None) -> Part:
    labels = np.array(y)
    weights = None if weight is None else np.array(weight)
    return Part(np.zeros((len(labels), 1), np.float32), labels, weights)


def test_weights_are_those_of_a_mean() -> None:
    weighted = evaluate("squared", part_of([0.0, 1.0], [1.0, 3.0]), np.array([2.0, 2.0]), {})
    assert weighted == pytest.approx((4.0 + 3.0 * 1.0) / 4.0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("poisson_deviance", {}),
        ("gamma_deviance", {}),
        ("tweedie_deviance", {"power": 1.5}),
        ("squared_log", {}),
        ("huber", {"alpha": 0.9}),
        ("log_cosh", {}),
        ("pinball", {"alphas": [0.3]}),
        ("expectile", {"alpha": 0.8}),
    ],
)
def test_zero_only_at_the_label(name: str, options: dict[str, object]) -> None:
    part = part_of([0.5, 2.0, 7.0])
    assert evaluate(name, part, part.y, options) == pytest.approx(0.0, abs=1e-12)
    assert evaluate(name, part, part.y * 1.1, options) > 1e-4
    assert evaluate(name, part, part.y * 0.9, options) > 1e-4


def test_poisson_deviance_of_no_claims() -> None:
    assert evaluate("poisson_deviance", part_of([0.0]), np.array([0.25]), {}) == 0.5


def test_claims_a_year_are_counts_with_exposure() -> None:
    """Deviance of rates weighted by exposure is that of counts, a year of exposure."""
    rng = np.random.default_rng(0)
    exposure, count = rng.uniform(0.1, 1.0, 50), rng.poisson(0.5, 50).astype(float)
    rate = rng.uniform(0.1, 1.0, 50)
    by_rate = Part(np.zeros((50, 1)), count / exposure, exposure)
    by_count = Part(np.zeros((50, 1)), count)
    total = evaluate("poisson_deviance", by_rate, rate, {}) * exposure.sum()
    assert total == pytest.approx(
        evaluate("poisson_deviance", by_count, rate * exposure, {}) * 50.0
    )


def test_quantiles_are_averaged() -> None:
    p = np.array([[0.0, 4.0]])
    found = evaluate("pinball", part_of([1.0]), p, {"alphas": [0.1, 0.9]})
    assert found == pytest.approx((0.1 * 1.0 + 0.1 * 3.0) / 2.0)


def test_cox_against_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    time = np.ceil(rng.exponential(5.0, 40))  # with ties
    y = np.where(rng.random(40) < 0.6, time, -time)
    score = rng.normal(size=40)
    terms = [
        math.log(sum(math.exp(score[j]) for j in range(40) if time[j] >= time[i])) - score[i]
        for i in range(40)
        if y[i] > 0
    ]
    assert evaluate("cox_nll", part_of(list(y)), score, {}) == pytest.approx(np.mean(terms))


def test_aft_of_each_kind_of_label() -> None:
    def above(z: float) -> float:
        return 0.5 * math.erfc(z / math.sqrt(2.0))

    labels = np.array([[2.0, 2.0], [2.0, np.inf], [1.0, 3.0], [0.0, 3.0]])
    p, scale = np.full(4, 0.4), 0.8
    z = {time: (math.log(time) - 0.4) / scale for time in (1.0, 2.0, 3.0)}
    density = math.exp(-(z[2.0] ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * scale * 2.0)
    likelihood = [density, above(z[2.0]), above(z[1.0]) - above(z[3.0]), 1.0 - above(z[3.0])]
    found = evaluate("aft_nll", Part(np.zeros((4, 1)), labels), p, {"scale": scale})
    assert found == pytest.approx(-np.mean(np.log(likelihood)))


def test_classes() -> None:
    part = part_of([0.0, 1.0])
    one_vs_all = np.array([[0.4, 0.4], [0.1, 0.3]])  # rows need not add up to 1
    assert evaluate("multi_logloss", part, one_vs_all, {}) == pytest.approx(
        -(math.log(0.5) + math.log(0.75)) / 2.0
    )
    assert evaluate("error_share", part, np.array([0.0, 0.0]), {}) == 0.5
    assert evaluate("hinge", part, np.array([-0.5, 3.0]), {}) == 0.25
    plain = evaluate("cross_entropy", part, np.array([0.2, 0.7]), {})
    assert evaluate("focal", part, np.array([0.2, 0.7]), {"gamma": 0.0}) == pytest.approx(plain)
    score = np.log([0.2 / 0.8, 0.7 / 0.3])
    assert evaluate("logistic", part, score, {}) == pytest.approx(plain)


def test_gaussian() -> None:
    p = np.array([[1.0, math.log(2.0)]])
    found = evaluate("gaussian_nll", part_of([3.0]), p, {})
    assert found == pytest.approx(0.5 + math.log(2.0) + 0.5 * math.log(2.0 * math.pi))


def test_ranking_is_what_is_missing_to_one() -> None:
    part = Part(np.zeros((4, 1)), np.array([1.0, 0.0, 0.0, 1.0]), query=np.array([0, 0, 1, 1]))
    assert evaluate("one_minus_ndcg10", part, part.y, {}) == 0.0
    assert evaluate("one_minus_ndcg10", part, -part.y, {}) == pytest.approx(
        1.0 - 1.0 / math.log2(3)
    )


def test_names() -> None:
    assert all(name == loss.__name__ for name, loss in LOSSES.items())
