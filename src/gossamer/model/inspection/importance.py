"""How much each column matters to a model."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import check_choice
from gossamer.model.derived import Derived
from gossamer.tree import Forest

# Type -> the array of nodes that is added up, and whether the sum is divided by the splits.
IMPORTANCE_TYPES: Final[dict[str, tuple[str, bool]]] = {
    "split": ("", False),
    "gain": ("gain", False),
    "total_gain": ("gain", False),
    "mean_gain": ("gain", True),
    "cover": ("node_weight", False),
    "total_cover": ("node_weight", False),
    "mean_cover": ("node_weight", True),
}


def feature_importance(
    forest: Forest, importance_type: str, derived: Derived | None = None
) -> npt.NDArray[Any]:
    """Return the importance of each column, float64; of "split" int32.

    A split on a derived column counts for each of the columns that it is made of; they share its
    gain and its cover.

    Args:
        forest: The trees.
        importance_type: "split" counts the splits; "gain" (or "total_gain") adds up their gains,
            "cover" (or "total_cover") the hessians of the rows that they divide; "mean_gain" and
            "mean_cover" are these by split.
        derived: Columns that the trees know in addition to the user's.

    Example:
        >>> from gossamer.tree import Tree
        >>> feature_importance(Forest.from_trees([Tree.constant(1.0)], 1, 3), "split")
        array([0, 0, 0], dtype=int32)
    """
    array, by_split = IMPORTANCE_TYPES[
        check_choice("importance_type", importance_type, IMPORTANCE_TYPES)
    ]
    column, n_columns = forest.arrays["column"], forest.n_columns
    counts = np.bincount(column, minlength=n_columns).astype(np.int32)
    sums = np.bincount(column, forest.arrays[array], n_columns) if array else counts
    if derived is not None:
        counts, sums = _credited(counts, derived), _credited(sums, derived)
    return sums / np.maximum(counts, 1) if by_split else sums


def _credited(found: npt.NDArray[Any], derived: Derived) -> npt.NDArray[Any]:
    """Credit what derived columns have to the user's columns that they are made of."""
    n_own = len(found) - derived.n_columns
    own = found[:n_own].copy()
    for i, value in enumerate(found[n_own:]):
        sources = list(derived.sources_of(i))
        own[sources] += value if own.dtype == np.int32 else value / len(sources)
    return own
