"""Metrics of predicted distributions: gaussian_nll, crps, quantile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.metrics.argument import read_share, with_argument
from gossamer.metrics.base import Metric, Scores
from gossamer.objectives import Gaussian, Objective
from gossamer.objectives.quantile import check_quantile
from gossamer.params import Params
from gossamer.params.traits import traits_of


class GaussianLoss(Metric):
    """Mean negative log-likelihood of normal distributions."""

    sum_losses: ClassVar[Callable[..., float]] = staticmethod(_native.sum_normal_loss)

    name = "gaussian_nll"
    objectives: ClassVar[tuple[type[Objective], ...]] = (Gaussian,)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean over the rows."""
        assert isinstance(objective, Gaussian)
        arguments = (score, targets.label, targets.weight, objective.floor, n_threads)
        return self.sum_losses(*arguments) / targets.total_weight


class CRPS(GaussianLoss):
    """Mean continuous ranked probability score: an absolute error for distributions."""

    sum_losses: ClassVar[Callable[..., float]] = staticmethod(_native.sum_normal_crps)

    name = "crps"


@dataclass(frozen=True)
class Quantile(Metric):
    """Mean pinball loss; with several quantiles also the mean over them.

    `quantile@0.9` is the loss of that quantile of the model alone, and with other objectives that
    of their predictions.
    """

    name: str = "quantile"
    alphas: tuple[float, ...] = (0.5,)
    output: int | None = None  # None: all
    takes_argument: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric of the quantiles that are trained."""
        if argument and not traits_of(params.objective).takes_quantiles:
            alpha = check_quantile(read_share("quantile", argument))
            return [cls(with_argument("quantile", alpha), (alpha,), 0)]
        alphas = params.quantile_alpha or (check_quantile(params.alpha),)
        if not argument:
            return [cls("quantile", alphas)]
        try:
            output = alphas.index(float(argument))
        except ValueError:
            raise ParameterError.because(
                "the metric asks for a quantile that the model does not have",
                got=f"quantile@{argument}",
                expected=f"one of {', '.join(f'quantile@{alpha:g}' for alpha in alphas)}",
            ) from None
        return [cls(with_argument("quantile", alphas[output]), alphas, output)]

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean loss."""
        predicted = objective.to_predictions(score, n_threads).reshape(targets.n_rows, -1)
        outputs = range(len(self.alphas)) if self.output is None else [self.output]
        losses = [
            _native.sum_loss(
                _native.LossArgs(_native.Loss.QUANTILE, self.alphas[k]),
                np.ascontiguousarray(predicted[:, k]),
                targets.label,
                targets.weight,
                n_threads,
            )
            / targets.total_weight
            for k in outputs
        ]
        return sum(losses) / len(losses)
