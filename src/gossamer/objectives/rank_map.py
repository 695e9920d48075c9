"""XGBoost's LambdaMART for mean average precision."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.rank_labels import Gains
from gossamer.objectives.rank_pairs import PairRanking, xgboost_rules
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


class RankMap(PairRanking):
    """XGBoost's `rank:map`: pairs count by what swapping them would change in average precision."""

    name: ClassVar[str] = "rank:map"
    traits: ClassVar[Traits] = Traits(
        Kind.RANKING, aliases=("rank_map",), can_be_clear=True, xgboost="rank:map"
    )
    default_metric: ClassVar[str | None] = "map"

    @classmethod
    def _check_labels(cls, targets: Targets, params: Params | None, name: str) -> None:
        is_bad = (targets.label != 0) & (targets.label != 1)
        if is_bad.any():
            row = int(np.argmax(is_bad))
            raise DataError.because(
                f"label of row {row} of the {name} data does not fit objective={cls.name}",
                got=float(targets.label[row]),
                expected="0 or 1",
                hint="For graded labels use rank:ndcg or rank:pairwise.",
            )

    @classmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        return xgboost_rules(params, _native.PairDelta.map, Gains())
