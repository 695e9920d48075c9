"""What objectives that rank by pairs have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.objectives.base import Gradients, Objective, State, random_key
from gossamer.objectives.rank_labels import Gains, check_labels, check_queries
from gossamer.params import Params
from gossamer.threads import resolve_threads

# Keeps the step of a position bias finite, as in LightGBM.
_SMALLEST_CURVATURE: Final = 0.001
# XGBoost's: a pair's hessian is twice p (1 - p), which is kept above zero.
_HESSIAN_FACTOR: Final = 2.0
_HESSIAN_FLOOR: Final = 1e-16
# XGBoost's: first rows to pair, or pairs to draw for each row.
_PAIRS: Final = {"topk": 32, "mean": 1}
# XGBoost's: places of a query whose bias is learned where pairs are drawn.
_MOST_PLACES: Final = 32
# XGBoost's: costs below are not divided by.
_SMALLEST_COST: Final = 1e-16


@dataclass(frozen=True)
class PairRanking(Objective):
    """Pairs of rows of one query whose labels differ: the better one should score higher.

    With positions, a bias of each position is added to the scores and learned with the trees, so
    that the trees need not explain what rows gained by being shown early.

    With `lambdarank_unbiased` rows were shown in their order within a query. A pair is divided by
    how likely its rows were clicked, and not clicked, at their places, compared with the first
    place; after each round these ratios follow from the losses of the pairs by place (Unbiased
    LambdaMART).

    Attributes:
        seed: Seed of pairs that are drawn.
        learning_rate: Of the position biases.
        bias_penalty: On the position biases, per row.
        pairs: Knows queries, labels and their gains; None in a model that was loaded.
        key: Of the random numbers of a round.
        bias: By position; None: positions are not known. Of unbiased pairs: the ratios of the
            better rows by place, then of the worse rows.
        n_places: Places whose ratios are learned; 0: pairs count as they are.
        exponent: Of the ratios, 1 / (1 + `lambdarank_bias_norm`).
        costs: Losses of the pairs of a round, as `bias` is.
    """

    default_metric: ClassVar[str | None] = "ndcg"

    seed: int = 0
    learning_rate: float = 0.1
    bias_penalty: float = 0.0
    pairs: _native.LambdaRank | None = field(default=None, compare=False, repr=False)
    key: int = field(default=0, compare=False, repr=False)
    bias: State = field(default=None, compare=False, repr=False)
    n_places: int = field(default=0, compare=False, repr=False)
    exponent: float = field(default=1.0, compare=False, repr=False)
    costs: State = field(default=None, compare=False, repr=False)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> PairRanking:
        """Make the objective; rows must belong to queries."""
        queries = check_queries(targets, f"objective={cls.name}", "training")
        cls._check_labels(targets, params, "training")
        n_threads = resolve_threads(params.num_threads, targets.n_rows, 1)
        rules = cls._rules(params)
        return cls(
            params.objective_seed,
            params.learning_rate,
            params.lambdarank_position_bias_regularization,
            _native.LambdaRank(targets.label, queries, n_threads=n_threads, **rules),
            n_places=_count_places(params, targets, queries, rules),
            exponent=1 / (1 + params.lambdarank_bias_norm),
        )

    @classmethod
    def _check_labels(cls, targets: Targets, params: Params | None, name: str) -> None:
        """Check labels; `params` are known of the training data alone."""
        gains = None if params is None else cls._gains(params)
        check_labels(targets, f"objective={cls.name}", name, gains)

    @classmethod
    def _gains(cls, params: Params) -> Gains | None:
        """Return the gains of labels where their size matters; None: only their order does."""
        return None

    @classmethod
    @abstractmethod
    def _rules(cls, params: Params) -> dict[str, Any]:
        """Return the arguments of the native class."""

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check the labels; that there are queries is up to the metrics."""
        self._check_labels(targets, None, name)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return zero: only differences of scores matter."""
        return [0.0]

    def start_state(self, targets: Targets) -> State:
        """Return the biases of the positions: none yet."""
        if self.n_places:
            return np.ones(2 * self.n_places)
        return None if targets.position is None else np.zeros(len(targets.positions))

    def for_round(self, n_round: int, state: State) -> PairRanking:
        """Return the same with the random numbers and the biases of a round."""
        costs = np.zeros(2 * self.n_places) if self.n_places else None
        return replace(self, key=random_key(self.seed, n_round), bias=state, costs=costs)

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        assert out.hessian is not None and self.pairs is not None
        self.pairs.fill(
            score,
            targets.weight,
            targets.position,
            None if self.n_places else self.bias,
            self.bias if self.n_places else None,
            self.costs,
            self.key,
            out.gradient,
            out.hessian,
            n_threads,
        )

    def next_state(self, state: State, targets: Targets, gradients: Gradients) -> State:
        """Return the biases after a Newton step on the gradients of a round."""
        if self.n_places:
            return self._next_ratios(state)
        if state is None or targets.position is None:
            return None
        assert gradients.hessian is not None
        position, n_positions = targets.position, len(state)
        penalty = self.bias_penalty * np.bincount(position, minlength=n_positions)
        slope = np.bincount(position, gradients.gradient, n_positions) + state * penalty
        curvature = np.bincount(position, gradients.hessian, n_positions) + penalty
        step = slope / (curvature + _SMALLEST_CURVATURE)
        biases: State = state - self.learning_rate * step
        return biases

    def _next_ratios(self, state: State) -> State:
        assert state is not None and self.costs is not None
        ratios, costs = state.reshape(2, -1), self.costs.reshape(2, -1)
        first = costs[:, :1]
        has_first = first >= _SMALLEST_COST
        found = (costs / np.where(has_first, first, 1.0)) ** self.exponent
        return np.where(has_first, found, ratios).ravel()


def _count_places(
    params: Params, targets: Targets, queries: npt.NDArray[np.int64], rules: Mapping[str, Any]
) -> int:
    if not params.lambdarank_unbiased:
        return 0
    if targets.position is not None:
        raise ParameterError.because(
            "lambdarank_unbiased takes the order of rows within their query for the order in which "
            "they were shown",
            found="lambdarank_unbiased=True and a data set with position",
            expected="one of the two",
        )
    longest = int(np.diff(queries).max())
    return min(longest, _MOST_PLACES if rules["n_drawn"] else int(rules["n_top"]))


def xgboost_rules(params: Params, delta: _native.PairDelta, gains: Gains) -> dict[str, Any]:
    """Return the arguments of the native class as XGBoost means its parameters."""
    method = params.lambdarank_pair_method
    n_pairs = params.lambdarank_num_pair_per_sample or _PAIRS[method]
    norm = _native.PairNorm.gradients if method == "topk" else _native.PairNorm.pairs
    return {
        "delta": delta,
        "gain": gains.kind,
        "gains": list(gains.table),
        "sigmoid": 1.0,
        "hessian_factor": _HESSIAN_FACTOR,
        "hessian_floor": _HESSIAN_FLOOR,
        "divide_by_difference": params.lambdarank_score_normalization,
        "norm": norm if params.lambdarank_normalization else _native.PairNorm.none,
        "n_top": n_pairs,
        "n_drawn": n_pairs if method == "mean" else 0,
    }
