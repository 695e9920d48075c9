"""`Forest`: the trees of a model, one after another in one set of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.tree.linear import Linear, join_linear, take_leaves
from gossamer.tree.tree import CATEGORY_ARRAYS, LEAF_ARRAYS, NODE_ARRAYS, Tree


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees of a model. Tree t has the nodes from `node_begin[t]` to `node_begin[t + 1]`.

    Children count from the tree's own first node or leaf.

    Attributes:
        n_outputs: Scores per row.
        n_values: Values per leaf: 1, and tree t adds to output `t % n_outputs`; or one for each
            output.
        n_columns: Columns of the table that the trees ask about.
        node_begin: First node of each tree, and the number of nodes.
        leaf_begin: First leaf of each tree, and the number of leaves.
        arrays: The arrays of `Tree`, of all trees; those about categories only if some node splits
            categories.
        linear: The arrays of linear leaves of all trees; None: no leaf is linear.
        n_parallel: Trees of each output in a round. They come in sets: a tree for each output, then
            the next set.
    """

    n_outputs: int
    n_values: int
    n_columns: int
    node_begin: npt.NDArray[np.int64]
    leaf_begin: npt.NDArray[np.int64]
    arrays: Mapping[str, npt.NDArray[Any]]
    linear: Linear | None = None
    n_parallel: int = 1

    @classmethod
    def from_trees(
        cls, trees: Iterable[Any], n_outputs: int, n_columns: int, n_parallel: int = 1
    ) -> Forest:
        """Put trees (native ones, or `Tree`) one after another.

        Example:
            >>> forest = Forest.from_trees([Tree.constant(1.0), Tree.constant(2.0)], 1, 3)
            >>> forest.n_trees, forest.arrays["leaf_value"]
            (2, array([1., 2.]))
        """
        trees = list(trees)
        n_values = trees[0].n_values if trees else 1
        joined = _native.join_trees(trees)
        if joined is not None:
            leaf_begin, arrays, is_linear = joined
        else:
            n_leaves = [tree.n_leaves for tree in trees]
            leaf_begin = np.concatenate(([0], np.cumsum(n_leaves, dtype=np.int64)))
            is_linear = any(tree.linear is not None for tree in trees)
            arrays = {
                name: np.concatenate([np.empty(0, dtype), *(getattr(tree, name) for tree in trees)])
                for name, dtype in (NODE_ARRAYS | LEAF_ARRAYS).items()
            } | _join_categories([_categories_of(tree) for tree in trees])
        node_begin = leaf_begin - np.arange(len(trees) + 1)  # one node less than leaves
        linear = None
        if is_linear:
            linear = join_linear((tree.linear, tree.leaf_value) for tree in trees)
        return cls(
            n_outputs, n_values, n_columns, node_begin, leaf_begin, arrays, linear, n_parallel
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.node_begin) - 1

    @property
    def trees_per_round(self) -> int:
        """Trees that a round adds: for each output, or for all of them, `n_parallel`."""
        return self.n_outputs // self.n_values * self.n_parallel

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.n_trees // self.trees_per_round

    @cached_property
    def native(self) -> _native.Forest:
        """The native forest that predicts; making it checks every index.

        Raises:
            ValueError: If the arrays do not describe trees.
        """
        forest = _native.Forest(
            self.n_outputs,
            self.n_values,
            self.n_columns,
            self.node_begin,
            self.leaf_begin,
            *(
                self.arrays[name]
                for name in (
                    "column",
                    "threshold",
                    "missing_kind",
                    "default_left",
                    "left",
                    "right",
                    "leaf_value",
                )
            ),
            *(self.arrays.get(name) for name in CATEGORY_ARRAYS),
        )
        if self.linear is not None:
            forest.set_linear(**self.linear)
        return forest

    def tree(self, t: int) -> Tree:
        """Return one tree."""
        return Tree(**self._part(t, t + 1), linear=self._linear_part(t, t + 1))

    def slice(self, first: int, last: int) -> Forest:
        """Return the trees from `first` to before `last`."""
        return Forest(
            self.n_outputs,
            self.n_values,
            self.n_columns,
            self.node_begin[first : last + 1] - self.node_begin[first],
            self.leaf_begin[first : last + 1] - self.leaf_begin[first],
            self._part(first, last),
            self._linear_part(first, last),
            self.n_parallel,
        )

    def extend(self, trees: Iterable[Any]) -> Forest:
        """Return this forest with more trees behind it."""
        more = Forest.from_trees(trees, self.n_outputs, self.n_columns, self.n_parallel)
        return more if self.n_trees == 0 else self.append(more)

    def append(self, more: Forest) -> Forest:
        """Return this forest with the trees of another behind it; both have trees of one kind."""
        return Forest(
            self.n_outputs,
            self.n_values,
            self.n_columns,
            np.concatenate([self.node_begin, self.node_begin[-1] + more.node_begin[1:]]),
            np.concatenate([self.leaf_begin, self.leaf_begin[-1] + more.leaf_begin[1:]]),
            {
                name: np.concatenate([self.arrays[name], more.arrays[name]])
                for name in (*NODE_ARRAYS, *LEAF_ARRAYS)
            }
            | _join_categories([_categories_of(self), _categories_of(more)]),
            join_linear((part.linear, part.arrays["leaf_value"]) for part in (self, more)),
            self.n_parallel,
        )

    def _linear_part(self, first: int, last: int) -> Linear | None:
        return take_leaves(self.linear, int(self.leaf_begin[first]), int(self.leaf_begin[last]))

    def _part(self, first: int, last: int) -> dict[str, npt.NDArray[Any]]:
        nodes = slice(self.node_begin[first], self.node_begin[last])
        leaves = slice(self.leaf_begin[first], self.leaf_begin[last])
        part = {name: self.arrays[name][nodes] for name in NODE_ARRAYS} | {
            name: self.arrays[name][leaves] for name in LEAF_ARRAYS
        }
        for name, places in (("node_value", nodes), ("leaf_value", leaves)):
            values = slice(places.start * self.n_values, places.stop * self.n_values)
            part[name] = self.arrays[name][values]
        begin, category = _categories_of(self)
        begin = begin[nodes.start : nodes.stop + 1]
        part |= _join_categories([(begin - begin[0], category[begin[0] : begin[-1]])])
        return part


Categories = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def _categories_of(trees: Any) -> Categories:
    """Categories of the nodes of a tree or a forest, also where none of them splits any."""
    names = ("column", *CATEGORY_ARRAYS)
    arrays = (
        trees.arrays
        if isinstance(trees, Forest)
        else {name: getattr(trees, name) for name in names}
    )
    if arrays.get("category") is None:
        return np.zeros(len(arrays["column"]) + 1, np.int64), np.empty(0, np.int32)
    return arrays["category_begin"], arrays["category"]


def _join_categories(parts: list[Categories]) -> dict[str, npt.NDArray[Any]]:
    """Put the categories of trees one after another; nothing if there are none."""
    if not any(len(category) for _, category in parts):
        return {}
    first = np.cumsum([0, *(len(category) for _, category in parts)])
    ends = [begin[1:] + start for (begin, _), start in zip(parts, first, strict=False)]
    return {
        "category_begin": np.concatenate([[0], *ends]).astype(np.int64),
        "category": np.concatenate([category for _, category in parts]).astype(np.int32),
    }
