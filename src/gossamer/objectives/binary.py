"""Logistic loss for two classes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.logger import warn
from gossamer.objectives.base import (
    EPSILON,
    LARGEST_LOG_ODDS_STEP,
    Gradients,
    Objective,
    read_number,
)
from gossamer.objectives.classes import check_seen
from gossamer.objectives.device_loss import DeviceLoss, LossKind
from gossamer.objectives.labels import check_labels
from gossamer.objectives.links import link_named
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

_takes_any_label: ContextVar[bool] = ContextVar("takes_any_label", default=False)


@contextmanager
def any_label() -> Iterator[None]:
    """Take any numbers as labels of two classes, those above 0 as class 1: LightGBM's rule.

    Labels that are all above 0 are still refused: they would be one class.

    Example:
        >>> import warnings
        >>> with any_label(), warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     check_two_classes(Targets(np.array([0, 7], dtype=np.float32)), "binary", "training")
        >>> print(caught[0].message)
        Labels of the training data are not 0 and 1 (objective=binary): those above 0 are class 1, \
1 of 2.
    """
    token = _takes_any_label.set(True)
    try:
        yield
    finally:
        _takes_any_label.reset(token)


class TwoClasses(Objective):
    """An objective whose labels are 0 and 1, or -1 and 1."""

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that labels belong to two classes, and both were seen in training."""
        check_two_classes(targets, self.name, name)
        check_seen(as_zero_one(targets), as_zero_one(train), 2, name)

    def prepare(self, targets: Targets) -> Targets:
        """Return labels 0 and 1."""
        return as_zero_one(targets)


@dataclass(frozen=True)
class Binary(TwoClasses):
    """Logistic loss: p = 1 / (1 + exp(-sigmoid * score)).

    Attributes:
        sigmoid: Steepness.
        weight_negative: Factor on the rows of class 0.
        weight_positive: Factor on the rows of class 1.
    """

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "binary"
    traits: ClassVar[Traits] = Traits(
        Kind.BINARY,
        "sigmoid",
        aliases=("binary:logistic",),
        can_be_clear=True,
        lightgbm="binary sigmoid:{sigmoid!r}",
        xgboost="binary:logistic",
        shap="binary_crossentropy",
    )
    default_metric: ClassVar[str | None] = "binary_logloss"

    sigmoid: float = 1.0
    weight_negative: float = 1.0
    weight_positive: float = 1.0

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Binary:
        """Make the objective; labels must be 0 and 1, or -1 and 1."""
        check_two_classes(targets, cls.name, "training")
        n_positive = int(np.count_nonzero(targets.label > 0))
        n_negative = targets.n_rows - n_positive
        negative, positive = 1.0, params.scale_pos_weight
        if params.is_unbalance and n_positive and n_negative:
            # As LightGBM: the rarer class is weighted up.
            negative = max(1.0, n_positive / n_negative)
            positive = max(1.0, n_negative / n_positive)
        return cls(params.sigmoid, negative, positive)

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP / self.sigmoid

    @property
    def hessian_is_variance(self) -> bool:
        """See `Objective`."""
        return True

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the log-odds of class 1. As in LightGBM, class weights do not enter."""
        share = min(max(targets.average(targets.label), EPSILON), 1 - EPSILON)
        return [math.log(share / (1 - share)) / self.sigmoid]

    def start_at(self, prediction: float) -> list[float]:
        """Return the log-odds of a probability."""
        return [link_named("sigmoid").to_score(prediction) / self.sigmoid]

    @property
    def device_loss(self) -> DeviceLoss | None:
        """See `Objective`."""
        return DeviceLoss(
            LossKind.LOGISTIC,
            sigmoid=self.sigmoid,
            weight_negative=self.weight_negative,
            weight_positive=self.weight_positive,
        )

    @property
    def row_loss(self) -> _native.RowLoss | None:
        """See `Objective`."""
        return _native.RowLoss.logistic(self.sigmoid, self.weight_negative, self.weight_positive)

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        out.fill(
            _native.gradients_binary,
            score,
            targets,
            n_threads,
            self.sigmoid,
            self.weight_negative,
            self.weight_positive,
        )

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the probabilities of class 1."""
        out = np.empty_like(score)
        _native.sigmoid(score, self.sigmoid, out, n_threads)
        return out

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "sigmoid": self.sigmoid}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Binary:
        """Make the objective of a model file."""
        return cls(read_number(config, "sigmoid"))


class BinaryLogitRaw(Binary):
    """The same loss; predictions are raw scores (XGBoost's `binary:logitraw`)."""

    name: ClassVar[str] = "binary:logitraw"
    traits: ClassVar[Traits] = Traits(
        Kind.BINARY, probabilities="sigmoid", can_be_clear=True, xgboost="binary:logitraw"
    )

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the scores."""
        return score


def as_zero_one(targets: Targets) -> Targets:
    """Return 1 for labels above 0 and 0 for others, as LightGBM's `binary` reads them.

    Example:
        >>> as_zero_one(Targets(np.array([-1, 1], dtype=np.float32))).label
        array([0., 1.], dtype=float32)
    """
    zero_one = (targets.label > 0).astype(np.float32)
    return targets if (zero_one == targets.label).all() else replace(targets, label=zero_one)


def check_two_classes(targets: Targets, objective: str, name: str) -> None:
    """Check that labels are 0 and 1, or -1 and 1; within `any_label`, only warn of others.

    Raises:
        DataError: If one is not.

    Example:
        >>> check_two_classes(Targets(np.array([0, 1], dtype=np.float32)), "binary", "training")
    """
    negative = -1 if (targets.label == -1).any() else 0
    is_bad = (targets.label != negative) & (targets.label != 1)
    n_positive = np.count_nonzero(targets.label > 0)
    if _takes_any_label.get() and is_bad.any() and n_positive < targets.n_rows:
        warn(
            f"Labels of the {name} data are not 0 and 1 (objective={objective}): those above "
            f"0 are class 1, {n_positive} of {targets.n_rows}."
        )
        return
    hint = "Encode the two classes as 0 and 1, which GossamerClassifier does by itself."
    if is_bad.any() and len(np.unique(targets.label[:1000])) > 2:
        hint = "Use objective=multiclass for more than two classes, regression for other numbers."
    check_labels(
        targets, is_bad, objective=objective, name=name, expected=f"{negative} or 1", hint=hint
    )
