"""Objectives and metrics with scikit-learn's order of arguments: labels first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from gossamer.arguments import as_list
from gossamer.data import Dataset
from gossamer.errors import ParameterError

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
            raise ParameterError.because(
                f"{what} is a function of the wrong kind",
                found=f"{n_arguments} arguments",
                expected="(y_true, y_pred), (y_true, y_pred, weight) or "
                "(y_true, y_pred, weight, group)",
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


def read_metrics(eval_metric: Any) -> tuple[list[Any], list[LabelsFirst]]:
    """Return the metrics that `eval_metric` names, and those that are functions.

    Example:
        >>> read_metrics(["l1, l2", "auc"])
        (['l1', 'l2', 'auc'], [])
    """
    is_one = isinstance(eval_metric, str) or callable(eval_metric)
    wanted = [eval_metric] if is_one else as_list("eval_metric", eval_metric)
    functions = [LabelsFirst.wrap(f, "eval_metric") for f in wanted if callable(f)]
    return split_names([metric for metric in wanted if not callable(metric)]), functions


def split_names(names: Any) -> list[Any]:
    """Return names of metrics one by one; as in a parameter, a string may hold several."""
    parts = [names] if isinstance(names, str) else as_list("metric", names)
    return [
        name
        for part in parts
        for name in (map(str.strip, part.split(",")) if isinstance(part, str) else [part])
        if name is not None and not (isinstance(name, str) and name == "")
    ]
