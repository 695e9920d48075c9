"""Metrics that are the mean of a loss of one prediction and one label, summed natively: a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError, ParameterError
from gossamer.metrics.base import Metric, Scores, predictions_of
from gossamer.objectives import Objective
from gossamer.params import Params
from gossamer.params.traits import Kind

_Loss = _native.Loss
# As LightGBM: probabilities and predictions are kept this far away from 0.
_SMALLEST_PROBABILITY = 1e-12
_SMALLEST_RATE = 1e-10


@dataclass(frozen=True)
class MeanLoss(Metric):
    """Weighted mean of a loss, or what `finish` of its row makes of the sum.

    Attributes:
        name: Name in results.
        row: Which loss this is.
        args: The loss with its numbers.
    """

    name: str
    row: LossRow
    args: _native.LossArgs

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean loss of the predictions."""
        self._check_labels(targets)
        # Predictions of a hinge have lost their distance: its loss is computed from the scores.
        predicted = score if self.row.of_scores else predictions_of(score, objective, n_threads)
        total = _native.sum_loss(self.args, predicted, targets.label, targets.weight, n_threads)
        return self.row.finish(total, targets)

    def _check_labels(self, targets: Targets) -> None:
        label, (lowest, highest) = targets.label, self.row.labels
        for end in (label.min(), label.max()) if len(label) else ():
            if not lowest <= end <= highest:
                limits = f">= {lowest:g}" + (
                    f" and <= {highest:g}" if math.isfinite(highest) else ""
                )
                raise DataError.because(
                    f"a label does not fit the metric {self.name}",
                    got=float(end),
                    expected=f"numbers {limits}",
                    hint="Choose another metric.",
                )


def _mean(total: float, targets: Targets) -> float:
    return total / targets.total_weight


@dataclass(frozen=True)
class LossRow:
    """A row of the table: a metric that is a mean of a loss.

    It has what the registry asks of classes of metrics.

    Attributes:
        name: Name in parameters and results.
        loss: Makes the loss from the parameters.
        labels: Labels from here to there; others are refused.
        finish: Makes the metric from the sum over the rows.
        of_scores: Whether the loss is computed from raw scores, not from predictions.
        from_argument: Makes name and loss from what follows "@" in the name; None: nothing may.
    """

    name: str
    loss: Callable[[Params], _native.LossArgs]
    labels: tuple[float, float] = (-math.inf, math.inf)
    finish: Callable[[float, Targets], float] = _mean
    of_scores: bool = False
    from_argument: Callable[[Params, str], tuple[str, _native.LossArgs]] | None = None

    maximize: ClassVar[bool] = False
    for_classes: ClassVar[bool] = False
    objectives: ClassVar[tuple[type[Objective], ...]] = ()
    objective_kind: ClassVar[Kind | None] = None

    @property
    def takes_argument(self) -> bool:
        """Whether "@..." may follow the name."""
        return self.from_argument is not None

    def from_params(self, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric of a training."""
        name, args = self.name, self.loss(params)
        if self.from_argument is not None:
            name, args = self.from_argument(params, argument)
        return [MeanLoss(name, self, args)]


def _tweedie(power: float) -> _native.LossArgs:
    if power == 1:  # where Tweedie's likelihood is Poisson's
        return _native.LossArgs(_Loss.POISSON_DEVIANCE, c=_SMALLEST_RATE)
    return _native.LossArgs(_Loss.TWEEDIE_LIKELIHOOD, power)


def _tweedie_at(params: Params, argument: str) -> tuple[str, _native.LossArgs]:
    """Return name and loss of the power after @, or of `tweedie_variance_power`."""
    power = params.tweedie_variance_power
    if argument:
        try:
            power = float(argument)
        except ValueError:
            power = math.nan
        if not 1 <= power < 2:
            raise ParameterError.because(
                "tweedie-nloglik@ needs the power of the variance",
                got=argument,
                expected="a number >= 1 and < 2",
            )
    return f"tweedie-nloglik@{power:g}", _tweedie(power)


def _less_entropy(total: float, targets: Targets) -> float:
    """Return the mean less the entropy of the labels: 0 when every label is met."""
    label = targets.label.astype(np.float64)
    entropy = np.zeros_like(label)
    for share in (label, 1 - label):
        entropy -= share * np.log(np.where(share > 0, share, 1))
    return _mean(total, targets) - targets.average(entropy)


def _args(loss: _native.Loss, *numbers: float, **named: float) -> Any:
    """Return a function that makes a loss with the same numbers for all parameters."""
    return lambda params: _native.LossArgs(loss, *numbers, **named)


_NOT_NEGATIVE: Final = (0.0, math.inf)
_SHARES: Final = (0.0, 1.0)

# docs/metrics.md has the formulas.
MEAN_LOSSES: Final = (
    LossRow("mape", _args(_Loss.MAPE)),
    LossRow("huber", lambda p: _native.LossArgs(_Loss.HUBER, p.alpha)),
    LossRow("fair", lambda p: _native.LossArgs(_Loss.FAIR, p.fair_c)),
    LossRow("mphe", lambda p: _native.LossArgs(_Loss.PSEUDO_HUBER, p.huber_slope)),
    LossRow("log_cosh", _args(_Loss.LOG_COSH)),
    LossRow("expectile", lambda p: _native.LossArgs(_Loss.EXPECTILE, p.expectile_alpha)),
    LossRow(
        "rmsle",
        _args(_Loss.SQUARED_LOG),
        (-1.0, math.inf),
        lambda total, targets: math.sqrt(_mean(total, targets)),
    ),
    LossRow("hinge", _args(_Loss.HINGE), _SHARES, of_scores=True),
    LossRow("poisson", _args(_Loss.POISSON_DEVIANCE, c=_SMALLEST_RATE), _NOT_NEGATIVE),
    # XGBoost's: with log(label!).
    LossRow("poisson-nloglik", _args(_Loss.POISSON_DEVIANCE, b=1.0, c=1e-16), _NOT_NEGATIVE),
    LossRow("gamma", _args(_Loss.GAMMA_LIKELIHOOD), _NOT_NEGATIVE),
    LossRow("gamma-nloglik", _args(_Loss.GAMMA_LIKELIHOOD), _NOT_NEGATIVE),
    # LightGBM sums deviances, XGBoost takes their mean.
    LossRow(
        "gamma_deviance",
        _args(_Loss.GAMMA_DEVIANCE),
        _NOT_NEGATIVE,
        lambda total, targets: 2 * total,
    ),
    LossRow(
        "gamma-deviance",
        _args(_Loss.GAMMA_DEVIANCE),
        _NOT_NEGATIVE,
        lambda total, targets: 2 * total / targets.total_weight,
    ),
    LossRow("tweedie", lambda p: _tweedie(p.tweedie_variance_power), _NOT_NEGATIVE),
    LossRow(
        "tweedie-nloglik",
        lambda p: _tweedie(p.tweedie_variance_power),
        _NOT_NEGATIVE,
        from_argument=_tweedie_at,
    ),
    LossRow("cross_entropy", _args(_Loss.PROBABILITY, _SMALLEST_PROBABILITY), _SHARES),
    LossRow(
        "kullback_leibler",
        _args(_Loss.PROBABILITY, _SMALLEST_PROBABILITY),
        _SHARES,
        _less_entropy,
    ),
    # Weights are exposures: they are part of the loss.
    LossRow(
        "cross_entropy_lambda",
        _args(_Loss.INTENSITY, _SMALLEST_PROBABILITY),
        _SHARES,
        lambda total, targets: total / targets.n_rows,
    ),
)
