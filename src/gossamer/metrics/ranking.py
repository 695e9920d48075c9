"""Metrics of ranking: ndcg, map, pre.

A value per query, then their mean; queries are weighted by the mean weight of their rows. A query
without relevant rows counts 1, as in LightGBM, or 0 where the name ends in "-", as in XGBoost.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.metrics.base import Metric, Scores
from gossamer.objectives import Objective
from gossamer.objectives.rank_labels import Gains, check_labels, check_queries
from gossamer.params import Params

# Ranks that count where all do.
_ALL_RANKS: Final = 2**62


@dataclass(frozen=True)
class RankingMetric(Metric):
    """A metric of the first ranks of each query.

    Attributes:
        n_top: Ranks that count.
        without_relevant: Value of a query without relevant rows.
    """

    takes_argument: ClassVar[bool] = True
    kind: ClassVar[_native.RankMetric]

    name: str = ""
    maximize: bool = True
    n_top: int = _ALL_RANKS
    without_relevant: float = 1.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make one metric per rank of `eval_at`, or the one that is named.

        Args:
            params: The parameters.
            argument: "10", "10-", or "-" for all ranks.
        """
        one = cls._named(params)
        digits = argument.removesuffix("-")
        if argument != digits:
            one = replace(one, without_relevant=0.0)
        if not argument:
            ranks = sorted(set(params.eval_at))
            return [replace(one, name=f"{one.name}@{k}", n_top=_rank(k)) for k in ranks]
        if not digits:
            return [replace(one, name=f"{one.name}-")]
        return [replace(one, name=f"{one.name}@{argument}", n_top=_rank(digits))]

    @classmethod
    def _named(cls, params: Params) -> RankingMetric:
        return cls()

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean over the queries."""
        return self._evaluate(score, targets, Gains(), n_threads)

    def _evaluate(
        self, score: npt.NDArray[np.float64], targets: Targets, gains: Gains, n_threads: int
    ) -> float:
        return _native.ranking_metric(
            score,
            targets.label,
            targets.weight,
            check_queries(targets, f"the metric {self.name}", "evaluated"),
            self.kind,
            self.n_top,
            self.without_relevant,
            gains.kind,
            list(gains.table),
            n_threads,
        )


@dataclass(frozen=True)
class Ndcg(RankingMetric):
    """Normalised discounted cumulative gain.

    Gains are 2^label - 1, or `label_gain`, or with `ndcg_exp_gain` off the labels.
    """

    kind: ClassVar[_native.RankMetric] = _native.RankMetric.ndcg

    name: str = "ndcg"
    gains: Gains = field(default_factory=Gains)

    @classmethod
    def _named(cls, params: Params) -> RankingMetric:
        gains = Gains.from_params(params)
        if not gains.table and not params.ndcg_exp_gain:
            gains = Gains(_native.GainKind.linear)
        return cls(gains=gains)

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean over the queries."""
        check_labels(targets, f"the metric {self.name}", "evaluated", self.gains)
        return self._evaluate(score, targets, self.gains, n_threads)


@dataclass(frozen=True)
class Map(RankingMetric):
    """Mean average precision; rows with a label above 0.5 are relevant."""

    kind: ClassVar[_native.RankMetric] = _native.RankMetric.map

    name: str = "map"


@dataclass(frozen=True)
class Precision(RankingMetric):
    """Mean label among the first ranks: with labels 0 and 1, the share of relevant rows."""

    kind: ClassVar[_native.RankMetric] = _native.RankMetric.precision

    name: str = "pre"


def _rank(text: str | int) -> int:
    try:
        rank = int(text)
    except ValueError:
        rank = 0
    if rank < 1:
        raise ParameterError.because(
            "a metric cannot be evaluated at this rank",
            got=text,
            expected="a whole number, 1 or more",
            hint="Ranks come from eval_at, or follow the name as in ndcg@10.",
        )
    return rank
