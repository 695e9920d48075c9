"""Losses of positive numbers, whose prediction is exp(score): Poisson, gamma, Tweedie."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
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
# LightGBM's poisson_max_delta_step. It makes hessians exp(0.7) = 2 times what they are and halves
# every step, which rare counts need (claims, most of them 0) ...
_CAREFUL = 0.7
# ... but not labels whose variance is at most this many times their squared mean: there the mean of
# a leaf of 20 rows is known to a third, and half steps only need twice the rounds.
_STEADY = 2.0


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
        max_delta_step: The hessian is exp(score + max_delta_step); LightGBM has 0.7.
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

    max_delta_step: float = _CAREFUL

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Self:
        """Make the objective; `auto` takes whole steps where labels are not mostly noise."""
        made = super().from_params(params, targets)
        if params.poisson_max_delta_step != "auto":
            return made
        label = targets.label.astype(np.float64)
        mean = targets.average(label)
        is_steady = targets.average(label**2) <= (1.0 + _STEADY) * mean**2
        return replace(made, max_delta_step=0.0 if is_steady else _CAREFUL)

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
