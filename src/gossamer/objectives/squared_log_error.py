"""Squared error of logarithms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.labels import check_labels
from gossamer.objectives.links import no_prediction
from gossamer.objectives.pointwise import apply_link
from gossamer.objectives.regression import Regression
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


class SquaredLogError(Regression):
    """Half the squared difference of log(1 + prediction) and log(1 + label).

    The score is log(1 + prediction): in it the loss is a plain squared error, where a Newton step
    is exact. XGBoost boosts the prediction itself; the loss is the same.
    """

    name: ClassVar[str] = "squared_log_error"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, "expm1", aliases=("reg:squaredlogerror", "msle")
    )
    default_metric: ClassVar[str | None] = "rmsle"

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> SquaredLogError:
        """Make the objective; labels must be > -1."""
        _check(targets, "training")
        return cls()

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels are > -1."""
        _check(targets, name)

    def prepare(self, targets: Targets) -> Targets:
        """Return log(1 + label)."""
        return replace(targets, label=np.log1p(targets.label.astype(np.float64)).astype(np.float32))

    def start_at(self, prediction: float) -> list[float]:
        """Return log(1 + prediction)."""
        if prediction <= -1:
            raise no_prediction(prediction, "a number > -1")
        return [math.log1p(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return exp(score) - 1."""
        return apply_link(_native.Link.EXPM1, score, n_threads)


def _check(targets: Targets, name: str) -> None:
    check_labels(
        targets,
        targets.label <= -1,
        objective=SquaredLogError.name,
        name=name,
        expected="numbers > -1",
    )
