"""XGBoost's LambdaMART for NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gossamer import _native
from gossamer.objectives.rank_labels import Gains
from gossamer.objectives.rank_pairs import PairRanking, xgboost_rules
from gossamer.params import Params


@dataclass(frozen=True)
class RankNdcg(PairRanking):
    """XGBoost's `rank:ndcg`: pairs count by what swapping them would change in NDCG.

    Gains are 2^label - 1, or with `ndcg_exp_gain` off the labels.
    """

    name: ClassVar[str] = "rank:ndcg"

    @classmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        kind = _native.GainKind.exponential if params.ndcg_exp_gain else _native.GainKind.linear
        return xgboost_rules(params, _native.PairDelta.ndcg, Gains(kind))
