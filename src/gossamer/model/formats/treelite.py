"""Treelite: models are handed over, as its `Model` or as its file (docs/interchange.md).

Treelite cuts off fractions in categorical columns, as we do.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.model.model import Model
from gossamer.objectives import CustomWithLink, Objective
from gossamer.params.traits import Kind
from gossamer.tree import Forest
from gossamer.tree.tree import Tree

_ZERO: Final = 1e-35  # at most this far from zero is zero, where zero is missing
_NAN_AND_ZERO, _NAN_IS_ZERO = 1, 2  # kinds of missing values
# Link: what Treelite calls it.
_LINKS: Final = {
    "sigmoid": "sigmoid",
    "exp": "exponential",
    "bounded_exp": "exponential",
    "softmax": "softmax",
    "argmax": "softmax",
    "softplus": "logarithm_one_plus_exp",
    "signed_square": "signed_square",
    "sign": "hinge",
}
# Links of a `CustomObjective`.
_CUSTOM_LINKS: Final = ("exp", "sigmoid", "softplus")


def write(model: Model) -> bytes:
    """Return the bytes of Treelite's file (`treelite.Model.deserialize`); see `to_treelite`."""
    content: bytes = to_treelite(model).serialize_bytes()
    return content


def to_treelite(model: Model, raw_score: bool = False) -> Any:
    """Return a model as a `treelite.Model` of float64.

    Args:
        model: The model.
        raw_score: Whether it predicts raw scores.

    Raises:
        ImportError: If the treelite package is not installed.
        NotSupportedError: If the model has something that Treelite has not.
    """
    try:
        builders = import_module("treelite.model_builder")
    except ImportError as error:
        raise ImportError('to_treelite needs treelite: pip install "gossamer[treelite]"') from error
    _check(model)
    forest, k = model.forest, model.objective.n_outputs
    trees = [forest.tree(t) for t in range(forest.n_trees)]
    if not trees:  # Treelite has no model without trees
        trees = [Tree.constant(0.0) for _ in range(k)]
    is_classes = model.objective.traits.kind is Kind.MULTICLASS
    is_vector = trees[0].n_values > 1
    output = [-1] * len(trees) if is_vector else [t % k for t in range(len(trees))]
    zeros = [0] * len(trees)
    shape = (1, k) if is_classes else (k, 1)
    builder = builders.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builders.Metadata(
            num_feature=model.n_columns,
            task_type=_task(model.objective),
            average_tree_output=model.average_output,
            num_target=shape[0],
            num_class=[shape[1]] * shape[0],
            leaf_vector_shape=shape if is_vector else (1, 1),
        ),
        tree_annotation=builders.TreeAnnotation(
            num_tree=len(trees),
            target_id=zeros if is_classes else output,
            class_id=output if is_classes else zeros,
        ),
        postprocessor=_link(builders, model.objective, raw_score, is_classes),
        base_scores=model.start.tolist(),
    )
    # A mean is one over trees there, over rounds here.
    factor = float(forest.n_parallel) if model.average_output else 1.0
    for tree in trees:
        _add_tree(builder, tree, factor)
    return builder.commit()


def _task(objective: Objective) -> str:
    if objective.traits.kind is Kind.MULTICLASS:
        return "kMultiClf"
    is_binary = objective.traits.kind is Kind.BINARY and objective.traits.gives_probabilities
    return "kBinaryClf" if is_binary else "kRegressor"


def _link(builders: Any, objective: Objective, raw_score: bool, is_classes: bool) -> Any:
    """Return what Treelite does with sums."""
    none = "identity_multiclass" if is_classes else "identity"
    if raw_score:
        return builders.PostProcessorFunc(name=none)
    parts: tuple[Objective, ...] = getattr(objective, "parts", (objective,))
    first = parts[0]
    link = first.traits.link
    if isinstance(first, CustomWithLink):
        link = first.link if first.link in _CUSTOM_LINKS else ""
    name = none if not first.has_link else _LINKS.get(link)
    if name == "sigmoid" and is_classes:
        name = "multiclass_ova"
    if name is None or any(part.to_config() != first.to_config() for part in parts):
        raise NotSupportedError.because(
            "Treelite does not know how predictions of the objective are made",
            got=objective.to_config(),
            expected=f"one of the links {', '.join(_LINKS)}",
            hint="Hand over raw scores with to_treelite(raw_score=True).",
        )
    return builders.PostProcessorFunc(name=name, sigmoid_alpha=first.sigmoid)


