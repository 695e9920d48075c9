"""The trees of a CatBoost model as ordinary ones.

Symmetric (oblivious) trees ask the same question of all nodes of a level; question i answered with
yes is bit i of the leaf's number.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.formats.catboost_columns import Columns, Question, finite
from gossamer.model.formats.float32 import before_rounding
from gossamer.model.formats.node_table import NodeTable
from gossamer.tree.tree import Tree

_MAX_DEPTH: Final = 24  # CatBoost allows 16


def oblivious_tree(found: Any, columns: Columns, scale: float) -> Tree:
    """Write a symmetric tree out: 2^depth leaves, the first question at the root.

    Raises:
        ValueError: If it is damaged.
    """
    questions = [columns.question(split) for split in found["splits"] or []]
    depth = len(questions)
    if depth > _MAX_DEPTH:
        raise ValueError(f"a tree has {depth} levels")
    n_leaves = 2**depth
    values = np.array([finite(value) for value in found["leaf_values"]])
    if len(values) == 0 or len(values) % n_leaves:
        raise ValueError(f"a tree of {depth} levels has {len(values)} leaf values")
    weights = np.array([finite(weight) for weight in found.get("leaf_weights", [])])
    if len(weights) not in (0, n_leaves):
        raise ValueError(f"a tree of {n_leaves} leaves has {len(weights)} leaf weights")
    order = _in_order(depth)
    value = scale * values.reshape(n_leaves, -1)[order]
    weight = weights[order] if len(weights) else np.zeros(n_leaves)
    n_entries = 2 * n_leaves - 1  # level after level: nodes, then the leaves
    level = np.repeat(np.arange(depth + 1), 2 ** np.arange(depth + 1))
    first = np.arange(n_entries)
    return _table(
        level == depth,
        2 * first + 1,
        2 * first + 2,
        questions,
        np.where(level < depth, level, 0),
        *_upwards(value, weight, depth),
    ).to_tree()


def _in_order(depth: int) -> npt.NDArray[np.int64]:
    """Return CatBoost's number of each leaf from left to right: its bits in reverse."""
    order = np.zeros(1, dtype=np.int64)
    for i in range(depth):
        order = np.concatenate([order[:, np.newaxis], order[:, np.newaxis] + 2**i], 1).ravel()
    return order


def _upwards(
    value: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], depth: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return values and weights of all levels: means and sums of what is below."""
    values, weights = [value], [weight]
    for _ in range(depth):
        both = weights[0].reshape(-1, 2)
        total = both.sum(axis=1)
        pairs = values[0].reshape(len(total), 2, -1)
        values.insert(0, _mean(pairs, both, total))
        weights.insert(0, total)
    return np.concatenate(values), np.concatenate(weights)


def _mean(
    pairs: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    total: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the weighted mean of two values each; the plain one where there is no weight."""
    share = np.where(total > 0, weight[:, 1] / np.where(total > 0, total, 1.0), 0.5)
    mean: npt.NDArray[np.float64] = pairs[:, 0] + share[:, np.newaxis] * (pairs[:, 1] - pairs[:, 0])
    return mean


def read_branches(found: Any, columns: Columns, scale: float) -> Tree:
    """Read a tree that is not symmetric: nodes in nodes.

    Raises:
        ValueError: If it is damaged.
    """
    entries: list[Any] = [found]
    left: list[int] = []
    questions: list[Question] = []
    for entry in entries:  # grows on the way, so children come after their parents
        is_leaf = "split" not in entry
        left.append(-1 if is_leaf else len(entries))
        if not is_leaf:
            questions.append(columns.question(entry["split"]))
            entries += [entry["left"], entry["right"]]
    rows = [_values(entries[i]["value"]) if a < 0 else [] for i, a in enumerate(left)]
    weights = [finite(entry.get("weight", 0)) for entry in entries]
    n_values = max(map(len, rows))
    if n_values == 0 or any(len(rows[i]) != n_values for i, a in enumerate(left) if a < 0):
        raise ValueError("leaves of a tree differ in their values, or have none")
    for i in reversed(range(len(left))):
        if left[i] >= 0:  # the mean and the sum of what is below
            a, b = left[i], left[i] + 1
            total = weights[a] + weights[b]
            share = weights[b] / total if total > 0 else 0.5
            rows[i] = [u + share * (v - u) for u, v in zip(rows[a], rows[b], strict=True)]
            weights[i] = total
    first = np.array(left)
    which = np.maximum(np.cumsum(first >= 0) - 1, 0)
    value = scale * np.array(rows)
    return _table(first < 0, first, first + 1, questions, which, value, np.array(weights)).to_tree()


def _values(found: Any) -> list[float]:
    return [finite(value) for value in (found if isinstance(found, list) else [found])]


def _table(
    is_leaf: npt.NDArray[np.bool_],
    left: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    questions: list[Question],
    which: npt.NDArray[np.int64],
    value: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
) -> NodeTable:
    """Put a tree together; entry i, if it is a node, asks `questions[which[i]]`."""
    if not (np.isfinite(value).all() and np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("the values or weights of a tree are out of range")
    asked = questions or [Question(0, 0.0, True)]  # of leaves, which mean nothing
    border = np.array([q.border for q in asked]).astype(np.float32)
    codes = {i: np.array([q.category]) for i, q in enumerate(asked) if q.category is not None}
    return NodeTable(
        is_leaf,
        left,
        right,
        np.array([q.column for q in asked])[which],
        before_rounding(border)[which],
        np.array([q.default_left for q in asked])[which],
        value,
        weight,
        np.minimum(np.rint(weight), 2.0**62),  # rows of weight 1
        np.zeros(len(which)),
        {i: codes[q] for i, q in enumerate(which.tolist()) if q in codes and not is_leaf[i]},
    )
