"""Levels from chunks are those of the whole column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import DataError
from gossamer.data.categories.level_finder import LevelFinder, levels_found
from gossamer.data.categories.levels import levels_of
from gossamer.data.table.columns import LevelColumn, read_objects


@given(
    values=st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=4),
)
def test_text(values: list[str | None], cuts: list[int]) -> None:
    array = np.array([*values, None], dtype=object)[:-1]
    finder = LevelFinder("column 0")
    for part in np.split(array, sorted(min(cut, len(array)) for cut in cuts)):
        finder.add(read_objects(part, "column 0"))
    whole = read_objects(array, "column 0")
    if isinstance(whole, LevelColumn):
        assert finder.levels == levels_of(whole)
        assert finder.kind == "text"
    else:
        assert finder.kind is None and levels_found({0: finder})[0].by_column == {}


def test_orders() -> None:
    def find(kind: str, *chunks: list[str], in_order: bool = False) -> tuple[object, ...]:
        finder = LevelFinder("column 0", in_order=in_order)
        for found in chunks:
            finder.add(LevelColumn(np.array([0]), list(found), kind))  # type: ignore[arg-type]
        return finder.levels

    assert find("category", ["c", "a"], ["c", "a"]) == ("c", "a")
    assert find("category", ["c", "a"], ["b"]) == ("a", "b", "c")
    assert find("category", ["c", "a"], ["b"], in_order=True) == ("c", "a", "b")
    assert find("text", ["c", "a"], ["b"], in_order=True) == ("a", "b", "c")
    assert find("ordered", ["c", "a"], ["c", "a"]) == ("c", "a")
    with pytest.raises(DataError, match="ordered categories that differ"):
        find("ordered", ["c", "a"], ["a", "c"])


def test_text_and_numbers() -> None:
    finder = LevelFinder("column 0")
    finder.add(np.array([np.nan]))
    finder.add(LevelColumn(np.array([0]), ["a"], "category"))
    with pytest.raises(DataError, match="both text and numbers: got 1"):
        finder.add(LevelColumn(np.array([0]), [1], "category"))
    with pytest.raises(DataError, match="both text and numbers: got 3"):
        finder.add(np.array([3]))
