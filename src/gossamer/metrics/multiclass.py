"""Metrics for several classes: multi_logloss, multi_error.

As in LightGBM, what an objective predicts is taken to be probabilities, whether or not they add up
to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.argument import read_count, with_argument
from gossamer.metrics.base import Metric, Scores, check_classes, check_predictions
from gossamer.objectives import Multiclass, Objective
from gossamer.params import Params

_EPSILON = 1e-15


class MultiLogloss(Metric):
    """Mean negative log-likelihood."""

    for_classes: ClassVar[bool] = True

    name = "multi_logloss"

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean negative log-likelihood."""
        n_classes = objective.n_outputs
        if isinstance(objective, Multiclass):
            total = _native.sum_multi_logloss(
                score, targets.label, targets.weight, n_classes, n_threads
            )
            return total / targets.total_weight
        check_classes(targets, objective)
        predicted = score.reshape(n_classes, -1)
        if objective.has_link:
            shape = targets.n_rows, n_classes
            predicted = check_predictions(objective.to_predictions(score, n_threads), shape).T
        own = predicted[targets.label.astype(np.int64), np.arange(targets.n_rows)]
        return targets.average(-np.log(np.maximum(own, _EPSILON)))


@dataclass(frozen=True)
class MultiError(Metric):
    """Share of rows whose class is not among the `top_k` of highest score.

    As in LightGBM, all but `top_k` classes must score less: where classes tie, a row is wrong.
    """

    takes_argument: ClassVar[bool] = True
    for_classes: ClassVar[bool] = True

    name: str = "multi_error"
    top_k: int = 1

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; `top_k` follows @, or is `multi_error_top_k`.

        Above 1 it is part of the name, as in LightGBM.
        """
        top_k = read_count("multi_error", argument) if argument else params.multi_error_top_k
        return [cls("multi_error" if top_k == 1 else with_argument("multi_error", top_k), top_k)]

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the share of rows in the wrong class."""
        check_classes(targets, objective)
        total = _native.sum_multi_error(
            score, targets.label, targets.weight, objective.n_outputs, self.top_k, n_threads
        )
        return total / targets.total_weight
