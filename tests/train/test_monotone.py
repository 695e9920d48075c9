"""How monotone constraints are given, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer as gm
from gossamer.errors import GossamerError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 3))
Y = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=500)
NAMES = ["age", "price", "7"]


def train(constraints: Any, n_rounds: int = 5, **params: Any) -> gm.Booster:
    params |= {"monotone_constraints": constraints, "verbosity": -1, "num_threads": 1}
    return gm.train(params, gm.Dataset(X, Y, feature_name=NAMES), n_rounds)


@pytest.mark.parametrize(
    "constraints",
    [
        (-1, 1, 0),
        np.array([-1, 1, 0]),
        "(-1,1,0)",
        "-1,1,0",
        {"age": -1, "price": 1},
        {0: -1, 1: 1},
        {0: -1, "price": 1, "7": 0},
    ],
)
def test_ways_to_say_the_same(constraints: Any) -> None:
    expected = train([-1, 1, 0]).predict(X)
    np.testing.assert_array_equal(train(constraints).predict(X), expected)
    assert np.abs(expected - train([1, -1, 0]).predict(X)).max() > 0.1


@pytest.mark.parametrize("name", ["mc", "monotone_constraint", "monotonic_cst"])
def test_other_names(name: str) -> None:
    params = {name: [-1, 1, 0], "verbosity": -1, "num_threads": 1}
    booster = gm.train(params, gm.Dataset(X, Y), 5)
    np.testing.assert_array_equal(booster.predict(X), train([-1, 1, 0]).predict(X))


def test_zeros_are_no_constraints() -> None:
    free = gm.train({"verbosity": -1, "num_threads": 1}, gm.Dataset(X, Y), 5).predict(X)
    for constraints in ([0, 0, 0], {"age": 0}, []):
        np.testing.assert_array_equal(train(constraints).predict(X), free)


def test_columns_that_cannot_split_count() -> None:
    """Directions go by the user's columns, of which constant ones are not features."""
    x = np.column_stack([np.ones(500), X])
    booster = gm.train(
        {"monotone_constraints": [1, -1, 0, 0], "verbosity": -1, "num_threads": 1},
        gm.Dataset(x, Y),
        5,
    )
    np.testing.assert_array_equal(booster.predict(x), train([-1, 0, 0]).predict(X))


@pytest.mark.parametrize(
    ("constraints", "what"),
    [
        ([1, 0], r"differ in length: got 2, expected 3"),
        ([1, 0, 2], r"out of range.*>= -1 and <= 1"),
        ([1, 0, 0.5], "invalid value"),
        ({"age": 3}, "out of range"),
        ({"agee": 1}, "Did you mean age"),
        ({3: 1}, "an index from 0 to 2"),
        ({-1: 1}, "an index from 0 to 2"),
        ({"age": 1, 0: -1}, "names a column twice"),
        ("up", "invalid value"),
    ],
)
def test_refused(constraints: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what) as caught:
        train(constraints)
    assert "monotone_constraints" in str(caught.value)


def test_an_unknown_method() -> None:
    with pytest.raises(ParameterError, match="one of basic, intermediate, advanced"):
        train([1, 0, 0], monotone_constraints_method="exact")
    with pytest.raises(ParameterError, match="monotone_penalty is out of range"):
        train([1, 0, 0], monotone_penalty=-1)


def test_vector_leaves_are_refused() -> None:
    params = {
        "objective": "multiclass",
        "num_class": 3,
        "multi_strategy": "multi_output_tree",
        "monotone_constraints": [1, 0, 0],
        "verbosity": -1,
    }
    with pytest.raises(ParameterError, match="multi_output_tree"):
        gm.train(params, gm.Dataset(X, np.digitize(Y, [-1, 1])), 2)


def test_linear_leaves_are_refused() -> None:
    with pytest.raises(GossamerError, match="linear_tree"):
        train([1, 0, 0], linear_tree=True)


def test_constraints_cannot_change_during_a_training() -> None:
    params = {"monotone_constraints": [1, 0, 0], "verbosity": -1, "num_threads": 1}
    booster = gm.Booster(params, gm.Dataset(X, Y))
    with pytest.raises(ParameterError, match="monotone_constraints cannot change"):
        booster.reset_parameter({"monotone_constraints": [0, 1, 0]})
    booster.reset_parameter({"monotone_constraints_method": "advanced", "monotone_penalty": 1})


def test_the_penalty_keeps_monotone_columns_from_the_root() -> None:
    """Both informative columns are constrained: with a penalty only the third is left."""
    for penalty, expected in ((0.0, {0, 1}), (0.5, {0, 1}), (1.0, {2})):
        params = {
            "monotone_constraints": [1, -1, 0],
            "monotone_penalty": penalty,
            "num_leaves": 2,
            "verbosity": -1,
            "num_threads": 1,
        }
        booster = gm.train(params, gm.Dataset(X, Y + 0.2 * X[:, 2]), 3)
        assert set(np.flatnonzero(booster.feature_importance("split"))) <= expected


def test_saved_and_loaded(tmp_path: Any) -> None:
    booster = train({"age": 1, 1: -1})
    booster.save_model(tmp_path / "model.gsm")
    loaded = gm.Booster(model_file=tmp_path / "model.gsm")
    np.testing.assert_array_equal(loaded.predict(X), booster.predict(X))


def test_estimators_take_them() -> None:
    model = gm.GossamerRegressor(
        n_estimators=5,
        monotone_constraints={"age": -1, "price": 1},
        monotone_constraints_method="intermediate",
        n_jobs=1,
        verbosity=-1,
    )
    model.fit(X, Y, feature_name=NAMES)
    grid = np.repeat(X[:20], 50, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 50), 20)
    assert (np.diff(model.predict(grid).reshape(20, 50), axis=1) <= 0).all()
