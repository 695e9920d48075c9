"""Objectives and metrics with scikit-learn's order of arguments, as `train` wants them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.errors import ParameterError
from gossamer.sklearn.functions import LabelsFirst


def as_objective(function: Callable[..., Any]) -> Callable[[npt.NDArray[Any], DMatrix], Any]:
    """Return a function of (y_true, y_pred[, sample_weight]) as one of (y_pred, data).

    Example:
        >>> import numpy as np
        >>> half = as_objective(lambda y_true, y_pred: (y_pred - y_true, np.ones(2)))
        >>> half(np.array([3.0, 4.0]), DMatrix([[0.0], [0.0]], label=[1, 1]))[0]
        array([2., 3.])
    """
    call = _Caller.wrap(function, "objective")

    def objective(predictions: npt.NDArray[Any], data: DMatrix) -> Any:
        return call(predictions, data)

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
    calls = [_Caller.wrap(function, "eval_metric") for function in functions]

    def metric(predictions: npt.NDArray[Any], data: DMatrix) -> list[tuple[str, float]]:
        return [(_name(call.function), float(call(predictions, data))) for call in calls]

    return metric


@dataclass(frozen=True)
class _Caller:
    """A function of labels and predictions that is given weights where the data has some."""

    function: Callable[..., Any]
    n_arguments: int
    what: str
    takes_keyword: bool  # sample_weight=

    @classmethod
    def wrap(cls, function: Callable[..., Any], what: str) -> _Caller:
        n_arguments = LabelsFirst.wrap(function, what).n_arguments
        return cls(function, n_arguments, what, _takes_sample_weight(function))

    def __call__(self, predictions: npt.NDArray[Any], data: DMatrix) -> Any:
        label, weight = data.get_label(), data.get_weight()
        has_weight = len(weight) > 0
        if has_weight and self.takes_keyword:
            return self.function(label, predictions, sample_weight=weight)
        if self.n_arguments > 2 and not self.takes_keyword:
            return self.function(label, predictions, weight if has_weight else None)
        if has_weight:
            raise ParameterError.because(
                f"rows have weights that the {self.what} function does not take",
                got=_name(self.function),
                expected="a function of (y_true, y_pred, sample_weight)",
                hint="Give it an argument sample_weight=None.",
            )
        return self.function(label, predictions)


def _takes_sample_weight(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not tell
        return False
    return any(each.name == "sample_weight" or each.kind is each.VAR_KEYWORD for each in parameters)


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))
