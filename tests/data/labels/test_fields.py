"""Labels, weights, initial scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from gossamer.data.labels.fields import Targets, check_init_score, check_label, check_weight
from gossamer.errors import DataError


@pytest.mark.parametrize(
    "label", [[0, 1, 2], (0.0, 1.0, 2.0), np.array([[0], [1], [2]]), np.arange(3, dtype=np.int8)]
)
def test_labels_become_float32(label: Any) -> None:
    found = check_label(label, 3)
    assert found.dtype == np.float32
    assert found.tolist() == [0, 1, 2]


def test_labels_and_weights_are_copies() -> None:
    values = np.ones(3, dtype=np.float32)
    label, weight = check_label(values, 3), check_weight(values, 3)
    values[:] = 7
    assert weight is not None
    assert label.tolist() == weight.tolist() == [1, 1, 1]


def test_labels_may_be_a_series() -> None:
    pandas = pytest.importorskip("pandas")
    assert check_label(pandas.Series([1.5, 2.5], index=[7, 8]), 2).tolist() == [1.5, 2.5]
    with pytest.raises(DataError, match="label"):
        check_label(pandas.Series([1, None], dtype="Int64"), 2)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ([0, np.nan, 1], "label of row 1 is missing: got nan, expected finite"),
        ([0, np.inf, -np.inf], r"label of row 1 \(and of 1 more\)"),
        ([0, 1e39, 1], r"label of row 1 cannot be used: got 1e\+39.*float32"),
        ([0, 1], "label and data differ in length: got 2, expected 3"),
        ([0, 1, 2, 3], "differ in length"),
        (np.zeros((3, 2, 1)), r"label has shape \(3, 2, 1\)"),
        (np.zeros((3, 0)), r"label has shape \(3, 0\)"),
        ([[0, 1], [2, np.nan], [4, 5]], "label of row 1, target 1 is missing: got nan"),
        ([[0, 1], [np.inf, 3], [4, 5]], "label of row 1, target 0 cannot be used: got inf"),
        ([[0, 1, 1], [2, 3, np.inf], [4, 5, 1]], "label of row 1, target 2"),
        (np.float64(1.0), r"label has shape \(\)"),
        (["a", "b", "c"], "label must be numeric.*Encode classes"),
        ([None, 1, 2], "label must be numeric"),
        (np.ma.masked_equal([1, 2, 3], 2), "label of row 1 is missing: got nan"),
        ([1j, 1, 2], "label must be numeric"),
        ([[1], [2, 3], [4]], "label cannot be made an array"),
        (pl.Series([1, 2, 3], dtype=pl.Int128), "label cannot be made an array"),
    ],
)
def test_bad_labels(label: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_label(label, 3)


def test_weights() -> None:
    found = check_weight([0, 1.5, 2], 3)
    assert found is not None
    assert found.dtype == np.float32
    assert found.tolist() == [0, 1.5, 2]
    assert check_weight(None, 3) is None


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1, -1, 1], "weight of row 1 cannot be used: got -1.0, expected finite numbers >= 0"),
        ([1, np.nan, 1], "weight of row 1"),
        ([1, 1, np.inf], "weight of row 2"),
        ([1, 1, 1e39], "weight of row 2"),
        ([0, 0, 0], "weight is 0 for every row"),
        ([1e-60, 0, 0], "weight is 0 for every row"),
        ([1, 1], "weight and data differ in length"),
    ],
)
def test_bad_weights(weight: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_weight(weight, 3)


@pytest.mark.parametrize(
    ("init_score", "expected"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([[1, 10], [2, 20], [3, 30]], [1, 2, 3, 10, 20, 30]),
        (np.asfortranarray([[1, 10], [2, 20], [3, 30]]), [1, 2, 3, 10, 20, 30]),
        ([[1], [2], [3]], [1, 2, 3]),
        ([1, 2, 3, 10, 20, 30], [1, 2, 3, 10, 20, 30]),
    ],
)
def test_initial_scores_are_class_major(init_score: Any, expected: list[int]) -> None:
    found = check_init_score(init_score, 3)
    assert found is not None
    assert found.dtype == np.float64
    assert found.tolist() == expected
    assert check_init_score(None, 3) is None


@pytest.mark.parametrize(
    ("init_score", "words"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([[1, 2, 3]], r"shape \(1, 3\)"),
        (np.zeros((3, 2, 2)), r"shape \(3, 2, 2\)"),
        ([], r"shape \(0,\)"),
        ([1, np.nan, 2], "init_score of row 1"),
        (["a", "b", "c"], "init_score must be numeric"),
    ],
)
def test_bad_initial_scores(init_score: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_init_score(init_score, 3)


def test_averages_are_weighted() -> None:
    label = np.array([0, 1, 5], dtype=np.float32)
    assert Targets(label).average(label) == 2.0
    weighted = Targets(label, np.array([1, 3, 0], dtype=np.float32))
    assert weighted.total_weight == 4.0
    assert weighted.average(label) == 0.75
    assert weighted.average(label > 0) == 0.75
