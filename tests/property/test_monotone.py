"""Monotone constraints: one feature moves over its range, and no prediction goes the wrong way."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer as gm

Array = npt.NDArray[Any]
METHODS = ("basic", "intermediate", "advanced")
N_COLUMNS = 5


def make_data(seed: int, missing: float, levels: int) -> tuple[Array, Array]:
    """Rows whose labels obey no constraint; columns of few values and of many."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, N_COLUMNS))
    x[:, 3:] = np.round(x[:, 3:] * levels) / levels
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] - np.cos(2 * x[:, 3]) + 0.5 * rng.normal(size=400)
    x[rng.random(x.shape) < missing] = np.nan
    return x, y


def count_violations(booster: gm.Booster, x: Array, directions: list[int]) -> int:
    """Steps in the wrong direction, over every value that training has seen and far beyond."""
    rng = np.random.default_rng(0)
    rows = x[rng.choice(len(x), 40, replace=False)]
    rows[rng.random(rows.shape) < 0.1] = np.nan
    n_wrong = 0
    for column, direction in enumerate(directions):
        if direction == 0:
            continue
        seen = x[:, column][~np.isnan(x[:, column])]
        values = np.unique(np.concatenate([seen, seen + 1e-3, [-1e9, 1e9]]))
        values = values[values != 0]  # zero may be missing
        moved = np.repeat(rows, len(values), axis=0)
        moved[:, column] = np.tile(values, len(rows))
        scores = booster.predict(moved, raw_score=True).reshape(len(rows), len(values), -1)
        n_wrong += int((np.diff(scores, axis=1) * direction < 0).sum())
    return n_wrong


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"bagging_fraction": 0.5, "bagging_freq": 1},
    {"data_sample_strategy": "goss"},
    {"data_sample_strategy": "mvs", "bagging_fraction": 0.6},
    {"path_smooth": 5.0},
    {"max_delta_step": 0.3},
    {"lambda_l1": 3.0, "lambda_l2": 1.0},
    {"extra_trees": True},
    {"feature_fraction": 0.6, "feature_fraction_bynode": 0.6},
    {"monotone_penalty": 1.5},
    {"grow_policy": "depthwise", "max_depth": 4},
    {"zero_as_missing": True},
    {"use_missing": False},
    {"histogram_pool_size": 0.01},
    {"max_bin": 7},
    {"prune": True, "min_gain_to_split": 4.0},
    {"prune": True, "min_gain_to_split": 0.5, "grow_policy": "depthwise", "max_depth": 4},
)
OBJECTIVES = ("regression", "regression_l1", "quantile", "huber", "binary", "poisson", "multiclass")


@given(
    seed=st.integers(0, 1000),
    missing=st.sampled_from([0.0, 0.2]),
    levels=st.sampled_from([1, 50]),
    directions=st.lists(st.sampled_from([-1, 0, 1]), min_size=N_COLUMNS, max_size=N_COLUMNS),
    method=st.sampled_from(METHODS),
    objective=st.sampled_from(OBJECTIVES),
    options=st.sampled_from(OPTIONS),
    num_leaves=st.sampled_from([4, 31]),
    min_data=st.sampled_from([1, 20]),
)
@settings(max_examples=150, deadline=None)
def test_no_prediction_goes_the_wrong_way(
    seed: int,
    missing: float,
    levels: int,
    directions: list[int],
    method: str,
    objective: str,
    options: dict[str, Any],
    num_leaves: int,
    min_data: int,
) -> None:
    x, y = make_data(seed, missing, levels)
    params: dict[str, Any] = {
        "objective": objective,
        "monotone_constraints": directions,
        "monotone_constraints_method": method,
        "num_leaves": num_leaves,
        "min_data_in_leaf": min_data,
        "learning_rate": 0.3,
        "verbosity": -1,
        "num_threads": 1,
        **options,
    }
    match objective:
        case "binary":
            y = (y > 0).astype(float)
        case "poisson":
            y = np.floor(np.exp(y))
        case "multiclass":
            y = np.digitize(y, [-0.5, 0.5])
            params["num_class"] = 3
        case "regression_l1" | "quantile" | "huber":
            y = 100 * y
    booster = gm.train(params, gm.Dataset(x, y), 6)
    assert count_violations(booster, x, directions) == 0