def _add_tree(builder: Any, tree: Tree, factor: float) -> None:
    """Add a tree; the keys of leaves follow the keys of all nodes."""
    n_nodes = len(tree.column)
    left, right = (
        np.where(child < 0, n_nodes + ~child, child).tolist() for child in (tree.left, tree.right)
    )
    default_left = _goes_left(tree).tolist()
    sets = _categories(tree)
    around = _around_zero(tree.threshold, tree.default_left == 1)
    threshold = np.where(tree.missing_kind == _NAN_AND_ZERO, around, tree.threshold).tolist()
    column = tree.column.tolist()
    values = (factor * tree.leaf_value.reshape(tree.n_leaves, -1)).tolist()
    about = {"gain": tree.gain, "data_count": tree.node_count, "sum_hess": tree.node_weight}
    facts = list(zip(*(about[name].tolist() for name in about), strict=True))
    builder.start_tree()
    for i in range(n_nodes):
        builder.start_node(i)
        ways = {"left_child_key": left[i], "right_child_key": right[i]}
        if len(sets[i]):
            builder.categorical_test(
                column[i],
                default_left=default_left[i],
                category_list=sets[i].tolist(),
                category_list_right_child=bool(tree.default_left[i]),
                **ways,
            )
        else:
            builder.numerical_test(
                column[i], threshold[i], default_left=default_left[i], opname="<=", **ways
            )
        for name, value in zip(about, facts[i], strict=True):
            getattr(builder, name)(value)
        builder.end_node()
    for i, leaf in enumerate(values):
        builder.start_node(n_nodes + i)
        builder.leaf(leaf[0] if len(leaf) == 1 else leaf)
        builder.data_count(int(tree.leaf_count[i]))
        builder.sum_hess(float(tree.leaf_weight[i]))
        builder.end_node()
    builder.end_tree()


def _categories(tree: Tree) -> list[npt.NDArray[np.int32]]:
    """Return the categories of each node."""
    if tree.category is None or tree.category_begin is None:
        return [np.empty(0, np.int32)] * len(tree.column)
    return np.split(tree.category, tree.category_begin[1:-1])


def _goes_left(tree: Tree) -> npt.NDArray[np.bool_]:
    """Return where NaN goes; where it is read as zero, it goes where zero does."""
    goes_left: npt.NDArray[np.bool_] = tree.default_left == 1
    is_zero = tree.missing_kind == _NAN_IS_ZERO
    if not is_zero.any():
        return goes_left
    zero_left = tree.threshold >= 0
    for i, categories in enumerate(_categories(tree)):
        if len(categories):
            zero_left[i] = goes_left[i] != (categories[0] == 0)
    return np.where(is_zero, zero_left, goes_left)


def _check(model: Model) -> None:
    if model.forest.linear is not None:
        raise NotSupportedError.because(
            "Treelite has no linear leaves", hint="Train with linear_tree=False."
        )
    if model.derived is not None:
        raise NotSupportedError.because(
            "Treelite has no target statistics of categories",
            hint="Train with cat_target_statistics='off'.",
        )
    if _has_odd_zeros(model.forest):
        raise NotSupportedError.because(
            "Treelite cannot send zeros another way than the values around them",
            hint="Train without zero_as_missing, and pass NaN where values are missing.",
        )


def _has_odd_zeros(forest: Forest) -> bool:
    """Whether zero is missing, and does not go where its threshold would send it."""
    arrays = forest.arrays
    asks = arrays["missing_kind"] == _NAN_AND_ZERO
    is_odd = np.isnan(_around_zero(arrays["threshold"], arrays["default_left"] == 1))
    if "category" in arrays:
        begin = arrays["category_begin"]
        has = np.diff(begin) > 0
        is_odd[has] = arrays["category"][begin[:-1][has]] == 0  # they increase
    return bool((asks & is_odd).any())


def _around_zero(
    threshold: npt.NDArray[np.float64], is_left: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return thresholds that send zero where missing values go, too; NaN where none does."""
    below = np.nextafter(-_ZERO, -1.0)
    left = np.where(threshold >= -_ZERO, np.maximum(threshold, _ZERO), np.nan)
    right = np.where(threshold <= _ZERO, np.minimum(threshold, below), np.nan)
    return np.where(is_left, left, right)
