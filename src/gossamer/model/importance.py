"""How much each column matters to a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError, message
from gossamer.tree import Forest


def feature_importance(forest: Forest, importance_type: str) -> npt.NDArray[Any]:
    """Count the splits on each column ("split", int32) or add up their gains ("gain", float64).

    Example:
        >>> from gossamer.tree import Tree
        >>> feature_importance(Forest.from_trees([Tree.constant(1.0)], 1, 3), "split")
        array([0, 0, 0], dtype=int32)
    """
    column = forest.arrays["column"]
    if importance_type == "split":
        return np.bincount(column, minlength=forest.n_columns).astype(np.int32)
    if importance_type == "gain":
        return np.bincount(column, weights=forest.arrays["gain"], minlength=forest.n_columns)
    raise ParameterError(
        message("importance_type is not known", got=importance_type, expected="split or gain")
    )
