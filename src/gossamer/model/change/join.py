"""Parts of models, and models put together: `booster[:50]`, `booster + other`."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from gossamer.data.categories.levels import NO_LEVELS
from gossamer.errors import DataError, NotSupportedError, message
from gossamer.model.model import Model
from gossamer.model.training.base_model import BaseModel
from gossamer.tree import Forest


def take_rounds(model: Model, wanted: object) -> Model:
    """Return the rounds of a slice, or of a single number; negative ones count from the end.

    Raises:
        IndexError: If there is no such round.
        TypeError: If it is neither a number nor a slice.
        ValueError: If the slice has a step other than 1.
    """
    n_rounds = model.forest.n_rounds
    if isinstance(wanted, slice):
        first, last, step = wanted.indices(n_rounds)  # TypeError if it is not of numbers
        if step != 1:
            raise ValueError(
                message(
                    "a slice of a model must be consecutive rounds",
                    found=f"a step of {step}",
                    expected="a step of 1",
                    hint="Add parts up: booster[0] + booster[2].",
                )
            )
        return model.rounds(first, max(first, last))
    try:
        if isinstance(wanted, (bool, np.bool_)):
            raise TypeError
        number = operator.index(wanted)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            message(
                "rounds of a model are selected by number",
                got=wanted,
                expected="a whole number, or a slice such as booster[:50]",
            )
        ) from None
    place = number + n_rounds if number < 0 else number
    if not 0 <= place < n_rounds:
        raise IndexError(
            message(
                "the model has no such round",
                got=number,
                expected=f"{-n_rounds} to {n_rounds - 1}" if n_rounds else "a model with rounds",
            )
        )
    return model.rounds(place, place + 1)


def join_models(left: Model, right: Model) -> Model:
    """Return the model whose raw scores are the sum of both models' raw scores.

    The rounds of the second follow the rounds of the first.

    Raises:
        DataError: If the columns, or levels of text and categories, are others.
        NotSupportedError: If scores of one are means, or need target statistics that the other
            does not have.
        ParameterError: If outputs, objective or trees of a round differ.
    """
    if left.average_output or right.average_output:
        raise NotSupportedError.because(
            "random forests cannot be added: their scores are means of trees, not sums",
            found="a model of boosting=rf",
            hint="Add up their predictions with weights.",
        )
    if left.n_columns != right.n_columns or (
        left.has_own_names and right.has_own_names and left.names != right.names
    ):
        raise _other_columns(left, right)
    if (left.levels or NO_LEVELS) != (right.levels or NO_LEVELS):
        raise DataError.because(
            "the models were trained on different levels of text or categories",
            hint="The codes of one model have another meaning in the other.",
        )
    base = BaseModel(left)
    base.check_objective(right.objective, "the second model")
    if right.forest.n_trees:
        base.check_parallel(right.forest.n_parallel, "the second model")
        base.check_values_per_leaf(right.forest.n_values, "the second model")
    if not _same_derived(left, right):
        raise NotSupportedError.because(
            "models with target statistics can be added only if the statistics are the same",
            hint="Add parts of one model, or train with cat_target_statistics=off.",
        )
    named = left if left.has_own_names else right
    return replace(
        left,
        names=named.names,
        table_names=named.table_names,
        start=left.start + right.start,
        forest=_joined(left.forest, right.forest),
        folds=None,
    )


def _joined(left: Forest, right: Forest) -> Forest:
    if left.n_trees == 0 or right.n_trees == 0:
        return left if right.n_trees == 0 else right
    return left.append(right)


def _same_derived(left: Model, right: Model) -> bool:
    if left.derived is None or right.derived is None:
        return left.derived is right.derived
    mine, others = left.derived.to_arrays(), right.derived.to_arrays()
    return all(np.array_equal(mine[name], others[name]) for name in mine)


def _other_columns(left: Model, right: Model) -> DataError:
    got: Any = right.n_columns
    expected = str(left.n_columns)
    what = "the models have other columns"
    if left.n_columns == right.n_columns:
        pairs = zip(left.names, right.names, strict=True)
        place = next(i for i, (mine, other) in enumerate(pairs) if mine != other)
        what = f"{what}; the first that differs is {place}"
        got, expected = right.names[place], repr(left.names[place])
    return DataError.because(
        what, got=got, expected=expected, hint="Both must know the same columns, in order."
    )
