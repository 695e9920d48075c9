"""Our models as XGBoost's: all but what its trees cannot hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.formats.xgboost_levels import write_levels
from gossamer.model.formats.xgboost_objective import text_of, to_base_score, write_objective
from gossamer.model.formats.xgboost_read import Facts
from gossamer.model.formats.xgboost_write_tree import write_tree
from gossamer.model.model import Model
from gossamer.tree import Forest, Tree

# The version whose format this is.
_VERSION: Final = [3, 2, 0]


def to_document(model: Model, facts: Facts | None = None) -> dict[str, Any]:
    """Return a model as what XGBoost's files hold: dicts, lists, text, numbers and arrays.

    Args:
        model: The model.
        facts: Attributes, and types of columns; None: no attributes, types as the trees say.

    Raises:
        NotSupportedError: If XGBoost's trees cannot hold it.
    """
    _refuse(model)
    if model.forest.n_trees == 0:  # XGBoost then takes the base score for a raw score
        model = replace(model, forest=_nothing(model.forest))
    objective, factor = write_objective(model.objective)
    k, n_columns = model.objective.n_outputs, model.n_columns
    is_classes = objective["name"].startswith("multi:")
    base_score, add = _start(model, objective["name"], factor)
    types = _types(model) if facts is None or not facts.feature_types else facts.feature_types
    return {
        "learner": {
            "attributes": {} if facts is None else dict(facts.attributes),
            "feature_names": list(model.names) if model.has_own_names else [],
            "feature_types": types,
            "gradient_booster": {"model": _trees(model, factor, add), "name": "gbtree"},
            "learner_model_param": {
                "base_score": base_score,
                "boost_from_average": "1",
                "num_class": str(k if is_classes else 0),
                "num_feature": str(n_columns),
                "num_target": str(1 if is_classes else k),
            },
            "objective": objective,
        },
        "version": list(_VERSION),
    }


def to_lists(value: Any) -> Any:
    """Return a document with lists instead of arrays, float32 with as many digits as it has."""
    if isinstance(value, dict):
        return {name: to_lists(each) for name, each in value.items()}
    if isinstance(value, list):
        return [to_lists(each) for each in value]
    if isinstance(value, np.ndarray):
        numbers = value.tolist()
        return [float(f"{x:.9g}") for x in numbers] if value.dtype == np.float32 else numbers
    return value


def _refuse(model: Model) -> None:
    """Raise where there is something that XGBoost's trees do not have."""
    if model.forest.linear is not None:
        what, hint = "linear leaves", "Train with linear_tree=false."
    elif model.derived is not None:
        what, hint = "target statistics", "Train with cat_target_statistics=off."
    elif model.forest.n_values > 1 and "category" in model.forest.arrays:
        what, hint = "categories together with vector leaves", "Train a tree for each output."
    else:
        return
    raise NotSupportedError.because(f"XGBoost's trees have no {what}", hint=hint)


def _nothing(forest: Forest) -> Forest:
    """Return a round of trees that add nothing."""
    trees = [Tree.constant(0.0)] * (forest.n_outputs * forest.n_parallel)
    return Forest.from_trees(trees, forest.n_outputs, forest.n_columns, forest.n_parallel)


def _start(model: Model, name: str, factor: float) -> tuple[str, npt.NDArray[np.float64]]:
    """Return the base score, and what leaves of the first trees must have more for each output."""
    start = model.start * factor
    nothing = np.zeros_like(start)
    base_score = to_base_score(name, start)
    if base_score is None:
        base_score, nothing = to_base_score(name, nothing), start
        assert base_score is not None
    if (base_score == base_score[0]).all():
        base_score = base_score[:1]
    return text_of(base_score), nothing


def _trees(model: Model, factor: float, add: npt.NDArray[np.float64]) -> dict[str, Any]:
    forest = model.forest
    n_groups = forest.n_outputs // forest.n_values
    if model.average_output:
        factor /= max(forest.n_rounds, 1)
    order = _order(forest)
    trees = []
    for number, t in enumerate(order.tolist()):
        more = np.zeros(forest.n_values)
        if t < n_groups:
            more = add if forest.n_values > 1 else add[t : t + 1]
        written = write_tree(forest.tree(t), factor, more)
        written["id"] = number
        written["tree_param"]["num_feature"] = str(model.n_columns)
        trees.append(written)
    return {
        "cats": write_levels(model.levels, model.n_columns),
        "gbtree_model_param": {
            "num_parallel_tree": str(forest.n_parallel),
            "num_trees": str(forest.n_trees),
        },
        "iteration_indptr": list(range(0, forest.n_trees + 1, forest.trees_per_round)),
        "tree_info": (order % n_groups).tolist(),
        "trees": trees,
    }


def _order(forest: Forest) -> npt.NDArray[np.int64]:
    """Return our trees in XGBoost's order: in a round, all trees of an output are contiguous."""
    n_groups = forest.n_outputs // forest.n_values
    sets = np.arange(forest.n_trees).reshape(-1, forest.n_parallel, n_groups)
    return sets.swapaxes(1, 2).ravel()


def _types(model: Model) -> list[str]:
    """Return the types of the columns: "c" of those whose categories are split, or have names."""
    forest = model.forest
    columns = set(model.levels.columns if model.levels else ())
    if "category" in forest.arrays:
        splits = np.diff(forest.arrays["category_begin"]) > 0
        columns |= set(np.unique(forest.arrays["column"][splits]).tolist())
    if not columns:
        return []
    return ["c" if c in columns else "float" for c in range(model.n_columns)]
