"""Metrics written by the user (`feval`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.errors import DataError, ParameterError
from gossamer.metrics.eval_result import EvalResult

# LightGBM's signature: (predictions, data) -> (name, value, maximize), or a list of those.
CustomMetric = Callable[[npt.NDArray[Any], Dataset], Any]


def evaluate_custom(
    functions: CustomMetric | Sequence[CustomMetric] | None,
    predictions: npt.NDArray[Any],
    data: Dataset,
    name: str,
) -> list[EvalResult]:
    """Call the user's metric functions.

    Args:
        functions: None, one, or several.
        predictions: What they are given, (rows,) or (rows, outputs): predictions, or with a custom
            objective raw scores.
        data: The data set that was predicted.
        name: Its name in the results.

    Raises:
        DataError: If a function returns anything but (name, value, maximize).
        ParameterError: If one of them is not a function.

    Example:
        >>> import numpy as np
        >>> def bias(predictions, data):
        ...     return "bias", np.mean(predictions - data.get_label()), False
        >>> evaluate_custom(bias, np.array([2.0]), Dataset([[0]], label=[1.5]), "valid")
        [EvalResult(dataset_name='valid', metric_name='bias', metric_value=0.5, \
maximize=False, metric_std_dev=None)]
    """
    if functions is None:
        return []
    each = [functions] if callable(functions) else _checked_functions(functions)
    results = []
    for function in each:
        # A function may change what it is given; the next one must not see that.
        returned = function(predictions if len(each) == 1 else predictions.copy(), data)
        results += [_checked(result, name) for result in _as_list(returned)]
    return results


def _checked_functions(functions: Any) -> list[CustomMetric]:
    found = functions if isinstance(functions, list | tuple) else [functions]
    for function in found:
        if not callable(function):
            raise ParameterError.because(
                "feval must be a function",
                got=function,
                expected="a function of (predictions, data), or a list of functions",
                hint="Names of metrics go into params['metric'].",
            )
    return list(found)


def _as_list(returned: object) -> list[Any]:
    """The results that a function returned; a single one starts with its name."""
    if isinstance(returned, str) or not isinstance(returned, Iterable):
        return [returned]
    results = list(returned)
    if isinstance(returned, list) or all(isinstance(result, tuple) for result in results):
        return results
    return [returned]


def _checked(result: Any, name: str) -> EvalResult:
    try:
        metric, value, maximize = result
        if not isinstance(metric, str) or isinstance(value, str) or isinstance(maximize, str):
            raise TypeError
        return EvalResult(name, metric, float(value), bool(maximize))
    except (TypeError, ValueError, OverflowError):
        raise DataError.because(
            "a metric function returned an unexpected value",
            got=result,
            expected="(name, value, whether higher is better), or a list of those",
        ) from None
