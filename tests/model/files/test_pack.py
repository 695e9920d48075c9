"""Values as JSON and arrays, and back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import ParameterError
from gossamer.model.files.pack import pack, unpack

PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
VALUES = st.recursive(
    PLAIN, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=20
)


@given(VALUES)
def test_there_and_back(value: Any) -> None:
    arrays: dict[str, Any] = {}
    text = json.dumps(pack(value, arrays, "it"), allow_nan=False, sort_keys=True)
    found = unpack(json.loads(text), arrays)
    assert found == value
    assert repr(found) == repr(value)  # the order of dicts, signs of zeros


def test_arrays_and_numbers_of_numpy() -> None:
    arrays: dict[str, Any] = {}
    value = {"a": [np.arange(3), np.float32(0.5)], "b": math.nan, "c": (1, np.bool_(True))}
    found = unpack(json.loads(json.dumps(pack(value, arrays, "it"))), arrays)
    assert list(arrays) == ["it.a.0"]
    np.testing.assert_array_equal(found["a"][0], np.arange(3))
    assert found["a"][1] == 0.5 and math.isnan(found["b"]) and found["c"] == [1, True]


@pytest.mark.parametrize("value", [{1, 2}, {1: 2}, Ellipsis, np.array(["a"]), b"x"], ids=str)
def test_something_else(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"it\.part cannot be written to a checkpoint"):
        pack({"part": value}, {}, "it")
