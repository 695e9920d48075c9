"""`process_type="update"`: existing trees are refreshed with other data, or pruned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.prediction import fit_margin, leaf_numbers
from gossamer.data.dataset import built_data
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model import Booster as CoreBooster
from gossamer.model.model import Model
from gossamer.objectives import Gradients, make_objective
from gossamer.params import Params, resolve
from gossamer.threads import resolve_threads
from gossamer.tree import Forest, Tree

# XGBoost's names of what is done to the trees.
UPDATERS: Final = ("refresh", "prune")


@dataclass(frozen=True)
class Update:
    """What is done to existing trees.

    Attributes:
        updaters: "refresh" and "prune", in order.
        changes_leaves: Whether "refresh" changes values of leaves, not only gains and weights.
    """

    updaters: tuple[str, ...]
    changes_leaves: bool


def take_update(given: dict[str, Any]) -> Update | None:
    """Take the parameters of an update out of XGBoost's parameters; None: it is a training.

    Raises:
        ParameterError: If the updaters are not known.

    Example:
        >>> given = {"process_type": "update", "updater": "refresh,prune", "eta": 0.1}
        >>> take_update(given), given
        (Update(updaters=('refresh', 'prune'), changes_leaves=True), {'eta': 0.1})
    """
    if given.get("process_type", "default") != "update":
        return None
    del given["process_type"]
    updaters = tuple(name.strip() for name in str(given.pop("updater", "")).split(","))
    unknown = [name for name in updaters if name not in UPDATERS]
    if unknown:
        raise ParameterError.because(
            "process_type='update' needs an updater that changes trees",
            got=unknown[0],
            expected="'refresh', 'prune' or 'refresh,prune'",
        )
    return Update(updaters, str(given.pop("refresh_leaf", True)).lower() in ("1", "true"))


def update_model(model: Model, params: dict[str, Any], data: DMatrix, update: Update) -> Model:
    """Return the model with changed trees.

    Args:
        model: The model.
        params: Our parameters: objective, learning rate, penalties.
        data: The data that leaves learn their values from.
        update: What is done.

    Raises:
        NotSupportedError: If trees have several values per leaf, or leaves are fitted to residuals.
    """
    forest = model.forest
    if forest.n_values > 1 or forest.linear is not None or model.average_output:
        raise NotSupportedError.because(
            "process_type='update' cannot change these trees",
            found="a random forest" if model.average_output else "leaves of several values",
            hint="Train a new model on the new data.",
        )
    resolved, n_rows = resolve(params), data.num_row()
    train_set = data.as_train_set(params)
    built = built_data(train_set)
    objective = make_objective(resolved, built.targets, train_set)
    k = objective.n_outputs
    if update.changes_leaves and any(objective.leaf_refit_of(o) is not None for o in range(k)):
        raise NotSupportedError.because(
            "refresh cannot fit leaves to residuals", got=f"objective={objective.name}"
        )
    targets = objective.prepare(built.targets)
    n_threads = resolve_threads(resolved.num_threads, n_rows, forest.n_columns)
    gradients = Gradients.empty(n_rows, k, has_hessian=objective.has_hessian(targets))
    margin = fit_margin(data, (n_rows, k) if k > 1 else (n_rows,))
    score = np.repeat(model.start, n_rows).reshape(k, n_rows)
    if margin is not None:
        score = np.ascontiguousarray(margin.reshape(n_rows, k).T)
    leaves = leaf_numbers(CoreBooster.from_model(model), data, 0, forest.n_rounds).astype(np.int64)
    rate = resolved.learning_rate / forest.n_parallel
    trees = []
    for n_round in range(forest.n_rounds):
        objective.fill_gradients(score.reshape(-1), targets, gradients, n_threads)
        parts = gradients.split(k)
        for i in range(forest.trees_per_round):
            output, parallel = i % k, i // k
            leaf = leaves[:, n_round, output, parallel]
            tree = forest.tree(n_round * forest.trees_per_round + i)
            tree = _shrink_nodes(tree, rate)
            for updater in update.updaters:
                if updater == "prune":
                    tree, moved = _prune(tree, resolved)
                    leaf = moved[leaf]
                    continue
                old = tree
                tree = _refreshed(old, leaf, *parts[output], resolved, rate)
                if not update.changes_leaves:
                    tree = replace(tree, leaf_value=old.leaf_value, node_value=old.node_value)
            trees.append(tree)
            score[output] += tree.leaf_value[leaf]
    return replace(
        model,
        forest=Forest.from_trees(trees, forest.n_outputs, forest.n_columns, forest.n_parallel),
    )


def _refreshed(
    tree: Tree,
    leaf: npt.NDArray[np.int64],
    gradient: npt.NDArray[np.float32],
    hessian: npt.NDArray[np.float32] | None,
    params: Params,
    rate: float,
) -> Tree:
    """Return a tree with what its nodes and leaves learn from the gradients of a round."""
    n_nodes, n_leaves = len(tree.column), tree.n_leaves
    left, right = _children(tree)
    sums = np.zeros((n_nodes + n_leaves, 3))
    sums[n_nodes:, 0] = np.bincount(leaf, gradient, n_leaves)
    sums[n_nodes:, 2] = np.bincount(leaf, minlength=n_leaves)
    sums[n_nodes:, 1] = (
        sums[n_nodes:, 2] if hessian is None else np.bincount(leaf, hessian, n_leaves)
    )
    for node in reversed(range(n_nodes)):
        sums[node] = sums[left[node]] + sums[right[node]]
    slope, weight, count = sums.T
    size = np.maximum(np.abs(slope) - params.lambda_l1, 0.0)
    below = weight + params.lambda_l2
    is_there = below > 0
    value = np.where(is_there, -np.copysign(size, slope) / np.where(is_there, below, 1.0), 0.0)
    if params.max_delta_step > 0:
        value = np.clip(value, -params.max_delta_step, params.max_delta_step)
    quality = np.where(is_there, size**2 / np.where(is_there, below, 1.0), 0.0)
    return replace(
        tree,
        gain=quality[left] + quality[right] - quality[:n_nodes],
        node_value=value[:n_nodes] * rate,
        node_weight=weight[:n_nodes].copy(),
        node_count=count[:n_nodes].astype(np.int64),
        leaf_value=value[n_nodes:] * rate,
        leaf_weight=weight[n_nodes:].copy(),
        leaf_count=count[n_nodes:].astype(np.int64),
    )


def _shrink_nodes(tree: Tree, rate: float) -> Tree:
    """Return a tree whose nodes have the values they would add as leaves.

    XGBoost's files have nodes as they are before shrinkage and leaves after it, and no learning
    rate; nodes of our own trees are shrunk. The leaves tell which of the two this is.
    """
    n_nodes = len(tree.column)
    left, right = _children(tree)
    sums = np.zeros((n_nodes + tree.n_leaves, 2))
    sums[n_nodes:] = np.column_stack([tree.leaf_value * tree.leaf_weight, tree.leaf_weight])
    for node in reversed(range(n_nodes)):
        sums[node] = sums[left[node]] + sums[right[node]]
    total, weight = sums[:n_nodes].T
    mean = total / np.maximum(weight, np.finfo(np.float64).tiny)
    shrunk = tree.node_value * rate
    is_shrunk = np.abs(tree.node_value - mean).sum() <= np.abs(shrunk - mean).sum()
    return tree if is_shrunk else replace(tree, node_value=shrunk)


def _children(tree: Tree) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the children of nodes, where leaves are numbered behind the nodes."""
    n_nodes = len(tree.column)
    left, right = (np.where(c < 0, n_nodes + ~c, c) for c in (tree.left, tree.right))
    return left, right


