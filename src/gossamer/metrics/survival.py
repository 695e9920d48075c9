"""Metrics of survival data: cox-nloglik, aft-nloglik, interval-regression-accuracy, c_index."""

from __future__ import annotations

from typing import ClassVar

from gossamer import _native
from gossamer.data import Targets
from gossamer.metrics.base import Metric, Scores
from gossamer.objectives import AFT, Cox, Objective
from gossamer.objectives.aft import LARGEST_LOSS
from gossamer.objectives.cox import order_of
from gossamer.objectives.survival import intervals
from gossamer.params.traits import Kind


class CoxLoss(Metric):
    """Mean negative partial log-likelihood of the events; 0 where there are none."""

    name = "cox-nloglik"
    objectives: ClassVar[tuple[type[Objective], ...]] = (Cox,)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean over events; a row of weight w counts as w rows."""
        order = order_of(targets)
        return order.loss(score, n_threads) / (order.event_weight or 1.0)


class AFTLoss(Metric):
    """Mean negative log-likelihood; as in XGBoost likelihoods are taken to be at least 1e-12."""

    name = "aft-nloglik"
    objectives: ClassVar[tuple[type[Objective], ...]] = (AFT,)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean negative log-likelihood."""
        assert isinstance(objective, AFT)
        total = objective.total_loss(score, targets, n_threads, LARGEST_LOSS)
        return total / targets.total_weight


class IntervalAccuracy(Metric):
    """Share of rows whose predicted time lies within its bounds."""

    name = "interval-regression-accuracy"
    maximize = True
    objectives: ClassVar[tuple[type[Objective], ...]] = (AFT,)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the share of rows."""
        lower, upper = intervals(targets)
        predicted = objective.to_predictions(score, n_threads)
        return targets.average((predicted >= lower) & (predicted <= upper))


class Concordance(Metric):
    """Harrell's concordance index: of the pairs whose order is known, the share in that order.

    Pairs of equal predictions count half; without a pair it is 0.5. An interval comes before all
    rows that surely end later.
    """

    name = "c_index"
    maximize = True
    objective_kind: ClassVar[Kind | None] = Kind.SURVIVAL

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the index; a pair counts the product of its weights."""
        lower, upper = intervals(targets)
        risk = -score if objective.traits.predicts_times else score
        return _native.concordance(lower, upper, risk, targets.weight)
