"""Which categorical columns become target statistics, alone and combined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.target_statistics import MAX_KEYS, Source

# A column of at least so many categories and of fewer rows for each is encoded; otherwise sets of
# categories are the better splits (`docs/categories.md` has the figures).
MIN_CATEGORIES: Final = 100
ROWS_PER_CATEGORY: Final = 1000
# Most combinations of each size, made of the columns with the most categories.
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


def choose_encoded(n_categories: Sequence[int], n_rows: int) -> list[int]:
    """Choose the columns that are encoded instead of being split by sets.

    Where one column has many categories, columns with fewer are encoded as well: sets next to
    statistics fit noise.

    Args:
        n_categories: Categories of each column that occur in the training rows.
        n_rows: Training rows.

    Example:
        >>> choose_encoded([7518, 67, 4], 32_769), choose_encoded([67, 4], 32_769)
        ([0, 1], [])
    """
    if not any(is_better_encoded(n, n_rows) for n in n_categories):
        return []
    return [i for i, n in enumerate(n_categories) if n_rows < ROWS_PER_CATEGORY * n]


def choose_sources(
    codes: Sequence[npt.NDArray[np.integer[Any]]],
    n_codes: Sequence[int],
    encoded: Sequence[int],
    most_columns: int,
) -> tuple[Source, ...]:
    """Choose what is encoded: columns alone, and combinations with at least one of them.

    Combinations are made of columns that say different things: of columns that are the same but
    for the names of their categories the first stands for all. With many columns, those with the
    most categories are combined.

    Args:
        codes: For each categorical column the category of every row.
        n_codes: Codes of each column.
        encoded: The columns that are encoded alone.
        most_columns: Of a combination; 1: no combinations.

    Returns:
        Single columns first, then pairs and so on; nothing if no column is encoded.

    Example:
        >>> town, street, sex = np.array([[0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 1, 0]])
        >>> choose_sources([town, street, sex, 1 - town], [2, 4, 2, 2], [1, 3], most_columns=2)
        ((1,), (3,), (0, 1), (0, 2), (1, 2))
    """
    singles = sorted({int(column) for column in encoded})
    sources: list[Source] = [(column,) for column in singles]
    stands_for = _stands_for(codes, n_codes)
    kept = {stands_for[column] for column in singles}
    by_size = sorted(set(stands_for), key=lambda column: (-int(n_codes[column]), column))
    for size in range(2, most_columns + 1):
        n_combined = len(by_size)
        while comb(n_combined, size) > MAX_COMBINATIONS:
            n_combined -= 1
        for source in combinations(sorted(by_size[:n_combined]), size):
            n_keys = prod(int(n_codes[column]) for column in source)
            if kept.intersection(source) and n_keys < MAX_KEYS:
                sources.append(source)
    return tuple(sources)


def _stands_for(codes: Sequence[npt.NDArray[np.integer[Any]]], n_codes: Sequence[int]) -> list[int]:
    """For each column the first one that it is a mere renaming of, or itself."""
    n_used = [len(np.flatnonzero(np.bincount(column))) for column in codes]
    stands_for: list[int] = []
    for column in range(len(codes)):
        same = (
            other
            for other in dict.fromkeys(stands_for)
            if n_used[column] == n_used[other]
            and _follows(codes[column], codes[other], int(n_codes[other]))
        )
        stands_for.append(next(same, column))
    return stands_for


def _follows(
    column: npt.NDArray[np.integer[Any]], other: npt.NDArray[np.integer[Any]], n_codes: int
) -> bool:
    """Whether the code in `other` tells the one in `column`."""
    told = np.zeros(n_codes, dtype=column.dtype)
    told[other] = column
    return bool(np.array_equal(told[other], column))
