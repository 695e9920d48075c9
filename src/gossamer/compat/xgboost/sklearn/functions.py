"""Objectives and metrics with scikit-learn's order of arguments, as `train` wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.sklearn.functions import LabelsFirst


def as_objective(function: Callable[..., Any]) -> Callable[[npt.NDArray[Any], DMatrix], Any]:
    """Return a function of (y_true, y_pred[, sample_weight]) as one of (y_pred, data).

    Example:
        >>> import numpy as np
        >>> half = as_objective(lambda y_true, y_pred: (y_pred - y_true, np.ones(2)))
        >>> half(np.array([3.0, 4.0]), DMatrix([[0.0], [0.0]], label=[1, 1]))[0]
        array([2., 3.])
    """
    n_arguments = LabelsFirst.wrap(function, "objective").n_arguments

    def objective(predictions: npt.NDArray[Any], data: DMatrix) -> Any:
        return function(*_arguments(predictions, data, n_arguments))

    return objective


def as_metric(
    functions: Sequence[Callable[..., Any]],
) -> Callable[[npt.NDArray[Any], DMatrix], list[tuple[str, float]]]:
    """Return functions of (y_true, y_pred[, sample_weight]) as one metric; they give its names.

    Example:
        >>> import numpy as np
        >>> def bias(y_true, y_pred):
        ...     return (y_pred - y_true).mean()
        >>> as_metric([bias])(np.array([3.0, 4.0]), DMatrix([[0.0], [0.0]], label=[1, 1]))
        [('bias', 2.5)]
    """
    counts = [LabelsFirst.wrap(function, "eval_metric").n_arguments for function in functions]

    def metric(predictions: npt.NDArray[Any], data: DMatrix) -> list[tuple[str, float]]:
        return [
            (_name(function), float(function(*_arguments(predictions, data, count))))
            for function, count in zip(functions, counts, strict=True)
        ]

    return metric


def _arguments(predictions: npt.NDArray[Any], data: DMatrix, n_arguments: int) -> tuple[Any, ...]:
    weight = data.get_weight()
    return (data.get_label(), predictions, weight if len(weight) else None)[: min(n_arguments, 3)]


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
