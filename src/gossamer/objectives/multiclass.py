"""Softmax loss for several classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import (
    EPSILON,
    LARGEST_LOG_ODDS_STEP,
    CountsOutputs,
    Gradients,
)
from gossamer.objectives.classes import check_class_labels, check_seen
from gossamer.objectives.device_loss import DeviceLoss, LossKind
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Multiclass(CountsOutputs):
    """Softmax loss: one score, and so one tree per round, for each class."""

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "multiclass"
    traits: ClassVar[Traits] = Traits(
        Kind.MULTICLASS,
        "softmax",
        aliases=("softmax", "multi:softprob"),
        can_be_clear=True,
        lightgbm="multiclass num_class:{n_outputs}",
        xgboost="multi:softprob",
    )
    default_metric: ClassVar[str | None] = "multi_logloss"

    n_outputs: int = 2

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Multiclass:
        """Make the objective; labels must be 0, 1, ..., num_class - 1."""
        check_class_labels(targets, params.num_class, "training")
        return cls(params.num_class)

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels are classes that were seen in training."""
        check_class_labels(targets, self.n_outputs, name)
        check_seen(targets, train, self.n_outputs, name)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the logarithm of each class's share."""
        shares = [targets.average(targets.label == k) for k in range(self.n_outputs)]
        return [math.log(max(share, EPSILON)) for share in shares]

    @property
    def device_loss(self) -> DeviceLoss | None:
        """See `Objective`."""
        return DeviceLoss(LossKind.SOFTMAX, n_classes=self.n_outputs)

    @property
    def row_loss(self) -> _native.RowLoss | None:
        """See `Objective`."""
        return _native.RowLoss.softmax(self.n_outputs)

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        out.fill(_native.gradients_softmax, score, targets, n_threads, self.n_outputs)

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the probabilities, rows x classes."""
        out = np.empty_like(score)
        _native.softmax(score, self.n_outputs, out, n_threads)
        return out.reshape(-1, self.n_outputs)


class MulticlassSoftmax(Multiclass):
    """The same loss; predictions are class numbers (XGBoost's `multi:softmax`)."""

    name: ClassVar[str] = "multi:softmax"
    traits: ClassVar[Traits] = Traits(
        Kind.MULTICLASS,
        "argmax",
        probabilities="softmax",
        can_be_clear=True,
        xgboost="multi:softmax",
    )

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the class of highest score, the first one where several are equal."""
        best: npt.NDArray[np.intp] = score.reshape(self.n_outputs, -1).argmax(axis=0)
        return best.astype(np.float64)
