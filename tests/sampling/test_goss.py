"""GOSS: the right rows, in the right number, with the right weights."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracle import sampling as oracle

from gossamer import _native
from gossamer.objectives import Gradients
from gossamer.params import resolve
from gossamer.sampling import Goss, make_key
from gossamer.sampling.goss_rates import choose_counts, divide_counts
from gossamer.sampling.keys import Stream

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make_gradients(gradient: np.ndarray, hessian: np.ndarray | None = None) -> Gradients:
    """Gradients of (outputs, rows); without hessians they are 1."""
    n_outputs, n_rows = gradient.shape
    made = Gradients.empty(n_rows, n_outputs, has_hessian=hessian is not None, weighable=True)
    made.gradient[:] = gradient.ravel()
    if hessian is not None:
        assert made.hessian is not None
        made.hessian[:] = hessian.ravel()
    return made


def make_goss(n_rows: int, n_outputs: int = 1, **params: Any) -> Goss:
    """A sampler that starts with the first round."""
    given = {"data_sample_strategy": "goss", "learning_rate": 2.0, **params}
    return Goss(resolve(given), n_rows, n_outputs)


def random_data(n_rows: int, n_outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    gradient = RNG.normal(size=(n_outputs, n_rows)).astype(np.float32)
    gradient[:, RNG.random(n_rows) < 0.3] = 0.5  # ties
    return gradient, RNG.random((n_outputs, n_rows)).astype(np.float32)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_rows", [1, 2, 5, 99, 1000, 20_001])
@pytest.mark.parametrize(("top", "other"), [(0.2, 0.1), (0.0, 0.5), (0.5, 0.0), (0.01, 0.3)])
def test_same_as_with_sorts(n_rows: int, n_outputs: int, top: float, other: float) -> None:
    gradient, hessian = random_data(n_rows, n_outputs)
    n_top = max(1, int(n_rows * top))
    n_other = min(int(n_rows * other), n_rows - n_top)
    score = oracle.score_rows(gradient, hessian, 0.0)
    expected = oracle.goss(score, n_top, n_other, make_key(3, Stream.GOSS, 7))
    gradients = make_gradients(gradient, hessian)
    bag = make_goss(n_rows, n_outputs, top_rate=top, other_rate=other).draw(7, gradients, 2)
    if n_top + n_other == n_rows:
        assert bag is None
        return
    assert bag is not None
    assert bag.inside.dtype == bag.outside.dtype == np.uint32
    np.testing.assert_array_equal(bag.inside, expected.inside)
    np.testing.assert_array_equal(bag.outside, np.setdiff1d(np.arange(n_rows), expected.inside))
    for found, before in ((gradients.gradient, gradient), (gradients.hessian, hessian)):
        weighted = (before.astype(float) * expected.weight).astype(np.float32)
        np.testing.assert_array_equal(found, weighted.ravel())


def test_counts_and_weights_are_exact() -> None:
    """In plain numbers: 7 of 37 rows are kept, 3 drawn, and these stand for 30."""
    gradients = make_gradients(np.arange(1, 38, dtype=np.float32).reshape(1, -1))
    bag = make_goss(37, top_rate=0.2, other_rate=0.1).draw(0, gradients, 1)
    assert bag is not None
    assert len(bag.inside) == 10
    np.testing.assert_array_equal(bag.inside[-7:], np.arange(30, 37))
    assert gradients.hessian is not None
    weights = gradients.hessian
    np.testing.assert_array_equal(np.sort(weights), [1.0] * 34 + [10.0] * 3)
    np.testing.assert_array_equal(np.flatnonzero(weights == 10), bag.inside[:3])
    np.testing.assert_array_equal(gradients.gradient, np.arange(1, 38) * weights)


# Zeros, denormals and few distinct values: everything that makes ties.
scores = st.integers(1, 5000).flatmap(
    lambda n: hnp.arrays(
        np.float32,
        n,
        elements=st.sampled_from([0.0, -0.0, 1e-45, 3e-42, 1.0, -1.0, 1.0000001, 3e38])
        | st.floats(-10, 10, width=32),
        fill=st.sampled_from([0.0, 1.0]),
    )
)


@given(scores, st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**64 - 1))
def test_selection_of_anything(score: np.ndarray, a: float, b: float, key: int) -> None:
    n_rows = len(score)
    n_top = max(1, int(a * n_rows))
    n_other = int(b * (n_rows - n_top))
    gradient, hessian, rows = score.copy(), np.ones_like(score), np.empty(n_rows, np.uint32)
    sampler = _native.GradientSampler(n_rows, 1)
    sampler.score(gradient, hessian, 0.0, 2)
    sampler.sample_goss(n_top, n_other, key, gradient, hessian, rows, 3)
    inside = rows[: n_top + n_other]
    expected = oracle.goss(np.abs(score), n_top, n_other, key)
    np.testing.assert_array_equal(inside, expected.inside)
    assert np.all(np.diff(inside.astype(np.int64)) > 0)
    np.testing.assert_array_equal(hessian, expected.weight.astype(np.float32))


def test_sums_are_right_on_average() -> None:
    gradient, hessian = random_data(2000)
    goss = make_goss(2000)
    sums = []
    for n_round in range(600):
        gradients = make_gradients(gradient, hessian)
        bag = goss.draw(n_round, gradients, 1)
        assert bag is not None and gradients.hessian is not None
        sums.append([part[bag.inside].sum() for part in (gradients.gradient, gradients.hessian)])
    mean, error = np.mean(sums, axis=0), np.std(sums, axis=0) / np.sqrt(len(sums))
    assert np.all(error > 0)
    exact = np.array([gradient.sum(), hessian.sum()])
    assert np.all(np.abs(mean - exact) < 4 * error)


def test_rounds_and_seeds_draw_other_rows() -> None:
    gradient, hessian = random_data(1000)

    def draw(n_round: int, seed: int) -> np.ndarray:
        bag = make_goss(1000, bagging_seed=seed).draw(n_round, make_gradients(gradient, hessian), 1)
        assert bag is not None
        return bag.inside

    np.testing.assert_array_equal(draw(5, 1), draw(5, 1))
    assert not np.array_equal(draw(5, 1), draw(6, 1))
    assert not np.array_equal(draw(5, 1), draw(5, 2))


def test_blocks_draw_in_proportion() -> None:
    """Blocks of 8192 rows get their share of the draws, rounded up or down, after the top rows."""
    n_rows = 30_000
    gradient = RNG.normal(size=(1, n_rows)).astype(np.float32)
    gradient[:, :8192] *= 3  # more of the top is here, so fewer are drawn
    gradients = make_gradients(gradient)
    bag = make_goss(n_rows, top_rate=0.2, other_rate=0.1).draw(0, gradients, 2)
    assert bag is not None and gradients.hessian is not None
    is_top = np.zeros(n_rows, dtype=bool)
    is_top[np.argsort(-np.abs(gradient[0]), kind="stable")[:6000]] = True
    is_drawn = gradients.hessian > 1
    assert is_drawn.sum() == 3000 and not np.any(is_drawn & is_top)
    for first in range(0, n_rows, 8192):
        block = slice(first, first + 8192)
        assert abs(is_drawn[block].sum() - 3000 * (~is_top[block]).sum() / 24_000) < 1


def test_neighbours_are_drawn_independently() -> None:
    """Two draws share one random number; its halves must not have much in common."""
    n_rows = 40_000
    gradients = make_gradients(np.ones((1, n_rows), dtype=np.float32))
    bag = make_goss(n_rows, top_rate=0.0, other_rate=0.25).draw(0, gradients, 1)
    assert bag is not None
    is_in = np.zeros(n_rows, dtype=bool)
    is_in[bag.inside] = True
    for lag in (1, 2):
        both = (is_in[::2][: n_rows // 2 - 1] & is_in[lag::2][: n_rows // 2 - 1]).mean()
        assert both == pytest.approx(0.0625, abs=5 * np.sqrt(0.06 / (n_rows / 2)))


@pytest.mark.parametrize(("rate", "n_rounds"), [(0.1, 10), (0.3, 3), (1.0, 1), (1.5, 0)])
def test_the_first_rounds_use_all_rows(rate: float, n_rounds: int) -> None:
    gradient, hessian = random_data(500)
    goss = make_goss(500, learning_rate=rate)
    bags = [goss.draw(i, make_gradients(gradient, hessian), 1) for i in range(n_rounds + 2)]
    assert [bag is None for bag in bags] == [True] * n_rounds + [False] * 2


def test_hessians_that_nobody_fills_in_are_1_again() -> None:
    gradients = make_gradients(random_data(500)[0])
    goss = make_goss(500, learning_rate=0.5)
    goss.draw(2, gradients, 1)
    assert gradients.hessian is not None
    assert gradients.hessian.max() > 1
    goss.draw(1, gradients, 1)  # as after taking rounds back
    assert np.all(gradients.hessian == 1)


@pytest.mark.parametrize("rates", [(0.2, 0.8), (1.0, 0.0), (0.58, 0.42)])
@pytest.mark.parametrize("n_rows", [1, 37, 1000])
def test_all_rows(rates: tuple[float, float], n_rows: int) -> None:
    goss = make_goss(n_rows, top_rate=rates[0], other_rate=rates[1])
    assert not goss.is_on and not goss.weighs_rows
    assert goss.draw(5, make_gradients(random_data(n_rows)[0]), 1) is None


# Automatic rates


def expected_error(score: np.ndarray, n_top: int, n_other: int) -> float:
    """The formula of the documentation."""
    n = len(score)
    a, b = n_top / n, n_other / n
    rest = np.sort(score.astype(float) ** 2)[: n - n_top]
    square = (1 - a) ** 2 * rest.mean() * (1 / b - 1 / (1 - a)) / np.mean(score.astype(float) ** 2)
    return float(np.sqrt(square))


@pytest.mark.parametrize("error", [0.3, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("shape", ["normal", "lognormal", "uniform"])
def test_automatic_rates_hold_the_error(error: float, shape: str) -> None:
    gradient = getattr(RNG, shape)(size=(1, 50_000)).astype(np.float32)
    goss = make_goss(50_000, top_rate="auto", goss_error=error)
    bag = goss.draw(0, make_gradients(gradient), 2)
    assert bag is not None
    n_top, n_other = (round(rate * 50_000) for rate in goss.rates)
    assert len(bag.inside) == n_top + n_other
    score = np.abs(gradient[0])
    # Scores count as the middle of their bin, which is off by up to 3 %.
    assert expected_error(score, n_top, n_other) == pytest.approx(error, rel=0.03)
    fewest = min(
        k + (50_000 - k) * q / (q + error**2)
        for k in range(0, 49_000, 250)
        for q in [np.sort(score.astype(float) ** 2)[: 50_000 - k].sum() / (score**2).sum()]
    )
    assert n_top + n_other == pytest.approx(fewest, rel=0.02)


def test_the_error_is_what_the_formula_says() -> None:
    """The noise of sums over many draws, in units of sqrt(n mean(s^2))."""
    n_rows = 2000
    gradient = RNG.normal(size=(1, n_rows)).astype(np.float32)
    gradient -= gradient.mean()
    goss = make_goss(n_rows, top_rate="auto", goss_error=1.2)
    sums = []
    for n_round in range(800):
        gradients = make_gradients(gradient)
        bag = goss.draw(n_round, gradients, 1)
        assert bag is not None
        sums.append(gradients.gradient[bag.inside].astype(float).sum())
    error = np.std(sums) / np.sqrt(n_rows * (gradient.astype(float) ** 2).mean())
    assert error == pytest.approx(1.2, rel=0.12)


def test_automatic_rates_follow_the_gradients(caplog: pytest.LogCaptureFixture) -> None:
    """The more of the gradient is in few rows, the fewer rows are needed."""
    goss = make_goss(10_000, top_rate="auto")
    flat = make_gradients(np.ones((1, 10_000), dtype=np.float32))
    steep = make_gradients(np.exp(2 * RNG.normal(size=(1, 10_000))).astype(np.float32))
    with caplog.at_level(logging.DEBUG, logger="gossamer"):
        goss.draw(0, flat, 1)
        flat_rates = goss.rates
        goss.draw(1, steep, 1)
    assert sum(goss.rates) < 0.5 * sum(flat_rates)
    assert flat_rates[0] < 0.001 < goss.rates[0]
    assert [
        f"keeps {rates[0]:.4f}" in record.message
        for record, rates in zip(caplog.records, (flat_rates, goss.rates), strict=True)
    ] == [True, True]


def test_automatic_rates_of_several_outputs() -> None:
    gradient, hessian = random_data(5000, 3)
    goss = make_goss(5000, 3, top_rate="auto")
    bag = goss.draw(0, make_gradients(gradient, hessian), 1)
    assert bag is not None
    n_top, n_other = (round(rate * 5000) for rate in goss.rates)
    score = oracle.score_rows(gradient, hessian, 0.0)
    expected = oracle.goss(score, n_top, n_other, make_key(3, Stream.GOSS, 0))
    np.testing.assert_array_equal(bag.inside, expected.inside)


def test_no_drawn_row_stands_for_too_many() -> None:
    histogram = np.zeros(4096, dtype=np.uint32)
    histogram[[1000, 3000]] = 3200, 5
    assert choose_counts(histogram, 1.5) == (5, 100)


def test_a_tiny_error_needs_all_rows() -> None:
    goss = make_goss(1000, top_rate="auto", goss_error=1e-9)
    assert goss.draw(0, make_gradients(random_data(1000)[0]), 1) is None
    assert goss.rates == (1.0, 0.0)


# The native sampler


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="n_rows"):
        _native.GradientSampler(0, 1)
    with pytest.raises(ValueError, match="n_outputs"):
        _native.GradientSampler(1, 0)
    sampler = _native.GradientSampler(10, 2)
    good, short, rows = np.ones(20, np.float32), np.ones(10, np.float32), np.empty(10, np.uint32)
    with pytest.raises(ValueError, match="gradient has length 10, expected 20"):
        sampler.score(short, good, 0.0, 1)
    with pytest.raises(ValueError, match="hessian has length 10, expected 20"):
        sampler.score(good, short, 0.0, 1)
    for use in (sampler.histogram, lambda: sampler.sample_mvs(1.0, 1, good, good, rows, 1)):
        with pytest.raises(ValueError, match="no scores"):
            use()
    sampler.score(good, good, 0.0, 1)
    for n_top, n_other in ((0, 1), (1, -1), (5, 6)):
        with pytest.raises(ValueError, match="rows"):
            sampler.sample_goss(n_top, n_other, 1, good, good, rows, 1)
    with pytest.raises(ValueError, match="rows has length 9"):
        sampler.sample_goss(1, 1, 1, good, good, rows[:9].copy(), 1)
    other = _native.GradientSampler(10, 1)
    other.score(short, short, 0.0, 1)
    with pytest.raises(ValueError, match="not the gradients that were scored"):
        other.sample_goss(1, 1, 1, np.arange(10, dtype=np.float32), short, rows, 1)
    with pytest.raises(ValueError, match="n_expected"):
        sampler.sample_mvs(0.0, 1, good, good, rows, 1)
    with pytest.raises(TypeError):
        sampler.score(good.astype(float), good, 0.0, 1)


def test_a_given_share_is_divided_for_the_smallest_error() -> None:
    """No other border between bins does better, and the share is exact."""
    rng = np.random.default_rng(5)
    histogram = np.zeros(4096, dtype=np.uint32)
    histogram[1900:2100:7] = rng.integers(1, 2000, len(range(1900, 2100, 7)))
    n_rows = int(histogram.sum())
    for share in (0.05, 0.1, 0.3, 0.8):
        n_used = int(share * n_rows)
        counts = divide_counts(histogram, n_used)
        assert sum(counts) == n_used

        bins = np.flatnonzero(histogram).astype(np.uint32)
        middles = ((bins << 19) | (1 << 18)).view(np.float32).astype(float)
        scores = np.repeat(middles, histogram[bins])[::-1]
        squares = np.append(np.cumsum(scores[::-1] ** 2)[::-1], 0.0) / (scores**2).sum()

        def error(n_top: int, n_used: int = n_used, squares: np.ndarray = squares) -> float:
            return float(squares[n_top] * ((n_rows - n_top) / (n_used - n_top) - 1))

        borders = np.cumsum(histogram[::-1], dtype=np.int64)[histogram[::-1] > 0]
        possible = [0, *(b for b in borders if n_used - b >= (n_rows - b) / 32)]
        best = min(error(int(b)) for b in possible)
        assert error(counts.n_top if counts.n_top > 1 else 0) == pytest.approx(best)


def test_auto_uses_the_share_that_is_asked_for() -> None:
    params = resolve({"boosting": "goss", "top_rate": "auto", "bagging_fraction": 0.25})
    goss = Goss(params, 4000, 1)
    gradients = Gradients.empty(4000, 1, has_hessian=False, weighable=True)
    gradients.gradient[:] = np.random.default_rng(6).standard_normal(4000)
    bag = goss.draw(20, gradients, 2)
    assert bag is not None
    assert len(bag.inside) == 1000
    assert sum(goss.rates) == pytest.approx(0.25)
