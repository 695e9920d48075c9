"""Weights of classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_sample_weight

from gossamer.errors import NotSupportedError, ParameterError

Array = npt.NDArray[Any]


def weigh_by_class(class_weight: Any, y: Array, classes: Any = None) -> Array:
    """Return the weight of each row's class.

    Args:
        class_weight: Weight by class (1 where there is none), or "balanced".
        y: One label per row.
        classes: The classes there are; None: those among the labels, and any weight may be given.

    Raises:
        ParameterError: If it is neither, names a class that is not there, or a weight is no
            finite number >= 0.
        NotSupportedError: If there are several labels per row.

    Example:
        >>> weigh_by_class({"rare": 5}, np.array(["rare", "common", "rare"]))
        array([5., 1., 5.])
    """
    if y.ndim > 1:
        raise NotSupportedError.because(
            "class_weight needs one label per row",
            found=f"{y.shape[1]} columns of labels",
            hint="Use scale_pos_weight or is_unbalance, which weight each label's rows, or "
            "sample_weight.",
        )
    if isinstance(class_weight, Mapping):
        return _from_mapping(class_weight, y, classes)
    if not isinstance(class_weight, str) or class_weight != "balanced":
        raise ParameterError.because(
            "class_weight cannot be used",
            got=class_weight,
            expected="a dict of weights by class, 'balanced' or None",
        )
    weight: Array = compute_sample_weight("balanced", y)
    return weight


def _from_mapping(class_weight: Mapping[Any, Any], y: Array, classes: Any) -> Array:
    known = None if classes is None else np.asarray(classes).tolist()
    for name, weight in class_weight.items():
        if known is not None and name not in known:
            raise ParameterError.because(
                "class_weight has a class that is not among the labels",
                got=name,
                expected=f"one of {', '.join(map(repr, known[:10]))}",
            )
        if not isinstance(weight, (Real, np.bool_)) or not 0 <= float(weight) < math.inf:
            raise ParameterError.because(
                f"class_weight of the class {name!r} cannot be used",
                got=weight,
                expected="a finite number >= 0",
            )
    labels, codes = np.unique(y, return_inverse=True)
    by_class = np.array([float(class_weight.get(label, 1.0)) for label in labels.tolist()])
    return by_class[codes.reshape(-1)]
