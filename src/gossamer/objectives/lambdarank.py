"""LambdaRank: pairs count by what swapping them would change in NDCG."""

from __future__ import annotations

from typing import Any, ClassVar

from gossamer import _native
from gossamer.objectives.rank_labels import Gains
from gossamer.objectives.rank_pairs import PairRanking
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


class Lambdarank(PairRanking):
    """LightGBM's `lambdarank`.

    A pair of rows, better label first, has the loss log(1 + exp(-sigmoid x difference of scores))
    times the change of NDCG if the two swapped places. One of them is among the first
    `lambdarank_truncation_level` by score. With `lambdarank_norm` a pair counts less the further
    apart its scores are, and the sum S of a query's gradients becomes log2(1 + S).

    Labels are whole numbers, gains 2^label - 1 or `label_gain`. Where labels are above 900, the
    gains of a query are divided by a power of two, which changes no share of them.
    """

    name: ClassVar[str] = "lambdarank"
    traits: ClassVar[Traits] = Traits(
        Kind.RANKING, can_be_clear=True, lightgbm="lambdarank", xgboost="rank:ndcg"
    )

    @classmethod
    def _gains(cls, params: Params) -> Gains:
        return Gains.from_params(params)

    @classmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        gains = cls._gains(params)
        norm = _native.PairNorm.gradients if params.lambdarank_norm else _native.PairNorm.none
        return {
            "delta": _native.PairDelta.ndcg,
            "gain": gains.kind,
            "gains": list(gains.table),
            "sigmoid": params.sigmoid,
            "hessian_factor": 1.0,
            "hessian_floor": 0.0,
            "divide_by_difference": params.lambdarank_norm,
            "norm": norm,
            "n_top": params.lambdarank_truncation_level,
            "n_drawn": 0,
        }
