"""Metrics: one small file per family, and a registry by name."""

from gossamer.metrics.base import Metric
from gossamer.metrics.custom import CustomMetric, evaluate_custom
from gossamer.metrics.eval_result import EvalResult, format_results
from gossamer.metrics.registry import make_metrics

__all__ = [
    "CustomMetric",
    "EvalResult",
    "Metric",
    "evaluate_custom",
    "format_results",
    "make_metrics",
]
