"""Several models as one: its raw scores are the means of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError, ParameterIndexError
from gossamer.model.derived import Derived
from gossamer.model.ensemble.out_of_fold import record_of
from gossamer.model.model import Model
from gossamer.objectives import Objective
from gossamer.tree import Forest

# What a tree adds to scores; the other numbers are about its training.
_VALUES = ("leaf_value", "node_value")
_LINEAR_VALUES = ("linear_constant", "linear_low", "linear_high", "linear_coefficient")


def average_models(
    models: Sequence[Model], params: dict[str, Any], objective: Objective | None = None
) -> Model:
    """Return one model whose raw scores are the means of the raw scores of several.

    The rounds of the models follow one another, with values divided by their number. Scores that
    are means themselves (`boosting=rf`) become sums.

    Args:
        models: At least one; trained in the same bins, with the same objective.
        params: The parameters of the model.
        objective: The objective of the model, where the members' own differ by what they learned
            from their labels; None: the first member's.

    Raises:
        NotSupportedError: If trees of a round differ in number, or scores mean different things.

    Example:
        >>> from gossamer import Dataset, train
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> data = Dataset(x, x[:, 0] ** 2)
        >>> both = [train({"num_leaves": n}, data, 5).model for n in (4, 8)]
        >>> one = average_models(both, {})
        >>> one.forest.n_rounds, bool((one.start == both[0].start).all())
        (10, True)
    """
    first = models[0]
    kinds_of_scores = {(model.objective.name, model.objective.n_outputs) for model in models}
    if len(kinds_of_scores) > 1:
        raise NotSupportedError.because(
            "members of an ensemble must have the same objective",
            found=f"(objective, outputs): {sorted(kinds_of_scores)}",
        )
    grown = [model.forest for model in models if model.forest.n_trees]
    kinds = {(forest.n_values, forest.n_parallel) for forest in grown}
    if len(kinds) > 1:
        raise NotSupportedError.because(
            "members of an ensemble must have the same trees in a round",
            found=f"(values of a leaf, parallel trees): {sorted(kinds)}",
            hint="Use the same multi_strategy and num_parallel_tree for all members.",
        )
    derived, begins = Derived.join([model.derived for model in models])
    n_columns = first.n_columns + (0 if derived is None else derived.n_columns)
    parts = []
    for model, begin in zip(models, begins, strict=True):
        divisor = len(models) * (max(model.forest.n_rounds, 1) if model.average_output else 1)
        moved = _move_derived(model.forest, first.n_columns, begin, n_columns)
        parts.append(scale_forest(moved, lambda values, by=divisor: values / by))
    with_trees = [forest for forest in parts if forest.n_trees] or parts[:1]
    return replace(
        first,
        objective=objective or first.objective,
        start=np.mean([model.start for model in models], axis=0),
        forest=reduce(Forest.append, with_trees),
        params=params,
        average_output=False,
        derived=derived,
    )


def member_model(model: Model, member: int) -> Model:
    """Return one member of an ensemble over folds as a model of its own.

    Raises:
        ParameterIndexError: If there is no such member.
        NotSupportedError: If the model is not an ensemble over folds.
    """
    record = record_of(model, "fold_member()")
    if not isinstance(member, Integral) or not 0 <= member < record.n_members:
        raise ParameterIndexError.because(
            "the model has no such member", got=member, expected=f"0 to {record.n_members - 1}"
        )
    first, last = (int(record.round_begin[member + i]) for i in (0, 1))
    part = model.rounds(first, last)
    n_members = record.n_members
    forest = scale_forest(part.forest, lambda values: values * n_members)
    params = {**model.params, **(record.member_params[member] if record.member_params else {})}
    start = record.start[member].copy()
    return replace(part, start=start, forest=forest, params=params, folds=None)


def scale_forest(forest: Forest, scale: Any) -> Forest:
    """Return the trees with other values: what `scale` makes of them, as arrays."""
    arrays = {**forest.arrays, **{name: scale(forest.arrays[name]) for name in _VALUES}}
    linear = forest.linear
    if linear is not None:
        linear = {**linear, **{name: scale(linear[name]) for name in _LINEAR_VALUES}}
    return replace(forest, arrays=arrays, linear=linear)


def _move_derived(forest: Forest, n_own: int, begin: int, n_columns: int) -> Forest:
    """Return trees that find their derived columns behind the columns of the models before."""
    column: npt.NDArray[np.int32] = forest.arrays["column"]
    moved = np.where(column >= n_own, column + np.int32(begin), column).astype(np.int32)
    return replace(forest, n_columns=n_columns, arrays={**forest.arrays, "column": moved})
