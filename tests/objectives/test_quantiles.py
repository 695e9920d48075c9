"""Several quantiles in one model: they never cross, and each is as good as on its own."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as st_numpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import Booster, Dataset, ParameterError, train
from gossamer.data import Targets
from gossamer.metrics import make_metrics
from gossamer.objectives import Gradients, Quantiles, objective_from_config
from gossamer.objectives.quantiles import weighted_quantile
from gossamer.params import resolve

RNG = np.random.default_rng(6)
N_ROWS = 100
QUIET = {"verbosity": -1, "num_threads": 1, "objective": "reg:quantileerror"}
ALPHAS = (0.1, 0.5, 0.8)


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(6)


def pinball(error: Any, alpha: float) -> Any:
    return np.maximum(alpha * error, (alpha - 1) * error)


def make_rows(n_rows: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    x = RNG.uniform(-1, 1, size=(n_rows, 3))
    return x, 2 * x[:, 0] + np.exp(x[:, 1]) * RNG.normal(size=n_rows)


@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_are_those_of_the_loss(weighted: bool) -> None:
    label = RNG.normal(size=N_ROWS)
    weight = (RNG.random(N_ROWS) + 0.5).astype(np.float32) if weighted else None
    targets = Targets(label.astype(np.float32), weight)
    objective, step = Quantiles(3, ALPHAS), 1e-5
    out = Gradients.empty(N_ROWS, 3, has_hessian=objective.has_hessian(targets))
    score = RNG.normal(size=3 * N_ROWS)
    objective.fill_gradients(score, targets, out, 2)
    for k, alpha in enumerate(ALPHAS):
        error = targets.label.astype(np.float64) - score[k * N_ROWS : (k + 1) * N_ROWS]
        slope = (pinball(error - step, alpha) - pinball(error + step, alpha)) / (2 * step)
        expected = slope * (1.0 if weight is None else weight)
        np.testing.assert_allclose(out.split(len(ALPHAS))[k][0], expected, rtol=1e-4)
        hessian = out.split(len(ALPHAS))[k][1]
        if weight is None:
            assert hessian is None
        else:
            np.testing.assert_array_equal(hessian, weight)


@pytest.mark.parametrize("alpha", [0.01, 0.25, 0.5, 0.9])
def test_start_is_the_minimiser(alpha: float) -> None:
    for _ in range(20):
        label = RNG.integers(0, 20, N_ROWS).astype(np.float64)
        times = RNG.integers(0, 4, N_ROWS)
        found = weighted_quantile(label, times, alpha)
        assert found == weighted_quantile(np.repeat(label, times), None, alpha)
        least = min((times * pinball(label - s, alpha)).sum() for s in range(20))
        assert (times * pinball(label - found, alpha)).sum() == pytest.approx(least, rel=1e-12)


def test_one_model_per_quantile_says_the_same() -> None:
    """Scores are trained one by one; only their order is put right."""
    x, y = make_rows(1000)
    both = train({**QUIET, "quantile_alpha": ALPHAS}, Dataset(x, y), 10)
    alone = [train({**QUIET, "quantile_alpha": a}, Dataset(x, y), 10).predict(x) for a in ALPHAS]
    np.testing.assert_array_equal(both.predict(x, raw_score=True), np.column_stack(alone))
    np.testing.assert_array_equal(both.predict(x), np.sort(np.column_stack(alone), axis=1))


@settings(max_examples=60, deadline=None)
@given(
    y=st_numpy.arrays(np.float64, st.integers(2, 60), elements=st.floats(-1e6, 1e6, width=32)),
    alphas=st.lists(st.floats(0.001, 0.999), min_size=2, max_size=6, unique=True),
    seed=st.integers(0, 99),
)
def test_quantiles_never_cross(y: np.ndarray, alphas: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(len(y), 3))
    params = {**QUIET, "quantile_alpha": sorted(alphas), "min_data_in_leaf": 1, "max_bin": 15}
    booster = train({**params, "learning_rate": 0.9}, Dataset(x, y), 4)
    new = rng.normal(size=(50, 3))
    for rows in (x, new):
        assert (np.diff(booster.predict(rows), axis=1) >= 0).all()
    # Putting scores into order never makes the loss worse, row by row.
    raw, predicted = booster.predict(x, raw_score=True), booster.predict(x)
    losses = [
        sum(pinball(y - found[:, k], alpha) for k, alpha in enumerate(sorted(alphas)))
        for found in (predicted, raw)
    ]
    assert (losses[0] <= losses[1] + 1e-6 * (1 + np.abs(losses[1]))).all()


def test_coverage_is_close_to_nominal() -> None:
    x, y = make_rows(9000)
    alphas = [0.05, 0.25, 0.5, 0.75, 0.95]
    params = {**QUIET, "quantile_alpha": alphas, "num_leaves": 8, "min_data_in_leaf": 50}
    predicted = train(params, Dataset(x[:6000], y[:6000]), 60).predict(x[6000:])
    below = (y[6000:, None] <= predicted).mean(axis=0)
    np.testing.assert_allclose(below, alphas, atol=0.03)


def test_metric() -> None:
    x, y = make_rows(500)
    data = Dataset(x, y, weight=RNG.random(500) + 0.5)
    names = ["quantile", "quantile@0.5", "quantile@0.10"]
    booster = train({**QUIET, "quantile_alpha": ALPHAS, "metric": names}, data, 5, [data])
    predicted, weight = booster.predict(x), data.get_weight()
    label = data.get_label().astype(np.float64)
    each = [
        np.average(pinball(label - predicted[:, k], alpha), weights=weight)
        for k, alpha in enumerate(ALPHAS)
    ]
    found = booster.best_score["training"]
    assert found["quantile"] == pytest.approx(np.mean(each))
    assert found["quantile@0.5"] == pytest.approx(each[1])
    assert found["quantile@0.1"] == pytest.approx(each[0])
    with pytest.raises(ParameterError, match=r"expected one of quantile@0\.1, quantile@0\.5"):
        params = resolve({**QUIET, "quantile_alpha": ALPHAS, "metric": "quantile@0.3"})
        make_metrics(params, Quantiles(3, ALPHAS))


def test_files(tmp_path: Any) -> None:
    x, y = make_rows(300)
    booster = train({**QUIET, "quantile_alpha": ALPHAS}, Dataset(x, y), 5)
    booster.save_model(tmp_path / "model")
    loaded = Booster(model_file=tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(x), booster.predict(x))
    assert objective_from_config(Quantiles(3, ALPHAS).to_config()) == Quantiles(3, ALPHAS)


def test_weights_are_repeated_rows() -> None:
    x, y = make_rows(400)
    x = np.round(x, 1)  # few values: the bins do not depend on how often they occur
    times = RNG.integers(1, 4, 400)
    params = {**QUIET, "quantile_alpha": ALPHAS, "min_data_in_leaf": 1, "num_leaves": 2}
    params |= {"min_data_in_bin": 1, "min_sum_hessian_in_leaf": 30}
    weighted = train(params, Dataset(x, y, weight=times), 3)
    repeated = train(params, Dataset(np.repeat(x, times, axis=0), np.repeat(y, times)), 3)
    np.testing.assert_allclose(weighted.predict(x), repeated.predict(x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"quantile_alpha": [0.5, 0.1]}, r"out of order: got \[0\.5, 0\.1\]"),
        ({"quantile_alpha": [0.1, 0.1]}, "names a quantile twice"),
        ({"quantile_alpha": [0.0, 0.1]}, r"quantile_alpha is out of range: got 0\.0"),
        ({"quantile_alpha": [0.1, 1.0]}, r"quantile_alpha is out of range: got 1\.0"),
        ({"quantile_alpha": -0.5}, "expected between 0 and 1"),
        ({"quantile_alpha": [0.1, float("nan")]}, "quantile_alpha has an invalid value"),
        ({"quantile_alpha": ["a"]}, "quantile_alpha has an invalid value"),
        ({"quantile_alpha": [0.1, 0.9], "metric": "l2"}, "metric does not fit"),
        ({"quantile_alpha": [0.1, 0.9], "objective": "l2"}, "is for objective=quantile"),
    ],
)
def test_bad_quantiles(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        train({**QUIET, **params}, Dataset(np.ones((30, 1)), np.arange(30)), 1)


def test_one_quantile_is_alpha() -> None:
    assert resolve({**QUIET, "quantile_alpha": 0.3}).alpha == 0.3
    assert resolve({**QUIET, "quantile_alpha": "0.1,0.9"}).quantile_alpha == (0.1, 0.9)
    assert train({**QUIET, "quantile_alpha": [0.3]}, Dataset(*make_rows(50)), 1).predict(
        [[0.0, 0.0, 0.0]]
    ).shape == (1,)
    with pytest.raises(ParameterError, match="cannot change during a training"):
        data = Dataset(*make_rows(50))
        booster = Booster({**QUIET, "quantile_alpha": [0.3, 0.4]}, data)
        booster.reset_parameter({"quantile_alpha": [0.3, 0.5]})
