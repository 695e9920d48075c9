"""Arguments of predictions by a booster: which rounds to use, and all other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gossamer.arguments import check_flags
from gossamer.model.prediction.predict import PredictOptions, as_number

if TYPE_CHECKING:
    from gossamer.model.trained_model import TrainedModel


@check_flags
def check_kinds(
    raw_score: bool, pred_leaf: bool, pred_contrib: bool, data_has_header: bool
) -> None:
    """Refuse arguments of `predict` that are neither true nor false.

    `predict` calls this only where one of them is not False: predictions of one row must not wait.

    Raises:
        ParameterTypeError: If one of them is something like an array.

    Example:
        >>> check_kinds(True, False, False, False)
    """


def n_rounds_of(booster: TrainedModel, num_iteration: int | None) -> int:
    """Return the number of rounds to use: those asked for, the best, or 0 for all."""
    if num_iteration is None:
        return booster.best_iteration
    return as_number("num_iteration", num_iteration)


def predict_options(
    booster: TrainedModel,
    start_iteration: int,
    num_iteration: int | None,
    kwargs: Mapping[str, Any],
    raw_score: bool = False,
    pred_leaf: bool = False,
) -> PredictOptions:
    """Return the options of a prediction, checked; see `Booster.predict` for the arguments."""
    n_rounds = n_rounds_of(booster, num_iteration)
    return PredictOptions.from_arguments(
        start_iteration, n_rounds, raw_score, pred_leaf, kwargs, booster.resolved_params
    )
