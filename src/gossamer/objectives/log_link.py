"""Losses of positive numbers, whose prediction is exp(score): Poisson, gamma, Tweedie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.labels import check_any_positive, check_labels
from gossamer.objectives.links import link_named
from gossamer.objectives.pointwise import Pointwise, apply_link
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# A longer step multiplies predictions by more than e: there Newton's overshoots.
_LONGEST_STEP = 1.0


class LogLink(Pointwise):
    """A loss with prediction exp(score), whose best constant is the mean label."""

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return _LONGEST_STEP

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that no label is negative."""
        _check_not_negative(targets, self.name, name)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the logarithm of the mean label."""
        return [math.log(targets.average(targets.label))]

    def start_at(self, prediction: float) -> list[float]:
        """Return the logarithm of a mean."""
        return [link_named("exp").to_score(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return exp(score)."""
        return apply_link(_native.Link.EXP, score, n_threads)


@dataclass(frozen=True)
class Poisson(LogLink):
    """Counts: exp(score) - label * score.

    Attributes:
        max_delta_step: The hessian is exp(score + max_delta_step), as in LightGBM.
    """

    name: ClassVar[str] = "poisson"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        "exp",
        aliases=("count:poisson",),
        lightgbm="poisson",
        xgboost="count:poisson",
    )
    default_metric: ClassVar[str | None] = "poisson"

    max_delta_step: float = 0.7

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Poisson:
        """Make the objective; labels must be >= 0 and not all 0."""
        _check_not_negative(targets, cls.name, "training")
        check_any_positive(targets, cls.name)
        return cls(params.poisson_max_delta_step)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        # Above 80 the hessian would leave float32.
        return _native.LossArgs(_native.Loss.POISSON, math.exp(min(self.max_delta_step, 80.0)))


@dataclass(frozen=True)
class Gamma(LogLink):
    """Positive amounts: label * exp(-score) + score."""

    name: ClassVar[str] = "gamma"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, "exp", aliases=("reg:gamma",), lightgbm="gamma", xgboost="reg:gamma"
    )
    default_metric: ClassVar[str | None] = "gamma"

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Gamma:
        """Make the objective; labels must be > 0."""
        _check_positive(targets, "training")
        return cls()

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels are > 0."""
        _check_positive(targets, name)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        return _native.LossArgs(_native.Loss.GAMMA)


@dataclass(frozen=True)
class Tweedie(LogLink):
    """Amounts that are often 0: between Poisson and gamma.

    Attributes:
        variance_power: The variance grows like this power of the mean; 1 is Poisson.
    """

    name: ClassVar[str] = "tweedie"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, "exp", aliases=("reg:tweedie",), lightgbm="tweedie", xgboost="reg:tweedie"
    )
    default_metric: ClassVar[str | None] = "tweedie"

    variance_power: float = 1.5

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Tweedie:
        """Make the objective; labels must be >= 0 and not all 0."""
        _check_not_negative(targets, cls.name, "training")
        check_any_positive(targets, cls.name)
        return cls(params.tweedie_variance_power)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        if self.variance_power == 1:
            return _native.LossArgs(_native.Loss.POISSON, 1.0)
        return _native.LossArgs(_native.Loss.TWEEDIE, self.variance_power)


def _check_not_negative(targets: Targets, objective: str, name: str) -> None:
    check_labels(
        targets, targets.label < 0, objective=objective, name=name, expected="numbers >= 0"
    )


def _check_positive(targets: Targets, name: str) -> None:
    check_labels(
        targets,
        targets.label <= 0,
        objective="gamma",
        name=name,
        expected="numbers > 0",
        hint="objective=tweedie takes zeros.",
    )
