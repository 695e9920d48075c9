"""A booster's training from outside: its data sets evaluated, its best round restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gossamer.data.dataset import built_data
from gossamer.errors import DataError
from gossamer.metrics import CustomMetric, EvalResult
from gossamer.model.training.scored_set import ScoredSet
from gossamer.model.training.training import Training

if TYPE_CHECKING:
    from gossamer.model.booster import Booster

Feval = CustomMetric | Sequence[CustomMetric] | None


def training_of(booster: Booster, action: str) -> Training:
    """Return the training of a booster that still has its data.

    Raises:
        DataError: If the data is released; `action` names what needed it.

    Example:
        >>> from gossamer import Booster, Dataset
        >>> booster = Booster({}, Dataset([[1.0], [2.0]], label=[0, 1]))
        >>> training_of(booster, "an example").n_rounds
        0
    """
    if booster.training is None:
        raise DataError.because(
            f"data set used after being freed: {action} needs the training data",
            hint="Train with keep_training_booster=True, or make the Booster with train_set.",
        )
    return booster.training


def evaluate(
    training: Training, scored: ScoredSet, name: str, feval: Feval = None
) -> list[EvalResult]:
    """Evaluate data of a training with the labels and weights that its data set has now."""
    return training.evaluate(scored, name, feval, built_data(scored.given).targets)


def restore_best(booster: Booster, *, with_scores: bool) -> None:
    """Go back to the best round where later rounds have changed its trees.

    Elsewhere its trees are the first ones of the model, whatever came later.

    Args:
        booster: A booster whose `best_iteration` is known.
        with_scores: Whether training or evaluation will resume from there.
    """
    training = booster.training
    if training is None or not training.boosting.rescales:
        return
    with training.lock:
        n_base = booster.current_iteration() - training.n_rounds
        if n_base < booster.best_iteration < n_base + training.n_rounds:
            training.rewind(booster.best_iteration - n_base, with_scores=with_scores)
