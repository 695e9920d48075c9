"""Every bad input of a training is a precise ValueError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import DataError, Dataset, train

TABLE = np.random.default_rng(0).normal(size=(60, 2))
LABEL = TABLE[:, 0]
BINARY = {"objective": "binary"}
MULTI = {"objective": "multiclass", "num_class": 3}


def bad_value(values: np.ndarray, value: float) -> np.ndarray:
    values = np.array(values, dtype=np.float64)
    values[7] = value
    return values


@pytest.mark.parametrize(
    ("params", "data", "words"),
    [
        ({}, {"label": bad_value(LABEL, np.nan)}, "label of row 7 is missing: got nan"),
        ({}, {"label": bad_value(LABEL, np.inf)}, "label of row 7 cannot be used: got inf"),
        ({}, {"label": LABEL[:-1]}, "label and data differ in length: got 59, expected 60"),
        ({}, {"label": None}, "the data set has no label"),
        ({}, {"weight": bad_value(LABEL * 0 + 1, -1)}, "weight of row 7 .* got -1.0"),
        ({}, {"weight": bad_value(LABEL * 0 + 1, np.nan)}, "weight of row 7"),
        ({}, {"weight": np.ones(61)}, "weight and data differ in length"),
        ({}, {"weight": np.zeros(60)}, "weight is 0 for every row"),
        ({}, {"data": TABLE[:0], "label": []}, "data has no rows"),
        ({}, {"data": TABLE[:, :0]}, "data has no columns"),
        ({}, {"data": np.float64(1)}, r"got shape \(\), expected 2 dimensions"),
        ({}, {"data": TABLE[:, 0]}, r"got shape \(60,\), expected 2 dimensions"),
        ({}, {"data": TABLE[:, :, None]}, r"got shape \(60, 2, 1\), expected 2 dimensions"),
        ({}, {"data": np.full((60, 2), {})}, "neither numbers nor text: got 'dict'"),
        ({}, {"data": TABLE.astype("S")}, "data must be numeric"),
        ({}, {"init_score": np.zeros(59)}, r"init_score has shape \(59,\)"),
        ({}, {"init_score": bad_value(LABEL, np.nan)}, "init_score of row 7"),
        ({}, {"feature_name": ["a", "a"]}, "same name twice"),
        (BINARY, {"label": np.arange(60)}, "label of row 2 of the training data does not fit"),
        (MULTI, {"label": np.arange(60) % 4}, "label of row 3 of the training data is outside"),
        (MULTI, {"label": np.full(60, -1)}, "outside the classes"),
        (MULTI, {"label": np.full(60, 0.5)}, "outside the classes"),
    ],
)
def test_training_data(params: dict[str, Any], data: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        train(params, Dataset(**{"data": TABLE, "label": LABEL, **data}), 2)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("params", "label", "valid", "words"),
    [
        (MULTI, np.arange(60) % 2, {"label": np.full(60, 2)}, "class 2 occurs in the data set 'v'"),
        (BINARY, np.zeros(60), {"label": np.ones(60)}, "class 1 occurs in the data set 'v'"),
        (BINARY, np.arange(60) % 2, {"label": np.full(60, 2)}, "row 0 of the v data does not fit"),
        ({}, LABEL, {"label": bad_value(LABEL, np.nan)}, "label of row 7"),
        ({}, LABEL, {"label": None}, "the data set has no label"),
        ({}, LABEL, {"data": TABLE[:, :1]}, "differ in columns: got 1, expected 2"),
    ],
)
def test_validation_data(
    params: dict[str, Any], label: np.ndarray, valid: dict[str, Any], words: str
) -> None:
    train_set = Dataset(TABLE, label)
    valid_set = Dataset(**{"data": TABLE, "label": LABEL, **valid})
    with pytest.raises(DataError, match=words):
        train(params, train_set, 2, [valid_set], ["v"])


def test_data_freed_before_training() -> None:
    valid = Dataset(TABLE, LABEL).construct()
    with pytest.raises(DataError, match="data set used after being freed"):
        train({}, Dataset(TABLE * 2, LABEL), 2, [valid])
