"""Metrics that are the mean of a loss of one prediction and one label, summed natively."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError, ParameterError, message
from gossamer.metrics.base import Metric, predictions_of
from gossamer.objectives import Objective
from gossamer.params import Params

_Loss = _native.Loss
# As LightGBM: probabilities and predictions are kept this far away from 0.
_SMALLEST_PROBABILITY = 1e-12
_SMALLEST_RATE = 1e-10


@dataclass(frozen=True)
class MeanLoss(Metric):
    """Weighted mean of a loss; those below differ in the loss and where its numbers come from.

    Attributes:
        args: The loss.
    """

    args: _native.LossArgs = field(kw_only=True)

    # Labels from here to there; others are refused.
    lowest: ClassVar[float] = -math.inf
    highest: ClassVar[float] = math.inf

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the mean loss of the predictions."""
        self._check_labels(targets)
        predicted = predictions_of(score, objective, n_threads)
        total = _native.sum_loss(self.args, predicted, targets.label, targets.weight, n_threads)
        return self._finish(total, targets)

    def _finish(self, total: float, targets: Targets) -> float:
        return total / targets.total_weight

    def _check_labels(self, targets: Targets) -> None:
        label = targets.label
        for end in (label.min(), label.max()) if len(label) else ():
            if not self.lowest <= end <= self.highest:
                limits = f">= {self.lowest:g}" + (
                    f" and <= {self.highest:g}" if math.isfinite(self.highest) else ""
                )
                raise DataError(
                    message(
                        f"a label does not fit the metric {self.name}",
                        got=float(end),
                        expected=f"numbers {limits}",
                        hint="Choose another metric.",
                    )
                )


@dataclass(frozen=True)
class Mape(MeanLoss):
    """Mean of |error| / max(1, |label|), as in LightGBM."""

    name: str = "mape"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.MAPE))]


@dataclass(frozen=True)
class Huber(MeanLoss):
    """Mean Huber loss."""

    name: str = "huber"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; `alpha` is where the loss becomes linear."""
        return [cls(args=_native.LossArgs(_Loss.HUBER, params.alpha))]


@dataclass(frozen=True)
class Fair(MeanLoss):
    """Mean Fair loss."""

    name: str = "fair"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; `fair_c` is its scale."""
        return [cls(args=_native.LossArgs(_Loss.FAIR, params.fair_c))]


@dataclass(frozen=True)
class PseudoHuber(MeanLoss):
    """Mean pseudo-Huber error."""

    name: str = "mphe"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; `huber_slope` is its slope."""
        return [cls(args=_native.LossArgs(_Loss.PSEUDO_HUBER, params.huber_slope))]


@dataclass(frozen=True)
class LogCosh(MeanLoss):
    """Mean of log(cosh(error))."""

    name: str = "log_cosh"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.LOG_COSH))]


@dataclass(frozen=True)
class Expectile(MeanLoss):
    """Mean squared error, times alpha above the prediction and 1 - alpha below it."""

    name: str = "expectile"

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric of `expectile_alpha`."""
        return [cls(args=_native.LossArgs(_Loss.EXPECTILE, params.expectile_alpha))]


@dataclass(frozen=True)
class RMSLE(MeanLoss):
    """Root of the mean squared difference of log(1 + prediction) and log(1 + label)."""

    name: str = "rmsle"
    lowest: ClassVar[float] = -1.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.SQUARED_LOG))]

    def _finish(self, total: float, targets: Targets) -> float:
        return math.sqrt(super()._finish(total, targets))


