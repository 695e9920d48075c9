"""Metrics for several classes: multi_logloss, multi_error.

As in LightGBM, an objective other than `multiclass` is taken to predict probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.base import Metric
from gossamer.objectives import Multiclass, Objective
from gossamer.params import Params

_EPSILON = 1e-15


@dataclass(frozen=True)
class MultiLogloss(Metric):
    """Mean negative log-likelihood."""

    name: str = "multi_logloss"

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the mean negative log-likelihood."""
        n_classes = objective.n_outputs
        if isinstance(objective, Multiclass):
            total = _native.sum_multi_logloss(
                score, targets.label, targets.weight, n_classes, n_threads
            )
            return total / targets.total_weight
        if objective.has_link:
            predicted = objective.to_predictions(score, n_threads).T
        else:
            predicted = score.reshape(n_classes, -1)
        own = predicted[targets.label.astype(np.int64), np.arange(targets.n_rows)]
        return targets.average(-np.log(np.maximum(own, _EPSILON)))


@dataclass(frozen=True)
class MultiError(Metric):
    """Share of rows whose class is not among the `top_k` of highest score."""

    name: str = "multi_error"
    top_k: int = 1

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; with `multi_error_top_k` above 1 it has another name, as LightGBM's."""
        top_k = params.multi_error_top_k
        return [cls("multi_error" if top_k == 1 else f"multi_error@{top_k}", top_k)]

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the share of rows in the wrong class."""
        total = _native.sum_multi_error(
            score, targets.label, targets.weight, objective.n_outputs, self.top_k, n_threads
        )
        return total / targets.total_weight
