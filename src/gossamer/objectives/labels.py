"""Checks of labels that objectives share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.base import LARGEST_GRADIENT


def check_labels(
    targets: Targets,
    is_bad: npt.NDArray[np.bool_],
    *,
    objective: str,
    name: str,
    expected: str,
    hint: str = "",
) -> None:
    """Refuse labels that an objective cannot take.

    Args:
        targets: The labels.
        is_bad: Which rows it cannot take.
        objective: Name of the objective.
        name: Name of the data set.
        expected: What it can take.
        hint: What to do instead.

    Raises:
        DataError: If there is such a row.

    Example:
        >>> targets = Targets(np.array([1, 2], dtype=np.float32))
        >>> check_labels(
        ...     targets, targets.label < 0, objective="poisson", name="training", expected=">= 0"
        ... )
    """
    if not is_bad.any():
        return
    row = int(np.argmax(is_bad))
    raise DataError.because(
        f"label of row {row} of the {name} data does not fit objective={objective}",
        got=float(targets.label[row]),
        expected=expected,
        hint=hint,
    )


def check_any_positive(targets: Targets, objective: str) -> None:
    """Refuse labels whose weighted sum is not positive: the best score would be minus infinity.

    Raises:
        DataError: If all labels, or all that count, are 0.

    Example:
        >>> check_any_positive(Targets(np.array([0, 2], dtype=np.float32)), "poisson")
    """
    if not targets.average(targets.label) > 0:
        raise DataError.because(
            f"the labels of the training data are all 0, which objective={objective} "
            "cannot start from",
            expected="at least one positive label of positive weight",
        )


def check_size(targets: Targets) -> None:
    """Check that gradients of a squared error would fit float32.

    Raises:
        DataError: If label times weight is too large.

    Example:
        >>> check_size(Targets(np.array([1e30], dtype=np.float32)))
    """
    heaviest = 1.0 if targets.weight is None else float(targets.weight.max())
    largest = float(np.abs(targets.label).max())
    check_limit(largest * heaviest, LARGEST_GRADIENT)


def check_limit(largest: float, limit: float) -> None:
    """Check the largest product of a label and a weight.

    Raises:
        DataError: If it is beyond the limit.

    Example:
        >>> check_limit(2.0, 1e24)
    """
    if largest > limit:
        raise DataError.because(
            "labels are too large",
            got=largest,
            expected=f"label x weight within +-{limit:g}",
            hint="Divide the labels, or the weights, by a constant.",
        )
