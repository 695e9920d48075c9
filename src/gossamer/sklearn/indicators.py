"""Indicator matrices: rows x labels of 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError


def check_indicators(y: Any, n_labels: int, name: str) -> npt.NDArray[Any]:
    """Check the labels of a data set.

    Args:
        y: Rows x labels.
        n_labels: Labels there must be.
        name: Of the data set.

    Raises:
        DataError: If there are others, or a value is neither 0 nor 1.

    Example:
        >>> check_indicators([[0, 1], [1, 1]], 2, "training")
        array([[0, 1],
               [1, 1]])
    """
    labels = np.asarray(y)
    if labels.ndim != 2 or labels.shape[1] != n_labels:
        raise DataError.because(
            f"the labels of the data set {name!r} do not fit the training data's labels",
            found=f"shape {labels.shape}",
            expected=f"(rows, {n_labels})" if n_labels > 1 else "one label per row",
        )
    is_bad = (labels != 0) & (labels != 1)
    if labels.dtype.kind not in "biuf" or is_bad.any():
        place = tuple(int(i) for i in np.unravel_index(np.argmax(is_bad), labels.shape))
        raise DataError.because(
            f"label {place[1]} of row {place[0]} of the {name} data cannot be used",
            got=labels[place].item() if hasattr(labels[place], "item") else labels[place],
            expected="0 or 1 where there are several columns of labels",
            hint="For several columns of classes use one classifier each, as "
            "sklearn.multioutput.MultiOutputClassifier does.",
        )
    return labels
