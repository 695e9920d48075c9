"""Hinge loss for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.binary import TwoClasses, check_two_classes
from gossamer.objectives.pointwise import Pointwise
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Hinge(TwoClasses, Pointwise):
    """max(0, 1 - score) for class 1, max(0, 1 + score) for class 0; predictions are 0 or 1."""

    name: ClassVar[str] = "hinge"
    traits: ClassVar[Traits] = Traits(
        Kind.BINARY,
        "sign",
        aliases=("binary:hinge",),
        class_weights_instead="Pass weights of the rows.",
        xgboost="binary:hinge",
    )
    default_metric: ClassVar[str | None] = "binary_error"
    native_loss: ClassVar[_native.Loss] = _native.Loss.HINGE

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Labels must be 0 and 1, or -1 and 1."""
        check_two_classes(targets, cls.name, name)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return 0, between the classes.

        The best constant, 1 or -1, would be a poor start: the rows of one class would have no
        gradient.
        """
        return [0.0]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the classes: 1 where the score is above 0."""
        return (score > 0).astype(np.float64)
