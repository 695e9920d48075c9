"""The trees of a model as ONNX's operator `TreeEnsemble`.

Its nodes know one kind of missing value, NaN, and compare categories as they are. Where our nodes
ask otherwise they ask about a prepared copy of the column, which operators before make.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.formats.float32 import round_down
from gossamer.model.formats.onnx_graph import Graph
from gossamer.tree import Forest
from gossamer.tree.tree import LEAF_ARRAYS

_AT_MOST, _MEMBER = 0, 6  # modes of nodes
_ZERO: Final = 1e-35  # at most this far from zero is zero, where zero is missing
_NAN_AND_ZERO, _NAN_IS_ZERO = 1, 2  # kinds of missing values


def add_trees(graph: Graph, forest: Forest) -> str:
    """Add the sum of all trees, rows x outputs; return its name."""
    k = forest.n_outputs
    forest, output, constant = _without_constants(forest)
    if forest.n_trees == 0:
        rows = graph.op("Shape", "X", end=1)
        shape = graph.op("Concat", rows, graph.constant([k], np.int64), axis=0)
        return str(graph.op("Expand", graph.constant(constant[np.newaxis]), shape))
    score = _add_ensemble(graph, forest, output)
    if constant.any():
        score = graph.op("Add", score, graph.constant(constant))
    return score


def _without_constants(
    forest: Forest,
) -> tuple[Forest, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the trees that split, the output of each, and the sum of all others by output.

    A tree of one leaf would be a node whose children are the same leaf, which not all readers read.
    """
    k, n_values = forest.n_outputs, forest.n_values
    n_leaves = np.diff(forest.leaf_begin)
    splits = n_leaves > 1
    output = np.arange(forest.n_trees) % k
    is_kept = np.repeat(splits, n_leaves)  # of leaves
    values = forest.arrays["leaf_value"].reshape(-1, n_values)
    constant = np.zeros(k)
    if n_values > 1:
        constant += values[~is_kept].sum(axis=0)
    else:
        np.add.at(constant, output[~splits], values[~is_kept, 0])
    arrays = dict(forest.arrays)
    for name in LEAF_ARRAYS:
        each = values if name == "leaf_value" else arrays[name]
        arrays[name] = each[is_kept].reshape(-1)
    begin = np.concatenate([[0], np.cumsum(n_leaves[splits])])
    n_trees = np.arange(len(begin))
    kept = replace(forest, node_begin=begin - n_trees, leaf_begin=begin, arrays=arrays)
    return kept, output[splits], constant


def _add_ensemble(graph: Graph, forest: Forest, output: npt.NDArray[np.int64]) -> str:
    """Add the operator of trees that all have nodes; each adds to its output."""
    arrays, k = forest.arrays, forest.n_outputs
    has_categories = _has_categories(forest)
    table, feature = _prepare(graph, forest, has_categories)
    threshold = arrays["threshold"]
    if graph.dtype == np.float32:
        threshold = round_down(threshold)
    left, right = (_children(forest, arrays[side]) for side in ("left", "right"))
    # A row whose category is one of the node's goes where missing values do not go.
    is_left = arrays["default_left"] == 1
    swaps = has_categories & is_left
    (yes, yes_leaf), (no, no_leaf) = np.where(swaps, right, left), np.where(swaps, left, right)
    values = arrays["leaf_value"].reshape(-1, forest.n_values)
    (n_leaves, n_copies), n_nodes = values.shape, len(feature)
    target = np.repeat(output, np.diff(forest.leaf_begin))
    roots = forest.node_begin[:-1]
    if n_copies > 1:  # a leaf has one value, so each output has trees of its own
        copy = np.repeat(np.arange(k), n_nodes)
        target = np.repeat(np.arange(k), n_leaves)
        roots = (roots + n_nodes * np.arange(k)[:, np.newaxis]).ravel()
        yes_leaf, no_leaf = np.tile(yes_leaf, k), np.tile(no_leaf, k)
        yes = np.tile(yes, k) + copy * np.where(yes_leaf, n_leaves, n_nodes)
        no = np.tile(no, k) + copy * np.where(no_leaf, n_leaves, n_nodes)
    weights, children = _with_clear_roots(
        values.T.ravel(), roots, np.stack([yes, no]), np.stack([yes_leaf, no_leaf]) == 1
    )
    members: dict[str, Any] = {}
    if has_categories.any():
        members["membership_values"] = graph.tensor(np.tile(_members(forest), n_copies))
    modes = np.tile(np.where(has_categories, _MEMBER, _AT_MOST), n_copies)
    found = graph.op(
        "TreeEnsemble",
        table,
        domain="ai.onnx.ml",
        n_targets=k,
        aggregate_function=1,
        tree_roots=roots.tolist(),
        nodes_featureids=np.tile(feature, n_copies).tolist(),
        nodes_modes=graph.tensor(modes, np.uint8),
        nodes_splits=graph.tensor(np.tile(threshold, n_copies)),
        nodes_missing_value_tracks_true=np.tile(is_left & ~has_categories, n_copies)
        .astype(np.int64)
        .tolist(),
        nodes_truenodeids=children[0].tolist(),
        nodes_trueleafs=yes_leaf.tolist(),
        nodes_falsenodeids=children[1].tolist(),
        nodes_falseleafs=no_leaf.tolist(),
        leaf_targetids=target.tolist(),
        leaf_weights=graph.tensor(weights),
        **members,
    )
    return str(found)


