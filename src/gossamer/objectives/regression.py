"""Squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, Objective
from gossamer.objectives.device_loss import DeviceLoss, LossKind
from gossamer.objectives.labels import check_size
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Regression(Objective):
    """Half the squared error: g = score - label, h = 1, both times the weight."""

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "regression"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION,
        aliases=(
            "regression_l2",
            "l2",
            "mean_squared_error",
            "mse",
            "l2_root",
            "root_mean_squared_error",
            "rmse",
            "reg:squarederror",
            "reg:linear",
        ),
        takes_square_roots=True,
        # As LightGBM: these names also choose the metric.
        metric_of_alias=dict.fromkeys(("l2_root", "root_mean_squared_error", "rmse"), "rmse"),
        lightgbm="regression",
        xgboost="reg:squarederror",
        shap="squared_error",
    )
    default_metric: ClassVar[str | None] = "l2"

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Regression:
        """Make the objective; gradients of these labels must fit float32."""
        check_size(targets)
        return cls()

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the mean label."""
        return [targets.average(targets.label)]

    def has_hessian(self, targets: Targets) -> bool:
        """Only weights make hessians differ from 1."""
        return targets.weight is not None

    @property
    def device_loss(self) -> DeviceLoss | None:
        """See `Objective`."""
        return DeviceLoss(LossKind.SQUARED)

    @property
    def row_loss(self) -> _native.RowLoss | None:
        """See `Objective`."""
        return _native.RowLoss.squared()

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        out.fill(_native.gradients_l2, score, targets, n_threads)
