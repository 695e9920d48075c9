"""Metrics written by the user (`feval`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.errors import DataError, message
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
        predictions: What they are given: predictions, or with a custom objective raw scores.
        data: The data set that was predicted.
        name: Its name in the results.

    Raises:
        DataError: If a function returns anything but (name, value, maximize).

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
    if callable(functions):
        functions = [functions]
    results = []
    for function in functions:
        returned = function(predictions, data)
        results += [_checked(r, name) for r in (returned if _is_list(returned) else [returned])]
    return results


def _is_list(returned: object) -> bool:
    """Whether a function returned several results; a single one starts with its name."""
    return isinstance(returned, list) or (
        isinstance(returned, Iterable)
        and not isinstance(returned, str)
        and all(isinstance(item, tuple) for item in returned)
    )


def _checked(result: Any, name: str) -> EvalResult:
    try:
        metric, value, maximize = result
        return EvalResult(name, str(metric), float(value), bool(maximize))
    except (TypeError, ValueError):
        raise DataError(
            message(
                "a metric function returned something else",
                got=result,
                expected="(name, value, whether higher is better), or a list of those",
            )
        ) from None
