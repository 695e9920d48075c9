"""Trees of XGBoost's models."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.formats.xgboost_array import read_array, read_int
from gossamer.model.formats.xgboost_threshold import to_ours
from gossamer.tree import Tree

Ints = npt.NDArray[np.int64]

_LEAF: Final = -1
# As XGBoost: codes from here on are not categories.
_MOST_CATEGORIES: Final = 2**24
# Where the file does not say how many categories a column has, codes up to a multiple of this
# count as known.
_KNOWN_STEP: Final = 256
# Categories that nodes may list in all: so many, and more for each byte of the file.
_MOST_LISTED: Final = 2**22
_LISTED_BY_BYTE: Final = 16


class TreeReader:
    """Reads the trees of a model.

    Args:
        n_columns: Columns of the table.
        n_values: Values per leaf.
        n_categories: How many categories a column has, as far as the file says so.
        size: Bytes of the file.
    """

    def __init__(
        self, n_columns: int, n_values: int, n_categories: dict[int, int], size: int
    ) -> None:
        self.n_columns = n_columns
        self.n_values = n_values
        self.known = dict(n_categories)
        self.n_left = _MOST_LISTED + _LISTED_BY_BYTE * size

    def read(self, trees: list[Any], factors: npt.NDArray[np.float64]) -> list[Tree]:
        """Read trees.

        Args:
            trees: The trees as they are in the file.
            factors: Multiplied with the leaf values of each tree.

        Raises:
            ValueError: If one is damaged.
        """
        self._find_known(trees)
        found = []
        for t, (tree, factor) in enumerate(zip(trees, factors, strict=True)):
            try:
                found.append(self._one(tree, float(factor)))
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"tree {t}: {error}") from None
        return found

    def _find_known(self, trees: Iterable[Any]) -> None:
        """Find out how many categories each column has at least."""
        largest: dict[int, int] = {}
        for tree in trees:
            if not len(tree.get("categories", ())):
                continue
            columns = read_array(tree, "split_indices", np.int64)
            for node, codes in _category_lists(tree, len(columns)).items():
                column = int(columns[node])
                largest[column] = max(largest.get(column, 0), int(codes.max(initial=0)))
        for column, code in largest.items():
            if column not in self.known:
                self.known[column] = (code // _KNOWN_STEP + 1) * _KNOWN_STEP
            self.known[column] = max(self.known[column], code + 1)

    def _one(self, tree: Any, factor: float) -> Tree:
        left = read_array(tree, "left_children", np.int64)
        n, k = len(left), self.n_values
        param = tree.get("tree_param", {})
        if n == 0 or read_int(param, "num_nodes", 0, 2**31, n) != n:
            raise ValueError("its number of nodes is wrong")
        right = read_array(tree, "right_children", np.int64, n)
        is_leaf = left == _LEAF
        inner = _inner_nodes(left, right, is_leaf)
        leaves = _leaves_below(left, right, is_leaf, inner)
        number = np.zeros(n, np.int64)
        number[inner] = np.arange(len(inner))
        number[leaves] = ~np.arange(len(leaves))
        column = read_array(tree, "split_indices", np.int64, n)[inner]
        if ((column < 0) | (column >= self.n_columns)).any():
            raise ValueError("a node asks for a column that is not there")
        condition = read_array(tree, "split_conditions", np.float32, n, may_be_nan=True)
        weight = np.maximum(self._statistic(tree, "sum_hessian", n), 0.0)  # as for LightGBM
        default_left = read_array(tree, "default_left", np.int64, n)[inner] != 0
        value = _finite(read_array(tree, "base_weights", np.float32, n * k), "base_weights")
        threshold = condition[inner].astype(np.float64)
        categories = self._categories(tree, inner, default_left, column, threshold)
        is_numeric = np.array([codes is None for codes in categories], dtype=bool)
        threshold[is_numeric] = _thresholds(condition[inner[is_numeric]])
        return Tree(
            column=column.astype(np.int32),
            threshold=threshold,
            missing_kind=np.zeros(len(inner), np.int8),
            default_left=default_left.astype(np.int8),
            left=number[left[inner]].astype(np.int32),
            right=number[right[inner]].astype(np.int32),
            gain=self._statistic(tree, "loss_changes", n)[inner],
            node_value=value.reshape(n, k)[inner].ravel(),
            node_weight=weight[inner],
            node_count=np.zeros(len(inner), np.int64),  # not known
            leaf_value=self._leaf_values(tree, condition, right, leaves).ravel() * factor,
            leaf_weight=weight[leaves],
            leaf_count=np.zeros(len(leaves), np.int64),
            **_joined(categories),
        )

    def _statistic(self, tree: Any, name: str, n: int) -> npt.NDArray[np.float64]:
        if self.n_values > 1 and name not in tree:  # vector leaves had none before 3.2
            return np.zeros(n)
        return _finite(read_array(tree, name, np.float32, n), name)

    def _leaf_values(
        self, tree: Any, condition: npt.NDArray[np.float32], right: Ints, leaves: Ints
    ) -> npt.NDArray[np.float64]:
        k = self.n_values
        if k == 1:
            return _finite(condition[leaves], "a leaf")
        if "leaf_weights" not in tree:  # before 3.2: the nodes' weights
            values = read_array(tree, "base_weights", np.float32)
            return _finite(values.reshape(-1, k)[leaves], "a leaf")
        values = read_array(tree, "leaf_weights", np.float32)
        if len(values) % k:
            raise ValueError("leaf_weights do not fit the leaves")
        place = right[leaves]
        if ((place < 0) | (place >= len(values) // k)).any():
            raise ValueError("a leaf has no value")
        return _finite(values.reshape(-1, k)[place], "a leaf")

    def _categories(
        self,
        tree: Any,
        inner: Ints,
        default_left: npt.NDArray[np.bool_],
        column: Ints,
        threshold: npt.NDArray[np.float64],
    ) -> list[Ints | None]:
        """Return what each node lists here; None: it asks for its threshold.

        XGBoost sends listed categories right, all others left, and missing values by default; here
        listed ones go where missing values do not go. Where nothing is left to be listed, all
        values go right, which a threshold below them says.
        """
        n = len(tree["left_children"])
        kind = np.zeros(n, np.int64)
        if "split_type" in tree:
            kind = read_array(tree, "split_type", np.int64, n)
        if not kind[inner].any():
            return [None] * len(inner)
        lists = _category_lists(tree, n)
        found: list[Ints | None] = []
        for i, node in enumerate(inner.tolist()):
            if not kind[node]:
                found.append(None)
                continue
            codes = lists.get(node, np.empty(0, np.int64))
            if len(codes) == 0:
                raise ValueError(f"node {node} lists no categories")
            threshold[i] = -np.inf
            if not default_left[i]:
                known = self.known[int(column[i])]
                self._take(known - len(codes))
                is_left = np.ones(known, bool)
                is_left[codes] = False
                codes = np.flatnonzero(is_left)
            found.append(codes)
        return found

    def _take(self, n_listed: int) -> None:
        self.n_left -= n_listed
        if self.n_left < 0:
            raise ValueError("there are too many categories for a file of this size")


def _thresholds(condition: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    if (np.isnan(condition) | np.isneginf(condition)).any():
        raise ValueError("a threshold is not a number")
    return to_ours(condition)


def _joined(categories: list[Ints | None]) -> dict[str, Any]:
    lists = [np.empty(0, np.int64) if codes is None else codes for codes in categories]
    begin = np.cumsum([0, *map(len, lists)])
    if begin[-1] == 0:
        return {}
    return {
        "category_begin": begin.astype(np.int64),
        "category": np.concatenate(lists).astype(np.int32),
    }


def _finite(values: npt.NDArray[Any], name: str) -> npt.NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise ValueError(f"{name} is not finite")
    return values.astype(np.float64)


def _inner_nodes(left: Ints, right: Ints, is_leaf: npt.NDArray[np.bool_]) -> Ints:
    """Return the nodes that split, from the root on, parents before children.

    Raises:
        ValueError: If nodes are children of several nodes, or go round in circles.
    """
    n = len(left)
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    if ((children <= 0) | (children >= n)).any():
        raise ValueError("a child is not a node")
    is_child = np.bincount(children, minlength=n)
    is_after = (left[inner] > inner).all() and (right[inner] > inner).all()
    if is_after and (is_child[1:] == 1).all():
        return inner
    # Nodes of other orders, or that pruning has cut off.
    lefts, rights = left.tolist(), right.tolist()
    found, seen, waiting = [], {0}, deque([0])
    while waiting:
        node = waiting.popleft()
        if lefts[node] == _LEAF:
            continue
        found.append(node)
        for child in (lefts[node], rights[node]):
            if child in seen:
                raise ValueError("a node is the child of several nodes")
            seen.add(child)
            waiting.append(child)
    return np.array(found, dtype=np.int64)


def _leaves_below(left: Ints, right: Ints, is_leaf: npt.NDArray[np.bool_], inner: Ints) -> Ints:
    """Return the leaves of these nodes, by their numbers in the file."""
    if len(inner) == 0:
        return np.zeros(1, np.int64)
    children = np.concatenate([left[inner], right[inner]])
    return np.sort(children[is_leaf[children]])


def _category_lists(tree: Any, n: int) -> dict[int, Ints]:
    """Return the categories that nodes send right, increasing."""
    codes = read_array(tree, "categories", np.int64)
    nodes = read_array(tree, "categories_nodes", np.int64)
    begins = read_array(tree, "categories_segments", np.int64, len(nodes))
    sizes = read_array(tree, "categories_sizes", np.int64, len(nodes))
    if ((nodes < 0) | (nodes >= n)).any() or len(set(nodes.tolist())) < len(nodes):
        raise ValueError("categories are of a node that is not there")
    ends = begins + sizes
    is_outside = (begins < 0) | (begins > len(codes)) | (sizes < 0) | (sizes > len(codes))
    if (is_outside | (ends > len(codes))).any():
        raise ValueError("categories of a node are not there")
    if ((codes < 0) | (codes >= _MOST_CATEGORIES)).any():
        raise ValueError("a category is out of range")
    if sizes.sum() > len(codes):
        raise ValueError("nodes share categories")
    found = zip(nodes.tolist(), begins.tolist(), ends.tolist(), strict=True)
    return {node: np.unique(codes[begin:end]) for node, begin, end in found}
