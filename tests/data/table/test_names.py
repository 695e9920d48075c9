"""Names of columns."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.data.table.names import check_names, match_names
from gossamer.errors import DataError


def test_any_unicode_is_a_name() -> None:
    names = ["größe", "宽度", 'a "quote", [brackets]: {braces}', "", "line\nbreak", "🌲"]
    assert check_names(names, 6) == names


def test_numbers_become_names() -> None:
    assert check_names([1, "b"], 2) == ["1", "b"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "differ in length: got 1, expected 2"),
        (["a", "a"], "same name twice: got 'a'"),
        ([1, "1"], "same name twice"),
        ("ab", "list of names"),
        (5, "list of names"),
    ],
)
def test_bad_names(names: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_names(names, 2)


def test_matching_finds_the_order() -> None:
    assert match_names(["a", "b", "c"], ["a", "b", "c"]) is None
    assert match_names(["a", "b", "c"], ["c", "a", "b"]) == [1, 2, 0]


def test_matching_says_what_differs() -> None:
    with pytest.raises(DataError, match="missing 'b', unknown 'x'"):
        match_names(["a", "b"], ["a", "x"])
    with pytest.raises(DataError, match="unknown '0', '1', '2', '3', '4' and 2 more"):
        match_names([], [str(i) for i in range(7)])


def test_white_space_is_an_underscore_in_models_of_lightgbm() -> None:
    assert match_names(["a_b", "c"], ["a b", "c"]) == [0, 1]
    assert match_names(["a_b", "c"], ["c", "a\tb"]) == [1, 0]
    with pytest.raises(DataError, match="missing 'a_b'"):
        match_names(["a_b", "c"], ["a  b", "c"])
    with pytest.raises(DataError, match="unknown"):
        match_names(["a_b"], ["a_b", "a b"])  # which one is it?
    with pytest.raises(DataError, match="missing 'a b'"):
        match_names(["a b"], ["a_b"])
