"""Losses of positive numbers, whose prediction is exp(score): Poisson, gamma, Tweedie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.labels import check_any_positive, check_labels
from gossamer.objectives.links import link_named
from gossamer.objectives.pointwise import Pointwise, apply_link
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

if TYPE_CHECKING:
    from typing_extensions import Self

# A longer step multiplies predictions by more than e: there Newton's overshoots.
_LONGEST_STEP = 1.0


class LogLink(Pointwise):
    """A loss with prediction exp(score), whose best constant is the mean label."""

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return _LONGEST_STEP

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Self:
        """Make the objective; labels must not all be 0."""
        made = super().from_params(params, targets)
        check_any_positive(targets, cls.name)
        return made

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """No label may be negative."""
        check_labels(
            targets, targets.label < 0, objective=cls.name, name=name, expected="numbers >= 0"
        )

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

    parameters: ClassVar[tuple[str, ...]] = ("poisson_max_delta_step",)

    max_delta_step: float = 0.7

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

    native_loss: ClassVar[_native.Loss] = _native.Loss.GAMMA

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Labels must be > 0."""
        check_labels(
            targets,
            targets.label <= 0,
            objective=cls.name,
            name=name,
            expected="numbers > 0",
            hint="objective=tweedie takes zeros.",
        )


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

    parameters: ClassVar[tuple[str, ...]] = ("tweedie_variance_power",)

    variance_power: float = 1.5

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        if self.variance_power == 1:
            return _native.LossArgs(_native.Loss.POISSON, 1.0)
        return _native.LossArgs(_native.Loss.TWEEDIE, self.variance_power)
