"""Squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError, message
from gossamer.objectives.base import LARGEST_GRADIENT, Gradients, Objective
from gossamer.params import Params


@dataclass(frozen=True)
class Regression(Objective):
    """Half the squared error: g = score - label, h = 1, both times the weight."""

    name: ClassVar[str] = "regression"
    default_metric: ClassVar[str | None] = "l2"
    has_link: ClassVar[bool] = False

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Regression:
        """Make the objective; gradients of these labels must fit float32."""
        heaviest = 1.0 if targets.weight is None else float(targets.weight.max())
        largest = float(np.abs(targets.label).max())
        if largest * heaviest > LARGEST_GRADIENT:
            raise DataError(
                message(
                    "labels are too large",
                    got=largest * heaviest,
                    expected=f"label x weight within +-{LARGEST_GRADIENT:g}",
                    hint="Divide the labels, or the weights, by a constant.",
                )
            )
        return cls()

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the mean label."""
        return [targets.average(targets.label)]

    def has_hessian(self, targets: Targets) -> bool:
        """Only weights make hessians differ from 1."""
        return targets.weight is not None

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        _native.gradients_l2(
            score, targets.label, targets.weight, out.gradient, out.hessian, n_threads
        )
