"""What is encoded, and what is combined."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.data.categories.statistic_columns import (
    MAX_COMBINATIONS,
    MIN_CATEGORIES,
    ROWS_PER_CATEGORY,
    choose_sources,
    is_better_encoded,
)
from gossamer.data.categories.target_statistics import TargetStatistics


def _columns(n_codes: list[int], n_rows: int = 500) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, n, n_rows) for n in n_codes]


@pytest.mark.parametrize(
    ("n_categories", "n_rows", "expected"),
    [
        (7518, 26_215, True),  # amazon_access
        (128, 26_215, True),
        (67, 26_215, False),
        (229, 100_000, True),
        (42, 39_073, False),  # adult
        (3, 54_045, False),  # connect4
        (229, 3_000_000, False),  # flights3m
        (MIN_CATEGORIES - 1, 10, False),
        (MIN_CATEGORIES, MIN_CATEGORIES * ROWS_PER_CATEGORY, False),
        (MIN_CATEGORIES, MIN_CATEGORIES * ROWS_PER_CATEGORY - 1, True),
    ],
)
def test_what_is_better_encoded(n_categories: int, n_rows: int, expected: bool) -> None:
    assert is_better_encoded(n_categories, n_rows) is expected


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_all_combinations_of_few_columns(most: int) -> None:
    n_codes = [5, 9, 7, 4]
    expected = [source for size in range(1, most + 1) for source in combinations(range(4), size)]
    assert choose_sources(_columns(n_codes), n_codes, range(4), most) == tuple(expected)


def test_many_columns_combine_those_of_most_categories() -> None:
    n_codes = list(range(2, 32))
    sources = choose_sources(_columns(n_codes), n_codes, range(30), 3)
    for size, n_combined in ((2, 11), (3, 8)):
        of_size = [source for source in sources if len(source) == size]
        assert of_size == list(combinations(range(30 - n_combined, 30), size))
        assert len(of_size) <= MAX_COMBINATIONS


def test_renamed_columns_are_combined_once() -> None:
    first, second, third = _columns([6, 6, 6])
    names = np.array([3, 1, 0, 9, 5, 4])
    columns = [first, second, names[first], third, names[second], np.minimum(first, 4)]
    sources = choose_sources(columns, [6, 6, 10, 6, 10, 5], range(6), 2)
    assert sources[:6] == tuple((column,) for column in range(6))
    # The last one follows from the first, but not the other way round: it is coarser.
    assert sources[6:] == tuple(combinations((0, 1, 3, 5), 2))


def test_combinations_have_an_encoded_column() -> None:
    n_codes = [5, 9, 7, 4]
    columns = _columns(n_codes)
    sources = choose_sources(columns, n_codes, [2], 3)
    expected = [(2,), (0, 2), (1, 2), (2, 3), (0, 1, 2), (0, 2, 3), (1, 2, 3)]
    assert sources == tuple(expected)
    assert choose_sources(columns, n_codes, [], 3) == ()
    # Column 4 is column 0 renamed: to be encoded, it is combined as column 0.
    renamed = choose_sources([*columns, 4 - columns[0]], [*n_codes, 5], [4], 2)
    assert renamed == ((4,), (0, 1), (0, 2), (0, 3))


def test_combinations_that_do_not_fit_are_left_out() -> None:
    n_codes = [2**31, 2**31, 4, 2]
    sources = choose_sources(_columns([5, 5, 4, 2]), n_codes, range(4), 3)
    assert (0, 1) in sources
    assert (0, 1, 2) not in sources
    assert (0, 1, 3) not in sources
    assert (0, 2, 3) in sources


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(7, 10**6), min_size=1, max_size=20), st.integers(1, 4))
def test_everything_chosen_can_be_encoded(n_codes: list[int], most: int) -> None:
    columns = [np.arange(9) % min(n % 9 + 1, 7) for n in n_codes]
    sources = choose_sources(columns, n_codes, [0], most)
    assert len(set(sources)) == len(sources)
    learned, encoded = TargetStatistics.fit(columns, n_codes, np.arange(9.0), sources=sources)
    assert encoded.shape == (9, learned.n_features)
