"""How much each column matters to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError, message
from gossamer.model.derived import Derived
from gossamer.tree import Forest


def feature_importance(
    forest: Forest, importance_type: str, derived: Derived | None = None
) -> npt.NDArray[Any]:
    """Count the splits on each column ("split", int32) or add up their gains ("gain", float64).

    A split on a derived column counts for each of the columns that it is made of; they share its
    gain.

    Example:
        >>> from gossamer.tree import Tree
        >>> feature_importance(Forest.from_trees([Tree.constant(1.0)], 1, 3), "split")
        array([0, 0, 0], dtype=int32)
    """
    column = forest.arrays["column"]
    if importance_type == "split":
        found: npt.NDArray[Any] = np.bincount(column, minlength=forest.n_columns)
        found = found.astype(np.int32)
    elif importance_type == "gain":
        found = np.bincount(column, weights=forest.arrays["gain"], minlength=forest.n_columns)
    else:
        raise ParameterError(
            message("importance_type is not known", got=importance_type, expected="split or gain")
        )
    return found if derived is None else _credited(found, derived)


def _credited(found: npt.NDArray[Any], derived: Derived) -> npt.NDArray[Any]:
    """Credit what derived columns have to the user's columns that they are made of."""
    n_own = len(found) - derived.n_columns
    own = found[:n_own].copy()
    for i, value in enumerate(found[n_own:]):
        sources = list(derived.sources_of(i))
        own[sources] += value if own.dtype == np.int32 else value / len(sources)
    return own