def _prune(tree: Tree, params: Params) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Return a tree without splits that gain too little and have no other split below them.

    Returns:
        The tree, and the number there of each leaf that was there before.
    """
    n_nodes = len(tree.column)
    depth = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes):
        for child in (int(tree.left[node]), int(tree.right[node])):
            if child >= 0:
                depth[child] = depth[node] + 1
    too_small = tree.gain < params.min_gain_to_split
    if params.max_depth > 0:
        too_small = too_small | (depth > params.max_depth)
    is_kept = np.ones(n_nodes, dtype=bool)
    for node in reversed(range(n_nodes)):
        children = [int(child) for child in (tree.left[node], tree.right[node])]
        is_kept[node] = not too_small[node] or any(c >= 0 and is_kept[c] for c in children)
    if is_kept.all():
        return tree, np.arange(tree.n_leaves)
    if not is_kept[0]:
        leaf = Tree.constant(0.0, float(tree.node_weight[0]), int(tree.node_count[0]))
        leaf = replace(leaf, leaf_value=tree.node_value[:1].copy())
        return leaf, np.zeros(tree.n_leaves, dtype=np.int64)
    return _without(tree, is_kept)


def _leaves_below(tree: Tree, child: int) -> list[int]:
    if child < 0:
        return [~child]
    sides = int(tree.left[child]), int(tree.right[child])
    return [leaf for side in sides for leaf in _leaves_below(tree, side)]


def _without(tree: Tree, is_kept: npt.NDArray[np.bool_]) -> tuple[Tree, npt.NDArray[np.int64]]:
    """Return a tree in which the other nodes are leaves, and where its leaves have gone."""
    moved = np.zeros(tree.n_leaves, dtype=np.int64)
    kept = np.flatnonzero(is_kept)
    number = np.cumsum(is_kept) - 1
    children: dict[str, list[int]] = {"left": [], "right": []}
    leaves: dict[str, list[Any]] = {"value": [], "weight": [], "count": []}
    for node in kept.tolist():
        for side, found in children.items():
            child = int(getattr(tree, side)[node])
            if child >= 0 and is_kept[child]:
                found.append(int(number[child]))
                continue
            moved[_leaves_below(tree, child)] = len(leaves["value"])
            found.append(~len(leaves["value"]))
            kind, place = ("node", child) if child >= 0 else ("leaf", ~child)
            for name, values in leaves.items():
                values.append(getattr(tree, f"{kind}_{name}")[place])
    names = (
        *("column", "threshold", "missing_kind", "default_left", "gain"),
        *("node_value", "node_weight", "node_count"),
    )
    nodes: dict[str, Any] = {name: getattr(tree, name)[kept] for name in names}
    categories: dict[str, Any] = {}
    if tree.category_begin is not None and tree.category is not None:
        begin = tree.category_begin
        sets = [tree.category[begin[node] : begin[node + 1]] for node in kept.tolist()]
        sizes = np.array([len(each) for each in sets], dtype=np.int64)
        categories["category_begin"] = np.concatenate(([0], np.cumsum(sizes)))
        categories["category"] = np.concatenate(sets)
    pruned = Tree(
        **nodes,
        left=np.array(children["left"], dtype=np.int32),
        right=np.array(children["right"], dtype=np.int32),
        leaf_value=np.array(leaves["value"], dtype=np.float64),
        leaf_weight=np.array(leaves["weight"], dtype=np.float64),
        leaf_count=np.array(leaves["count"], dtype=np.int64),
        **categories,
    )
    return pruned, moved
