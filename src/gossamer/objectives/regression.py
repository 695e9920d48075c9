"""Squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, Objective
from gossamer.objectives.labels import check_size
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
        check_size(targets)
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
