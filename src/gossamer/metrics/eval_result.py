"""One value of one metric on one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple


class EvalResult(NamedTuple):
    """Value of a metric on a data set.

    It unpacks as the 4-tuple of `train()`, or, with a standard deviation, as the 5-tuple of `cv()`.

    Attributes:
        dataset_name: Name of the data set.
        metric_name: Name of the metric.
        metric_value: Its value; from `cv()`, the mean over the folds.
        maximize: Whether higher is better.
        metric_std_dev: Standard deviation over the folds, from `cv()` only.

    Example:
        >>> dataset, metric, value, maximize = EvalResult("valid", "auc", 0.9, True)
        >>> len(EvalResult("valid", "auc", 0.9, True, 0.01))
        5
    """

    dataset_name: str
    metric_name: str
    metric_value: float
    maximize: bool
    metric_std_dev: float | None = None

    def __len__(self) -> int:
        """4 or 5: the standard deviation counts only where there is one."""
        return 5 if self.is_cv_result() else 4

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the 4 or 5 fields."""
        return (self[i] for i in range(len(self)))

    def is_cv_result(self) -> bool:
        """Whether the value is a mean over folds.

        Example:
            >>> EvalResult("valid", "auc", 0.9, True).is_cv_result()
            False
        """
        return self.metric_std_dev is not None


def format_results(results: Sequence[EvalResult], show_stdv: bool = True) -> str:
    """Write results in one line, separated by tabs.

    Example:
        >>> format_results([EvalResult("valid", "l2", 0.25, False, 0.01)])
        "valid's l2: 0.25 + 0.01"
    """
    return "\t".join(_format_result(result, show_stdv) for result in results)


def _format_result(result: EvalResult, show_stdv: bool) -> str:
    text = f"{result.dataset_name}'s {result.metric_name}: {result.metric_value:g}"
    if show_stdv and result.metric_std_dev is not None:
        text += f" + {result.metric_std_dev:g}"
    return text
