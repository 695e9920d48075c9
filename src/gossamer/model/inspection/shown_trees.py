"""Trees as LightGBM shows them: the start in their values, categories of a node to its left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.model import Model

# By `missing_kind`.
_MISSING_TYPES: Final = ("NaN", "Zero", "None")
# What LightGBM writes for an infinite threshold: JSON has no such number.
_LARGEST_THRESHOLD: Final = 1e300


@dataclass(frozen=True, eq=False)
class LinearLeaf:
    """The line of a leaf: `constant + sum(coefficient * x)`, kept between `low` and `high`."""

    constant: float
    columns: list[int]
    coefficients: list[float]
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ShownTree:
    """One tree as lists, by node and by leaf; children as in `Tree`.

    Attributes:
        column: Column of each node; numbers behind the user's columns are derived ones.
        gain: Gain of each split.
        threshold: Number; or the categories that go left, as text.
        decision_type: "<=", or "==" for categories.
        default_left: Whether missing values go left.
        missing_type: What is missing.
        left: Left child.
        right: Right child.
        node_value: Value before the split; with vector leaves a list.
        node_weight: Sum of hessians.
        node_count: Training rows.
        leaf_value: Value of each leaf; with vector leaves a list.
        leaf_weight: Sum of hessians.
        leaf_count: Training rows.
        linear: Lines of the leaves; None: they are constants.
        has_start: Whether the model's start is part of the values.
    """

    column: list[int]
    gain: list[float]
    threshold: list[float | str]
    decision_type: list[str]
    default_left: list[bool]
    missing_type: list[str]
    left: list[int]
    right: list[int]
    node_value: list[Any]
    node_weight: list[float]
    node_count: list[int]
    leaf_value: list[Any]
    leaf_weight: list[float]
    leaf_count: list[int]
    linear: list[LinearLeaf] | None
    has_start: bool

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_count)

    def walk(self) -> Iterator[tuple[int, int, int | None]]:
        """Go through the tree, parents before children, left before right.

        Yields:
            The node (or ~leaf), its depth from 1, its parent.
        """
        waiting: list[tuple[int, int, int | None]] = [(0 if self.column else ~0, 1, None)]
        while waiting:
            at, depth, parent = waiting.pop()
            yield at, depth, parent
            if at >= 0:
                waiting.append((self.right[at], depth + 1, at))
                waiting.append((self.left[at], depth + 1, at))


def shown_names(model: Model) -> list[str]:
    """Return the names of all columns that trees know, derived ones behind the user's.

    They are not all different where the user's own names look like these.
    """
    if model.derived is None:
        return list(model.names)
    derived = range(model.derived.n_columns)
    n_each = model.derived.statistics.n_statistics
    sources = ["*".join(model.names[c] for c in model.derived.sources_of(i)) for i in derived]
    return [*model.names, *(f"statistic {i % n_each} of {sources[i]}" for i in derived)]


def shown_trees(model: Model) -> list[ShownTree]:
    """Return all trees; the sum of the leaves of a row (or their mean by round) is its raw score.

    A model without trees has one of a single leaf for each output, unless its scores start at 0.
    """
    forest = model.forest
    if forest.n_trees == 0:
        vectors = [model.start] if forest.n_values > 1 else model.start[:, None]
        return [_constant(values) for values in vectors] if model.start.any() else []
    per_set = forest.n_outputs // forest.n_values
    trees = []
    for t in range(forest.n_trees):
        # A sum starts once, a mean in every round; with parallel trees in the first set of these.
        n_round, place = divmod(t, forest.trees_per_round)
        starts = place < per_set and (n_round == 0 or model.average_output)
        start = model.start if forest.n_values > 1 else model.start[t % forest.n_outputs :][:1]
        trees.append(_shown(model, t, start if starts else np.zeros_like(start)))
    return trees


def _shown(model: Model, t: int, start: npt.NDArray[np.float64]) -> ShownTree:
    tree, n_values = model.forest.tree(t), model.forest.n_values
    by_category = _categories(tree)
    # Categories go where missing values do not: to the left, if need be by changing sides.
    changes = np.array([found is not None for found in by_category], dtype=bool)
    swaps = changes & (tree.default_left != 0)
    threshold = np.clip(tree.threshold, -_LARGEST_THRESHOLD, _LARGEST_THRESHOLD).tolist()
    return ShownTree(
        tree.column.tolist(),
        tree.gain.tolist(),
        [number if c is None else c for number, c in zip(threshold, by_category, strict=True)],
        ["<=" if found is None else "==" for found in by_category],
        ((tree.default_left != 0) & ~changes).tolist(),
        [_MISSING_TYPES[kind] for kind in tree.missing_kind],
        np.where(swaps, tree.right, tree.left).tolist(),
        np.where(swaps, tree.left, tree.right).tolist(),
        _values(tree.node_value, n_values, start),
        tree.node_weight.tolist(),
        tree.node_count.tolist(),
        _values(tree.leaf_value, n_values, start),
        tree.leaf_weight.tolist(),
        tree.leaf_count.tolist(),
        None if model.forest.linear is None else _linear(tree, float(start[0])),
        bool(start.any()),
    )


def _constant(values: npt.NDArray[np.float64]) -> ShownTree:
    value = _values(values, len(values), np.zeros(1))
    return ShownTree([], [], [], [], [], [], [], [], [], [], [], value, [0.0], [0], None, True)


def _values(
    values: npt.NDArray[np.float64], n_values: int, start: npt.NDArray[np.float64]
) -> list[Any]:
    rows = values.reshape(-1, n_values)
    rows = rows + start if start.any() else rows  # 0 + -0.0 would change a sign
    found: list[Any] = rows.tolist() if n_values > 1 else rows.ravel().tolist()
    return found


def _categories(tree: Any) -> list[str | None]:
    """Categories of each node as LightGBM writes them; None: it asks for a number."""
    if tree.category is None:
        return [None] * len(tree.column)
    ends = tree.category_begin.tolist()
    names = list(map(str, tree.category.tolist()))
    return ["||".join(names[a:b]) or None for a, b in pairwise(ends)]


def _linear(tree: Any, start: float) -> list[LinearLeaf]:
    if tree.linear is None:
        values = (tree.leaf_value + start).tolist()
        return [LinearLeaf(value, [], [], value, value) for value in values]
    found = {name: array.tolist() for name, array in tree.linear.items()}
    leaves = []
    for leaf in range(len(tree.leaf_count)):
        terms = slice(found["linear_begin"][leaf], found["linear_begin"][leaf + 1])
        coefficients, centres = found["linear_coefficient"][terms], found["linear_centre"][terms]
        constant = found["linear_constant"][leaf] + start
        for coefficient, centre in zip(coefficients, centres, strict=True):
            constant -= coefficient * centre
        leaves.append(
            LinearLeaf(
                constant,
                found["linear_column"][terms],
                coefficients,
                found["linear_low"][leaf] + start,
                found["linear_high"][leaf] + start,
            )
        )
    return leaves
