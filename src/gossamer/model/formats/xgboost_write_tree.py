"""One of our trees as XGBoost's."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.formats.xgboost_threshold import to_theirs
from gossamer.tree import Tree

_NO_PARENT: Final = 2**31 - 1
# What XGBoost writes where a threshold means nothing.
_NO_THRESHOLD: Final = np.float32(1e-45)
_MOST_CATEGORIES: Final = 2**24
# Zeros that count as missing are at most so far from 0.
_ZERO: Final = 1e-35
_NAN_MISSING, _ZERO_MISSING, _NONE_MISSING = 0, 1, 2

Ints = npt.NDArray[np.int64]


def write_tree(tree: Tree, factor: float, add: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return a tree as XGBoost's files hold it.

    The children of node i of ours become the nodes 2 i + 1 and 2 i + 2.

    Args:
        tree: The tree.
        factor: Multiplied with its values.
        add: Then added to its leaf values, one number for each value of a leaf.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold it.
    """
    m, k = len(tree.column), tree.n_values
    lists = _category_lists(tree)
    is_set = np.array([codes is not None for codes in lists], dtype=bool)
    # XGBoost sends listed categories right, and all others left.
    swap = is_set & (tree.default_left == 0)
    left = np.where(swap, tree.right, tree.left).astype(np.int64)
    right = np.where(swap, tree.left, tree.right).astype(np.int64)
    node, leaf = _numbers(left, right)
    n = 2 * m + 1
    condition = np.full(n, _NO_THRESHOLD, np.float32)
    condition[node] = np.where(is_set, _NO_THRESHOLD, to_theirs(tree.threshold))
    default_left = _default_left(tree, lists)
    is_empty = [codes is not None and len(codes) == 0 for codes in lists]
    condition[node[is_empty]] = np.inf  # all values go left
    is_set &= ~np.array(is_empty, dtype=bool)
    values = np.zeros((n, k))
    values[node] = tree.node_value.reshape(m, k) * factor
    values[leaf] = tree.leaf_value.reshape(-1, k) * factor + add
    weights = _to_float32(values, "a leaf value")
    lefts, rights = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    lefts[node] = 2 * np.arange(m) + 1
    rights[node] = 2 * np.arange(m) + 2
    parents = np.zeros(n, np.int32)
    parents[1:] = np.repeat(node, 2)
    parents[0] = _NO_PARENT if k == 1 else -1
    if k == 1:
        condition[leaf] = weights[leaf, 0]
    else:
        rights[leaf] = np.arange(len(leaf))
    hessian = _hessians(tree)
    found = {
        "base_weights": weights.ravel(),
        **_write_lists(node, lists, is_set),
        "default_left": _by_node(n, node, default_left, np.uint8),
        "id": 0,
        "left_children": lefts,
        "loss_changes": _by_node(n, node, _clipped(tree.gain), np.float32),
        "parents": parents,
        "right_children": rights,
        "split_conditions": condition,
        "split_indices": _by_node(n, node, tree.column, np.int32),
        "split_type": _by_node(n, node, is_set, np.uint8),
        "sum_hessian": _by_node(n, np.concatenate([node, leaf]), hessian, np.float32),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": "0",
            "num_nodes": str(n),
            "size_leaf_vector": str(k),
        },
    }
    return found if k == 1 else found | {"leaf_weights": weights[leaf].ravel()}


def _numbers(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Return XGBoost's numbers of nodes and leaves."""
    m = len(left)
    node, leaf = np.zeros(m, np.int64), np.zeros(m + 1, np.int64)
    for children, numbers in ((left, 2 * np.arange(m) + 1), (right, 2 * np.arange(m) + 2)):
        is_leaf = children < 0
        leaf[~children[is_leaf]] = numbers[is_leaf]
        node[children[~is_leaf]] = numbers[~is_leaf]
    return node, leaf


def _category_lists(tree: Tree) -> list[npt.NDArray[np.int32] | None]:
    """Return the categories that nodes send right in XGBoost; None: they ask for a threshold."""
    m = len(tree.column)
    if tree.category is None or tree.category_begin is None:
        return [None] * m
    if len(tree.category) and tree.category.max() >= _MOST_CATEGORIES:
        raise NotSupportedError.because(
            "XGBoost has no categories of such codes",
            got=int(tree.category.max()),
            expected=f"below {_MOST_CATEGORIES}",
        )
    begin = tree.category_begin.tolist()
    found: list[npt.NDArray[np.int32] | None] = []
    for i in range(m):
        codes = tree.category[begin[i] : begin[i + 1]] if begin[i] < begin[i + 1] else None
        if codes is not None and tree.missing_kind[i] == _ZERO_MISSING:
            codes = codes[codes != 0]  # goes with the missing values
        found.append(codes)
    return found


def _default_left(tree: Tree, lists: list[npt.NDArray[np.int32] | None]) -> npt.NDArray[np.bool_]:
    """Return where XGBoost sends missing values, all of which are NaN there.

    Raises:
        NotSupportedError: If zeros go with the missing values, and not where numbers near zero go.
    """
    kind, by_default = tree.missing_kind, tree.default_left != 0
    is_set = np.array([codes is not None for codes in lists], dtype=bool)
    is_astray = np.where(by_default, tree.threshold < _ZERO, tree.threshold >= -_ZERO)
    if (is_astray & (kind == _ZERO_MISSING) & ~is_set).any():
        raise NotSupportedError.because(
            "XGBoost's trees do not know zeros as missing values",
            hint="Train with zero_as_missing=false, on a dense table or with NaN for what is "
            "missing.",
        )
    # What knows no missing values reads NaN as zero.
    found = np.where(kind == _NONE_MISSING, tree.threshold >= 0, by_default)
    found[is_set] = True  # by now children are swapped so that all but the listed go left
    for i in np.flatnonzero(is_set & (kind == _NONE_MISSING)):
        codes = lists[i]
        assert codes is not None
        found[i] = 0 not in codes
    return found


def _write_lists(
    node: Ints, lists: list[npt.NDArray[np.int32] | None], is_set: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    places = np.flatnonzero(is_set)
    places = places[np.argsort(node[places])]
    codes = [np.asarray(lists[i], np.int32) for i in places]
    sizes = np.array([len(each) for each in codes], np.int64)
    return {
        "categories": np.concatenate([np.empty(0, np.int32), *codes]),
        "categories_nodes": node[places].astype(np.int32),
        "categories_segments": np.cumsum(sizes) - sizes,
        "categories_sizes": sizes,
    }


def _hessians(tree: Tree) -> npt.NDArray[np.float64]:
    """Return the weights of nodes and leaves; where they are not known, numbers of rows."""
    weights = np.concatenate([tree.node_weight, tree.leaf_weight])
    if not weights.any():
        weights = np.concatenate([tree.node_count, tree.leaf_count]).astype(np.float64)
    return _clipped(weights)


def _by_node(n: int, places: Ints, values: Any, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    found = np.zeros(n, dtype)
    found[places] = values
    return found


def _clipped(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    most = float(np.finfo(np.float32).max)
    return np.clip(np.nan_to_num(values), -most, most)


def _to_float32(values: npt.NDArray[np.float64], what: str) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        found = values.astype(np.float32)
    if not np.isfinite(found).all():
        raise NotSupportedError.because(
            f"{what} is beyond float32, in which XGBoost keeps it",
            got=float(np.abs(values).max()),
        )
    return found
