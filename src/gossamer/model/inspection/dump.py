"""A model as a dict like LightGBM's `dump_model`, and as a table of its nodes."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, Final

from gossamer.arguments import check_function
from gossamer.errors import DataError, ParameterError, check_choice
from gossamer.model.inspection.importance import IMPORTANCE_TYPES, feature_importance
from gossamer.model.inspection.shown_trees import ShownTree, shown_names, shown_trees
from gossamer.model.model import Model
from gossamer.objectives import Objective, SeveralTargets
from gossamer.objectives.square_root import SquareRoot
from gossamer.params import resolve
from gossamer.params.column_options import by_column

Hook = Callable[[dict[str, Any]], Any]

# Boosting modes whose trees are not all shrunk by the learning rate.
_OWN_SHRINKAGE: Final = ("dart", "rf")
_COLUMNS: Final = (
    "tree_index",
    "node_depth",
    "node_index",
    "left_child",
    "right_child",
    "parent_index",
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "missing_direction",
    "missing_type",
    "value",
    "weight",
    "count",
)


def dump_model(model: Model, importance_type: str, object_hook: Hook | None) -> dict[str, Any]:
    """Return the model as nested dicts; see `Booster.dump_model`."""
    check_function("object_hook", object_hook)
    hook = _as_it_is if object_hook is None else object_hook
    names = shown_names(model)
    check_choice("importance_type", importance_type, IMPORTANCE_TYPES)
    importance = feature_importance(model.forest, importance_type, model.derived).tolist()
    by_name = {name: value for name, value in zip(model.names, importance, strict=True) if value}
    ordered = sorted(by_name, key=lambda name: -by_name[name])
    shrinkage = shrinkage_of(model)
    dumped: Any = hook(
        {
            "name": "tree",
            "version": "v4",
            "num_class": model.objective.n_outputs,
            "num_tree_per_iteration": model.forest.trees_per_round,
            "label_index": 0,
            "max_feature_idx": len(names) - 1,
            "objective": describe_objective(model.objective),
            "average_output": model.average_output,
            "feature_names": names,
            "monotone_constraints": _monotone(model),
            "feature_infos": hook({}),
            "tree_info": [
                hook(
                    {
                        "tree_index": i,
                        "num_leaves": tree.n_leaves,
                        "num_cat": tree.decision_type.count("=="),
                        "shrinkage": 1.0 if tree.has_start else shrinkage,
                        "tree_structure": _structure(tree, hook),
                    }
                )
                for i, tree in enumerate(shown_trees(model))
            ],
            "feature_importances": hook({name: by_name[name] for name in ordered}),
        }
    )
    if not isinstance(dumped, MutableMapping):
        raise ParameterError.because(
            "object_hook returned an unexpected value for the model", got=dumped, expected="a dict"
        )
    levels = model.levels
    dumped["pandas_categorical"] = (
        None if not levels else [list(found) for found in levels.by_column.values()]
    )
    found: Any = dumped
    return found  # type: ignore[no-any-return]


def trees_to_dataframe(model: Model) -> Any:
    """Return a pandas data frame with a line for each node and leaf.

    Raises:
        ImportError: If pandas is not installed.
        DataError: If there are no trees.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("trees_to_dataframe needs pandas: pip install pandas") from error
    names, trees = shown_names(model), shown_trees(model)
    if not trees:
        raise DataError.because(
            "the model has no trees", hint="Train it, or call num_trees() before."
        )
    lines = [line for i, tree in enumerate(trees) for line in _lines(i, tree, names)]
    return pandas.DataFrame(lines, columns=list(_COLUMNS))


def describe_objective(objective: Objective) -> str:
    """Return an objective as LightGBM writes it.

    Example:
        >>> from gossamer.objectives import objective_from_config
        >>> describe_objective(objective_from_config({"name": "binary", "sigmoid": 1.0}))
        'binary sigmoid:1'
    """
    if isinstance(objective, SquareRoot):
        return f"{objective.inner.name} sqrt"
    if isinstance(objective, SeveralTargets):
        return " ".join([objective.name, *(part.name for part in objective.parts)])
    config = objective.to_config()
    name = config.pop("name")
    shown = {key: f"{v:g}" if isinstance(v, float) else v for key, v in config.items()}
    return " ".join([name, *(f"{key}:{value}" for key, value in shown.items())])


