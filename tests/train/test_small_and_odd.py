"""Small and odd data sets that must work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, train

RNG = np.random.default_rng(0)
OBJECTIVES: list[dict[str, Any]] = [
    {},
    {"objective": "binary"},
    {"objective": "multiclass", "num_class": 3},
]
EAGER = {"min_data_in_leaf": 1, "min_data_in_bin": 1, "min_sum_hessian_in_leaf": 0}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def label_for(params: dict[str, Any], signal: np.ndarray) -> np.ndarray:
    if not params:
        return signal
    return np.digitize(signal, [-0.5, 0.5] if "num_class" in params else [0.0])


@pytest.mark.parametrize("params", OBJECTIVES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 1), (5, 2), (30, 4), (50, 10_000)], ids=str)
def test_shapes(params: dict[str, Any], shape: tuple[int, int]) -> None:
    table = RNG.normal(size=shape)
    label = label_for(params, table[:, 0])
    for more in ({}, EAGER):
        model = train({**params, **more, "verbosity": -1}, Dataset(table, label), 3)
        assert np.isfinite(model.predict(table)).all()
        assert len(model.predict(table)) == shape[0]
        assert Booster(model_str=model.model_to_string()).num_feature() == shape[1]


def test_thirty_rows_can_be_learned() -> None:
    table = RNG.normal(size=(30, 3))
    model = train({**EAGER, "learning_rate": 0.5}, Dataset(table, table[:, 1]), 30)
    assert np.abs(model.predict(table) - table[:, 1]).max() < 0.05


def test_many_columns_can_be_learned() -> None:
    table = RNG.normal(size=(50, 10_000))
    table[:, 777] = np.arange(50)
    model = train({"min_data_in_leaf": 2}, Dataset(table, np.arange(50) > 24), 5)
    assert model.feature_importance().argmax() == 777


@pytest.mark.parametrize("params", OBJECTIVES, ids=str)
def test_constant_labels_are_predicted(params: dict[str, Any]) -> None:
    table = RNG.normal(size=(100, 3))
    model = train({**params, "verbosity": -1}, Dataset(table, np.ones(100)), 5)
    found = model.predict(table[:2])
    expected = [[0, 1, 0]] * 2 if "num_class" in params else [1, 1]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_columns_without_values() -> None:
    table = RNG.normal(size=(200, 3))
    label = table[:, 2].copy()
    table[:, :2] = np.nan
    model = train({}, Dataset(table, label), 20)
    assert model.feature_importance()[:2].tolist() == [0, 0]
    assert np.corrcoef(model.predict(table), label)[0, 1] > 0.9
    nothing = train({"verbosity": -1}, Dataset(np.full((50, 2), np.nan), np.arange(50)), 3)
    assert nothing.predict([[1.0, np.nan]]).tolist() == [24.5]


def test_only_constant_columns() -> None:
    model = train({"verbosity": -1}, Dataset(np.ones((50, 3)), np.arange(50)), 3)
    assert model.predict(np.zeros((1, 3))).tolist() == [24.5]
    assert model.num_feature() == 3
    assert model.feature_importance().tolist() == [0, 0, 0]


def test_adding_a_constant_column_changes_nothing() -> None:
    table = RNG.normal(size=(300, 3))
    plain = train({}, Dataset(table, table[:, 0]), 5).predict(table)
    wider = np.insert(table, 1, 4.0, axis=1)
    np.testing.assert_array_equal(train({}, Dataset(wider, table[:, 0]), 5).predict(wider), plain)


def test_the_order_of_rows_does_not_matter() -> None:
    table = RNG.normal(size=(500, 4))
    label = (table[:, 0] + table[:, 1] > 0).astype(float)
    order = RNG.permutation(500)
    params = {"objective": "binary"}
    first = train(params, Dataset(table, label), 5)
    second = train(params, Dataset(table[order], label[order]), 5)
    np.testing.assert_array_equal(first.predict(table), second.predict(table))


def test_missing_values_learn_their_direction() -> None:
    value = RNG.normal(size=1000)
    label = value > 0
    table = np.where(RNG.random(1000) < 0.3, np.nan, value).reshape(-1, 1)
    is_missing = np.isnan(table[:, 0])
    for missing_label in (False, True):
        label = np.where(is_missing, missing_label, value > 0)
        model = train({"objective": "binary"}, Dataset(table, label), 20)
        assert (model.predict([[np.nan]])[0] > 0.5) == missing_label
        assert ((model.predict(table) > 0.5) == label).mean() > 0.99


def test_missing_as_zero() -> None:
    table = np.array([[-1.0], [0.0], [1.0]] * 100)
    label = np.tile([0.0, 1.0, 0.0], 100)
    model = train({"use_missing": False}, Dataset(table, label), 20)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])
    model = train({"zero_as_missing": True}, Dataset(table, label), 20)
    assert model.predict([[np.nan]]) == model.predict([[0.0]])
    assert model.predict([[0.0]])[0] > 0.8 > 0.2 > model.predict([[1.0]])[0]


def test_infinities_are_values() -> None:
    table = np.array([[-np.inf], [-1.0], [1.0], [np.inf]] * 50)
    label = np.tile([3.0, 1.0, 2.0, 4.0], 50)
    model = train({"learning_rate": 0.5}, Dataset(table, label), 30)
    np.testing.assert_allclose(model.predict(table[:4]), [3, 1, 2, 4], atol=1e-3)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e30])
def test_the_scale_of_labels_does_not_matter(scale: float) -> None:
    table = RNG.normal(size=(500, 3))
    label = (table[:, 0] + table[:, 1] * table[:, 2]).astype(np.float32).astype(np.float64)
    expected = train({}, Dataset(table, label), 10).predict(table)
    found = train({}, Dataset(table, label * scale), 10).predict(table) / scale
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("max_bin", [2, 3, 255, 256, 65_535])
def test_numbers_of_bins(max_bin: int) -> None:
    table = RNG.normal(size=(3000, 2))
    params = {"max_bin": max_bin, "min_data_in_bin": 1}
    data = Dataset(table, table[:, 0] > 0, params=params)
    assert data.feature_num_bin(0) == min(max_bin, 3000)
    model = train({"objective": "binary", **params}, data, 5)
    correct = (model.predict(table) > 0.5) == (table[:, 0] > 0)
    assert correct.mean() > (0.8 if max_bin == 3 else 0.97)  # three bins miss the middle


def test_max_bin_counts_the_missing_bin() -> None:
    table = RNG.normal(size=(3000, 1))
    table[0] = np.nan
    assert Dataset(table, params={"max_bin": 255, "min_data_in_bin": 1}).feature_num_bin(0) == 255
