"""XGBoost's ranking by pairs that all count the same."""

from __future__ import annotations

from typing import Any, ClassVar

from gossamer import _native
from gossamer.objectives.rank_labels import Gains
from gossamer.objectives.rank_pairs import PairRanking, xgboost_rules
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


class RankPairwise(PairRanking):
    """XGBoost's `rank:pairwise` (RankNet): the order of labels matters, not their size."""

    name: ClassVar[str] = "rank:pairwise"
    traits: ClassVar[Traits] = Traits(
        Kind.RANKING, aliases=("rank_pairwise",), can_be_clear=True, xgboost="rank:pairwise"
    )

    @classmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        return xgboost_rules(params, _native.PairDelta.pairwise, Gains())