def _as_it_is(found: dict[str, Any]) -> dict[str, Any]:
    return found


def _structure(tree: ShownTree, hook: Hook) -> Any:
    """Nested dicts of a tree, made from the leaves up: children have larger numbers."""
    if tree.n_leaves == 1:
        return hook(
            {"leaf_value": tree.leaf_value[0], "leaf_count": tree.leaf_count[0]} | _line(tree, 0)
        )
    nodes: list[Any] = [None] * len(tree.column)

    def below(child: int) -> Any:
        if child >= 0:
            return nodes[child]
        leaf = ~child
        return hook(
            {
                "leaf_index": leaf,
                "leaf_value": tree.leaf_value[leaf],
                "leaf_weight": tree.leaf_weight[leaf],
                "leaf_count": tree.leaf_count[leaf],
            }
            | _line(tree, leaf)
        )

    for i in reversed(range(len(nodes))):
        nodes[i] = hook(
            {
                "split_index": i,
                "split_feature": tree.column[i],
                "split_gain": tree.gain[i],
                "threshold": tree.threshold[i],
                "decision_type": tree.decision_type[i],
                "default_left": tree.default_left[i],
                "missing_type": tree.missing_type[i],
                "internal_value": tree.node_value[i],
                "internal_weight": tree.node_weight[i],
                "internal_count": tree.node_count[i],
                "left_child": below(tree.left[i]),
                "right_child": below(tree.right[i]),
            }
        )
    return nodes[0]


def _line(tree: ShownTree, leaf: int) -> dict[str, Any]:
    if tree.linear is None:
        return {}
    line = tree.linear[leaf]
    return {
        "leaf_const": line.constant,
        "leaf_features": line.columns,
        "leaf_coeff": line.coefficients,
        "leaf_low": line.low,
        "leaf_high": line.high,
    }


def _lines(t: int, tree: ShownTree, names: list[str]) -> list[tuple[Any, ...]]:
    def label(at: int | None) -> str | None:
        return None if at is None else f"{t}-S{at}" if at >= 0 else f"{t}-L{~at}"

    lines: list[tuple[Any, ...]] = []
    for at, depth, parent in tree.walk():
        place = (t, depth, label(at))
        if at < 0:
            # Of a tree without a split LightGBM shows the value alone.
            numbers: tuple[Any, ...] = (tree.leaf_value[0], None, None)
            if tree.n_leaves > 1:
                numbers = (tree.leaf_value[~at], tree.leaf_weight[~at], tree.leaf_count[~at])
            lines.append((*place, None, None, label(parent), *[None] * 6, *numbers))
            continue
        lines.append(
            (
                *place,
                *(label(tree.left[at]), label(tree.right[at]), label(parent)),
                *(names[tree.column[at]], tree.gain[at], tree.threshold[at]),
                tree.decision_type[at],
                "left" if tree.default_left[at] else "right",
                tree.missing_type[at],
                *(tree.node_value[at], tree.node_weight[at], tree.node_count[at]),
            )
        )
    return lines


def shrinkage_of(model: Model) -> float:
    """Return the factor that the values of trees include, as LightGBM tells it.

    Example:
        >>> from gossamer import Dataset, train
        >>> data = Dataset([[float(i)] for i in range(100)], range(100))
        >>> shrinkage_of(train({"eta": 0.3}, data, 2).model)
        0.3
    """
    params = resolve(model.params, context="predict")
    return 1.0 if params.boosting in _OWN_SHRINKAGE else params.learning_rate


def _monotone(model: Model) -> list[int]:
    value = resolve(model.params, context="predict").monotone_constraints
    try:
        return by_column(value, model.names, "monotone_constraints", 0) if value else []
    except ParameterError:  # parameters are for information: they need not fit
        return []
