"""Focal loss for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import LARGEST_LOG_ODDS_STEP
from gossamer.objectives.binary import as_zero_one, check_two_classes
from gossamer.objectives.classes import check_seen
from gossamer.objectives.links import link_named
from gossamer.objectives.pointwise import Pointwise
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# Best constants of labels that are all of one class.
_LARGEST_LOG_ODDS = 30.0


@dataclass(frozen=True)
class Focal(Pointwise):
    """(1 - q)^gamma * -log(q), q = the probability of the row's own class.

    Attributes:
        gamma: How much rows that are predicted well lose their weight; 0 is the logistic loss.
        balance: Weight of class 1, class 0 weighing 1 - `balance`; None: both weigh 1.
    """

    name: ClassVar[str] = "focal"
    traits: ClassVar[Traits] = Traits(
        Kind.BINARY,
        "sigmoid",
        aliases=("focal_loss",),
        can_be_clear=True,
        class_weights_instead="Pass weights of the rows, or set focal_alpha.",
        lightgbm="cross_entropy",
        xgboost="reg:logistic",
    )
    default_metric: ClassVar[str | None] = "binary_logloss"

    gamma: float = 2.0
    balance: float | None = None

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Focal:
        """Make the objective; labels must be 0 and 1, or -1 and 1."""
        check_two_classes(targets, cls.name, "training")
        return cls(params.focal_gamma, params.focal_alpha)

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels are those of two classes, and both were seen in training."""
        check_two_classes(targets, self.name, name)
        check_seen(as_zero_one(targets), as_zero_one(train), 2, name)

    def prepare(self, targets: Targets) -> Targets:
        """Return labels 0 and 1."""
        return as_zero_one(targets)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        negative, positive = 1.0, 1.0
        if self.balance is not None:
            negative, positive = 1 - self.balance, self.balance
        return _native.LossArgs(_native.Loss.FOCAL, self.gamma, negative, positive)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP

    def bracket(self, targets: Targets) -> tuple[float, float]:
        """See `Pointwise`."""
        return -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS

    def start_at(self, prediction: float) -> list[float]:
        """Return the log-odds of a probability."""
        return [link_named("sigmoid").to_score(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the probabilities of class 1."""
        out = np.empty_like(score)
        _native.sigmoid(score, 1.0, out, n_threads)
        return out
