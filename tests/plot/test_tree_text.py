from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plot.random_trees import booster_of, random_tree

from gossamer.binning import MissingKind
from gossamer.plot.tree_boxes import shorten_list, wrap
from gossamer.plot.tree_text import condition_of, format_number, format_threshold, shorten


@given(st.floats(-1e12, 1e12), st.integers(0, 8))
def test_numbers_keep_their_value(value: float, precision: int) -> None:
    found = float(format_number(value, precision))
    relative = 10.0 ** -max(precision - 1, 0) if abs(value) >= 1e9 or abs(found) < 0.5 else 1e-9
    assert found == pytest.approx(value, abs=0.5 * 10.0**-precision + 1e-12, rel=relative)
    assert (found == 0) == (value == 0)
    assert float(format_threshold(value, precision)) == found
    assert float(format_number(value, None)) == value


@given(st.text(max_size=60), st.integers(5, 40))
def test_texts_become_short(text: str, most: int) -> None:
    assert len(shorten(text, most)) <= most
    assert all(len(line) <= most for line in wrap(text, most)) and len(wrap(text, most)) <= 2
    if len(text) <= most and text == " ".join(text.split()):
        assert shorten(text, most) == text and wrap(text, most) == [text]


@given(st.lists(st.text("ab, ", min_size=1, max_size=30), min_size=2, max_size=30))
def test_lists_say_how_many_are_left_out(names: list[str]) -> None:
    found = shorten_list(names, 26, 5)
    shown = [shorten(name, 16) for name in names]
    for n_shown in range(1, len(names) + 1):
        left = len(names) - n_shown
        if found == ", ".join(shown[:n_shown]) + (f", {left} more" if left else ""):
            assert n_shown <= 5 and (len(found) <= 26 or n_shown == 1)
            return
    raise AssertionError(found)


def test_names_with_commas_are_one_category() -> None:
    assert shorten_list(["Rome, Italy", "Bern", "Oslo", "Graz"], 26) == "Rome, Italy, Bern, 2 more"
    assert shorten_list(["a", "b", "c", "d"], 26, 2) == "a, b, 2 more"


def ask(**arrays: Any) -> Any:
    tree = random_tree(2, 0)
    changed = {name: np.array([value], getattr(tree, name).dtype) for name, value in arrays.items()}
    tree = replace(tree, **changed)
    return condition_of(booster_of(tree).model, tree, 0, 3, 10)


def test_where_missing_values_go() -> None:
    found = ask(missing_kind=MissingKind.NAN, default_left=1, threshold=1.5)
    assert (found.sign, found.operand) == ("≤", "1.5")
    assert (found.edge("yes"), found.edge("no")) == ("yes, missing", "no")
    found = ask(missing_kind=MissingKind.ZERO, default_left=0, threshold=1.5)
    assert (found.edge("yes"), found.edge("no")) == ("yes", "no, 0 or missing")
    found = ask(missing_kind=MissingKind.NAN_IS_ZERO, default_left=0, threshold=1.5)
    assert (found.edge("yes"), found.edge("no")) == ("yes", "no")


def test_whether_there_is_a_value() -> None:
    found = ask(missing_kind=MissingKind.NAN, default_left=0, threshold=np.inf)
    assert (found.sign, found.operand, found.edge("no")) == ("is", "known", "no")
    found = ask(missing_kind=MissingKind.ZERO, default_left=0, threshold=np.inf)
    assert found.operand == "neither 0 nor missing"
    assert ask(missing_kind=MissingKind.NAN, default_left=1, threshold=np.inf).operand == "inf"


@pytest.mark.parametrize(("default_left", "sign"), [(0, "in"), (1, "not in")])
def test_categories_go_where_missing_values_do_not(default_left: int, sign: str) -> None:
    tree = replace(
        random_tree(2, 0),
        default_left=np.array([default_left], np.int8),
        category_begin=np.array([0, 2]),
        category=np.array([3, 7], np.int32),
    )
    found = condition_of(booster_of(tree).model, tree, 0, 3, 10)
    assert (found.sign, found.operand) == (sign, "3, 7")
    assert found.edge("yes") == ("yes, missing" if default_left else "yes")
