"""One logistic loss per class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import (
    LARGEST_LOG_ODDS_STEP,
    Gradients,
    Objective,
    by_row,
    read_number,
    read_outputs,
)
from gossamer.objectives.binary import Binary
from gossamer.objectives.classes import check_class_labels, check_seen
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class MulticlassOva(Objective):
    """One against all: a logistic loss for each class, independent of the others.

    Attributes:
        n_outputs: Classes.
        sigmoid: Steepness.
        losses: The loss of each class, with its class weights; empty in a model that was loaded.
    """

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "multiclassova"
    traits: ClassVar[Traits] = Traits(
        Kind.MULTICLASS,
        "sigmoid",
        aliases=("multiclass_ova", "ova", "ovr"),
        can_be_clear=True,
        lightgbm="multiclassova num_class:{n_outputs} sigmoid:{sigmoid!r}",
        xgboost="binary:logistic",
    )
    default_metric: ClassVar[str | None] = "multi_logloss"

    n_outputs: int = 2
    sigmoid: float = 1.0
    losses: tuple[Binary, ...] = ()

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> MulticlassOva:
        """Make the objective; labels must be 0, 1, ..., num_class - 1."""
        n_classes = params.num_class
        check_class_labels(targets, n_classes, "training")
        each = _one_against_all(targets, n_classes)
        losses = tuple(Binary.from_params(params, each.target(k)) for k in range(n_classes))
        return cls(n_classes, params.sigmoid, losses)

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels are classes that were seen in training."""
        check_class_labels(targets, self.n_outputs, name)
        check_seen(targets, train, self.n_outputs, name)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP / self.sigmoid

    def prepare(self, targets: Targets) -> Targets:
        """Return one target per class: 1 for its rows, 0 for the others."""
        return _one_against_all(targets, self.n_outputs)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the log-odds of each class."""
        return [
            score
            for k, loss in enumerate(self.losses)
            for score in loss.start_scores(targets.target(k))
        ]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives, class by class."""
        n_rows = targets.n_rows
        for k, (loss, (gradient, hessian)) in enumerate(
            zip(self.losses, out.split(self.n_outputs), strict=True)
        ):
            assert hessian is not None
            own = Gradients(gradient, hessian, out.has_hessian)
            part = score[k * n_rows : (k + 1) * n_rows]
            loss.fill_gradients(part, targets.target(k), own, n_threads)

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the probability of each class against the others: rows do not sum to 1."""
        out = np.empty_like(score)
        _native.sigmoid(score, self.sigmoid, out, n_threads)
        return by_row(out, self.n_outputs)

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "num_class": self.n_outputs, "sigmoid": self.sigmoid}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> MulticlassOva:
        """Make the objective of a model file."""
        return cls(read_outputs(config), read_number(config, "sigmoid"))


def _one_against_all(targets: Targets, n_classes: int) -> Targets:
    classes = np.arange(n_classes, dtype=np.float32)[:, np.newaxis]
    label = (targets.label == classes).astype(np.float32).ravel()
    return replace(targets, label=label, n_targets=n_classes)
