"""Trees as LightGBM's text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.logger import warn
from gossamer.model.formats.lightgbm_categories import write_sets
from gossamer.model.formats.lightgbm_linear import warn_of_differences, write_linear
from gossamer.model.formats.lightgbm_read import CATEGORICAL, DEFAULT_LEFT, MISSING_SHIFT
from gossamer.model.formats.lightgbm_text import floats_text, words_of
from gossamer.model.inspection.dump import shrinkage_of
from gossamer.model.model import Model
from gossamer.tree import Forest, Tree

_LARGEST_COUNT: Final = 2**31 - 1  # LightGBM counts in 32 bits

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Lines = dict[str, list[str]]


def write_trees(model: Model) -> list[str]:
    """Return the text of each tree, as LightGBM's `Tree=` sections.

    The start goes into the first tree of each output, with a mean into all of them.

    Raises:
        NotSupportedError: If values are too large for that.
    """
    forest = _with_tree(model)
    k, n_values = forest.n_outputs, forest.n_values
    node_count, leaf_count = _counts(forest)
    nodes, sets = _node_lines(forest, node_count)
    leaf_lines: Lines = {
        "leaf_weight": [repr(x) for x in forest.arrays["leaf_weight"].tolist()],
        "leaf_count": words_of(leaf_count),
    }
    # Of vector leaves every output gets a tree of its own, with the same splits.
    values = forest.arrays["leaf_value"].reshape(-1, n_values)
    node_values = forest.arrays["node_value"].reshape(-1, n_values)
    linear = forest.linear or {}
    warn_of_differences(linear)
    shrinkage = shrinkage_of(model)
    trees: list[str] = []
    for t in range(forest.n_trees):
        leaves = slice(int(forest.leaf_begin[t]), int(forest.leaf_begin[t + 1]))
        at = slice(int(forest.node_begin[t]), int(forest.node_begin[t + 1]))
        for value in range(n_values):
            output = value if n_values > 1 else t % k
            has_start = model.average_output or t * n_values < k
            start = float(model.start[output]) if has_start else 0.0
            # A mean here is over rounds, there over all trees.
            scale = float(forest.n_parallel if model.average_output else 1)
            trees.append(
                _tree_text(
                    len(trees),
                    {name: found[at] for name, found in nodes.items()},
                    {name: found[leaves] for name, found in leaf_lines.items()},
                    _moved(node_values[at, value], scale, start),
                    _moved(values[leaves, value], scale, start),
                    sets[at] if sets else [],
                    write_linear(linear, leaves, scale, start) if linear else [],
                    1.0 if start else shrinkage,  # LightGBM's refit multiplies new values by it
                )
            )
    return trees


def _with_tree(model: Model) -> Forest:
    """Return the trees; where there is none, one of a leaf for each output to hold the start."""
    forest = model.forest
    if forest.n_trees:
        return forest
    return Forest.from_trees(
        [Tree.constant(0.0) for _ in range(forest.n_outputs)], forest.n_outputs, forest.n_columns
    )


def _counts(forest: Forest) -> tuple[Counts, Counts]:
    """Return the numbers of rows of the nodes and leaves.

    LightGBM divides by them (`pred_contrib`): where some are 0, as in models of libraries that do
    not count, a leaf's weight stands for its rows.
    """
    a = forest.arrays
    node_count, leaf_count = (
        np.minimum(a[name], _LARGEST_COUNT) for name in ("node_count", "leaf_count")
    )
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_begin))
    for t in np.unique(tree[node_count == 0]).tolist():
        leaves = slice(int(forest.leaf_begin[t]), int(forest.leaf_begin[t + 1]))
        most = _LARGEST_COUNT // (leaves.stop - leaves.start)
        rows = np.rint(np.clip(a["leaf_weight"][leaves], 1, most)).astype(np.int64)
        leaf_count[leaves] = rows
        first, last = int(forest.node_begin[t]), int(forest.node_begin[t + 1])
        node_count[first:last] = 0
        for node in reversed(range(first, last)):
            for child in (int(a["left"][node]), int(a["right"][node])):
                node_count[node] += node_count[first + child] if child >= 0 else rows[~child]
    return node_count, leaf_count


def _node_lines(forest: Forest, counts: Counts) -> tuple[Lines, list[list[int]]]:
    """Return what lines say of each node, and the words of its categories, if any has some."""
    a = forest.arrays
    kind = a["missing_kind"].astype(np.int64)
    default_left = a["default_left"].astype(bool)
    decision = ((2 - kind) << MISSING_SHIFT) + DEFAULT_LEFT * default_left
    threshold = [repr(x) for x in a["threshold"].tolist()]
    left, right = a["left"], a["right"]
    sets: list[list[int]] = []
    if "category" in a:
        begin, category = _sets_of(forest)
        is_category = np.diff(a["category_begin"]) > 0
        # Categories of a set go left there, and all else goes right.
        swap = is_category & default_left
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        decision = np.where(is_category, CATEGORICAL, decision)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_begin))
        before: npt.NDArray[np.int64] = np.cumsum(is_category) - is_category
        number = before - before[forest.node_begin[:-1][tree]]
        for node in np.flatnonzero(is_category).tolist():
            threshold[node] = str(int(number[node]))
        sizes, sets = write_sets(begin, category)
        for node in np.flatnonzero(is_category & (np.array(sizes) == 0)).tolist():
            sets[node] = [0]  # nothing goes left
    lines: Lines = {
        "split_feature": words_of(a["column"]),
        "split_gain": [repr(x) for x in a["gain"].tolist()],
        "threshold": threshold,
        "decision_type": words_of(decision),
        "left_child": words_of(left),
        "right_child": words_of(right),
        "internal_weight": [repr(x) for x in a["node_weight"].tolist()],
        "internal_count": words_of(counts),
    }
    return lines, sets


def _sets_of(forest: Forest) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the categories of the nodes, without those that count as missing."""
    begin, category = forest.arrays["category_begin"], forest.arrays["category"]
    sizes = np.diff(begin)
    kind = np.repeat(forest.arrays["missing_kind"], sizes)
    if ((kind == 2) & (category == 0)).any():
        warn(
            "LightGBM sends missing values of categorical columns apart from category 0, which "
            "this model (use_missing=False) takes them for: rows that lack such a value may be "
            "predicted differently."
        )
    is_kept = (kind != 1) | (category > 0)
    node = np.repeat(np.arange(len(sizes)), sizes)
    n_kept = np.bincount(node[is_kept], minlength=len(sizes))
    return np.concatenate([[0], np.cumsum(n_kept)]), category[is_kept]


