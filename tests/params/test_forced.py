"""Forced splits and bins as text, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ParameterError
from gossamer.params.forced import bins_text, read_bins, read_splits, splits_text

COLUMNS = st.integers(0, 9) | st.text(max_size=5)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SPLITS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.fixed_dictionaries({"feature": COLUMNS, "threshold": NUMBERS}),
    lambda below: st.fixed_dictionaries(
        {"feature": COLUMNS, "threshold": NUMBERS}, optional={"left": below, "right": below}
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("read", [read_bins, read_splits])
def test_the_name_of_a_file_that_is_too_long(read: Callable[[str], object]) -> None:
    with pytest.raises(ParameterError, match=r"cannot be read \(.*File name too long") as caught:
        read("a" * 10_000)
    assert len(str(caught.value)) < 1000


@given(SPLITS)
def test_splits_survive_as_text(tree: dict[str, Any]) -> None:
    text = splits_text(tree)
    assert splits_text(text) == text
    nodes = read_splits(text)
    waiting = [(tree, 0)]
    while waiting:
        item, place = waiting.pop()
        node = nodes[place]
        assert (node.column, node.threshold) == (item["feature"], item["threshold"])
        for side, child in (("left", node.left), ("right", node.right)):
            assert (child > place) == (side in item)
            if side in item:
                waiting.append((item[side], child))


@given(st.dictionaries(COLUMNS, st.lists(NUMBERS, min_size=1, max_size=4)))
def test_bins_survive_as_text(bins: dict[int | str, list[float]]) -> None:
    text = bins_text(bins)
    assert bins_text(text) == text
    assert dict(read_bins(text)) == {key: sorted(set(bounds)) for key, bounds in bins.items()}


def test_nothing_is_forced_by_an_empty_text() -> None:
    assert splits_text({}) == bins_text({}) == ""
    assert read_splits("") == read_bins(" ") == []
