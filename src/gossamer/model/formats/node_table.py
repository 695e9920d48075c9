"""Trees whose nodes and leaves stand in one list, as scikit-learn and CatBoost keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.tree.tree import CATEGORY_ARRAYS, LEAF_ARRAYS, NODE_ARRAYS, Tree


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A tree as a list of entries, nodes and leaves alike; entry 0 is the root.

    Attributes:
        is_leaf: Which entries are leaves.
        left: Left child of each node, a later entry; of leaves it means nothing.
        right: Right child likewise.
        column: Column that a node asks about.
        threshold: A row goes left where its value is <= this.
        default_left: Whether rows with a missing value go left.
        value: What an entry adds, or would, entries x values.
        weight: Weight of its rows; zeros where it is not known.
        count: Number of its rows; zeros where it is not known.
        gain: Gain of its split; zeros where it is not known.
        categories: Node: the categories, increasing, that do not go where missing values go.
    """

    is_leaf: npt.NDArray[np.bool_]
    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    column: npt.NDArray[Any]
    threshold: npt.NDArray[np.float64]
    default_left: npt.NDArray[Any]
    value: npt.NDArray[np.float64]
    weight: npt.NDArray[Any]
    count: npt.NDArray[Any]
    gain: npt.NDArray[np.float64]
    categories: Mapping[int, npt.NDArray[Any]] = field(default_factory=dict)

    def to_tree(self) -> Tree:
        """Number nodes and leaves apart, in the order of the list.

        Example:
            >>> zero = np.zeros(3)
            >>> table = NodeTable(
            ...     np.array([False, True, True]), np.array([1, 0, 0]), np.array([2, 0, 0]),
            ...     zero, np.array([0.5, 0, 0]), zero, np.array([[0.0], [1], [2]]),
            ...     zero, zero, zero,
            ... )
            >>> tree = table.to_tree()
            >>> tree.left, tree.right, tree.leaf_value
            (array([-1], dtype=int32), array([-2], dtype=int32), array([1., 2.]))
        """
        nodes, leaves = np.flatnonzero(~self.is_leaf), np.flatnonzero(self.is_leaf)
        n_leaves = np.cumsum(self.is_leaf, dtype=np.int64)
        number = np.where(self.is_leaf, -n_leaves, np.arange(len(n_leaves)) - n_leaves)
        found = {
            "column": self.column[nodes],
            "threshold": self.threshold[nodes],
            "missing_kind": np.zeros(len(nodes)),
            "default_left": self.default_left[nodes],
            "left": number[self.left[nodes]],
            "right": number[self.right[nodes]],
            "gain": self.gain[nodes],
        }
        for name, places in (("node", nodes), ("leaf", leaves)):
            found[f"{name}_value"] = self.value[places].ravel()
            found[f"{name}_weight"] = self.weight[places]
            found[f"{name}_count"] = self.count[places]
        if self.categories:
            found |= self._find_categories(found, nodes)
        dtypes = NODE_ARRAYS | LEAF_ARRAYS | CATEGORY_ARRAYS
        return Tree(**{name: array.astype(dtypes[name]) for name, array in found.items()})

    def _find_categories(
        self, found: dict[str, npt.NDArray[Any]], nodes: npt.NDArray[np.int64]
    ) -> dict[str, npt.NDArray[Any]]:
        """Return the categories of nodes; a node without any sends all rows one way."""
        none = np.empty(0, np.int32)
        of_node = [self.categories.get(int(node), none) for node in nodes]
        for i, node in enumerate(nodes):
            if int(node) in self.categories and not len(of_node[i]):
                if not found["default_left"][i]:
                    left = found["left"][i]
                    found["left"][i], found["right"][i] = found["right"][i], left
                found["default_left"][i], found["threshold"][i] = 1, np.inf
        begin = np.concatenate([[0], np.cumsum([len(part) for part in of_node])])
        return {"category_begin": begin, "category": np.concatenate([none, *of_node])}
