"""Linear leaves of LightGBM: lines through zero without bounds there, around a centre here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.logger import warn
from gossamer.model.formats.lightgbm_text import (
    Block,
    floats_text,
    numbers,
    whole_number,
    words_of,
)
from gossamer.tree.linear import Linear

_LARGEST: Final = np.finfo(np.float64).max
# Bounds beyond this are none.
_UNBOUNDED: Final = 1e300
# By this share of a leaf's range values may differ and still be equal but for rounding.
_NOTICED: Final = 1e-9


def read_linear(
    trees: Sequence[Block],
    n_leaves: list[int],
    n_columns: int,
    leaf_value: npt.NDArray[np.float64],
) -> Linear | None:
    """Return linear leaves, if there are any.

    Leaves of such trees that have no terms are plain: their constant becomes the leaf value.

    Raises:
        ValueError: If numbers or columns are not there.
    """
    is_linear = [whole_number(tree, "is_linear", 0, 1, default=0) > 0 for tree in trees]
    if not any(is_linear):
        return None
    sizes = [n if linear else 0 for n, linear in zip(n_leaves, is_linear, strict=True)]
    leaves = np.repeat(np.array(is_linear), n_leaves)
    constant = numbers(trees, "leaf_const", sizes)
    n_found = numbers(trees, "num_features", sizes, int)
    if ((n_found < 0) | (n_found > n_columns)).any():
        raise ValueError("num_features has a number that is out of range")
    n_terms = np.zeros(len(leaves), np.int64)
    n_terms[leaves] = n_found
    begin = np.concatenate([[0], np.cumsum(n_terms)]).astype(np.int64)
    ends = np.cumsum([0, *n_leaves], dtype=np.int64)
    terms = np.diff(begin[ends]).tolist()
    column = numbers(trees, "leaf_features", terms, int)
    coefficient = numbers(trees, "leaf_coeff", terms)
    if ((column < 0) | (column >= n_columns)).any():
        raise ValueError("leaf_features has a column that is not there")
    leaf_value[leaves] = np.where(n_found > 0, leaf_value[leaves], constant)
    if begin[-1] == 0:
        return None
    has_terms = n_terms > 0
    constants = leaf_value.copy()
    constants[leaves] = constant
    return {
        "linear_begin": begin,
        "linear_constant": constants,
        # LightGBM's lines go on without end.
        "linear_low": np.where(has_terms, -_LARGEST, leaf_value),
        "linear_high": np.where(has_terms, _LARGEST, leaf_value),
        "linear_column": column.astype(np.int32),
        "linear_coefficient": coefficient,
        "linear_centre": np.zeros(len(column)),
    }


def _rounding(linear: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
    """Return how much may be lost of each leaf's values if its lines go through zero."""
    begin = linear["linear_begin"]
    terms = np.abs(linear["linear_coefficient"] * linear["linear_centre"])
    leaf = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    sums = np.bincount(leaf, terms, minlength=len(begin) - 1)
    return sums * np.finfo(np.float64).eps


def write_linear(
    linear: Mapping[str, npt.NDArray[Any]], leaves: slice, scale: float, start: float
) -> list[str]:
    """Return the lines of a tree's linear leaves; none if it has none.

    Args:
        linear: The linear leaves of all trees.
        leaves: The leaves of the tree.
        scale: What values are multiplied by.
        start: What is then added to them.
    """
    begin = linear["linear_begin"][leaves.start : leaves.stop + 1]
    n_terms = np.diff(begin)
    if not n_terms.any():
        return []
    terms = slice(int(begin[0]), int(begin[-1]))
    coefficient = linear["linear_coefficient"][terms]
    # Lines go through a centre here. The products are added up with more digits than they have.
    products = coefficient.astype(np.longdouble) * linear["linear_centre"][terms]
    leaf = np.repeat(np.arange(len(n_terms)), n_terms)
    constant = linear["linear_constant"][leaves].astype(np.longdouble)
    np.subtract.at(constant, leaf, products)
    constants = (constant * scale + start).astype(np.float64)
    ends = np.cumsum(n_terms)[:-1]
    columns = np.split(linear["linear_column"][terms], ends)
    slopes = np.split(coefficient * scale, ends)
    return [
        f"leaf_const={floats_text(constants)}",
        f"num_features={' '.join(words_of(n_terms))}",
        f"leaf_features={'  '.join(' '.join(words_of(found)) for found in columns)}",
        f"leaf_coeff={'  '.join(map(floats_text, slopes))}",
    ]


def warn_of_differences(linear: Mapping[str, npt.NDArray[Any]]) -> None:
    """Warn where leaves have bounds or centres that LightGBM's lines through zero cannot have."""
    if not linear:
        return
    error = _rounding(linear)
    span = _NOTICED * linear["linear_high"] - _NOTICED * linear["linear_low"]
    if (error > span).any():
        warn(
            "Linear leaves of LightGBM are lines through zero: where a column varies little around "
            "a large value, such as a time, predictions are rounded there, for this model by up to "
            f"{error.max():.1g} in a tree."
        )
    has_terms = np.diff(linear["linear_begin"]) > 0
    bounds = np.minimum(-linear["linear_low"], linear["linear_high"])[has_terms]
    if (bounds < _UNBOUNDED).any():
        warn(
            "Linear leaves of LightGBM have no bounds: rows whose values are kept within bounds by "
            "this model (linear_extrapolation) are predicted differently there."
        )
