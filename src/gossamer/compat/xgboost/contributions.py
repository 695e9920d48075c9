"""What each column contributes to the scores of the rows of a `DMatrix`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.prediction import fit_margin, parts_of
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import NotSupportedError
from gossamer.model import Booster as CoreBooster
from gossamer.model.inspection.shap_values import shap_interactions, shap_values
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions
from gossamer.tree import Tree

Floats = npt.NDArray[np.float64]


def check_explained(first: int, last: int) -> None:
    """Check that contributions of some rounds can be told.

    Args:
        first: First round.
        last: One after the last.

    Raises:
        NotSupportedError: If they cannot.
    """
    if first > 0:
        raise NotSupportedError.because(
            "contributions can only be computed from the first round on",
            got=(first, last),
            expected="(0, one after the last)",
            hint="Take a slice of the model: booster[first:last].",
        )


def contributions(core: CoreBooster, data: DMatrix, last: int, *, approximate: bool) -> Floats:
    """Return Shapley values, rows counting by their hessians, as in XGBoost.

    Args:
        core: The model.
        data: The rows; their `base_margin` takes the place of the start.
        last: Rounds to use.
        approximate: Whether a split's change of the mean is all laid to its column (Saabas).

    Returns:
        (rows, outputs, columns + 1); the last one is the expected value over all rows.
    """
    model = core.model.rounds(0, last)
    options = PredictOptions.from_arguments(0, last, False, False, {}, core.resolved_params)
    found = []
    for part in parts_of(core, data.user_table()):
        if approximate:
            found.append(_approximate(core, model, part, last))
            continue
        values: Any = shap_values(model, part, options, by_hessian=True)
        if isinstance(values, list):
            values = np.stack([each.toarray() for each in values], axis=1)
        found.append(values)
    return _with_margin(np.concatenate(found), model, data)


def interactions(core: CoreBooster, data: DMatrix, last: int) -> Floats:
    """Return Shapley interaction values, rows counting by their hessians, as in XGBoost.

    Args:
        core: The model.
        data: The rows; their `base_margin` takes the place of the start.
        last: Rounds to use.

    Returns:
        (rows, outputs, columns + 1, columns + 1).
    """
    model = core.model.rounds(0, last)
    options = PredictOptions.from_arguments(0, last, False, False, {}, core.resolved_params)
    found = []
    for part in parts_of(core, data.user_table()):
        dense = part.toarray() if is_sparse(part) else part  # its zeros count as missing
        found.append(shap_interactions(model, dense, options, by_hessian=True))
    return _with_margin(np.concatenate(found), model, data)


def _with_margin(values: Floats, model: Model, data: DMatrix) -> Floats:
    """Let scores of the rows take the place of the start."""
    place: tuple[Any, ...] = (Ellipsis, *[-1] * (values.ndim - 2))
    margin = fit_margin(data, values.shape[:2])
    if margin is not None:
        values[place] += margin - model.start
    return values


def _approximate(core: CoreBooster, model: Model, part: Any, last: int) -> Floats:
    forest = model.forest
    leaves = np.asarray(core.predict(part, 0, last, pred_leaf=True), dtype=np.int64)
    leaves = leaves.reshape(len(leaves), -1)
    found = np.zeros((len(leaves), forest.n_outputs, model.n_columns + 1))
    for t in range(forest.n_trees):
        outputs = slice(None) if forest.n_values > 1 else slice(t % forest.n_outputs, None)
        table = _by_leaf(forest.tree(t), model.n_columns)
        found[:, outputs][:, : forest.n_values] += table[leaves[:, t]]
    if model.average_output:
        found /= max(forest.n_rounds, 1)
    found[..., -1] += model.start
    return found


def _by_leaf(tree: Tree, n_columns: int) -> Floats:
    """Return the contributions of rows in each leaf: (leaves, values, columns + 1)."""
    n_nodes, k = len(tree.column), tree.n_values
    leaf_mean = tree.leaf_value.reshape(-1, k)
    mean = np.zeros((n_nodes, k))
    for i in range(n_nodes - 1, -1, -1):  # children come after their parents
        children = (int(tree.left[i]), int(tree.right[i]))
        weights = [_of(c, tree.node_weight, tree.leaf_weight) for c in children]
        total = sum(weights)
        shares = [w / total if total > 0 else 0.5 for w in weights]
        mean[i] = sum(s * _of(c, mean, leaf_mean) for s, c in zip(shares, children, strict=True))
    table = np.zeros((tree.n_leaves, k, n_columns + 1))
    so_far = np.zeros((n_nodes, k, n_columns + 1))
    (so_far if n_nodes else table)[0, :, -1] = mean[0] if n_nodes else leaf_mean[0]
    for i in range(n_nodes):
        for child in (int(tree.left[i]), int(tree.right[i])):
            found = so_far[i].copy()
            found[:, tree.column[i]] += _of(child, mean, leaf_mean) - mean[i]
            (so_far if child >= 0 else table)[child if child >= 0 else ~child] = found
    return table


def _of(child: int, by_node: npt.NDArray[Any], by_leaf: npt.NDArray[Any]) -> Any:
    return by_node[child] if child >= 0 else by_leaf[~child]
