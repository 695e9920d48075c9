"""One tree, as nested nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .bins import ColumnBins
from .histogram import build_histogram
from .split import Split, SplitParams, Sums, find_best_split, leaf_output


@dataclass
class Node:
    """A leaf while ``left`` is None. ``split`` of a leaf is the best one it could still make."""

    rows: list[int] = field(repr=False)
    depth: int
    sums: Sums
    value: float  # output before shrinkage, for inner nodes too
    split: Split | None = None
    threshold: float = math.nan  # upper bound of the split's bin
    left: Node | None = None
    right: Node | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return self.left is None


def grow_tree(
    binned: np.ndarray,
    columns: list[ColumnBins],
    gradients: np.ndarray,
    hessians: np.ndarray,
    params: SplitParams,
    num_leaves: int = 31,
    max_depth: int = -1,
    growth: str = "leafwise",
) -> Node:
    """Grow a tree over all rows of a binned table.

    ``leafwise`` splits the leaf with the highest gain, ``depthwise`` the shallowest leaf; of equals
    the one created earlier (left before right). Both stop at ``num_leaves``.
    The root has depth 0; leaves at ``max_depth`` stay leaves; 0 or less means no limit.
    """

    def make_leaf(rows: list[int], parent: Node | None) -> Node:
        sums = Sums(
            math.fsum(gradients[row] for row in rows),
            math.fsum(hessians[row] for row in rows),
            len(rows),
        )
        depth = parent.depth + 1 if parent else 0
        leaf = Node(rows, depth, sums, leaf_output(sums, params, parent.value if parent else None))
        if max_depth <= 0 or depth < max_depth:
            histograms = [
                build_histogram(binned[:, feature], column.n_bins, gradients, hessians, rows)
                for feature, column in enumerate(columns)
            ]
            leaf.split = find_best_split(histograms, columns, sums, leaf.value, params)
        return leaf

    root = make_leaf(list(range(len(binned))), None)
    frontier = [root] if root.split else []  # in order of creation
    n_leaves = 1
    while frontier and n_leaves < num_leaves:
        if growth == "leafwise":
            node = max(frontier, key=lambda leaf: leaf.split.gain)
        else:
            node = min(frontier, key=lambda leaf: leaf.depth)
        frontier = [leaf for leaf in frontier if leaf is not node]
        node.threshold = columns[node.split.feature].upper_bounds[node.split.bin_idx]
        goes_left = {row: _goes_left(binned[row], columns, node.split) for row in node.rows}
        node.left = make_leaf([row for row in node.rows if goes_left[row]], node)
        node.right = make_leaf([row for row in node.rows if not goes_left[row]], node)
        frontier += [child for child in (node.left, node.right) if child.split]
        n_leaves += 1
    return root


def _goes_left(bins: np.ndarray, columns: list[ColumnBins], split: Split) -> bool:
    """Where a split sends a row of bins."""
    column, bin_idx = columns[split.feature], bins[split.feature]
    if column.has_missing and bin_idx == column.n_value_bins:
        return split.missing_left
    return bool(bin_idx <= split.bin_idx)


def leaves(node: Node) -> Iterator[Node]:
    """The leaves below a node, from left to right."""
    if node.is_leaf:
        yield node
    else:
        yield from leaves(node.left)
        yield from leaves(node.right)


def predict_tree(root: Node, table: np.ndarray, columns: list[ColumnBins]) -> np.ndarray:
    """Leaf values (before shrinkage) of the rows of a table of raw values."""
    return np.array([_find_leaf(root, row, columns).value for row in table])


def _find_leaf(node: Node, row: np.ndarray, columns: list[ColumnBins]) -> Node:
    while not node.is_leaf:
        column, value = columns[node.split.feature], float(row[node.split.feature])
        if column.is_missing(value):
            left = node.split.missing_left
        else:
            left = (0.0 if math.isnan(value) else value) <= node.threshold
        node = node.left if left else node.right
    return node
