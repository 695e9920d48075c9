"""Models and their Shapley values as the `shap` package knows them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.binning.bins import MissingKind
from gossamer.errors import NotSupportedError
from gossamer.model.model import Model
from gossamer.tree import Tree

_HINT = "Use shap_values(), or to_explanation() for the plots of the package."


def to_shap(model: Model) -> dict[str, Any]:
    """Return the trees as `shap.TreeExplainer` takes them: nodes first, then leaves.

    Raises:
        NotSupportedError: If the package cannot describe the trees: categorical splits, linear
            leaves, derived columns, zeros that count as missing.
    """
    forest = model.forest
    if model.derived is not None:
        raise _refused("target statistics")
    if forest.linear is not None:
        raise _refused("linear leaves")
    if "category" in forest.arrays:
        raise _refused("categorical splits")
    scale = max(forest.n_rounds, 1) if model.average_output else 1
    trees = [_tree(forest.tree(t), t, forest.n_outputs, scale) for t in range(forest.n_trees)]
    if not trees:  # the package needs one
        trees = [_tree(Tree.constant(0.0, count=1), 0, forest.n_outputs, 1)]
    loss = model.objective.traits.shap
    return {
        "trees": trees,
        "base_offset": model.start.copy(),
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "tree_output": "log_odds" if loss == "binary_crossentropy" else "raw_value",
        "objective": loss or None,
    }


def to_explanation(
    values: npt.NDArray[np.float64], table: npt.NDArray[Any], names: list[str]
) -> Any:
    """Return Shapley values as a `shap.Explanation`.

    Args:
        values: (rows, columns + 1), or (rows, outputs, columns + 1).
        table: The values of the rows.
        names: Names of the columns.

    Raises:
        ImportError: If the package is not installed.
    """
    try:
        shap: Any = import_module("shap")
    except ImportError as error:
        raise ImportError("to_explanation needs the shap package: pip install shap") from error
    own, expected = values[..., :-1], values[..., -1]
    if own.ndim == 3:  # the package has outputs last
        own = np.moveaxis(own, 1, 2)
    return shap.Explanation(own, base_values=expected, data=table, feature_names=names)


def _tree(tree: Tree, t: int, n_outputs: int, scale: int) -> dict[str, npt.NDArray[Any]]:
    n_nodes, n_leaves = len(tree.column), tree.n_leaves
    left, right = (np.where(c < 0, n_nodes + ~c, c) for c in (tree.left, tree.right))
    leaf = np.full(n_leaves, -1)
    outputs = np.zeros((n_leaves, n_outputs))
    own = tree.leaf_value.reshape(n_leaves, -1) / scale
    outputs[:, slice(None) if tree.n_values > 1 else slice(t % n_outputs, t % n_outputs + 1)] = own
    goes_left = _missing_goes_left(tree)
    return {
        "children_left": np.concatenate([left, leaf]),
        "children_right": np.concatenate([right, leaf]),
        "children_default": np.concatenate([np.where(goes_left, left, right), leaf]),
        "features": np.concatenate([tree.column, leaf]),
        "thresholds": np.concatenate([tree.threshold, np.full(n_leaves, -1.0)]),
        # The package works out the values of nodes itself.
        "values": np.concatenate([np.zeros((n_nodes, n_outputs)), outputs]),
        "node_sample_weight": _covers(tree),
    }


def _covers(tree: Tree) -> npt.NDArray[np.float64]:
    """Rows of nodes and leaves; sums of hessians where a model does not know them."""
    if tree.leaf_count.any():
        return np.concatenate([tree.node_count, tree.leaf_count]).astype(np.float64)
    return np.concatenate([tree.node_weight, tree.leaf_weight])


def _missing_goes_left(tree: Tree) -> npt.NDArray[np.bool_]:
    """Where NaN goes; the package knows no other missing value."""
    goes_left = tree.default_left.astype(bool)
    zero_goes_left = tree.threshold >= 0.0
    is_zero = tree.missing_kind == MissingKind.ZERO
    if np.any(is_zero & (zero_goes_left != goes_left)):
        raise _refused("zeros that count as missing (zero_as_missing)")
    nan_is_zero = tree.missing_kind == MissingKind.NAN_IS_ZERO
    return np.where(nan_is_zero, zero_goes_left, goes_left)


def _refused(what: str) -> NotSupportedError:
    return NotSupportedError.because(
        f"shap.TreeExplainer cannot describe a model with {what}", hint=_HINT
    )
