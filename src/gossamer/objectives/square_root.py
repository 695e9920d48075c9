"""`reg_sqrt`: an objective that sees the square roots of the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, LeafRefit, Objective
from gossamer.objectives.device_loss import DeviceLoss
from gossamer.objectives.pointwise import apply_link
from gossamer.objectives.regression import Regression
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class SquareRoot(Objective):
    """Another objective on sign(label) * sqrt(|label|); predictions are squared again.

    Attributes:
        inner: The objective.
    """

    name: ClassVar[str] = "reg_sqrt"
    traits: ClassVar[Traits] = Traits(Kind.REGRESSION, "signed_square", is_choice=False)
    default_metric: ClassVar[str | None] = None

    inner: Objective = field(default_factory=Regression)

    def __post_init__(self) -> None:
        """Evaluate what the inner objective evaluates."""
        object.__setattr__(self, "default_metric", self.inner.default_metric)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> SquareRoot:
        """Make it around the squared error; the registry makes it around others."""
        return cls(Regression.from_params(params, targets))

    @property
    def leaf_refit(self) -> LeafRefit | None:
        """See `Objective`."""
        return self.inner.leaf_refit

    def prepare(self, targets: Targets) -> Targets:
        """Return the square roots of the labels, with their signs."""
        return replace(targets, label=np.copysign(np.sqrt(np.abs(targets.label)), targets.label))

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the best constant for the square roots."""
        return self.inner.start_scores(targets)

    def has_hessian(self, targets: Targets) -> bool:
        """Whether hessians differ from 1."""
        return self.inner.has_hessian(targets)

    @property
    def device_loss(self) -> DeviceLoss | None:
        """See `Objective`."""
        return self.inner.device_loss

    @property
    def row_loss(self) -> _native.RowLoss | None:
        """See `Objective`."""
        return self.inner.row_loss

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        self.inner.fill_gradients(score, targets, out, n_threads)

    def start_at(self, prediction: float) -> list[float]:
        """Return the square root, with the sign of the prediction."""
        return [math.copysign(math.sqrt(abs(prediction)), prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return sign(score) * score^2."""
        return apply_link(_native.Link.SIGNED_SQUARE, score, n_threads)

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "objective": self.inner.name}

    def for_prediction(self) -> SquareRoot:
        """Return the objective around one that is without what only training needs."""
        return SquareRoot(self.inner.for_prediction())
