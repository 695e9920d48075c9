"""Trees as JSON for the explorer, within a budget."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gossamer.binning.bins import MissingKind
from gossamer.data.table.date_text import date_text
from gossamer.model.model import Model
from gossamer.report.html import clean, to_json
from gossamer.tree import Tree

# Characters of all trees together, nodes of one tree, trees that can be chosen from.
BUDGET: Final = 700_000
_MOST_NODES: Final = 2_000
_MOST_TREES: Final = 200
_CATEGORIES: Final = 12  # of a node
_VALUES: Final = 8  # of a leaf
_TERMS: Final = 4  # of a linear leaf


@dataclass(frozen=True, eq=False)
class EmbeddedTree:
    """One tree as the explorer takes it.

    Attributes:
        facts: What becomes JSON: `nodes` breadth first, each either
            [column, test, left, right, gain, value, rows, where missing goes] or [value, rows,
            ...] of a leaf; a node whose children were cut has -1 for both.
        node_of_leaf: The node that each leaf is shown as: itself, or where the tree was cut.
        n_nodes: Nodes and leaves of the whole tree.
    """

    facts: dict[str, Any]
    node_of_leaf: list[int]
    n_nodes: int

    @property
    def is_cut(self) -> bool:
        """Whether some nodes were left out."""
        return len(self.facts["nodes"]) < self.n_nodes


class TreeEmbedder:
    """Makes trees of a model into what the explorer draws.

    Args:
        model: The model.
        date_columns: Columns whose thresholds are shown as dates.

    Attributes:
        names: Names of the columns that were met, in the order of their numbers in nodes.
    """

    def __init__(self, model: Model, date_columns: frozenset[int] = frozenset()) -> None:
        self._model = model
        self._date_columns = date_columns
        self._place: dict[int, int] = {}
        self.names: list[str] = []
        self.columns: list[int] = []

    def embed_all(self, chosen: tuple[int, ...] | None) -> list[EmbeddedTree]:
        """Return the chosen trees, or the first ones, as many as the budget allows."""
        wanted = range(self._model.forest.n_trees) if chosen is None else chosen
        found: list[EmbeddedTree] = []
        size = 0
        for t in wanted:
            tree = self.embed(t)
            size += len(to_json(tree.facts))
            if found and (size > BUDGET or len(found) == _MOST_TREES):
                break
            found.append(tree)
        return found

    def embed(self, t: int) -> EmbeddedTree:
        """Return one tree."""
        tree = self._model.forest.tree(t)
        order, index, n_kept = _breadth_first(tree)
        nodes = [self._node(tree, child, index) for child in order[:n_kept]]
        k = self._model.forest.n_outputs
        facts = {
            "tree": t,
            "round": t // self._model.forest.trees_per_round,
            "output": t % k if self._model.forest.n_values == 1 and k > 1 else -1,
            "nodes": nodes,
        }
        return EmbeddedTree(facts, _nodes_of_leaves(tree, order, index), len(order))

    def _node(self, tree: Tree, child: int, index: dict[int, int]) -> list[Any]:
        if child < 0:
            leaf = ~child
            found = [_values(tree.leaf_value, leaf, tree.n_leaves), int(tree.leaf_count[leaf])]
            terms = self._terms(tree, leaf)
            return [*found, terms] if terms else found
        value = _values(tree.node_value, child, len(tree.column))
        return [
            self._column(int(tree.column[child])),
            self._test(tree, child),
            index.get(int(tree.left[child]), -1),
            index.get(int(tree.right[child]), -1),
            _number(float(tree.gain[child])),
            value,
            int(tree.node_count[child]),
            _missing(tree, child),
        ]

    def _column(self, column: int) -> int:
        if column not in self._place:
            self._place[column] = len(self.names)
            self.names.append(self._name(column))
            self.columns.append(column)
        return self._place[column]

    def _name(self, column: int) -> str:
        model = self._model
        if column < model.n_columns:
            return clean(model.names[column])
        assert model.derived is not None
        sources = model.derived.sources_of(column - model.n_columns)
        return clean("statistic of " + " and ".join(clean(model.names[c], 30) for c in sources))

    def _test(self, tree: Tree, node: int) -> Any:
        """The threshold; or [1: these go left, 0: these go right, categories, how many]."""
        begin, category = tree.category_begin, tree.category
        if begin is None or category is None or begin[node] == begin[node + 1]:
            threshold = float(tree.threshold[node])
            is_date = int(tree.column[node]) in self._date_columns
            return date_text(threshold) if is_date else _number(threshold)
        codes = category[begin[node] : begin[node + 1]]
        levels = None
        if self._model.levels is not None:
            levels = self._model.levels.by_column.get(int(tree.column[node]))
        words = [
            clean(levels[code] if levels is not None and code < len(levels) else code, 24)
            for code in codes[:_CATEGORIES].tolist()
        ]
        return [0 if tree.default_left[node] else 1, words, len(codes)]

    def _terms(self, tree: Tree, leaf: int) -> str:
        """The formula of a linear leaf, or nothing."""
        if tree.linear is None:
            return ""
        own = tree.linear
        begin, end = own["linear_begin"][leaf : leaf + 2].tolist()
        if begin == end:
            return ""
        parts = [f"{float(own['linear_constant'][leaf]):.4g}"]
        for i in range(begin, min(end, begin + _TERMS)):
            name = clean(self._model.names[int(own["linear_column"][i])], 24)
            centre = float(own["linear_centre"][i])
            parts.append(f"{float(own['linear_coefficient'][i]):+.4g} ({name} \u2212 {centre:.4g})")
        more = f" + {end - begin - _TERMS} more" if end - begin > _TERMS else ""
        return " ".join(parts) + more


def _breadth_first(tree: Tree) -> tuple[list[int], dict[int, int], int]:
    """All children in order, their places (of those that are kept), and how many are kept."""
    root = 0 if len(tree.column) else ~0
    order: list[int] = []
    queue = deque([root])
    while queue:
        child = queue.popleft()
        order.append(child)
        if child >= 0:
            queue += (int(tree.left[child]), int(tree.right[child]))
    n_kept = min(len(order), _MOST_NODES)
    if n_kept < len(order) and n_kept % 2 == 0:
        n_kept -= 1  # both children of a node, or none
    return order, {child: i for i, child in enumerate(order[:n_kept])}, n_kept


def _nodes_of_leaves(tree: Tree, order: list[int], index: dict[int, int]) -> list[int]:
    found = [0] * tree.n_leaves
    above: dict[int, int] = {}
    for child in order:
        own = index.get(child, above.get(child, 0))
        if child >= 0:
            above[int(tree.left[child])] = above[int(tree.right[child])] = own
        else:
            found[~child] = own
    return found


def _values(values: Any, place: int, n_places: int) -> Any:
    k = len(values) // max(n_places, 1)
    own = [_number(float(v)) for v in values[place * k : place * k + min(k, _VALUES)]]
    return own[0] if k == 1 else own


def _number(value: float) -> Any:
    """A number with six digits; what JSON cannot say is text."""
    return float(f"{value:.6g}") if math.isfinite(value) else str(value)


def _missing(tree: Tree, node: int) -> int:
    """Where missing values go: 0 right, 1 left, 2 and 3 with zeros, 4 as zeros."""
    kind = tree.missing_kind[node]
    if kind == MissingKind.NAN_IS_ZERO:
        return 4
    return int(tree.default_left[node] != 0) + (2 if kind == MissingKind.ZERO else 0)


def example_rows(score: Any, most: int = 8) -> Any:
    """Return rows from the lowest to the highest score, evenly far apart.

    Example:
        >>> example_rows(np.array([0.5, 0.1, 0.9, 0.3]), 2)
        array([1, 2])
    """
    order = np.argsort(score, kind="stable")
    places = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
    return order[places]
