"""Objectives and metrics with scikit-learn's order of arguments: labels first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.errors import ParameterError, message

_MOST_ARGUMENTS = 4


@dataclass(frozen=True)
class LabelsFirst:
    """A function of (labels, predictions[, weights[, groups]]) as training wants it.

    Objectives and metrics alike: training calls it with (predictions, data).
    """

    function: Callable[..., Any]
    n_arguments: int

    @classmethod
    def wrap(cls, function: Callable[..., Any], what: str) -> LabelsFirst:
        """Count the function's arguments and wrap it.

        Args:
            function: The user's function.
            what: What it is for, for the message.

        Raises:
            ParameterError: If it does not take two to four arguments.

        Example:
            >>> def halfway(y_true, y_pred):
            ...     return "halfway", float(abs(y_true - y_pred).mean()), False
            >>> import numpy as np
            >>> data = Dataset([[1.0], [2.0]], label=[0, 1]).construct()
            >>> LabelsFirst.wrap(halfway, "eval_metric")(np.array([0.5, 0.5]), data)
            ('halfway', 0.5, False)
        """
        n_arguments = _count_arguments(function)
        if not 2 <= n_arguments <= _MOST_ARGUMENTS:
            raise ParameterError(
                message(
                    f"{what} is a function of the wrong kind",
                    got=f"{n_arguments} arguments",
                    expected="(y_true, y_pred), (y_true, y_pred, weight) or "
                    "(y_true, y_pred, weight, group)",
                )
            )
        return cls(function, n_arguments)

    def __call__(self, predictions: npt.NDArray[Any], data: Dataset) -> Any:
        """Call the function with as many arguments as it takes."""
        arguments = (data.get_label(), predictions, data.get_weight(), data.get_group())
        return self.function(*arguments[: self.n_arguments])


def _count_arguments(function: Callable[..., Any]) -> int:
    """Count the positional arguments; `*args` takes all there are."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not tell
        return 2
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return _MOST_ARGUMENTS
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds)
