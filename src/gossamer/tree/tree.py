"""`Tree`: one tree as named arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.tree.linear import Linear

# Names and types of the arrays of a tree, in the order of the model file. By node:
NODE_ARRAYS: Final[dict[str, npt.DTypeLike]] = {
    "column": np.int32,
    "threshold": np.float64,
    "missing_kind": np.int8,
    "default_left": np.int8,
    "left": np.int32,
    "right": np.int32,
    "gain": np.float64,
    "node_value": np.float64,
    "node_weight": np.float64,
    "node_count": np.int64,
}
# By leaf:
LEAF_ARRAYS: Final[dict[str, npt.DTypeLike]] = {
    "leaf_value": np.float64,
    "leaf_weight": np.float64,
    "leaf_count": np.int64,
}
# Where nodes split categories: the first category of each node, and how many there are in all; the
# categories of each node, increasing.
CATEGORY_ARRAYS: Final[dict[str, npt.DTypeLike]] = {
    "category_begin": np.int64,
    "category": np.int32,
}


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree. A child >= 0 is a node of this tree, a child < 0 is the leaf `~child`.

    Attributes:
        column: The user's column that a node splits on.
        threshold: A row goes left where its value is <= this.
        missing_kind: What counts as missing, see `MissingKind`.
        default_left: Whether rows with a missing value go left.
        left: Left child.
        right: Right child.
        gain: Gain of the split.
        node_value: Value that the node had as a leaf, shrunk.
        node_weight: Sum of the hessians of its training rows.
        node_count: Number of its training rows.
        leaf_value: Value that a leaf adds to the score, shrunk; with vector leaves, one for each
            output, leaf after leaf (and `node_value` likewise).
        leaf_weight: Sum of the hessians of its training rows.
        leaf_count: Number of its training rows.
        category_begin: First category of each node, and the number of categories. A node that has
            categories sends rows of these where rows with missing values do not go, and all other
            rows where they do; its threshold means nothing.
        category: Categories of the nodes, one node after another.
    """

    column: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    missing_kind: npt.NDArray[np.int8]
    default_left: npt.NDArray[np.int8]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    gain: npt.NDArray[np.float64]
    node_value: npt.NDArray[np.float64]
    node_weight: npt.NDArray[np.float64]
    node_count: npt.NDArray[np.int64]
    leaf_value: npt.NDArray[np.float64]
    leaf_weight: npt.NDArray[np.float64]
    leaf_count: npt.NDArray[np.int64]
    category_begin: npt.NDArray[np.int64] | None = None
    category: npt.NDArray[np.int32] | None = None
    linear: Linear | None = None

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_count)

    @property
    def n_values(self) -> int:
        """Values per leaf."""
        return len(self.leaf_value) // self.n_leaves

    @property
    def largest_value(self) -> float:
        """Largest absolute value that a leaf can add."""
        linear = (
            () if self.linear is None else (self.linear["linear_low"], self.linear["linear_high"])
        )
        return float(max(np.abs(values).max() for values in (self.leaf_value, *linear)))

    @classmethod
    def from_arrays(cls, tree: Any) -> Tree:
        """Copy the arrays of a native tree, or of anything that has them."""
        names = [*NODE_ARRAYS, *LEAF_ARRAYS, "linear"]
        if tree.category is not None and len(tree.category):
            names += CATEGORY_ARRAYS
        return cls(**{name: getattr(tree, name) for name in names})

    @classmethod
    def constant(cls, value: float, weight: float = 0.0, count: int = 0, n_values: int = 1) -> Tree:
        """Make a tree of a single leaf.

        Example:
            >>> Tree.constant(0.5).leaf_value
            array([0.5])
        """
        nodes: dict[str, Any] = {name: np.empty(0, dtype) for name, dtype in NODE_ARRAYS.items()}
        return cls(
            **nodes,
            leaf_value=np.full(n_values, value, dtype=np.float64),
            leaf_weight=np.array([weight], dtype=np.float64),
            leaf_count=np.array([count], dtype=np.int64),
        )
