"""Metrics for two classes: binary_logloss, binary_error, auc.

As in LightGBM, an objective other than `binary` is taken to predict probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.base import Metric, predictions_of
from gossamer.objectives import Binary, Objective

_EPSILON = 1e-15


@dataclass(frozen=True)
class BinaryLogloss(Metric):
    """Mean negative log-likelihood."""

    name: str = "binary_logloss"

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
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
    """Share of wrong classes; a probability above one half means class 1."""

    name: str = "binary_error"

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the share of rows in the wrong class."""
        if not isinstance(objective, Binary):
            score = predictions_of(score, objective, n_threads) - 0.5
        total = _native.sum_binary_error(score, targets.label, targets.weight, n_threads)
        return total / targets.total_weight


@dataclass(frozen=True)
class AUC(Metric):
    """Area under the ROC curve; 1 where there is only one class, as in LightGBM."""

    name: str = "auc"
    maximize: bool = True

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the area under the curve."""
        return _native.auc(score, targets.label, targets.weight, n_threads)