@pytest.mark.parametrize(
    ("seed", "missing", "levels", "method", "directions", "gamma"),
    [
        (145, 0.2, 1, "intermediate", [1, 0, 1, 0, 1], 5.0),
        (230, 0.0, 50, "advanced", [-1, -1, 0, 0, -1], 0.5),
    ],
)
def test_pruned_nodes_come_to_terms_with_the_leaves_around_them(
    seed: int, missing: float, levels: int, method: str, directions: list[int], gamma: float
) -> None:
    """Leaves were limited by what was under the node, and its own value would break that here."""
    x, y = make_data(seed, missing, levels)
    params = {
        "monotone_constraints": directions,
        "monotone_constraints_method": method,
        "min_data_in_leaf": 1,
        "learning_rate": 0.3,
        "grow_policy": "depthwise",
        "max_depth": 5,
        "num_leaves": 31,
        "prune": True,
        "gamma": gamma,
        "verbosity": -1,
        "num_threads": 1,
    }
    booster = gm.train(params, gm.Dataset(x, y), 5)
    assert count_violations(booster, x, directions) == 0


def test_without_constraints_predictions_go_the_wrong_way() -> None:
    """The counter above sees them."""
    x, y = make_data(0, 0.2, 50)
    booster = gm.train({"verbosity": -1, "num_threads": 1}, gm.Dataset(x, y), 6)
    assert count_violations(booster, x, [1, 0, 0, 0, 0]) > 100


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("objective", ["regression", "regression_l1"])
def test_trees_do_not_depend_on_threads(method: str, objective: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 6))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=len(x))
    models = []
    for n_threads in (1, 2, 3, 8):
        params = {
            "objective": objective,
            "monotone_constraints": [1, -1, 0, 0, 1, 0],
            "monotone_constraints_method": method,
            "num_leaves": 63,
            "verbosity": -1,
            "num_threads": n_threads,
        }
        models.append(gm.train(params, gm.Dataset(x, y), 5).predict(x))
    for other in models[1:]:
        np.testing.assert_array_equal(other, models[0])


@pytest.mark.parametrize("method", METHODS)
def test_constraints_that_are_true_cost_little(method: str) -> None:
    """On a monotone truth the constrained model is as good; against it, it is worse."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, size=(4000, 3))
    truth = 2 * x[:, 0] + x[:, 1] ** 3 - np.exp(x[:, 2])
    y = truth + 0.5 * rng.normal(size=len(x))

    def error(directions: list[int]) -> float:
        params = {
            "monotone_constraints": directions,
            "monotone_constraints_method": method,
            "verbosity": -1,
            "num_threads": 1,
        }
        booster = gm.train(params, gm.Dataset(x[:3000], y[:3000]), 60)
        return float(np.sqrt(np.mean((booster.predict(x[3000:]) - truth[3000:]) ** 2)))

    free = error([0, 0, 0])
    assert error([1, 1, -1]) < 1.02 * free
    assert error([-1, 1, -1]) > 2 * free


def test_as_good_as_lightgbm() -> None:
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, size=(6000, 5))
    bent = 0.5 * np.sin(3 * x[:, 0]) * (x[:, 1] > 0)
    y = 2 * x[:, 0] + bent + np.exp(x[:, 2] * x[:, 3]) - x[:, 4] ** 3 + 0.5 * rng.normal(size=6000)
    for method in METHODS:
        params = {
            "monotone_constraints": [1, 0, 1, 0, -1],
            "monotone_constraints_method": method,
            "verbosity": -1,
            "num_threads": 1,
        }
        errors = []
        for library in (gm, lgb):
            booster = library.train(params, library.Dataset(x[:4500], y[:4500]), 80)
            errors.append(np.sqrt(np.mean((booster.predict(x[4500:]) - y[4500:]) ** 2)))
        assert errors[0] < 1.01 * errors[1], method
