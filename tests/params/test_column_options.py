"""Options by column, from what a user writes to one number per column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ParameterError
from gossamer.params import Param
from gossamer.params.coerce import coerce
from gossamer.params.column_options import by_column, column_of

NAMES = ["age", "income", "1", "größe"]
COSTS = Param("costs", (), "floats_by_column", (), "", "", low=0)
SIGNS = Param("signs", (), "ints_by_column", (), "", "", low=-1, high=1)


def numbers_of(param: Param, value: object, default: Any = 0) -> list[Any]:
    """As a training reads a parameter."""
    return by_column(coerce(param, value), NAMES, param.name, default)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        [0, 2, 0, 3.5],
        np.array([0, 2, 0, 3.5]),
        "0, 2, 0, 3.5",
        "[0,2,0,3.5]",
        {"income": 2, "größe": 3.5},
        {1: 2, np.int64(3): 3.5},
        {"income": "2", 3: np.float32(3.5)},
        [("income", 2), ["größe", 3.5]],
    ],
)
def test_forms_that_mean_the_same(value: object) -> None:
    assert numbers_of(COSTS, value, 0.0) == [0, 2, 0, 3.5]


@given(
    st.one_of(
        st.lists(st.integers(-1, 1)),
        st.dictionaries(st.sampled_from(NAMES) | st.integers(0, 3), st.integers(-1, 1)),
    )
)
def test_what_was_resolved_resolves_to_itself(value: object) -> None:
    """Model files keep parameters, and read them again."""
    resolved = coerce(SIGNS, value)
    assert coerce(SIGNS, resolved) == resolved


def test_columns_left_out_have_the_default() -> None:
    assert numbers_of(COSTS, {"age": 3}, 1.0) == [3.0, 1.0, 1.0, 1.0]


def test_a_number_as_text_is_a_name_before_it_is_an_index() -> None:
    assert column_of("1", NAMES, "x") == 2
    assert column_of("3", NAMES, "x") == 3
    assert column_of(1, NAMES, "x") == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, 2, 3], "costs and the columns differ in length: got 3, expected 4"),
        ({"incom": 1}, "got 'incom', .* Did you mean income?"),
        ({4: 1}, "got 4, expected an index from 0 to 3"),
        ({-1: 1}, "got -1"),
        ({"age": 1, 0: 2}, "costs names a column twice: got 'age'"),
        ({"age": -1}, "costs is out of range"),
        ([0, 0, 0, -2], "costs is out of range"),
        ({"age": "much"}, "invalid value"),
        ({"age": [1]}, "invalid value"),
        ([("age", 1), 2], "invalid value"),
        ([("age", 1, 2)], "invalid value"),
        ({("a", "b"): 1}, "invalid value"),
        ({"age": float("nan")}, "invalid value"),
    ],
)
def test_what_is_refused(value: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        numbers_of(COSTS, value)
