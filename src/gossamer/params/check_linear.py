"""Whether linear leaves fit the other parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import ParameterError
from gossamer.params.traits import traits_of

if TYPE_CHECKING:
    from gossamer.params.resolved import Params


def check_linear(params: Params) -> None:
    """Raise where `linear_tree` is on together with what linear leaves cannot do.

    Example:
        >>> from gossamer.params import resolve
        >>> try:
        ...     check_linear(resolve({"linear_tree": True, "objective": "l1"}, context="dataset"))
        ... except ParameterError as error:
        ...     print(str(error)[:56])
        linear_tree does not fit this objective: got 'regression
    """
    if not params.linear_tree:
        return
    # Gradients that say on which side of the score a label lies, not how far away, have no slope.
    if not traits_of(params.objective).fits_linear_leaves:
        raise ParameterError.because(
            "linear_tree does not fit this objective",
            got=params.objective,
            expected="a loss whose gradient grows with the error",
            hint="Use huber, pseudo_huber or fair with a small alpha, huber_slope or fair_c "
            "instead, or leave linear_tree out.",
        )
    refused = {
        "zero_as_missing": (
            True,
            "linear_tree needs the value of every zero, zero_as_missing takes it away",
            "zero_as_missing=false",
            "Put NaN where a zero means missing.",
        ),
        "boosting": (
            "dart",
            "linear_tree does not fit boosting=dart, which weighs the values of leaves again",
            "gbdt or rf",
            "Leave one of the two out.",
        ),
        "multi_strategy": (
            "multi_output_tree",
            "linear_tree does not fit vector leaves: multi_strategy",
            "one_output_per_tree",
            "With one tree per output every leaf has a model of its own.",
        ),
    }
    for name, (value, what, expected, hint) in refused.items():
        if params[name] == value:
            raise ParameterError.because(what, got=value, expected=expected, hint=hint)
