"""Hand the metrics to an experiment tracker."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from gossamer.callbacks.env import CallbackEnv
from gossamer.errors import ParameterError


@dataclass(eq=False)
class _ReportMetrics:
    order: ClassVar[int] = 12
    before_iteration: ClassVar[bool] = False

    log: Callable[..., Any]
    period: int

    def __call__(self, env: CallbackEnv) -> None:
        step = env.iteration + 1
        if step % self.period and env.iteration != env.end_iteration - 1:
            return
        for result in env.evaluation_result_list or ():
            self.log(_key(result.dataset_name, result.metric_name), result.metric_value, step=step)


def _key(dataset: str, metric: str) -> str:
    """Return a name with characters that trackers take."""
    return re.sub(r"[^\w\-. /]", "_", f"{dataset}/{metric.replace('@', '_at_')}")


def report_metrics(log: Callable[..., Any], period: int = 1) -> _ReportMetrics:
    """Pass the metrics of every round to a function, such as `mlflow.log_metric`.

    Args:
        log: Called as `log(name, value, step=round)`, where the name is "data set/metric", and
            rounds count from 1.
        period: Number of rounds between two reports. The last round is always reported.

    Raises:
        ParameterError: If `log` cannot be called, or the period is below 1.

    Example:
        >>> from gossamer.callbacks import CallbackEnv, EvalResult
        >>> env = CallbackEnv(None, {}, 4, 0, 10, [EvalResult("valid", "ndcg@5", 0.25, True)])
        >>> report_metrics(lambda name, value, step: print(name, value, step))(env)
        valid/ndcg_at_5 0.25 5
    """
    if not callable(log):
        raise ParameterError.because(
            "log cannot be called", got=log, expected="a function (name, value, step=)"
        )
    if isinstance(period, bool) or not isinstance(period, int) or period < 1:
        raise ParameterError.because("period cannot be used", got=period, expected="1 or more")
    return _ReportMetrics(log, period)
