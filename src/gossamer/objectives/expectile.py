"""Asymmetric squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.labels import check_size
from gossamer.objectives.pointwise import Pointwise
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Expectile(Pointwise):
    """Squared error times `alpha` above the prediction, times 1 - `alpha` below it.

    Attributes:
        alpha: The expectile, between 0 and 1; 0.5 is the mean.
    """

    name: ClassVar[str] = "expectile"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        aliases=("reg:expectileerror",),
        alpha="expectile_alpha",
        xgboost="reg:squarederror",  # not all versions have reg:expectileerror
    )
    default_metric: ClassVar[str | None] = "expectile"

    native_loss: ClassVar[_native.Loss] = _native.Loss.EXPECTILE
    parameters: ClassVar[tuple[str, ...]] = ("expectile_alpha",)

    alpha: float = 0.5

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Expectile:
        """Make the objective; gradients of these labels must fit float32."""
        check_size(targets)
        return super().from_params(params, targets)