def _with_clear_roots(
    weights: npt.NDArray[np.float64],
    roots: npt.NDArray[np.int64],
    children: npt.NDArray[np.int64],
    is_leaf: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Number leaves so that no root has a node and a leaf of the same number as children.

    onnxruntime 1.21 to 1.23 take such a root for a tree of one leaf, and predict nonsense.
    """
    is_same = (children[0] == children[1]) & (is_leaf[0] != is_leaf[1])
    leaf = children[0][roots[is_same[roots]]]
    # The tree of root i has the leaves from roots[i] + i on, one more than nodes: at least three.
    first = (roots + np.arange(len(roots)))[is_same[roots]]
    other = np.where(leaf == first, first + 1, first)
    order = np.arange(len(weights))
    order[leaf], order[other] = other, leaf
    return weights[order], np.where(is_leaf, order[np.where(is_leaf, children, 0)], children)


def _children(forest: Forest, child: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the number of each child among all nodes or leaves, and whether it is a leaf."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_begin))
    wide, is_leaf = child.astype(np.int64), child < 0
    node, leaf = forest.node_begin[tree] + wide, forest.leaf_begin[tree] + ~wide
    return np.stack([np.where(is_leaf, leaf, node), is_leaf])


def _has_categories(forest: Forest) -> npt.NDArray[np.bool_]:
    """Return which nodes have some."""
    n_nodes = len(forest.arrays["column"])
    found: npt.NDArray[np.bool_] = (
        np.diff(forest.arrays.get("category_begin", np.zeros(n_nodes + 1))) > 0
    )
    return found


def _members(forest: Forest) -> npt.NDArray[np.float64]:
    """Return the categories of all nodes that have some; each node's end with a NaN."""
    ends = forest.arrays["category_begin"][1:][_has_categories(forest)]
    return np.insert(forest.arrays["category"].astype(np.float64), ends, np.nan)


def _prepare(
    graph: Graph, forest: Forest, has_categories: npt.NDArray[np.bool_]
) -> tuple[str, npt.NDArray[np.int64]]:
    """Add copies of columns behind the table; return its name, and the column of each node."""
    column = forest.arrays["column"].astype(np.int64)
    kind = forest.arrays["missing_kind"]
    table, width, feature = "X", forest.n_columns, column.copy()
    for missing in (0, _NAN_AND_ZERO, _NAN_IS_ZERO):
        for is_category in (False, True):
            asks = (kind == missing) & (has_categories == is_category)
            if not asks.any() or (missing == 0 and not is_category):
                continue
            used, place = np.unique(column[asks], return_inverse=True)
            part = graph.op("Gather", "X", graph.constant(used, np.int64), axis=1)
            if missing == _NAN_AND_ZERO:
                zero = _ZERO if graph.dtype == np.float64 else round_down(_ZERO)
                is_zero = graph.op("LessOrEqual", graph.op("Abs", part), graph.constant(zero))
                part = graph.op("Where", is_zero, graph.constant(np.nan), part)
            elif missing == _NAN_IS_ZERO:
                part = graph.op("Where", graph.op("IsNaN", part), graph.constant(0.0), part)
            if is_category:
                _check_categories(graph, forest)
                is_negative = graph.op("Less", part, graph.constant(0.0))
                part = graph.op(
                    "Where", is_negative, graph.op("Ceil", part), graph.op("Floor", part)
                )
            table = graph.op("Concat", table, part, axis=1)
            feature[asks] = width + place.reshape(-1)
            width += len(used)
    return table, feature


def _check_categories(graph: Graph, forest: Forest) -> None:
    largest = int(forest.arrays["category"].max(initial=0))
    if graph.dtype == np.float32 and largest >= 2**24:
        raise NotSupportedError.because(
            "a category is too large for float32",
            got=largest,
            expected=f"less than {2**24}",
            hint="Use dtype='float64'.",
        )
