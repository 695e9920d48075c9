"""Linear leaves as named arrays: there all together, or not at all.

A leaf's value is `constant + sum(coefficient * (x - centre))` over its terms, kept between `low`
and `high`; see docs/linear_trees.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

# Names as in the model file. Where a leaf's terms begin, and behind the last their number:
_BEGIN: Final = "linear_begin"
# By leaf:
_LEAF_ARRAYS: Final = ("linear_constant", "linear_low", "linear_high")
# By term:
_TERM_ARRAYS: Final = ("linear_column", "linear_coefficient", "linear_centre")
LINEAR_ARRAYS: Final[dict[str, npt.DTypeLike]] = {
    _BEGIN: np.int64,
    **dict.fromkeys(_LEAF_ARRAYS, np.float64),
    "linear_column": np.int32,
    "linear_coefficient": np.float64,
    "linear_centre": np.float64,
}

Linear = Mapping[str, npt.NDArray[Any]]


def plain_leaves(leaf_value: npt.NDArray[np.float64]) -> Linear:
    """Return arrays for leaves that have no terms.

    Example:
        >>> plain_leaves(np.array([0.5, 0.25]))["linear_begin"]
        array([0, 0, 0])
    """
    arrays: dict[str, npt.NDArray[Any]] = {_BEGIN: np.zeros(len(leaf_value) + 1, dtype=np.int64)}
    arrays |= dict.fromkeys(_LEAF_ARRAYS, leaf_value)
    return arrays | {name: np.empty(0, dtype=LINEAR_ARRAYS[name]) for name in _TERM_ARRAYS}


def join_linear(parts: Iterable[tuple[Linear | None, npt.NDArray[np.float64]]]) -> Linear | None:
    """Put the linear leaves of trees one after another; None: no tree has any.

    Args:
        parts: Of each tree (or several trees) the arrays, or None, and its leaf values.
    """
    parts = list(parts)
    if not any(linear is not None and len(linear["linear_column"]) for linear, _ in parts):
        return None
    filled = [plain_leaves(values) if linear is None else linear for linear, values in parts]
    n_terms = np.cumsum([0, *(len(linear["linear_column"]) for linear in filled)])
    begin = [linear[_BEGIN][1:] + first for linear, first in zip(filled, n_terms, strict=False)]
    joined = {
        name: np.concatenate([linear[name] for linear in filled])
        for name in (*_LEAF_ARRAYS, *_TERM_ARRAYS)
    }
    return {_BEGIN: np.concatenate([np.zeros(1, dtype=np.int64), *begin]), **joined}


def take_leaves(linear: Linear | None, first: int, last: int) -> Linear | None:
    """Return the leaves from `first` to before `last`; None: none of them has terms."""
    if linear is None:
        return None
    begin = linear[_BEGIN][first : last + 1]
    if begin[0] == begin[-1]:
        return None
    terms = slice(begin[0], begin[-1])
    return {
        _BEGIN: begin - begin[0],
        **{name: linear[name][first:last] for name in _LEAF_ARRAYS},
        **{name: linear[name][terms] for name in _TERM_ARRAYS},
    }
