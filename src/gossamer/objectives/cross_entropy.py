"""Cross entropy of labels between 0 and 1, in LightGBM's two forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.base import EPSILON, LARGEST_LOG_ODDS_STEP
from gossamer.objectives.labels import check_labels
from gossamer.objectives.links import link_named
from gossamer.objectives.pointwise import Pointwise, apply_link
from gossamer.objectives.sigmoid_link import SigmoidLink
from gossamer.params.traits import Kind, Traits

_LARGEST_LOG_ODDS = 40.0


@dataclass(frozen=True)
class CrossEntropy(SigmoidLink):
    """Logistic loss whose labels are probabilities."""

    name: ClassVar[str] = "cross_entropy"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        "sigmoid",
        aliases=("xentropy", "reg:logistic"),
        takes_shares=True,
        lightgbm="cross_entropy",
        xgboost="reg:logistic",
    )
    default_metric: ClassVar[str | None] = "cross_entropy"

    native_loss: ClassVar[_native.Loss] = _native.Loss.CROSS_ENTROPY

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Labels must be from 0 to 1."""
        _check_share(targets, cls.name, name)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the log-odds of the mean label."""
        share = min(max(targets.average(targets.label), EPSILON), 1 - EPSILON)
        return [math.log(share / (1 - share))]


@dataclass(frozen=True)
class CrossEntropyLambda(Pointwise):
    """Cross entropy of 1 - exp(-weight * rate), rate = log(1 + exp(score)) the prediction.

    A weight is how long a row was exposed, not how much it counts: without weights the loss is
    the same as with `cross_entropy`.
    """

    name: ClassVar[str] = "cross_entropy_lambda"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, "softplus", aliases=("xentlambda",), lightgbm="cross_entropy_lambda"
    )
    default_metric: ClassVar[str | None] = "cross_entropy_lambda"

    native_loss: ClassVar[_native.Loss] = _native.Loss.CROSS_ENTROPY_LAMBDA

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Labels must be from 0 to 1, weights positive."""
        _check_share(targets, cls.name, name)
        _check_weight(targets, name)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP

    def bracket(self, targets: Targets) -> tuple[float, float]:
        """See `Pointwise`."""
        return -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS

    def start_at(self, prediction: float) -> list[float]:
        """Return the score of a rate."""
        return [link_named("softplus").to_score(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return rates, log(1 + exp(score))."""
        return apply_link(_native.Link.LOG1P_EXP, score, n_threads)


def _check_share(targets: Targets, objective: str, name: str) -> None:
    is_bad = (targets.label < 0) | (targets.label > 1)
    check_labels(targets, is_bad, objective=objective, name=name, expected="numbers from 0 to 1")


def _check_weight(targets: Targets, name: str) -> None:
    if targets.weight is None or targets.weight.all():
        return
    raise DataError.because(
        f"weight of row {int(np.argmin(targets.weight))} of the {name} data does not fit "
        f"objective={CrossEntropyLambda.name}",
        got=0.0,
        expected="positive numbers",
        hint="Weights are exposures here: leave rows out that were not exposed.",
    )
