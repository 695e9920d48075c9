"""Focal loss for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.binary import TwoClasses, check_two_classes
from gossamer.objectives.sigmoid_link import SigmoidLink
from gossamer.params.traits import Kind, Traits

# Best constants of labels that are all of one class.
_LARGEST_LOG_ODDS = 30.0


@dataclass(frozen=True)
class Focal(TwoClasses, SigmoidLink):
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
    parameters: ClassVar[tuple[str, ...]] = ("focal_gamma", "focal_alpha")

    gamma: float = 2.0
    balance: float | None = None

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Labels must be 0 and 1, or -1 and 1."""
        check_two_classes(targets, cls.name, name)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        negative, positive = 1.0, 1.0
        if self.balance is not None:
            negative, positive = 1 - self.balance, self.balance
        return _native.LossArgs(_native.Loss.FOCAL, self.gamma, negative, positive)

    def bracket(self, targets: Targets) -> tuple[float, float]:
        """See `Pointwise`."""
        return -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS
