"""XGBoost's LambdaMART for NDCG."""

from __future__ import annotations

from typing import Any, ClassVar

from gossamer import _native
from gossamer.objectives.rank_labels import Gains
from gossamer.objectives.rank_pairs import PairRanking, xgboost_rules
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


class RankNdcg(PairRanking):
    """XGBoost's `rank:ndcg`: pairs count by what swapping them would change in NDCG.

    Gains are 2^label - 1, or with `ndcg_exp_gain` off the labels.
    """

    name: ClassVar[str] = "rank:ndcg"
    traits: ClassVar[Traits] = Traits(Kind.RANKING, can_be_clear=True, xgboost="rank:ndcg")

    @classmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        return xgboost_rules(params, _native.PairDelta.ndcg, cls._gains(params))

    @classmethod
    def _gains(cls, params: Params) -> Gains:
        exponential = params.ndcg_exp_gain
        return Gains(_native.GainKind.exponential if exponential else _native.GainKind.linear)
