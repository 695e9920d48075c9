"""What objectives have in common that are a loss of one score and one label per row."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, Objective
from gossamer.objectives.device_loss import DeviceLoss, LossKind
from gossamer.params import Params

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_STEPS = 200
# Rows whose derivatives are in memory at a time.
_MOST_ROWS = 2**19
# Relative to the width of the bracket.
_TOLERANCE = 1e-10


class Pointwise(Objective):
    """A loss that the native core knows by name and up to three numbers (`_native.LossArgs`)."""

    by_row: ClassVar[bool] = True
    # The loss; unless `loss` says otherwise its numbers are the fields of the objective.
    native_loss: ClassVar[_native.Loss]
    # The parameters that are the fields of the objective.
    parameters: ClassVar[tuple[str, ...]] = ()
    # Whether hessians are the weights of the rows, so that they are 1 where there are none.
    flat_hessian: ClassVar[bool] = False

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Self:
        """Make the objective; labels that do not fit are refused."""
        cls.check_label(targets, "training")
        return cls(*(params[name] for name in cls.parameters))

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check the labels of a validation set."""
        self.check_label(targets, name)

    @classmethod
    def check_label(cls, targets: Targets, name: str) -> None:
        """Refuse labels that do not fit; here any label does.

        Args:
            targets: The labels.
            name: Name of the data set.

        Raises:
            DataError: If a label does not fit.
        """

    @property
    def loss(self) -> _native.LossArgs:
        """The loss with its numbers."""
        numbers = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return _native.LossArgs(self.native_loss, *numbers)

    def has_hessian(self, targets: Targets) -> bool:
        """Whether hessians differ from 1."""
        return not self.flat_hessian or targets.weight is not None

    def bracket(self, targets: Targets) -> tuple[float, float]:
        """Return two scores with the best constant between them; here the range of the labels."""
        return float(targets.label.min()), float(targets.label.max())

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the score at which the derivatives sum to zero."""
        return [best_constant(self.loss, targets, *self.bracket(targets))]

    @property
    def device_loss(self) -> DeviceLoss | None:
        """See `Objective`."""
        return DeviceLoss(LossKind.POINTWISE, loss=self.loss)

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        hessian = out.hessian if out.has_hessian else None
        _native.gradients_of(
            self.loss, score, targets.label, targets.weight, out.gradient, hessian, n_threads
        )


def best_constant(loss: _native.LossArgs, targets: Targets, low: float, high: float) -> float:
    """Return the constant score of least loss between two scores.

    Newton's method on the sum of the gradients; bisection where a step would leave the bracket or
    does not halve it.

    Example:
        >>> loss = _native.LossArgs(_native.Loss.CROSS_ENTROPY)
        >>> targets = Targets(np.array([0.25, 0.75, 1.0, 1.0], dtype=np.float32))
        >>> round(best_constant(loss, targets, -30, 30), 6) == round(math.log(3), 6)
        True
    """
    most = min(targets.n_rows, _MOST_ROWS)
    gradients, hessians = np.empty(most, np.float32), np.empty(most, np.float32)

    def slope_at(score: float) -> tuple[float, float]:
        slope = curvature = 0.0
        scores = np.full(most, score)
        for begin in range(0, targets.n_rows, most):
            label = targets.label[begin : begin + most]
            weight = None if targets.weight is None else targets.weight[begin : begin + most]
            n = len(label)
            gradient, hessian = gradients[:n], hessians[:n]
            _native.gradients_of(loss, scores[:n], label, weight, gradient, hessian, 1)
            slope += float(gradient.sum(dtype=np.float64))
            curvature += float(hessian.sum(dtype=np.float64))
        return slope, curvature

    smallest = _TOLERANCE * max(high - low, math.ulp(max(abs(low), abs(high))))
    score = 0.5 * (low + high)
    before = high - low
    for _ in range(_MOST_STEPS):
        if high - low <= smallest:
            break
        slope, curvature = slope_at(score)
        if slope == 0:
            break
        low, high = (score, high) if slope < 0 else (low, score)
        step = -slope / curvature if curvature > 0 else math.inf
        if abs(step) <= smallest:
            break
        is_slow, before = abs(step) > 0.5 * before, abs(step)
        if is_slow or not low < score + step < high:
            before = high - low
            score = 0.5 * (low + high)
        else:
            score += step
    return score


def apply_link(
    link: _native.Link, score: npt.NDArray[np.float64], n_threads: int
) -> npt.NDArray[np.float64]:
    """Return a function of every score.

    Example:
        >>> apply_link(_native.Link.SIGNED_SQUARE, np.array([-2.0, 3.0]), 1)
        array([-4.,  9.])
    """
    out = np.empty_like(score)
    _native.apply_link(link, score, out, n_threads)
    return out
