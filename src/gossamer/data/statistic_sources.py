"""Which categorical columns become target statistics, alone and combined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.target_statistics import MAX_KEYS, Source

# A column of fewer rows per category is encoded; with more, sets of categories are the better
# splits (`docs/categories.md` has the figures).
ROWS_PER_CATEGORY: Final = 400
# Columns of so few categories are left to sets of categories, however few rows there are.
MIN_CATEGORIES: Final = 20
# Most combinations of each size; their columns are those of the most categories.
MAX_COMBINATIONS: Final = 64


def is_better_encoded(n_categories: int, n_rows: int) -> bool:
    """Whether statistics beat sets of categories for a column, as far as its size tells.

    Args:
        n_categories: Categories that occur in the training rows.
        n_rows: Training rows.

    Example:
        >>> is_better_encoded(7518, 32_769), is_better_encoded(42, 48_842)
        (True, False)
    """
    return n_categories >= MIN_CATEGORIES and n_rows < ROWS_PER_CATEGORY * n_categories


def choose_sources(
    codes: Sequence[npt.NDArray[np.integer[Any]]], n_codes: Sequence[int], most_columns: int
) -> tuple[Source, ...]:
    """Choose what is encoded: every column, and combinations of up to `most_columns` of them.

    Combinations are made of columns that say different things: of columns that are the same but
    for the names of their categories the first stands for all. With many columns, those of the
    most categories are combined.

    Args:
        codes: For each column to be encoded the category of every row.
        n_codes: Codes of each column.
        most_columns: Of a combination; 1: no combinations.

    Returns:
        Single columns first, then pairs and so on.

    Example:
        >>> town, street = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        >>> choose_sources([town, street, 1 - town], [2, 2, 2], most_columns=2)
        ((0,), (1,), (2,), (0, 1))
    """
    sources: list[Source] = [(column,) for column in range(len(codes))]
    different = _different(codes, n_codes)
    by_size = sorted(different, key=lambda column: (-int(n_codes[column]), column))
    for size in range(2, most_columns + 1):
        n_combined = len(different)
        while comb(n_combined, size) > MAX_COMBINATIONS:
            n_combined -= 1
        for source in combinations(sorted(by_size[:n_combined]), size):
            n_keys = 1
            for column in source:
                n_keys *= int(n_codes[column])
            if n_keys < MAX_KEYS:
                sources.append(source)
    return tuple(sources)


def _different(codes: Sequence[npt.NDArray[np.integer[Any]]], n_codes: Sequence[int]) -> list[int]:
    """Columns that are no mere renaming of an earlier one."""
    n_used = [len(np.flatnonzero(np.bincount(column))) for column in codes]
    different: list[int] = []
    for column in range(len(codes)):
        if not any(
            n_used[column] == n_used[other]
            and _follows(codes[column], codes[other], int(n_codes[other]))
            for other in different
        ):
            different.append(column)
    return different


def _follows(
    column: npt.NDArray[np.integer[Any]], other: npt.NDArray[np.integer[Any]], n_codes: int
) -> bool:
    """Whether the code in `other` tells the one in `column`."""
    told = np.zeros(n_codes, dtype=column.dtype)
    told[other] = column
    return bool(np.array_equal(told[other], column))
