"""Trees of LightGBM's text format as a `Forest`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.formats.lightgbm_categories import read_categories
from gossamer.model.formats.lightgbm_text import Block, numbers, whole_number
from gossamer.tree import Forest
from gossamer.tree.linear import Linear

# Bits of decision_type.
CATEGORICAL: Final = 1
DEFAULT_LEFT: Final = 2
MISSING_SHIFT: Final = 2  # above them: 0 nothing is missing, 1 zero and NaN, 2 NaN
_KINDS: Final = 3

_LARGEST: Final = np.finfo(np.float64).max
_MOST_LEAVES: Final = 2**31 - 1


def read_trees(trees: Sequence[Block], n_outputs: int, n_columns: int) -> Forest:
    """Make the trees.

    Raises:
        ValueError: If they are none.
    """
    n_leaves = [whole_number(tree, "num_leaves", 1, _MOST_LEAVES) for tree in trees]
    leaf_value = numbers(trees, "leaf_value", n_leaves)  # first: now there are as many leaves
    leaf_begin = np.concatenate([[0], np.cumsum(n_leaves, dtype=np.int64)]).astype(np.int64)
    node_begin = leaf_begin - np.arange(len(trees) + 1)
    n_nodes = [n - 1 for n in n_leaves]
    tree_of_node = np.repeat(np.arange(len(trees)), n_nodes)

    decision = numbers(trees, "decision_type", n_nodes, int)
    if ((decision < 0) | (decision >> MISSING_SHIFT >= _KINDS)).any():
        raise ValueError("decision_type has bits that mean nothing")
    is_category = (decision & CATEGORICAL) > 0
    threshold = numbers(trees, "threshold", n_nodes)
    begin, category = read_categories(trees, tree_of_node, is_category, threshold)
    # Everything goes right where a set is empty: no number is below this.
    threshold[is_category] = np.where(np.diff(begin)[is_category] > 0, 0.0, -np.inf)
    kind = np.where(is_category, 0, _KINDS - 1 - (decision >> MISSING_SHIFT))
    default_left = np.where(is_category, 0, (decision & DEFAULT_LEFT) > 0)
    column = numbers(trees, "split_feature", n_nodes, int)
    if ((column < 0) | (column >= n_columns)).any():
        raise ValueError("a node asks about a column that is not there")
    left, right = (_children(trees, key, n_leaves) for key in ("left_child", "right_child"))
    linear = _linear(trees, n_leaves, n_columns, leaf_value)
    counts = {
        "node_count": numbers(trees, "internal_count", n_nodes, int, optional=True),
        "leaf_count": numbers(trees, "leaf_count", n_leaves, int, optional=True),
    }
    if any((found < 0).any() for found in counts.values()):
        raise ValueError("a number of rows is below 0")
    by_node: dict[str, npt.NDArray[Any]] = {
        "column": column.astype(np.int32),
        "threshold": threshold,
        "missing_kind": kind.astype(np.int8),
        "default_left": default_left.astype(np.int8),
        "left": left,
        "right": right,
        "gain": _finite(numbers(trees, "split_gain", n_nodes, optional=True)),
        "node_value": _finite(numbers(trees, "internal_value", n_nodes, optional=True)),
        "node_weight": _finite(numbers(trees, "internal_weight", n_nodes, optional=True)),
        "node_count": counts["node_count"],
    }
    by_leaf = {
        "leaf_value": leaf_value,
        "leaf_weight": _finite(numbers(trees, "leaf_weight", n_leaves, optional=True)),
        "leaf_count": counts["leaf_count"],
    }
    order = _parents_first(by_node, node_begin, tree_of_node)
    if order is not None:
        by_node = {name: values[order] for name, values in by_node.items()}
        sizes = np.diff(begin)[order]
        moved = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(begin[:-1][order] - moved[:-1], sizes) + np.arange(moved[-1])
        begin, category = moved, category[places]
    arrays = by_node | by_leaf
    if len(category):
        arrays |= {"category_begin": begin.astype(np.int64), "category": category}
    forest = Forest(n_outputs, 1, n_columns, node_begin, leaf_begin, arrays, linear)
    forest.native  # noqa: B018  checks every index, and that leaf values are finite
    return forest


def _finite(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers that only inform; LightGBM may write infinities for forced splits."""
    return np.nan_to_num(values, copy=False)


def _children(trees: Sequence[Block], key: str, n_leaves: list[int]) -> npt.NDArray[np.int32]:
    child = numbers(trees, key, [n - 1 for n in n_leaves], int)
    most = np.repeat(np.array(n_leaves, np.int64), np.array(n_leaves, np.int64) - 1)
    if ((child < -most) | (child >= most - 1)).any():
        raise ValueError(f"{key} has a node or leaf that is not there")
    return child.astype(np.int32)


def _parents_first(
    by_node: dict[str, npt.NDArray[Any]],
    node_begin: npt.NDArray[np.int64],
    tree_of_node: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64] | None:
    """Number the nodes anew where a child comes before its parent.

    Returns:
        The old place of each node; None: all stay. Children in `by_node` are changed.

    Raises:
        ValueError: If nodes form no tree.
    """
    left, right = by_node["left"], by_node["right"]
    own = np.arange(len(left)) - node_begin[:-1][tree_of_node]
    is_wrong = ((left >= 0) & (left <= own)) | ((right >= 0) & (right <= own))
    if not is_wrong.any():
        return None
    order = np.arange(len(left))
    for t in np.unique(tree_of_node[is_wrong]):
        first, last = int(node_begin[t]), int(node_begin[t + 1])
        children = list(zip(left[first:last].tolist(), right[first:last].tolist(), strict=True))
        found = [0]
        for node in found:  # grows while it is walked
            found += [child for child in children[node] if child >= 0]
            if len(found) > last - first:
                break  # a node of two parents, or of none
        if sorted(found) != list(range(last - first)):
            raise ValueError(f"the nodes of tree {t} form no tree")
        place = np.empty(last - first, np.int32)
        place[found] = np.arange(last - first)
        order[first:last] = first + np.array(found)
        for side in (left, right):
            part = side[first:last]
            side[first:last] = np.where(part >= 0, place[np.maximum(part, 0)], part)
    return order


def _linear(
    trees: Sequence[Block],
    n_leaves: list[int],
    n_columns: int,
    leaf_value: npt.NDArray[np.float64],
) -> Linear | None:
    """Return linear leaves, if there are any; leaves of such trees without terms are plain."""
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
