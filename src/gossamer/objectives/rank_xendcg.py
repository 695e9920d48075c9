"""Cross entropy with NDCG as a bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, Objective, State, random_key
from gossamer.objectives.rank_labels import check_labels, check_queries
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class RankXendcg(Objective):
    """LightGBM's `rank_xendcg`: softmax of a query's scores against its gains.

    A row's gain is 2^label less a random number in [0, 1), another one each round; any label >= 0
    will do. Positions are not used.

    Attributes:
        seed: Seed of the random numbers.
        key: The key of a round.
    """

    name: ClassVar[str] = "rank_xendcg"
    traits: ClassVar[Traits] = Traits(
        Kind.RANKING,
        aliases=("xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
        can_be_clear=True,
        lightgbm="rank_xendcg",
        xgboost="rank:ndcg",
    )
    default_metric: ClassVar[str | None] = "ndcg"

    seed: int = 0
    key: int = field(default=0, compare=False, repr=False)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> RankXendcg:
        """Make the objective; rows must belong to queries."""
        check_queries(targets, f"objective={cls.name}", "training")
        check_labels(targets, f"objective={cls.name}", "training")
        return cls(params.objective_seed)

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check the labels; that there are queries is up to the metrics."""
        check_labels(targets, f"objective={self.name}", name)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return zero: only differences of scores matter."""
        return [0.0]

    def for_round(self, n_round: int, state: State) -> RankXendcg:
        """Return the same with the random numbers of a round."""
        return replace(self, key=random_key(self.seed, n_round))

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        assert out.hessian is not None and targets.queries is not None
        _native.gradients_xendcg(
            score,
            targets.label,
            targets.weight,
            targets.queries,
            self.key,
            out.gradient,
            out.hessian,
            n_threads,
        )
