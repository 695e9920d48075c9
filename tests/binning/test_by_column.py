"""Bins of single columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer import Dataset
from gossamer.data.dataset import built_data
from gossamer.errors import DataError, ParameterError

RNG = np.random.default_rng(1)
TABLE = RNG.normal(size=(400, 3))
NAMES = ["x", "y", "z"]


def bounds_of(feature: int, **params: Any) -> np.ndarray:
    data = Dataset(TABLE, feature_name=NAMES, params=params).construct()
    return built_data(data).table.binning.upper_of(feature)


@pytest.mark.parametrize("value", [[7, 255, 16], {"x": 7, 2: 16}, "7,255,16"])
def test_max_bin_by_feature(value: Any) -> None:
    data = Dataset(TABLE, feature_name=NAMES, params={"max_bin_by_feature": value})
    assert [data.construct().feature_num_bin(name) for name in NAMES] == [7, 133, 16]


def test_forced_bins_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "bins.json"
    file.write_text(json.dumps([{"feature": 1, "bin_upper_bound": [0.3, -0.2]}]))
    expected = bounds_of(1, forced_bins={"y": [-0.2, 0.3]})
    assert {-0.2, 0.3} <= set(expected)
    for value in (file, str(file), file.read_text(), {1: np.array([0.3, -0.2])}):
        np.testing.assert_array_equal(bounds_of(1, forcedbins_filename=value), expected)
    np.testing.assert_array_equal(bounds_of(0, forced_bins={"y": [0.3]}), bounds_of(0))
    np.testing.assert_array_equal(bounds_of(1, forced_bins={}), bounds_of(1))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=6, unique=True),
    st.integers(8, 40),
)
def test_forced_bounds_are_always_there(bounds: list[float], max_bin: int) -> None:
    found = bounds_of(0, forced_bins={"x": bounds}, max_bin=max_bin)
    assert len(found) <= max_bin
    assert {bound + 0.0 for bound in bounds} <= set(found)
    assert (np.diff(found) > 0).all()


def test_a_forced_bound_is_an_exact_threshold() -> None:
    label = (TABLE[:, 0] > 0.123).astype(float)
    params = {"forced_bins": {"x": [0.123]}, "max_bin": 4, "verbose": -1, "num_leaves": 2}
    booster = gossamer.train(params, Dataset(TABLE, label, feature_name=NAMES), 1)
    assert booster.model.forest.tree(0).threshold.tolist() == [0.123]


def test_bins_cannot_change_once_they_are_made() -> None:
    data = Dataset(TABLE, TABLE[:, 0]).construct()
    with pytest.raises(DataError, match="forcedbins_filename cannot change"):
        gossamer.train({"forced_bins": {0: [1.0]}, "verbose": -1}, data, 1)
    with pytest.raises(DataError, match="max_bin_by_feature cannot change"):
        gossamer.train({"max_bin_by_feature": {0: 5}, "verbose": -1}, data, 1)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_bin_by_feature": [5, 5]}, "max_bin_by_feature and the columns differ in length"),
        ({"max_bin_by_feature": {"x": 1}}, "max_bin_by_feature is out of range"),
        ({"max_bin_by_feature": {"w": 5}}, "max_bin_by_feature names a column .* got 'w'"),
        ({"forced_bins": {"w": [1]}}, "forced_bins names a column .* got 'w'"),
        ({"forced_bins": {"x": []}}, "forced_bins of 'x' has no bounds"),
        ({"forced_bins": {"x": [np.inf]}}, "forced_bins of 'x' cannot be used: got inf"),
        ({"forced_bins": {"x": ["1"]}}, "forced_bins of 'x' cannot be used"),
        ({"forced_bins": {"x": "1,2"}}, "forced_bins of 'x' cannot be used"),
        ({"forced_bins": {"x": [1], 0: [2]}}, "forced_bins names a column twice: got 'x'"),
        ({"forced_bins": {"x": [1, 2, 3]}, "max_bin": 4}, "too many bounds: got 3, expected at"),
        ({"forced_bins": [{"feature": 0}]}, r"forced_bins\[0\] has no bin_upper_bound"),
        ({"forced_bins": [3]}, r"forced_bins\[0\] cannot be used"),
        ({"forced_bins": {1.5: [3]}}, "feature cannot be used: got 1.5"),
        ({"forced_bins": 3}, "forced_bins has an invalid value: got 3"),
        ({"forced_bins": "nowhere.json"}, "file of forced_bins cannot be read"),
    ],
)
def test_what_is_refused(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Dataset(TABLE, feature_name=NAMES, params=params).construct()
