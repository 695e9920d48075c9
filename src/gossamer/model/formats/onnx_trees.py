"""The trees of a model as ONNX's operator `TreeEnsemble`.

Its nodes know one kind of missing value, NaN, and compare categories as they are. Where our nodes
ask otherwise they ask about a prepared copy of the column, which operators before make.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError, message
from gossamer.model.formats.float32 import round_down
from gossamer.model.formats.onnx_graph import Graph
from gossamer.tree import Forest

_AT_MOST, _MEMBER = 0, 6  # modes of nodes
_ZERO: Final = 1e-35  # at most this far from zero is zero, where zero is missing
_NAN_AND_ZERO, _NAN_IS_ZERO = 1, 2  # kinds of missing values


def add_trees(graph: Graph, forest: Forest) -> str:
    """Add the sum of all trees, rows x outputs; return its name."""
    nodes = _Nodes(forest)
    table, feature = _prepare(graph, forest, nodes)
    k = forest.n_outputs
    if forest.n_trees == 0:
        rows = graph.op("Shape", "X", end=1)
        shape = graph.op("Concat", rows, graph.constant([k], np.int64), axis=0)
        return str(graph.op("ConstantOfShape", shape, value=graph.tensor([0.0])))
    arrays = forest.arrays
    threshold = arrays["threshold"]
    if graph.dtype == np.float32:
        threshold = round_down(threshold)
    left, right = (nodes.children(arrays[side]) for side in ("left", "right"))
    # A row whose category is one of the node's goes where missing values do not go.
    is_left = arrays["default_left"] == 1
    swaps = nodes.has_categories & is_left
    first, second = np.where(swaps, right, left), np.where(swaps, left, right)
    asked = {
        "featureids": nodes.fill(feature),
        "missing_value_tracks_true": nodes.fill(is_left & ~nodes.has_categories),
        "truenodeids": nodes.fill(first[0]),
        "trueleafs": nodes.fill(first[1], 1),
        "falsenodeids": nodes.fill(second[0]),
        "falseleafs": nodes.fill(second[1], 1),
    }
    stubs = np.flatnonzero(nodes.is_stub)
    for side in ("true", "false"):
        asked[f"{side}nodeids"][nodes.begin[stubs]] = forest.leaf_begin[stubs]
    values = arrays["leaf_value"].reshape(-1, forest.n_values)
    n_leaves, n_nodes, n_copies = len(values), nodes.begin[-1], forest.n_values
    target = np.repeat(np.arange(forest.n_trees) % k, np.diff(forest.leaf_begin))
    if n_copies > 1:  # a leaf has one value, so each output has trees of its own
        asked = {
            name: np.concatenate(
                [part + i * _shift(name, asked, n_nodes, n_leaves) for i in range(n_copies)]
            )
            for name, part in asked.items()
        }
        target = np.repeat(np.arange(k), n_leaves)
    roots = nodes.begin[:-1] + n_nodes * np.arange(n_copies)[:, np.newaxis]
    modes = nodes.fill(np.where(nodes.has_categories, _MEMBER, _AT_MOST)).astype(np.uint8)
    attributes: dict[str, Any] = {f"nodes_{name}": part.tolist() for name, part in asked.items()}
    if nodes.has_categories.any():
        attributes["membership_values"] = graph.tensor(np.tile(nodes.members(), n_copies))
    found = graph.op(
        "TreeEnsemble",
        table,
        domain="ai.onnx.ml",
        n_targets=k,
        aggregate_function=1,
        tree_roots=roots.ravel().tolist(),
        nodes_modes=graph.tensor(np.tile(modes, n_copies), np.uint8),
        nodes_splits=graph.tensor(np.tile(nodes.fill(threshold), n_copies)),
        leaf_targetids=target.tolist(),
        leaf_weights=graph.tensor(values.T.ravel()),
        **attributes,
    )
    return str(found)


def _shift(name: str, asked: dict[str, npt.NDArray[Any]], n_nodes: int, n_leaves: int) -> Any:
    """Return by how much an array of nodes differs from one copy of the trees to the next."""
    if not name.endswith("nodeids"):
        return 0
    is_leaf = asked[name.replace("nodeids", "leafs")]
    return np.where(is_leaf == 1, n_leaves, n_nodes)


class _Nodes:
    """The nodes of a forest as ONNX numbers them: a tree of one leaf has a node as well."""

    def __init__(self, forest: Forest) -> None:
        arrays = forest.arrays
        n_nodes = np.diff(forest.node_begin)
        self.is_stub = n_nodes == 0
        self.begin = np.concatenate([[0], np.cumsum(np.maximum(n_nodes, 1))])
        self.tree = np.repeat(np.arange(forest.n_trees), n_nodes)
        self.place = np.arange(len(self.tree)) + (self.begin - forest.node_begin)[self.tree]
        self.leaf_begin = forest.leaf_begin
        n_categories = np.diff(arrays.get("category_begin", np.zeros(len(self.tree) + 1)))
        self.has_categories = n_categories > 0
        self._arrays = arrays

    def fill(self, values: npt.NDArray[Any], other: float = 0) -> npt.NDArray[Any]:
        """Return values of our nodes by ONNX's number."""
        kind = values.dtype if values.dtype.kind == "f" else np.int64
        filled = np.full(self.begin[-1], other, dtype=kind)
        filled[self.place] = values
        return filled

    def children(self, child: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Return the number of each child among all nodes or leaves, and whether it is a leaf."""
        wide, is_leaf = child.astype(np.int64), child < 0
        number = np.where(is_leaf, self.leaf_begin[self.tree] + ~wide, self.begin[self.tree] + wide)
        return np.stack([number, is_leaf])

    def members(self) -> npt.NDArray[np.float64]:
        """Return the categories of all nodes that have some, a NaN behind those of each."""
        ends = self._arrays["category_begin"][1:][self.has_categories]
        return np.insert(self._arrays["category"].astype(np.float64), ends, np.nan)


def _prepare(graph: Graph, forest: Forest, nodes: _Nodes) -> tuple[str, npt.NDArray[np.int64]]:
    """Add copies of columns behind the table; return its name, and the column of each node."""
    column = forest.arrays["column"].astype(np.int64)
    kind = forest.arrays["missing_kind"]
    table, width, feature = "X", forest.n_columns, column.copy()
    for missing in (0, _NAN_AND_ZERO, _NAN_IS_ZERO):
        for is_category in (False, True):
            asks = (kind == missing) & (nodes.has_categories == is_category)
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
                part = graph.op("Ceil", graph.op("Sub", part, graph.constant(0.5)))
            table = graph.op("Concat", table, part, axis=1)
            feature[asks] = width + place.reshape(-1)
            width += len(used)
    return table, feature


def _check_categories(graph: Graph, forest: Forest) -> None:
    largest = int(forest.arrays["category"].max(initial=0))
    if graph.dtype == np.float32 and largest >= 2**24:
        raise NotSupportedError(
            message(
                "a category is too large for float32",
                got=largest,
                expected=f"less than {2**24}",
                hint="Use dtype='float64'.",
            )
        )