@dataclass(frozen=True)
class Hinge(MeanLoss):
    """Mean hinge loss of the raw scores; labels are 0 and 1."""

    name: str = "hinge"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.HINGE))]

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the mean loss of the scores: predictions have lost their distance."""
        self._check_labels(targets)
        total = _native.sum_loss(self.args, score, targets.label, targets.weight, n_threads)
        return self._finish(total, targets)


@dataclass(frozen=True)
class Poisson(MeanLoss):
    """Mean of prediction - label * log(prediction)."""

    name: str = "poisson"
    lowest: ClassVar[float] = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.POISSON_DEVIANCE, c=_SMALLEST_RATE))]


@dataclass(frozen=True)
class PoissonLikelihood(MeanLoss):
    """Mean negative log-likelihood of counts: `poisson` plus log(label!)."""

    name: str = "poisson-nloglik"
    lowest: ClassVar[float] = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.POISSON_DEVIANCE, b=1.0, c=1e-16))]


@dataclass(frozen=True)
class Gamma(MeanLoss):
    """Mean negative log-likelihood of the gamma distribution with shape 1."""

    name: str = "gamma"
    lowest: ClassVar[float] = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.GAMMA_LIKELIHOOD))]


@dataclass(frozen=True)
class GammaLikelihood(Gamma):
    """The same under XGBoost's name."""

    name: str = "gamma-nloglik"


@dataclass(frozen=True)
class GammaDevianceSum(MeanLoss):
    """Deviance of the gamma distribution, summed over the rows as in LightGBM."""

    name: str = "gamma_deviance"
    lowest: ClassVar[float] = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.GAMMA_DEVIANCE))]

    def _finish(self, total: float, targets: Targets) -> float:
        return 2 * total


@dataclass(frozen=True)
class GammaDeviance(GammaDevianceSum):
    """Mean deviance of the gamma distribution, as in XGBoost."""

    name: str = "gamma-deviance"

    def _finish(self, total: float, targets: Targets) -> float:
        return 2 * total / targets.total_weight


@dataclass(frozen=True)
class Tweedie(MeanLoss):
    """Mean negative log-likelihood of the Tweedie distribution, less what is constant."""

    name: str = "tweedie"
    lowest: ClassVar[float] = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric of `tweedie_variance_power`."""
        return [cls(args=_tweedie(params.tweedie_variance_power))]


@dataclass(frozen=True)
class TweedieLikelihood(Tweedie):
    """The same under XGBoost's name, which has the power in it: `tweedie-nloglik@1.5`."""

    name: str = "tweedie-nloglik"
    takes_argument: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric of the power after @, or of `tweedie_variance_power`."""
        power = params.tweedie_variance_power
        if argument:
            try:
                power = float(argument)
            except ValueError:
                power = math.nan
            if not 1 <= power < 2:
                raise ParameterError(
                    message(
                        "tweedie-nloglik@ needs the power of the variance",
                        got=argument,
                        expected="a number >= 1 and < 2",
                    )
                )
        return [cls(f"{cls.name}@{power:g}", args=_tweedie(power))]


def _tweedie(power: float) -> _native.LossArgs:
    if power == 1:  # where the likelihood of Tweedie is that of Poisson
        return _native.LossArgs(_Loss.POISSON_DEVIANCE, c=_SMALLEST_RATE)
    return _native.LossArgs(_Loss.TWEEDIE_LIKELIHOOD, power)


@dataclass(frozen=True)
class CrossEntropy(MeanLoss):
    """Mean cross entropy; labels and predictions are probabilities."""

    name: str = "cross_entropy"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.PROBABILITY, _SMALLEST_PROBABILITY))]


@dataclass(frozen=True)
class KullbackLeibler(CrossEntropy):
    """Mean cross entropy less the entropy of the labels: 0 when every label is met."""

    name: str = "kullback_leibler"

    def _finish(self, total: float, targets: Targets) -> float:
        label = targets.label.astype(np.float64)
        entropy = np.zeros_like(label)
        for share in (label, 1 - label):
            entropy -= share * np.log(np.where(share > 0, share, 1))
        return super()._finish(total, targets) - targets.average(entropy)


@dataclass(frozen=True)
class CrossEntropyLambda(MeanLoss):
    """Mean cross entropy of 1 - exp(-weight * prediction): weights are exposures."""

    name: str = "cross_entropy_lambda"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric."""
        return [cls(args=_native.LossArgs(_Loss.INTENSITY, _SMALLEST_PROBABILITY))]

    def _finish(self, total: float, targets: Targets) -> float:
        return total / targets.n_rows
