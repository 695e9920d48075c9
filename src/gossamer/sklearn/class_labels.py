"""Labels of classifiers: from what the user calls classes to numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from gossamer.errors import DataError
from gossamer.sklearn.indicators import check_indicators
from gossamer.sklearn.inputs import Array


class ClassLabels:
    """A classifier's classes: learned from the training data, looked up in other data."""

    classes_: Any
    n_classes_: int
    _n_labels: int

    def _learn_labels(self, y: Array) -> Array:
        y = plain_labels(y)
        self._n_labels = y.shape[1] if y.ndim == 2 else 1
        if y.ndim == 2:
            check_indicators(y, self._n_labels, "training")
            self.classes_ = [np.array([0, 1], dtype=y.dtype)] * self._n_labels
            self.n_classes_ = 2
            return y
        classes, codes = _unique(y)
        check_classification_targets(y)
        self.classes_ = classes
        self.n_classes_ = len(self.classes_)
        return codes

    def _encode_labels(self, y: Any, name: str) -> Array:
        if self._n_labels > 1 or np.ndim(y) == 2:
            return check_indicators(y, self._n_labels, name)
        labels, codes = _unique(plain_labels(y))
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in labels.tolist() if label not in code_of]
        if unknown:
            raise DataError.because(
                f"a class of the data set {name!r} does not occur in the training data",
                got=unknown[0],
                expected=f"one of {', '.join(map(repr, list(code_of)[:10]))}",
                hint="Split the data so that the training data has every class.",
            )
        return np.array([code_of[label] for label in labels.tolist()])[codes]

    def _decide(self, score: Array, border: float) -> Array:
        """Return the class of each row: the one of the highest score, or one above the border."""
        if self._n_labels > 1:
            return (score > border).astype(self.classes_[0].dtype)
        codes = score.argmax(axis=1) if score.ndim == 2 else (score > border).astype(np.intp)
        classes: Array = self.classes_[codes if self.n_classes_ > 1 else codes * 0]
        return classes


def _unique(y: Any) -> tuple[Array, Array]:
    """The classes, sorted, and the position of each row's class among them."""
    try:
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
    except TypeError as error:
        missing = [row for row, label in enumerate(np.asarray(y).flat) if label is None]
        if missing:
            raise DataError.because(
                f"label of row {missing[0]} is missing",
                got=None,
                expected="a class for every row",
                hint="Leave out rows without a label.",
            ) from None
        raise DataError.because(
            f"the classes cannot be sorted ({error})",
            expected="labels of one type",
            hint="Convert them, with y.astype(str) for example.",
        ) from None
    return labels, codes.reshape(-1)


def plain_labels(y: Any) -> Any:
    """Return whole numbers and booleans that come as objects as what they are.

    A table of mixed types, made an array, has nothing else; scikit-learn refuses them.

    Example:
        >>> plain_labels(np.array([0, 1, 1], dtype=object))
        array([0, 1, 1])
        >>> plain_labels(np.array(["a", "b"], dtype=object))
        array(['a', 'b'], dtype=object)
    """
    if str(getattr(y, "dtype", "")) != "object" or getattr(y, "ndim", 0) != 1:
        return y
    values = np.asarray(y)
    is_plain = all(isinstance(v, (int, np.integer, np.bool_)) for v in values)
    return np.array(values.tolist()) if is_plain else y
