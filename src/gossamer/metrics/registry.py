"""Metrics by name."""

from __future__ import annotations

from typing import Final

from gossamer.errors import ParameterError, message
from gossamer.metrics.base import Metric
from gossamer.metrics.binary import AUC, BinaryError, BinaryLogloss
from gossamer.metrics.multiclass import MultiError, MultiLogloss
from gossamer.metrics.ranking import Map, Ndcg, Precision
from gossamer.metrics.regression import L1, L2, RMSE
from gossamer.objectives import Objective
from gossamer.params import Params

METRICS: Final[dict[str, type[Metric]]] = {
    metric.name: metric
    for metric in (
        L2,
        RMSE,
        L1,
        BinaryLogloss,
        BinaryError,
        AUC,
        MultiLogloss,
        MultiError,
        Ndcg,
        Map,
        Precision,
    )
}


def make_metrics(params: Params, objective: Objective) -> list[Metric]:
    """Make the metrics of a training: those asked for, or the objective's own.

    Example:
        >>> from gossamer.objectives import Regression
        >>> from gossamer.params import resolve
        >>> [metric.name for metric in make_metrics(resolve({"metric": "mae,rmse"}), Regression())]
        ['l1', 'rmse']
        >>> [metric.name for metric in make_metrics(resolve({}), Regression())]
        ['l2']
    """
    names = params.metric
    if names is None:
        names = (objective.default_metric,) if objective.default_metric else ()
    found = []
    for spelling in names:
        name, _, argument = spelling.partition("@")
        if argument and not METRICS[name].takes_argument:
            raise ParameterError(
                message(f"the metric {name} takes nothing after @", got=spelling, expected=name)
            )
        found += METRICS[name].from_params(params, argument)
    return list({metric.name: metric for metric in found}.values())
