"""Trees of LightGBM's text format as a `Forest`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.files.check import check_forest
from gossamer.model.formats.lightgbm_categories import read_categories
from gossamer.model.formats.lightgbm_linear import read_linear
from gossamer.model.formats.lightgbm_text import Block, numbers, whole_number
from gossamer.tree import Forest

# Bits of decision_type.
CATEGORICAL: Final = 1
DEFAULT_LEFT: Final = 2
MISSING_SHIFT: Final = 2  # above them: 0 nothing is missing, 1 zero and NaN, 2 NaN
_KINDS: Final = 3

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
    linear = read_linear(trees, n_leaves, n_columns, leaf_value)
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
        "node_weight": _weights(numbers(trees, "internal_weight", n_nodes, optional=True)),
        "node_count": counts["node_count"],
    }
    by_leaf = {
        "leaf_value": leaf_value,
        "leaf_weight": _weights(numbers(trees, "leaf_weight", n_leaves, optional=True)),
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
    check_forest(forest)
    return forest


def _finite(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers that only inform; LightGBM may write infinities for forced splits."""
    return np.nan_to_num(values, copy=False)


def _weights(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sums of hessians; a loss of the user's may make them negative, which no weight here is."""
    return np.maximum(_finite(values), 0.0)


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
    """Number the nodes again where a child comes before its parent.

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
