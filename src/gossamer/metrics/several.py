"""Metrics of several targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.metrics.base import Metric, Scores, check_predictions
from gossamer.objectives import Custom, Objective, SeveralTargets

# What predictions are handed on as: scores that are predictions already.
_AS_PREDICTED = Custom()


@dataclass(frozen=True)
class MeanOverTargets(Metric):
    """The mean of a metric over the targets, every target counting the same.

    Attributes:
        metric: The metric of one target.
        name: Its name.
        maximize: Whether higher is better.
    """

    metric: Metric
    name: str
    maximize: bool

    @classmethod
    def of(cls, metric: Metric, objective: Objective, n_targets: int) -> MeanOverTargets:
        """Make it from a metric of one target.

        Raises:
            ParameterError: If the objective has not one output per target.
        """
        if objective.n_outputs != n_targets:
            raise ParameterError.because(
                f"the metric {metric.name} compares one output with each target",
                found=f"{objective.n_outputs} outputs and {n_targets} targets",
                hint="Use metric='none', and a metric function (feval).",
            )
        return cls(metric, metric.name, metric.maximize)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean over the targets."""
        if isinstance(objective, SeveralTargets):
            by_target, parts = score.reshape(targets.n_targets, -1), objective.parts
        else:
            predictions = objective.to_predictions(score, n_threads)
            shape = targets.n_rows, targets.n_targets
            by_target = np.ascontiguousarray(check_predictions(predictions, shape).T)
            parts = (_AS_PREDICTED,) * targets.n_targets
        values = [
            self.metric.evaluate(by_target[k], targets.target(k), part, n_threads)
            for k, part in enumerate(parts)
        ]
        return sum(values) / len(values)
