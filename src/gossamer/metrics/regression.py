"""Errors of predicted numbers: l2, rmse, l1, r2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.base import Metric, Scores, predictions_of
from gossamer.objectives import Objective


class L2(Metric):
    """Mean squared error."""

    sum_errors: ClassVar[Callable[..., float]] = staticmethod(_native.sum_squared_error)

    name = "l2"

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean error of the predictions."""
        predicted = predictions_of(score, objective, n_threads)
        total = self.sum_errors(predicted, targets.label, targets.weight, n_threads)
        return total / targets.total_weight


class RMSE(L2):
    """Root of the mean squared error."""

    name = "rmse"

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the root of the mean squared error of the predictions."""
        return math.sqrt(super().evaluate(score, targets, objective, n_threads))


class L1(L2):
    """Mean absolute error."""

    sum_errors: ClassVar[Callable[..., float]] = staticmethod(_native.sum_absolute_error)

    name = "l1"


class R2(L2):
    """Share of the labels' variance that the predictions explain."""

    name = "r2"
    maximize = True

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the share; of labels that are all the same 1 if they are met, 0 otherwise."""
        error = super().evaluate(score, targets, objective, n_threads)
        mean = np.full(targets.n_rows, targets.average(targets.label))
        total = _native.sum_squared_error(mean, targets.label, targets.weight, n_threads)
        variance = total / targets.total_weight
        if variance == 0:
            return 1.0 if error == 0 else 0.0
        return 1 - error / variance
