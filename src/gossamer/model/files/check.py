"""What every model must be, whatever file it comes from; indices are checked by `Forest.native`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import ParameterError
from gossamer.params import CANONICAL, resolve
from gossamer.tree import Forest
from gossamer.tree.tree import LEAF_ARRAYS, NODE_ARRAYS

# Numbers about the training: of any size, but numbers. Thresholds may be infinite, and leaf values
# are checked where the native forest is made.
_FINITE: Final = ("gain", "node_value", "node_weight", "leaf_weight")
_NOT_NEGATIVE: Final = ("node_weight", "node_count", "leaf_weight", "leaf_count")


def check_forest(forest: Forest) -> None:
    """Check all numbers of the trees, and every index.

    Raises:
        ValueError: If one of them is wrong.

    Example:
        >>> from gossamer.tree import Tree
        >>> check_forest(Forest.from_trees([Tree.constant(1.0)], 1, 1))
        >>> check_forest(Forest.from_trees([Tree.constant(np.inf)], 1, 1))
        Traceback (most recent call last):
        ...
        ValueError: tree 0: leaf value is not finite
    """
    _check_sizes(forest)
    for name in _FINITE:
        if not np.isfinite(forest.arrays[name]).all():
            raise ValueError(f"a number of {name} is not finite")
    for name in _NOT_NEGATIVE:
        if np.any(forest.arrays[name] < 0):
            raise ValueError(f"a number of {name} is negative")
    default_left: npt.NDArray[np.int8] = forest.arrays["default_left"]
    if np.any((default_left != 0) & (default_left != 1)):
        raise ValueError("default_left is neither 0 nor 1")
    forest.native  # noqa: B018  checks every index


def _check_sizes(forest: Forest) -> None:
    """Check types and lengths of all arrays, also of those that the native forest does not see."""
    arrays = forest.arrays
    sizes = dict.fromkeys(NODE_ARRAYS, len(arrays["column"]))
    sizes |= dict.fromkeys(LEAF_ARRAYS, len(arrays["leaf_count"]))
    for name in ("node_value", "leaf_value"):
        sizes[name] *= forest.n_values
    for name, dtype in (NODE_ARRAYS | LEAF_ARRAYS).items():
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise ValueError(f"the array {name} has a wrong type or shape")
        if len(arrays[name]) != sizes[name]:
            raise ValueError("arrays of the trees differ in length")


def check_feature_names(names: object) -> list[str]:
    """Return the names of a file; they may be of any length, and have any characters.

    Raises:
        ValueError: If they are not a list of different strings.

    Example:
        >>> check_feature_names(["age", "size"])
        ['age', 'size']
    """
    if not isinstance(names, list) or not all(type(name) is str for name in names):
        raise ValueError("the names of the columns are not a list of strings")
    if not names:
        raise ValueError("there are no columns")
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return names


def check_params(params: object, left_out: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters of a file, without those that no file keeps.

    A prediction looks at some of them, so all must be usable.

    Raises:
        ValueError: If they are not.

    Example:
        >>> check_params({"eta": 0.5, "nthread": 7}, ("num_threads",))
        {'eta': 0.5}
    """
    if not isinstance(params, Mapping):
        raise ValueError("the parameters are not pairs of names and values")
    kept = {name: v for name, v in params.items() if CANONICAL.get(name, name) not in left_out}
    try:
        resolve(kept, context="predict")
    except ParameterError as error:
        raise ValueError(f"its parameters cannot be used: {error}") from None
    return kept
