"""What a callback is given, and what it raises to end the training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gossamer.metrics.eval_result import EvalResult


class CallbackEnv(NamedTuple):
    """The state of the training when a callback is called.

    Attributes:
        model: The `Booster`, or the `CVBooster` in `cv()`.
        params: Parameters of the training; `reset_parameter` changes them.
        iteration: The current round, starting from `begin_iteration`.
        begin_iteration: The first round: 0, or more if training continues from a model.
        end_iteration: One after the last round.
        evaluation_result_list: Metrics after this round; empty or None without evaluation.
    """

    model: Any
    params: dict[str, Any]
    iteration: int
    begin_iteration: int
    end_iteration: int
    evaluation_result_list: list[EvalResult] | None


class EarlyStopException(Exception):
    """Raised by a callback to end the training; not an error.

    Attributes:
        best_iteration: The best round, from 0.
        best_score: The results of that round.

    Example:
        >>> stop = EarlyStopException(2, [("valid", "l2", 0.25, False)])
        >>> stop.best_iteration, stop.best_score[0].metric_value
        (2, 0.25)
    """

    def __init__(self, best_iteration: int, best_score: Sequence[Sequence[Any]]) -> None:
        """Take the best round and its results, as `EvalResult` or plain tuples."""
        super().__init__(best_iteration, best_score)
        self.best_iteration = best_iteration
        self.best_score = [EvalResult(*result) for result in best_score]


def is_cv(model: object) -> bool:
    """Whether the model is one of `cv()`, which holds a booster per fold.

    Example:
        >>> is_cv(object())
        False
    """
    return hasattr(model, "boosters")
