"""scikit-learn's estimators with trees of its module `tree`: forests, boosting, single trees.

Their values are rounded to float32 before they are compared; thresholds here take that in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.files.check import check_forest
from gossamer.model.formats.float32 import before_rounding
from gossamer.model.formats.node_table import NodeTable
from gossamer.model.formats.sklearn_names import names_of
from gossamer.model.model import Model
from gossamer.objectives import objective_from_config
from gossamer.tree import Forest
from gossamer.tree.tree import Tree


def mean_model_of(estimator: Any) -> Model:
    """Return the model of a fitted forest or a single tree: the mean of its trees.

    A classifier's model predicts the probability of each class, also where there are two.

    Raises:
        NotSupportedError: If it is a classifier of several targets.
    """
    members = getattr(estimator, "estimators_", [estimator])
    n_targets = estimator.n_outputs_
    if hasattr(estimator, "classes_"):
        if n_targets > 1:
            raise NotSupportedError.because(
                "a classifier of several targets cannot be taken over",
                found=f"{n_targets} targets",
                hint="Train one classifier for each target.",
            )
        k = int(estimator.n_classes_)
        config: dict[str, Any] = {"name": "custom", "num_class": k}
        values = [member.tree_.value[:, 0, :k] for member in members]
    else:
        k = n_targets
        parts = [{"name": "regression"}] * k
        config = parts[0] if k == 1 else {"name": "several_targets", "parts": parts}
        values = [member.tree_.value[:, :, 0] for member in members]
    trees = [_tree_of(m.tree_, value) for m, value in zip(members, values, strict=True)]
    forest = Forest.from_trees(trees, k, estimator.n_features_in_)
    return _model(estimator, config, np.zeros(k), forest, average_output=True)


def boosted_model_of(estimator: Any) -> Model:
    """Return the model of a fitted GradientBoostingRegressor or -Classifier.

    Raises:
        NotSupportedError: If its scores do not start from the same number for all rows.
    """
    k = estimator.n_trees_per_iteration_
    if hasattr(estimator, "classes_"):
        slope = 2.0 if estimator.loss == "exponential" else 1.0
        config = {"name": "binary", "sigmoid": slope}
        if k > 1:
            config = {"name": "multiclass", "num_class": k}
    else:
        losses = {"absolute_error": "regression_l1", "huber": "huber", "quantile": "quantile"}
        config = {"name": losses.get(estimator.loss, "regression")}
    trees = [
        _tree_of(member.tree_, estimator.learning_rate * member.tree_.value[:, :, 0])
        for member in np.asarray(estimator.estimators_).ravel()
    ]
    forest = Forest.from_trees(trees, k, estimator.n_features_in_)
    return _model(estimator, config, _start_of(estimator), forest, average_output=False)


def _start_of(estimator: Any) -> npt.NDArray[np.float64]:
    if estimator.init_ != "zero" and not type(estimator.init_).__name__.startswith("Dummy"):
        raise NotSupportedError.because(
            "the model starts from another model's predictions (init)",
            got=type(estimator.init_).__name__,
            expected="init=None or 'zero'",
        )
    row = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    return np.array(estimator._raw_predict_init(row), dtype=np.float64).reshape(-1)


def _model(
    estimator: Any,
    config: dict[str, Any],
    start: npt.NDArray[np.float64],
    forest: Forest,
    average_output: bool,
) -> Model:
    check_forest(forest)
    params = {} if average_output else {key: config[key] for key in config if key == "num_class"}
    if not average_output:
        params["objective"] = config["name"]
    return Model(
        objective_from_config(config),
        names_of(estimator, forest.n_columns),
        start,
        forest,
        params,
        average_output=average_output,
    )


def _tree_of(tree: Any, value: npt.NDArray[np.float64]) -> Tree:
    is_leaf = tree.children_left < 0
    weight = tree.weighted_n_node_samples
    left, right = (
        np.where(is_leaf, 0, tree.children_left),
        np.where(is_leaf, 0, tree.children_right),
    )
    loss = weight * tree.impurity
    return NodeTable(
        is_leaf,
        left,
        right,
        tree.feature,
        before_rounding(tree.threshold),
        getattr(tree, "missing_go_to_left", np.zeros(len(is_leaf))),
        value,
        weight,
        tree.n_node_samples,
        loss - loss[left] - loss[right],
    ).to_tree()
