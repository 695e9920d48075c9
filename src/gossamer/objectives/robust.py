"""Losses that are quadratic near the label and about linear far away.

Hessians are 1, and leaf values are found from the residuals: the median, and from there one step
of Huber's loss, which these resemble. Newton steps would be too short with hessian 1 (never longer
than the slope of the loss), and would overshoot with the second derivative, which vanishes far
away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import LeafRefit
from gossamer.objectives.pointwise import Pointwise
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Huber(Pointwise):
    """Half the squared error up to `alpha`, linear beyond.

    Attributes:
        alpha: Where the loss becomes linear.
    """

    name: ClassVar[str] = "huber"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, alpha="alpha", lightgbm="huber", xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "huber"
    flat_hessian: ClassVar[bool] = True

    alpha: float = 0.9

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Huber:
        """Make the objective; any label fits."""
        return cls(params.alpha)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        return _native.LossArgs(_native.Loss.HUBER, self.alpha)

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5, self.alpha)


@dataclass(frozen=True)
class Fair(Pointwise):
    """Fair loss: c |x| - c^2 log(1 + |x| / c), x = score - label.

    Attributes:
        c: Scale.
    """

    name: ClassVar[str] = "fair"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, takes_square_roots=True, lightgbm="fair", xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "fair"
    flat_hessian: ClassVar[bool] = True

    c: float = 1.0

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Fair:
        """Make the objective; any label fits."""
        return cls(params.fair_c)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        return _native.LossArgs(_native.Loss.FAIR, self.c)

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5, self.c)


@dataclass(frozen=True)
class PseudoHuber(Pointwise):
    """Smooth Huber loss: slope^2 (sqrt(1 + (x / slope)^2) - 1), x = score - label.

    Attributes:
        slope: Where the loss turns from quadratic to linear.
    """

    name: ClassVar[str] = "pseudo_huber"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, aliases=("reg:pseudohubererror",), xgboost="reg:pseudohubererror"
    )
    default_metric: ClassVar[str | None] = "mphe"
    flat_hessian: ClassVar[bool] = True

    slope: float = 1.0

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> PseudoHuber:
        """Make the objective; any label fits."""
        return cls(params.huber_slope)

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        return _native.LossArgs(_native.Loss.PSEUDO_HUBER, self.slope)

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5, self.slope)


@dataclass(frozen=True)
class LogCosh(Pointwise):
    """log(cosh(score - label))."""

    name: ClassVar[str] = "log_cosh"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, aliases=("logcosh",), xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "log_cosh"
    flat_hessian: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> LogCosh:
        """Make the objective; any label fits."""
        return cls()

    @property
    def loss(self) -> _native.LossArgs:
        """See `Pointwise`."""
        return _native.LossArgs(_native.Loss.LOG_COSH)

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5, 1.0)
