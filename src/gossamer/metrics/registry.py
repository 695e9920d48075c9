"""Metrics by name."""

from __future__ import annotations

from typing import Final

from gossamer.errors import ParameterError
from gossamer.metrics.base import Metric
from gossamer.metrics.binary import BinaryError, BinaryLogloss
from gossamer.metrics.distribution import CRPS, GaussianLoss, Quantile
from gossamer.metrics.mean_loss import MEAN_LOSSES, LossRow
from gossamer.metrics.multiclass import MultiError, MultiLogloss
from gossamer.metrics.order import AMS, AUC, AUCPR, AUCMu, AveragePrecision, MultiAUC, MultiAUCPR
from gossamer.metrics.ranking import Map, Ndcg, Precision
from gossamer.metrics.regression import L1, L2, R2, RMSE
from gossamer.metrics.several import MeanOverTargets
from gossamer.metrics.survival import AFTLoss, Concordance, CoxLoss, IntervalAccuracy
from gossamer.objectives import Objective, SeveralTargets
from gossamer.params import Params
from gossamer.params.traits import names_of

METRICS: Final[dict[str, type[Metric] | LossRow]] = {
    metric.name: metric
    for metric in (
        L2,
        RMSE,
        L1,
        R2,
        Quantile,
        *MEAN_LOSSES,
        BinaryLogloss,
        BinaryError,
        AUC,
        AveragePrecision,
        AUCPR,
        AMS,
        MultiLogloss,
        MultiError,
        AUCMu,
        MultiAUC,
        MultiAUCPR,
        Ndcg,
        Map,
        Precision,
        CoxLoss,
        AFTLoss,
        IntervalAccuracy,
        Concordance,
        GaussianLoss,
        CRPS,
    )
}


def make_metrics(params: Params, objective: Objective, n_targets: int = 1) -> list[Metric]:
    """Make the metrics of a training: those asked for, or the objective's own.

    With several targets they are means over the targets.

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
        names = (objective.own_metric,) if objective.own_metric else ()
    found: list[Metric] = []
    for spelling in names:
        name, at, argument = spelling.partition("@")
        if at and not METRICS[name].takes_argument:
            raise ParameterError.because(
                f"the metric {name} takes no number after the @", got=spelling, expected=name
            )
        if at and not argument:
            raise ParameterError.because(
                f"nothing follows @ in the name of the metric {name}",
                got=spelling,
                expected=f"{name}@ and a number",
            )
        _check_fits(name, objective, n_targets)
        found += METRICS[name].from_params(params, argument)
    if n_targets > 1 and (isinstance(objective, SeveralTargets) or not objective.takes_targets):
        found = [MeanOverTargets.of(metric, objective, n_targets) for metric in found]
    return list({metric.name: metric for metric in found}.values())


def _check_fits(name: str, objective: Objective, n_targets: int) -> None:
    """Raise if the metric cannot read the scores of the objective."""
    metric, fits = METRICS[name], objective.metrics
    takes = [each.name for each in metric.objectives]
    is_taken = not takes or isinstance(objective, metric.objectives)
    kind = metric.objective_kind
    if kind is not None:
        takes, is_taken = names_of(kind), objective.traits.kind is kind
    # Scores of several classes or targets; or one, or some that the objective makes one of.
    reads = metric.for_classes or n_targets > 1 or objective.n_outputs == 1 or fits
    if reads and is_taken and (fits is None or name in fits):
        return
    raise ParameterError.because(
        f"metric does not fit objective={objective.name}",
        got=name,
        expected=f"one of {', '.join(fits)}" if fits else "another metric",
        hint=f"It is for objective={' or '.join(takes)}." if takes else "",
    )
