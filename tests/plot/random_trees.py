"""Models of trees that no training would grow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gossamer import Booster, Dataset, train
from gossamer.tree import Forest, Tree

NAMES = ["age", "price in $", "a_very_long_name_of_a_column_number_17"]


def random_tree(n_leaves: int, seed: int, lopsided: float = 0.5) -> Tree:
    """Split one leaf after another: with `lopsided` near 1 mostly the youngest, which is deep."""
    rng = np.random.default_rng(seed)
    n_nodes = n_leaves - 1
    left, right = np.zeros(n_nodes, np.int32), np.zeros(n_nodes, np.int32)
    place = {0: (None, 0)}  # leaf -> the node above it, and on which side
    for node in range(n_nodes):
        leaf = node if rng.random() < lopsided else int(rng.integers(0, node + 1))
        above, side = place[leaf]
        if above is not None:
            (left, right)[side][above] = node
        place[leaf], place[node + 1] = (node, 0), (node, 1)
        left[node], right[node] = ~leaf, ~(node + 1)
    tree = Tree.constant(0.0)
    leaf_value = rng.normal(size=n_leaves) * 10.0 ** rng.integers(-4, 5)
    return replace(
        tree,
        column=rng.integers(0, len(NAMES), n_nodes).astype(np.int32),
        threshold=rng.normal(size=n_nodes) * 10.0 ** rng.integers(-3, 6),
        missing_kind=rng.integers(0, 3, n_nodes).astype(np.int8),
        default_left=rng.integers(0, 2, n_nodes).astype(np.int8),
        left=left,
        right=right,
        gain=rng.random(n_nodes),
        node_value=rng.normal(size=n_nodes),
        node_weight=rng.random(n_nodes),
        node_count=np.sort(rng.integers(1, 9999, n_nodes))[::-1].astype(np.int64),
        leaf_value=leaf_value,
        leaf_weight=rng.random(n_leaves),
        leaf_count=np.ones(n_leaves, np.int64),
    )


def booster_of(*trees: Tree) -> Booster:
    """A model of regression, of these trees."""
    rows = np.arange(30.0).reshape(10, 3)
    small = train({"verbose": -1}, Dataset(rows, rows[:, 0], feature_name=NAMES), 1)
    return Booster.from_model(replace(small.model, forest=Forest.from_trees(trees, 1, 3)))
