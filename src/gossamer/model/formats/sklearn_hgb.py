"""scikit-learn's HistGradientBoostingRegressor and HistGradientBoostingClassifier."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.levels import Levels
from gossamer.data.table.columns import is_level, is_missing
from gossamer.errors import NotSupportedError
from gossamer.model.files.check import check_forest
from gossamer.model.formats.node_table import NodeTable
from gossamer.model.formats.sklearn_names import names_of
from gossamer.model.model import Model
from gossamer.objectives import objective_from_config
from gossamer.tree import Forest
from gossamer.tree.tree import Tree

_OBJECTIVES: Final = {
    "squared_error": "regression",
    "absolute_error": "regression_l1",
    "gamma": "gamma",
    "poisson": "poisson",
    "quantile": "quantile",
}


def model_of(estimator: Any) -> Model:
    """Return the model of a fitted estimator; its raw scores have the same bits.

    Raises:
        NotSupportedError: If its loss, or a level of a column, is something that we do not have.
    """
    k = estimator.n_trees_per_iteration_
    n_columns = estimator.n_features_in_
    columns = _columns(estimator, n_columns)
    known, place_of = estimator._bin_mapper.make_known_categories_bitsets()
    is_known = _bits(known)
    trees = [
        _tree_of(predictor, columns, is_known, place_of)
        for predictors in estimator._predictors
        for predictor in predictors
    ]
    start = np.asarray(estimator._baseline_prediction, dtype=np.float64).reshape(-1)
    forest = Forest.from_trees(trees, k, n_columns)
    check_forest(forest)
    config = _objective(estimator, k)
    params = {"objective": config["name"]} | ({"num_class": k} if k > 1 else {})
    return Model(
        objective_from_config(config),
        names_of(estimator, n_columns),
        start,
        forest,
        params,
        _levels_of(estimator, columns) or None,
    )


def _objective(estimator: Any, k: int) -> dict[str, Any]:
    loss = estimator.loss
    if loss == "log_loss":
        return {"name": "multiclass", "num_class": k} if k > 1 else {"name": "binary", "sigmoid": 1}
    if loss not in _OBJECTIVES:
        raise NotSupportedError.because(
            "the loss has no objective here",
            got=loss,
            expected=f"log_loss, {', '.join(_OBJECTIVES)}",
        )
    return {"name": _OBJECTIVES[loss]}


def _columns(estimator: Any, n_columns: int) -> npt.NDArray[np.int64]:
    """Return the column of each feature: where some are categories, these stand first."""
    is_categorical = getattr(estimator, "is_categorical_", None)
    if is_categorical is None or getattr(estimator, "_preprocessor", None) is None:
        return np.arange(n_columns)
    return np.concatenate([np.flatnonzero(is_categorical), np.flatnonzero(~is_categorical)])


def _levels_of(estimator: Any, columns: npt.NDArray[np.int64]) -> Levels:
    """Return what the encoder's codes stand for; missing values have no code."""
    preprocessor = getattr(estimator, "_preprocessor", None)
    if preprocessor is None:
        return Levels({})
    found = {}
    for i, categories in enumerate(preprocessor.named_transformers_["encoder"].categories_):
        levels = [level for level in categories.tolist() if not is_missing(level)]
        kinds = {isinstance(level, str) for level in levels}
        if len(kinds) > 1 or not all(map(is_level, levels)):
            raise NotSupportedError.because(
                f"the levels of column {columns[i]} cannot be taken over",
                got=levels,
                expected="all text, or all finite numbers",
            )
        found[int(columns[i])] = tuple(levels)
    return Levels(found)


def _tree_of(
    predictor: Any,
    columns: npt.NDArray[np.int64],
    is_known: npt.NDArray[np.bool_],
    place_of: npt.NDArray[np.uint32],
) -> Tree:
    nodes = predictor.nodes
    goes_left = _bits(predictor.raw_left_cat_bitsets)
    categories = {}
    is_split = (nodes["is_categorical"] == 1) & (nodes["is_leaf"] == 0)
    for i in np.flatnonzero(is_split):
        left = goes_left[nodes["bitset_idx"][i]]
        right = is_known[place_of[nodes["feature_idx"][i]]] & ~left
        categories[int(i)] = np.flatnonzero(right if nodes["missing_go_to_left"][i] else left)
    count = nodes["count"].astype(np.int64)
    return NodeTable(
        nodes["is_leaf"] == 1,
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        columns[nodes["feature_idx"]],
        nodes["num_threshold"],
        nodes["missing_go_to_left"],
        nodes["value"][:, np.newaxis],
        count,  # the sums of hessians are not kept
        count,
        nodes["gain"],
        categories,
    ).to_tree()


def _bits(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return sets of 256 members, one row each, as booleans."""
    bits = np.asarray(words, dtype="<u4").reshape(-1, 8).view(np.uint8)
    return np.unpackbits(bits, axis=1, bitorder="little").astype(np.bool_)
