"""Absolute error, plain and relative to the label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import LeafRefit
from gossamer.objectives.pointwise import Pointwise
from gossamer.params.traits import Kind, Traits


class Medians(Pointwise):
    """A loss whose best leaf values are medians of the residuals."""

    @property
    def leaf_refit(self) -> LeafRefit:
        """See `Objective`."""
        return LeafRefit(0.5)


@dataclass(frozen=True)
class RegressionL1(Medians):
    """Absolute error: leaf values are the medians of the residuals."""

    name: ClassVar[str] = "regression_l1"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        aliases=("l1", "mean_absolute_error", "mae", "reg:absoluteerror"),
        takes_square_roots=True,
        fits_linear_leaves=False,
        lightgbm="regression_l1",
        xgboost="reg:absoluteerror",
    )
    default_metric: ClassVar[str | None] = "l1"
    flat_hessian: ClassVar[bool] = True
    native_loss: ClassVar[_native.Loss] = _native.Loss.L1

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the median label."""
        return [_native.weighted_quantile(targets.label, targets.weight, 0.5)]


@dataclass(frozen=True)
class Mape(Medians):
    """Absolute error divided by the larger of |label| and 1, as in LightGBM.

    Leaf values are medians of the residuals, weighted by that factor; so are the hessians.
    """

    name: ClassVar[str] = "mape"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        aliases=("mean_absolute_percentage_error",),
        fits_linear_leaves=False,
        lightgbm="mape",
        xgboost="reg:absoluteerror",
    )
    default_metric: ClassVar[str | None] = "mape"
    native_loss: ClassVar[_native.Loss] = _native.Loss.MAPE

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the median label, weighted by 1 / max(1, |label|)."""
        factor = 1 / np.maximum(np.abs(targets.label), 1)
        weight = factor if targets.weight is None else factor * targets.weight
        return [_native.weighted_quantile(targets.label, weight.astype(np.float32), 0.5)]
