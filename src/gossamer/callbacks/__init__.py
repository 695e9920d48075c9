"""Callbacks: what may happen before and after each round of training.

A callback is called with a `CallbackEnv`. It runs after the round, or before it where its attribute
`before_iteration` is true; those with a smaller `order` run first. The protocol is LightGBM's.
"""

from gossamer.callbacks.checkpoint import checkpoint
from gossamer.callbacks.env import CallbackEnv, EarlyStopException
from gossamer.callbacks.log import log_evaluation
from gossamer.callbacks.progress import progress_bar
from gossamer.callbacks.record import record_evaluation
from gossamer.callbacks.report import report_metrics
from gossamer.callbacks.reset import reset_parameter
from gossamer.callbacks.stop import early_stopping
from gossamer.metrics.eval_result import EvalResult

__all__ = [
    "CallbackEnv",
    "EarlyStopException",
    "EvalResult",
    "checkpoint",
    "early_stopping",
    "log_evaluation",
    "progress_bar",
    "record_evaluation",
    "report_metrics",
    "reset_parameter",
]
