"""Trainings on extreme numbers: finite predictions that no unit changes, or an error of ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from attack.conftest import Tally
from attack.scale import share

from gossamer import Booster, Dataset, GossamerError, train

Rng = np.random.Generator
N = 60
N_PARTS = share(1, 10)  # that run side by side
LARGEST = np.finfo(np.float64).max
FLOATS = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e-38, 1.2e-38, 3.4e38, -3.4e38, 3.5e38),
        *(1e300, -1e300, LARGEST, -LARGEST, 1 + 2**-52, 1 - 2**-53, 2.0**24, 2.0**24 + 1, 2.0**53),
        *(2.0**63, 1e-35, -1e-35, 1e-36, np.pi, 0.1, 1e15, 1e16 + 2),
    ]
)
OBJECTIVES = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape", "poisson", "gamma"),
    *("tweedie", "binary", "cross_entropy", "multiclass", "lambdarank", "expectile", "log_cosh"),
    *("pseudo_huber", "squared_log_error", "gaussian", "hinge", "focal", "cox", "aft"),
)
OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {}, {"linear_tree": True}, {"tree_method": "exact"}, {"tree_method": "approx"}),
    *({"extra_trees": True}, {"boosting": "dart"}, {"data_sample_strategy": "goss"}),
    *({"lambda_l2": 1e300}, {"learning_rate": 1e30}, {"max_bin": 2}, {"reg_sqrt": True}),
    *({"path_smooth": 1e10}, {"min_sum_hessian_in_leaf": 0.0}, {"max_delta_step": 1e-300}),
)


def numbers(rng: Rng, shape: tuple[int, ...]) -> np.ndarray:
    """Extreme numbers, of a few values or among ordinary ones."""
    way = rng.integers(5)
    if way == 0:
        return rng.choice(FLOATS, shape)
    if way == 1:
        return rng.choice(rng.choice(FLOATS, 2), shape)
    if way == 2:
        return np.where(rng.random(shape) < 0.05, rng.choice(FLOATS, shape), rng.normal(size=shape))
    if way == 3:
        return rng.normal(size=shape) * float(np.abs(rng.choice(FLOATS)))
    return np.exp(rng.uniform(-700, 700, shape)) * rng.choice([-1, 1], shape)


def draw(rng: Rng) -> tuple[dict[str, Any], np.ndarray, dict[str, Any]]:
    """Draw parameters, a table and fields of its rows."""
    objective = str(rng.choice(OBJECTIVES))
    params = {"objective": objective, "verbosity": -1, "num_threads": 1, "num_leaves": 5}
    params |= OPTIONS[rng.integers(len(OPTIONS))] | {"min_data_in_leaf": 1}
    table = numbers(rng, (N, 3))
    if rng.random() < 0.3:
        table[rng.random(table.shape) < 0.2] = rng.choice([np.nan, np.inf, -np.inf])
    label = np.clip(numbers(rng, (N,)), -3e38, 3e38)
    if objective in ("binary", "cross_entropy", "hinge", "focal", "multiclass", "lambdarank"):
        label = (label > np.median(label)).astype(float)
    elif objective in ("poisson", "gamma", "tweedie", "squared_log_error", "aft"):
        label = np.abs(label)
    if objective == "multiclass":
        params["num_class"] = 2
    fields: dict[str, Any] = {"label": label}
    if objective == "lambdarank":
        fields["group"] = [20, 40]
    if rng.random() < 0.3:
        fields["weight"] = np.abs(np.clip(numbers(rng, (N,)), -3e38, 3e38))
    if rng.random() < 0.2 and objective not in ("multiclass", "gaussian"):
        fields["init_score"] = numbers(rng, (N,))
    return params, table, fields


def use(seed: int) -> None:
    """Train, predict, explain, save and load."""
    params, table, fields = draw(np.random.default_rng(seed))
    booster = train(params, Dataset(table, **fields), 3)
    found = booster.predict(table)
    assert not np.isnan(found).any(), "predictions are NaN"
    again = Booster(model_str=booster.model_to_string())
    np.testing.assert_array_equal(again.predict(table), found)
    booster.predict(table, pred_contrib=True)
    text = train({**params, "num_threads": 2}, Dataset(table, **fields), 3).model_to_string()
    assert text == booster.model_to_string(), "another model with two threads"


@pytest.mark.parametrize("part", range(N_PARTS))
def test_extreme_numbers(part: int, tally: Tally) -> None:
    for seed in range(part, share(60, 1_000), N_PARTS):
        with tally.run(f"use({seed})"), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                use(seed)
            except GossamerError as error:
                assert 10 < len(str(error)) < 3000, f"an error that nobody reads: {error}"
