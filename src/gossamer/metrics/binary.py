"""Metrics for two classes: binary_logloss, binary_error.

As in LightGBM, an objective other than `binary` is taken to predict probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.argument import read_share, with_argument
from gossamer.metrics.base import Metric, Scores, predictions_of
from gossamer.objectives import Binary, Objective
from gossamer.params import Params

_EPSILON = 1e-15


class BinaryLogloss(Metric):
    """Mean negative log-likelihood."""

    name = "binary_logloss"

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean negative log-likelihood."""
        if isinstance(objective, Binary):
            total = _native.sum_logloss(
                score, targets.label, targets.weight, objective.sigmoid, n_threads
            )
            return total / targets.total_weight
        predicted = predictions_of(score, objective, n_threads)
        own = np.where(targets.label > 0, predicted, 1 - predicted)
        return targets.average(-np.log(np.maximum(own, _EPSILON)))


@dataclass(frozen=True)
class BinaryError(Metric):
    """Share of wrong classes.

    Attributes:
        threshold: A probability above it means class 1.
    """

    takes_argument: ClassVar[bool] = True

    name: str = "binary_error"
    threshold: float = 0.5

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; after @ comes the threshold."""
        if not argument:
            return [cls()]
        threshold = read_share("binary_error", argument)
        return [cls(with_argument("binary_error", threshold), threshold)]

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the share of rows in the wrong class."""
        threshold = self.threshold
        if isinstance(objective, Binary) and threshold == 0.5:
            threshold = 0.0  # of raw scores: no need for probabilities
        else:
            score = predictions_of(score, objective, n_threads)
        total = _native.sum_binary_error(score, targets.label, targets.weight, threshold, n_threads)
        return total / targets.total_weight
