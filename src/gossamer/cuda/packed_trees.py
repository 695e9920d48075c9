"""Trees as the kernels of `native/cuda/predict.inl` walk through them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from gossamer.cuda.predict_records import PACKED_COLUMN, PACKED_TREE, PLAIN_NODE, PLAIN_TREE

Ints = npt.NDArray[np.int64]

# Thresholds of a column that a byte can tell apart.
_MOST_BOUNDS: Final = 255
# An entry and its value take this many bytes of shared memory.
_ENTRY_BYTES: Final = 12
_N_KINDS: Final = 5  # of operands of a column


class Trees(Protocol):
    """The trees of a model, see `gossamer.tree.Forest`."""

    @property
    def n_outputs(self) -> int:
        """Scores of a row."""

    @property
    def n_values(self) -> int:
        """Values of a leaf."""

    @property
    def node_begin(self) -> npt.NDArray[np.int64]:
        """First node of each tree."""

    @property
    def leaf_begin(self) -> npt.NDArray[np.int64]:
        """First leaf of each tree."""

    @property
    def arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        """Arrays by node and by leaf."""


@dataclass(frozen=True)
class PackedTrees:
    """Small trees that share their operands.

    Attributes:
        arrays: By field of the kernel's arguments.
        bounds: Thresholds of all columns, as doubles.
        n_operands: Operands of a row.
        n_sets: Operands of nodes that split categories, which are the last.
    """

    arrays: dict[str, npt.NDArray[Any]]
    bounds: npt.NDArray[np.float64]
    n_operands: int
    n_sets: int


@dataclass(frozen=True)
class PlainTrees:
    """Trees that are walked from node to node in global memory.

    Attributes:
        arrays: By field of the kernel's arguments.
    """

    arrays: dict[str, npt.NDArray[Any]]


class Packer:
    """Packs some trees of a model."""

    def __init__(self, trees: Trees, first: int, last: int) -> None:
        """Look at all nodes.

        Args:
            trees: The trees of a model.
            first: The first tree of the prediction.
            last: The one after the last.
        """
        self._trees, self._first = trees, first
        self.n_trees = last - first
        self._node_begin = trees.node_begin[first : last + 1] - trees.node_begin[first]
        self._leaf_begin = trees.leaf_begin[first : last + 1] - trees.leaf_begin[first]
        own = slice(int(trees.node_begin[first]), int(trees.node_begin[last]))
        leaves = slice(int(trees.leaf_begin[first]), int(trees.leaf_begin[last]))
        values = slice(leaves.start * trees.n_values, leaves.stop * trees.n_values)
        self.leaf_values = np.ascontiguousarray(trees.arrays["leaf_value"][values])
        self.nodes = self._plain_nodes(own)
        self.categories = trees.arrays.get("category", np.empty(0, np.int32))
        self._number_tests()

    def _plain_nodes(self, own: slice) -> npt.NDArray[np.void]:
        arrays = self._trees.arrays
        nodes = np.zeros(own.stop - own.start, PLAIN_NODE)
        for name in ("threshold", "column", "left", "right", "missing_kind", "default_left"):
            nodes[name] = arrays[name][own]
        if "category_begin" in arrays:
            begin = arrays["category_begin"][own.start : own.stop + 1]
            nodes["first_category"] = begin[:-1]
            nodes["n_categories"] = np.diff(begin)
        return nodes

    def _number_tests(self) -> None:
        """Number thresholds by column and size, and operands by column and kind."""
        nodes = self.nodes
        self._is_set = nodes["n_categories"] > 0
        order = np.lexsort((nodes["threshold"], nodes["column"]))
        column, threshold = nodes["column"][order], nodes["threshold"][order]
        is_new = np.ones(len(nodes), np.bool_)
        is_new[1:] = (column[1:] != column[:-1]) | (threshold[1:] != threshold[:-1])
        self._bound = np.empty(len(nodes), np.int64)  # by node: which threshold
        self._bound[order] = np.cumsum(is_new) - 1
        self._bound_column, self._bounds = column[is_new], threshold[is_new]
        left = nodes["default_left"] != 0
        of_nan, of_zero = np.where(left, 0, 1), np.where(left, 2, 3)
        kind = np.select(
            [nodes["missing_kind"] == 0, nodes["missing_kind"] == 1], [of_nan, of_zero], 4
        )
        self._operand = nodes["column"].astype(np.int64) * _N_KINDS + kind

    # ---- which trees go together ----

    def parts(self, most_operands: int, stage_bytes: int) -> Iterator[PackedTrees | PlainTrees]:
        """Pack all trees, in their order.

        Args:
            most_operands: Operands that fit shared memory.
            stage_bytes: Shared memory for trees or for thresholds.
        """
        n_nodes = np.diff(self._node_begin)
        may_be_small = (2 * n_nodes + 1) * _ENTRY_BYTES <= stage_bytes
        if self._trees.n_values != 1:
            may_be_small[:] = False
        is_small = [
            bool(may_be_small[t])
            and (
                n_nodes[t] <= min(most_operands, _MOST_BOUNDS)
                or self._fits(t, t + 1, most_operands)
            )
            for t in range(self.n_trees)
        ]
        changes = np.flatnonzero(np.diff(np.array(is_small, np.int8))) + 1
        ends = [*changes.tolist(), self.n_trees] if self.n_trees else []
        first = 0
        for end in ends:
            if not is_small[first]:
                yield self._plain(first, end)
            else:
                yield from self._blocks(first, end, most_operands, stage_bytes)
            first = end

    def _blocks(
        self, first: int, end: int, most_operands: int, stage_bytes: int
    ) -> Iterator[PackedTrees]:
        n_fitting = end - first
        while first < end:
            last = min(first + 2 * n_fitting, end)
            while last - first > 1 and not self._fits(first, last, most_operands):
                last = first + max((last - first) * 3 // 4, 1)
            n_fitting = last - first
            yield self._packed(first, last, stage_bytes)
            first = last

    def _nodes_of(self, first: int, last: int) -> slice:
        return slice(int(self._node_begin[first]), int(self._node_begin[last]))

    def _fits(self, first: int, last: int, most_operands: int) -> bool:
        own = self._nodes_of(first, last)
        is_number = ~self._is_set[own]
        bounds = np.unique(self._bound[own][is_number])
        n_bounds = np.bincount(self._bound_column[bounds], minlength=1)
        n_operands = len(np.unique(self._operand[own][is_number])) + int(self._is_set[own].sum())
        return n_bounds.max() <= _MOST_BOUNDS and n_operands <= most_operands

    # ---- records ----

    def _plain(self, first: int, last: int) -> PlainTrees:
        trees = np.zeros(last - first, PLAIN_TREE)
        number = np.arange(first, last)
        trees["first_node"] = self._node_begin[first:last]
        trees["first_leaf"] = self._leaf_begin[first:last]
        trees["output"] = self._output_of(number)
        trees["number"] = number
        trees["has_nodes"] = np.diff(self._node_begin[first : last + 1]) > 0
        return PlainTrees({"trees": trees})

    def _output_of(self, number: Ints) -> Ints:
        n_outputs = 1 if self._trees.n_values > 1 else self._trees.n_outputs
        return (number + self._first) % n_outputs

    def _packed(self, first: int, last: int, stage_bytes: int) -> PackedTrees:
        own = self._nodes_of(first, last)
        is_set = self._is_set[own]
        bounds, rank = np.unique(self._bound[own][~is_set], return_inverse=True)
        column, n_bounds = np.unique(self._bound_column[bounds], return_counts=True)
        first_bound = np.cumsum(n_bounds) - n_bounds
        used, operand = np.unique(self._operand[own][~is_set], return_inverse=True)
        columns = np.zeros(len(column) + 1, PACKED_COLUMN)
        columns["column"][:-1], columns["n_bounds"][:-1] = column, n_bounds
        columns["first_bound"] = [*first_bound, len(bounds)]
        columns["operand"] = -1
        place = np.searchsorted(column, used // _N_KINDS)
        columns["operand"][place, used % _N_KINDS] = np.arange(len(used))

        of_node = self.nodes["column"][own][~is_set]
        threshold, which = np.zeros(len(is_set), np.int64), np.empty(len(is_set), np.int64)
        threshold[~is_set] = rank - first_bound[np.searchsorted(column, of_node)]
        which[~is_set] = operand
        which[is_set] = len(used) + np.arange(int(is_set.sum()))
        trees, arrays = self._entries(first, last, which, threshold)
        arrays["packed_trees"] = trees
        arrays["columns"] = columns
        arrays["sets"] = self.nodes[own][is_set]
        sizes = np.diff(trees["first_entry"]) * _ENTRY_BYTES
        arrays["stage_begin"] = parts_of(sizes, stage_bytes)
        n_sets = int(is_set.sum())
        return PackedTrees(arrays, self._bounds[bounds], len(used) + n_sets, n_sets)

    def _entries(
        self, first: int, last: int, operand: Ints, threshold: Ints
    ) -> tuple[npt.NDArray[np.void], dict[str, npt.NDArray[Any]]]:
        """Lay out the entries of trees: the children of node i are entries 2 i + 1 and 2 i + 2."""
        own = self._nodes_of(first, last)
        number = np.arange(first, last)
        output = self._output_of(number)
        order = np.lexsort((number, output))
        n_nodes = np.diff(self._node_begin[first : last + 1])
        n_entries = 2 * n_nodes + 1
        begin = np.empty(last - first, np.int64)  # by tree: its first entry
        begin[order] = np.cumsum(n_entries[order]) - n_entries[order]
        tree_of = np.repeat(np.arange(last - first), n_nodes)
        local = np.arange(len(tree_of)) - (self._node_begin[first:last] - own.start)[tree_of]
        left, right = self.nodes["left"][own], self.nodes["right"][own]

        at = np.zeros(len(tree_of), np.int64)  # by node: its entry in the tree
        leaf_at = np.zeros(int(n_nodes.sum()) + len(n_nodes), np.int64)  # by leaf
        leaf_begin = self._leaf_begin[first : last + 1] - self._leaf_begin[first]
        node_begin = self._node_begin[first:last] - own.start
        for child, entry in ((left, 2 * local + 1), (right, 2 * local + 2)):
            is_leaf = child < 0
            at[(node_begin[tree_of] + child)[~is_leaf]] = entry[~is_leaf]
            leaf_at[(leaf_begin[tree_of] + ~child)[is_leaf]] = entry[is_leaf]
        total = int(n_entries.sum())
        entries, values = np.zeros(total, np.uint32), np.zeros(total)
        leaves = np.zeros(total, np.int32)
        place = begin[tree_of] + at
        # An operand above the threshold carries one over to the child.
        entries[place] = operand << 24 | (2 * local + 1) << 8 | (255 - threshold)
        tree_of_leaf = np.repeat(np.arange(last - first), n_nodes + 1)
        place = begin[tree_of_leaf] + leaf_at
        entries[place] = leaf_at << 8  # no operand is above 255
        values[place] = self.leaf_values[self._leaf_begin[first] : self._leaf_begin[last]]
        leaves[place] = np.arange(len(leaf_at)) - leaf_begin[tree_of_leaf]

        trees = np.zeros(last - first + 1, PACKED_TREE)
        trees["first_entry"] = [*begin[order], total]
        trees["depth"][:-1] = _depths(left, right, node_begin, n_nodes, tree_of)[order]
        trees["output"][:-1] = output[order]
        trees["number"][:-1] = number[order]
        return trees, {"entries": entries, "entry_values": values, "entry_leaves": leaves}


def _depths(left: Any, right: Any, node_begin: Ints, n_nodes: Ints, tree_of: Ints) -> Ints:
    """Return the longest path of each tree, all trees level by level."""
    depth = np.zeros(len(n_nodes), np.int64)
    here = node_begin[n_nodes > 0]
    level = 0
    while len(here):
        level += 1
        depth[tree_of[here]] = level
        children = np.concatenate([left[here], right[here]])
        owners = np.concatenate([tree_of[here]] * 2)
        here = (node_begin[owners] + children)[children >= 0]
    return depth


def parts_of(sizes: npt.NDArray[Any], most: int) -> npt.NDArray[np.int32]:
    """Cut a list into parts whose sizes add up to at most `most`, each of at least one element.

    Example:
        >>> parts_of(np.array([3, 3, 3, 9]), 6)
        array([0, 2, 3, 4], dtype=int32)
    """
    begin, total = [0], 0
    for i, size in enumerate(sizes.tolist()):
        if total + size > most and i > begin[-1]:
            begin.append(i)
            total = 0
        total += size
    if len(sizes):
        begin.append(len(sizes))
    return np.array(begin, np.int32)


def round_down(bounds: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the largest floats at or below: comparing floats with them has the same results.

    Example:
        >>> round_down(np.array([0.1, 0.5])) <= np.array([0.1, 0.5])
        array([ True,  True])
    """
    with np.errstate(over="ignore"):
        found = bounds.astype(np.float32)
    is_above = found.astype(np.float64) > bounds
    found[is_above] = np.nextafter(found[is_above], np.float32(-np.inf))
    return found