def _tree_text(
    number: int,
    nodes: Mapping[str, list[str]],
    leaves: Mapping[str, list[str]],
    node_value: Floats,
    leaf_value: Floats,
    sets: list[list[int]],
    linear: list[str],
    shrinkage: float,
) -> str:
    own_sets = [words for words in sets if words]
    bounds = np.cumsum([0, *map(len, own_sets)]).tolist()
    inner = {name: " ".join(found) for name, found in nodes.items()}
    lines = [
        f"Tree={number}",
        f"num_leaves={len(leaf_value)}",
        f"num_cat={len(own_sets)}",
    ]
    order = ("split_feature", "split_gain", "threshold", "decision_type")
    lines += [f"{name}={inner[name]}" for name in (*order, "left_child", "right_child")]
    lines += [
        f"leaf_value={floats_text(leaf_value)}",
        f"leaf_weight={' '.join(leaves['leaf_weight'])}",
        f"leaf_count={' '.join(leaves['leaf_count'])}",
        f"internal_value={floats_text(node_value)}",
        f"internal_weight={inner['internal_weight']}",
        f"internal_count={inner['internal_count']}",
    ]
    if own_sets:
        words = [str(word) for found in own_sets for word in found]
        lines += [
            f"cat_boundaries={' '.join(map(str, bounds))}",
            f"cat_threshold={' '.join(words)}",
        ]
    lines += [f"is_linear={1 if linear else 0}", *linear, f"shrinkage={shrinkage:g}"]
    lines += ["", "", ""]
    return "\n".join(lines)


def _moved(values: Floats, scale: float, start: float) -> Floats:
    with np.errstate(over="ignore"):
        moved = values * scale + start
    if not np.isfinite(moved).all():
        raise NotSupportedError.because(
            "a leaf value and the start are together too large for LightGBM's format"
        )
    return moved


def feature_infos(forest: Forest, n_columns: int) -> Iterable[str]:
    """Return what the trees know of each column: the range of its thresholds, or categories.

    Example:
        >>> list(feature_infos(Forest.from_trees([], 1, 2), 2))
        ['none', 'none']
    """
    a = forest.arrays
    sizes = np.diff(a["category_begin"]) if "category" in a else np.zeros(len(a["column"]), int)
    is_number = (sizes == 0) & np.isfinite(a["threshold"])
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    np.minimum.at(low, a["column"][is_number], a["threshold"][is_number])
    np.maximum.at(high, a["column"][is_number], a["threshold"][is_number])
    infos = [
        f"[{a!r}:{b!r}]" if a <= b else "none"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    if "category" in a:
        column = np.repeat(a["column"], sizes)
        pairs = np.unique(np.stack([column, a["category"]]), axis=1)
        for c in np.unique(column).tolist():
            infos[c] = ":".join(["-1", *words_of(pairs[1][pairs[0] == c])])
    return infos
