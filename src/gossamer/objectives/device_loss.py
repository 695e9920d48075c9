"""What a GPU needs to know of a loss to find its gradients."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gossamer import _native


class LossKind(IntEnum):
    """The numbers of `LossKind` in `native/cuda/device.h`."""

    SQUARED = 0
    LOGISTIC = 1
    SOFTMAX = 2
    POINTWISE = 3


@dataclass(frozen=True)
class DeviceLoss:
    """A loss whose gradients a GPU finds, with the bits of the CPU.

    Attributes:
        kind: Which of the kernels.
        n_classes: With SOFTMAX.
        sigmoid: With LOGISTIC: the steepness.
        weight_negative: With LOGISTIC: factor on the rows of class 0.
        weight_positive: With LOGISTIC: factor on the rows of class 1.
        loss: With POINTWISE: the loss.
    """

    kind: LossKind
    n_classes: int = 1
    sigmoid: float = 1.0
    weight_negative: float = 1.0
    weight_positive: float = 1.0
    loss: _native.LossArgs | None = None
