"""Losses that are quadratic near the label and about linear far away.

Hessians are 1, and leaf values are found from the residuals: the median, and from there one step
of Huber's loss, which these resemble. Newton steps would be too short with hessian 1 (never longer
than the slope of the loss), and would overshoot with the second derivative, which vanishes far
away.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import ClassVar

from gossamer import _native
from gossamer.objectives.base import LeafRefit
from gossamer.objectives.pointwise import Pointwise
from gossamer.params.traits import Kind, Traits


class Robust(Pointwise):
    """A loss that is about linear beyond its first number, or beyond 1."""

    flat_hessian: ClassVar[bool] = True

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5, next(iter(astuple(self)), 1.0))  # type: ignore[call-overload]


@dataclass(frozen=True)
class Huber(Robust):
    """Half the squared error up to `alpha`, linear beyond.

    Attributes:
        alpha: Where the loss becomes linear.
    """

    name: ClassVar[str] = "huber"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, alpha="alpha", lightgbm="huber", xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "huber"
    native_loss: ClassVar[_native.Loss] = _native.Loss.HUBER
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)

    alpha: float = 0.9


@dataclass(frozen=True)
class Fair(Robust):
    """Fair loss: c |x| - c^2 log(1 + |x| / c), x = score - label.

    Attributes:
        c: Scale.
    """

    name: ClassVar[str] = "fair"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, takes_square_roots=True, lightgbm="fair", xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "fair"
    native_loss: ClassVar[_native.Loss] = _native.Loss.FAIR
    parameters: ClassVar[tuple[str, ...]] = ("fair_c",)

    c: float = 1.0


@dataclass(frozen=True)
class PseudoHuber(Robust):
    """Smooth Huber loss: slope^2 (sqrt(1 + (x / slope)^2) - 1), x = score - label.

    Attributes:
        slope: Where the loss turns from quadratic to linear.
    """

    name: ClassVar[str] = "pseudo_huber"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, aliases=("reg:pseudohubererror",), xgboost="reg:pseudohubererror"
    )
    default_metric: ClassVar[str | None] = "mphe"
    native_loss: ClassVar[_native.Loss] = _native.Loss.PSEUDO_HUBER
    parameters: ClassVar[tuple[str, ...]] = ("huber_slope",)

    slope: float = 1.0


@dataclass(frozen=True)
class LogCosh(Robust):
    """log(cosh(score - label))."""

    name: ClassVar[str] = "log_cosh"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, aliases=("logcosh",), xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = "log_cosh"
    native_loss: ClassVar[_native.Loss] = _native.Loss.LOG_COSH
