"""Shapley values by their definition: sums over all sets of columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from gossamer.binning.bins import MissingKind
from gossamer.tree import Forest, Tree

ZERO = 1e-35
Game = Callable[[frozenset[int]], Any]


def goes_left(tree: Tree, node: int, value: float) -> bool:
    """Whether a row with this value goes left."""
    kind, default = tree.missing_kind[node], bool(tree.default_left[node])
    missing = np.isnan(value)
    if kind == MissingKind.NAN_IS_ZERO and missing:
        value, missing = 0.0, False
    if kind == MissingKind.ZERO and abs(value) <= ZERO:
        missing = True
    if tree.category_begin is not None:
        begin, end = tree.category_begin[node : node + 2]
        if end > begin:
            assert tree.category is not None
            found = not missing and round_code(value) in tree.category[begin:end]
            return found != default
    return default if missing else bool(value <= tree.threshold[node])


def round_code(value: float) -> float:
    """The category that a number stands for."""
    return float(np.trunc(value))


def expected_value(tree: Tree, row: Any, known: frozenset[int]) -> Any:
    """What a tree gives if only some columns are known: the others follow the training rows."""

    def count(place: int) -> int:
        return int(tree.node_count[place] if place >= 0 else tree.leaf_count[~place])

    def walk(place: int) -> Any:
        if place < 0:
            return tree.leaf_value.reshape(tree.n_leaves, -1)[~place]
        column, left, right = (int(a[place]) for a in (tree.column, tree.left, tree.right))
        if column in known:
            return walk(left if goes_left(tree, place, row[column]) else right)
        total = count(left) + count(right)
        return (count(left) * walk(left) + count(right) * walk(right)) / total

    return walk(0 if len(tree.column) else ~0)


def shapley(game: Game, columns: list[int], n_columns: int) -> Any:
    """(columns + 1, columns + 1, ...): halves of interactions, and the rest on the diagonal."""
    n = len(columns)
    values = {
        frozenset(s): np.asarray(game(frozenset(s)))
        for size in range(n + 1)
        for s in combinations(columns, size)
    }
    found = np.zeros((n_columns + 1, n_columns + 1, *values[frozenset()].shape))
    found[-1, -1] = values[frozenset()]
    for s, value in values.items():
        size = len(s)
        for i in set(columns) - s:
            share = factorial(size) * factorial(n - size - 1) / factorial(n)
            found[i, i] += share * (values[s | {i}] - value)
            for j in set(columns) - s - {i}:
                half = factorial(size) * factorial(n - size - 2) / (2 * factorial(n - 1))
                both = values[s | {i, j}] - values[s | {i}] - values[s | {j}] + value
                found[i, j] += half * both
                found[i, i] -= half * both
    return found


def forest_shapley(forest: Forest, row: Any) -> Any:
    """Interactions of a whole forest: (outputs, columns + 1, columns + 1)."""
    width = forest.n_columns + 1
    found = np.zeros((forest.n_outputs, width, width))
    for t in range(forest.n_trees):
        tree = forest.tree(t)
        columns = sorted(set(tree.column.tolist()))
        pairs = shapley(lambda s, tree=tree: expected_value(tree, row, s), columns, width - 1)
        pairs = np.moveaxis(pairs, -1, 0)
        found[slice(None) if forest.n_values > 1 else t % forest.n_outputs] += (
            pairs if forest.n_values > 1 else pairs[0]
        )
    return found
