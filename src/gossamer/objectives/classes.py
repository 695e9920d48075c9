"""Checks that objectives with classes share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.errors import DataError


def count_classes(targets: Targets, n_classes: int) -> npt.NDArray[np.int64]:
    """Count the rows of each class; labels must have been checked.

    Example:
        >>> count_classes(Targets(np.array([0, 2, 2], dtype=np.float32)), 3)
        array([1, 0, 2])
    """
    return np.bincount(targets.label.astype(np.int64), minlength=n_classes)


def check_seen(targets: Targets, train: Targets, n_classes: int, name: str) -> None:
    """Check that every class of a validation set occurs in the training data.

    Raises:
        DataError: If one does not.
    """
    seen = count_classes(train, n_classes) > 0
    new = np.flatnonzero((count_classes(targets, n_classes) > 0) & ~seen)
    if len(new):
        raise DataError.because(
            f"class {new[0]} occurs in the data set {name!r} but not in the training data",
            expected=f"classes {', '.join(map(str, np.flatnonzero(seen)))}",
            hint="Split the data so that the training data has every class.",
        )


def check_class_labels(targets: Targets, n_classes: int, name: str) -> None:
    """Check that labels are the integers from 0 to before `n_classes`.

    Raises:
        DataError: If one is not.

    Example:
        >>> check_class_labels(Targets(np.array([0, 2], dtype=np.float32)), 3, "training")
    """
    label = targets.label
    is_bad = (label < 0) | (label >= n_classes) | (label != np.floor(label))
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise DataError.because(
            f"label of row {row} of the {name} data is outside the classes",
            got=float(label[row]),
            expected=f"an integer from 0 to {n_classes - 1}",
            hint="num_class must be the largest label plus 1.",
        )
