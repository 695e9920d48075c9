"""Quantile (pinball) loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.objectives.base import LeafRefit
from gossamer.objectives.pointwise import Pointwise
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Quantile(Pointwise):
    """Pinball loss of one quantile: leaf values are that quantile of the residuals.

    Attributes:
        alpha: The quantile, between 0 and 1.
    """

    name: ClassVar[str] = "quantile"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        aliases=("reg:quantileerror",),
        alpha="alpha",
        takes_quantiles=True,
        fits_linear_leaves=False,
        lightgbm="quantile",
        xgboost="reg:quantileerror",
    )
    default_metric: ClassVar[str | None] = "quantile"
    native_loss: ClassVar[_native.Loss] = _native.Loss.QUANTILE
    flat_hessian: ClassVar[bool] = True

    alpha: float = 0.9

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Quantile:
        """Make the objective; any label fits."""
        return cls(check_quantile(params.alpha))

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(self.alpha)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the quantile of the labels."""
        return [_native.weighted_quantile(targets.label, targets.weight, self.alpha)]


def check_quantile(alpha: float) -> float:
    """Return a quantile that lies between 0 and 1.

    Raises:
        ParameterError: If it does not; `alpha` may be larger with other objectives.

    Example:
        >>> check_quantile(0.25)
        0.25
    """
    if not 0 < alpha < 1:
        raise ParameterError.because(
            "alpha is not a quantile", got=alpha, expected="a number > 0 and < 1"
        )
    return alpha
