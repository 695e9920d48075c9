"""DART (`boosting=dart`): boosting with dropout of trees (Rashmi and Gilad-Bachrach 2015).

A round leaves some earlier trees out, fits a tree to what is missing without them, and weighs the
new tree and those left out so that together they do not overshoot. So weights of trees change all
the time, and scores with them. Leaf values and scores are therefore multiples of a power of two,
the **unit**: then sums of them are exact, in any order, and adding and taking away trees for
hundreds of rounds leaves no trace. Scores are bit for bit what the model predicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from gossamer import _native
from gossamer.model.training.boosting import (
    Boosting,
    BoostingState,
    RoundScores,
    Scores,
    add_tree,
)
from gossamer.params import Params
from gossamer.sampling import make_key
from gossamer.sampling.keys import Stream
from gossamer.tree import Forest

if TYPE_CHECKING:
    from gossamer.model.training.scored_set import ScoredSet
    from gossamer.model.training.training import Training

# A unit is so many binary digits below the first trees' largest value, and at most so many below
# the largest score before them. Sums are exact up to 2^53 units: 2^15 times the former, 2^5 times
# the latter.
_VALUE_BITS: Final = 38
_SCORE_BITS: Final = 48


class Dart(Boosting):
    """Trees are left out at random, and weighed again when they come back.

    `Training.trees` are the trees as they were grown; the model has their values times a factor.
    What is left out at once is a **part**: a round, or a tree with `drop_single_trees`.
    """

    adds_trees: ClassVar[bool] = False
    rescales: ClassVar[bool] = True

    def __init__(self, params: Params) -> None:
        """Start without rounds."""
        super().__init__(params)
        self._unit = 0.0  # 0: not known before a tree has split
        self._unit_from = 0  # round that made it known
        self._start: list[float] = []  # before it became a multiple of the unit
        # By part: what its trees are multiplied by now.
        self._factors: list[float] = []
        # By round: the learning rate its trees were grown with, and which factors it changed:
        # (part, factor before).
        self._rates: list[float] = []
        self._changes: list[list[tuple[int, float]]] = []
        # The round in progress: parts left out, their factors after it, and scores.
        self._dropped: dict[int, float] = {}
        self._at: Scores | None = None
        self._room: Scores | None = None

    # ---- a round ----

    def begin_round(self, training: Training, n_round: int) -> RoundScores:
        """See `Boosting`."""
        params = self._params
        n_new = self._parts_of(training)
        dropped = choose_dropped(params, n_round, self._weights(n_new))
        rate = params.learning_rate
        # Of a new part, next to one dropped.
        share = (rate if params.xgboost_dart_mode else 1.0) / n_new
        is_forest = params.xgboost_dart_mode and params.normalize_type == "forest"
        weight = min(len(dropped), 1) if is_forest else len(dropped)
        if weight > 0 or not params.xgboost_dart_mode:
            rate /= weight + share
        factor = weight / (weight + share)
        self._rate = rate
        self._dropped = {j: self._factors[j] * factor for j in dropped}
        training.prepared.grower.set_step(learning_rate=rate, value_unit=self._unit)
        score = training.train.score
        if self._unit == 0.0:
            score = score.copy()  # values are rounded once the unit is known
        elif dropped:
            score = self._leave_out(training)
        self._at = score
        return RoundScores(score, score)

    def _leave_out(self, training: Training) -> Scores:
        """Return the training scores without the dropped trees; what they will add is set aside.

        Rows go down each tree once, for both.
        """
        train, n_trees = training.train, training.trees_per_set
        size = len(train.score) // n_trees
        if self._room is None or self._room.shape[2] != size:
            self._room = np.empty((n_trees, 2, size))
        self._room[:, 0] = train.score.reshape(n_trees, size)
        self._room[:, 1] = 0.0
        for j, factor in self._dropped.items():
            for t, tree in self._part(training, j):
                old, new = (self._values(tree, f) for f in (self._factors[j], factor))
                both = np.stack([v.reshape(tree.n_leaves, -1) for v in (-old, new)], axis=1).ravel()
                score = self._room[t % n_trees].reshape(-1)
                train.table.add_tree(tree, score, train.n_threads, values=both, raw=train.raw)
        return self._room[:, 0].reshape(-1)

    def end_round(self, training: Training, trees: Sequence[Any]) -> None:
        """See `Boosting`."""
        factors = list(self._factors)
        changes: list[tuple[int, float]] = []
        if self._unit == 0.0:
            self._choose_unit(training, trees)
            for scored in (training.train, *training.valid):
                self._add_snapped(training, scored, trees)
        elif any(tree.n_leaves > 1 for tree in trees):  # otherwise nothing takes their place
            if self._dropped:
                assert self._at is not None and self._room is not None
                back = self._room[:, 1].reshape(-1)
                np.add(self._at, back, out=training.train.score)
            for valid in training.valid:
                self._move(training, valid, self._dropped.items())
                self._add_trees(training, valid, trees)
            changes = [(j, factors[j]) for j in self._dropped]
            for j, factor in self._dropped.items():
                factors[j] = factor
        self._at = None
        self._rates.append(self._rate)
        self._changes.append(changes)
        self._factors = factors + [1.0] * self._parts_of(training)

    def rewind(self, training: Training, n_rounds: int, with_scores: bool = True) -> None:
        """See `Boosting`."""
        factors = list(self._factors)
        for changes in reversed(self._changes[n_rounds:]):
            for j, factor in changes:
                factors[j] = factor
        n_parts = n_rounds * self._parts_of(training)
        factors[n_parts:] = [0.0] * (len(factors) - n_parts)
        if with_scores:
            moved = [(j, f) for j, f in enumerate(factors) if f != self._factors[j]]
            for scored in (training.train, *training.valid):
                self._move(training, scored, moved)
        del training.trees[n_rounds * training.trees_per_round :]
        self._factors = factors[:n_parts]
        del self._rates[n_rounds:], self._changes[n_rounds:]
        if self._unit > 0.0 and n_rounds <= self._unit_from:
            self._unit = 0.0
            training.start[:] = self._start
            for scored in (training.train, *training.valid):
                self.start_scores(training, scored)

    def _parts_of(self, trees: Training | Forest) -> int:
        """How many parts a round has."""
        return trees.trees_per_round if self._params.drop_single_trees else 1

    def _weights(self, n_parts: int) -> list[float]:
        rates = [rate for rate in self._rates for _ in range(n_parts)]
        return [rate * factor for rate, factor in zip(rates, self._factors, strict=True)]

    def _part(self, training: Training, j: int) -> Iterator[tuple[int, Any]]:
        """Number and tree of every tree of a part that has a split."""
        k = training.trees_per_round // self._parts_of(training)
        for t in range(j * k, (j + 1) * k):
            if training.trees[t].n_leaves > 1:
                yield t, training.trees[t]

    # ---- values ----

    def _choose_unit(self, training: Training, trees: Sequence[Any]) -> None:
        """Find the unit from the first trees, and round what scores start from."""
        value = max(tree.largest_value for tree in trees)
        if value == 0.0:
            return
        score = float(np.abs(training.train.score).max())
        exponent = math.frexp(value)[1] - _VALUE_BITS
        if score > 0.0:
            exponent = max(exponent, math.frexp(score)[1] - _SCORE_BITS)
        self._unit = math.ldexp(1.0, max(exponent, -1022))
        self._unit_from = len(self._rates)
        self._start = training.start.tolist()
        training.start[:] = self._snap(training.start)
        for scored in (training.train, *training.valid):
            scored.score[:] = self._snap(scored.score)

    def _snap(self, values: Scores) -> Scores:
        if self._unit == 0.0:
            return values  # all trees so far are zero
        with np.errstate(over="ignore"):
            found = np.rint(values / self._unit) * self._unit
        # A checkpoint may have a unit that does not fit: values too large for it stay.
        return np.where(np.isfinite(found), found, values)

    def _values(self, tree: Any, factor: float) -> Scores:
        """Leaf values of a tree as the model has them at this factor."""
        return self._snap(tree.leaf_value * factor)

    def _move(
        self, training: Training, scored: ScoredSet, factors: Iterable[tuple[int, float]]
    ) -> None:
        """Bring scores from the factors that parts have to others."""
        for j, factor in factors:
            for t, tree in self._part(training, j):
                step = self._values(tree, factor) - self._values(tree, self._factors[j])
                add_tree(training, scored, t, tree, step)

    def _add_snapped(self, training: Training, scored: ScoredSet, trees: Sequence[Any]) -> None:
        for t, tree in enumerate(trees):
            if tree.n_leaves > 1:
                add_tree(training, scored, t, tree, self._values(tree, 1.0))

    def start_scores(self, training: Training, scored: ScoredSet) -> None:
        """See `Boosting`."""
        super().start_scores(training, scored)
        scored.score[:] = self._snap(scored.score)

    def add_rounds(self, training: Training, scored: ScoredSet) -> None:
        """See `Boosting`."""
        for j, factor in enumerate(self._factors):
            for t, tree in self._part(training, j):
                add_tree(training, scored, t, tree, self._values(tree, factor))

    # ---- the model ----

    def weigh(self, forest: Forest) -> Forest:
        """See `Boosting`."""
        if self._unit == 0.0:
            return forest
        n_parts = self._parts_of(forest)
        n_before = forest.n_rounds - len(self._rates)  # of a model that is trained further
        factor = np.append(np.ones(n_before * n_parts), self._factors)
        by_tree = np.repeat(factor, forest.trees_per_round // n_parts)
        arrays = dict(forest.arrays)
        for name, begin in (("node_value", forest.node_begin), ("leaf_value", forest.leaf_begin)):
            arrays[name] = arrays[name] * np.repeat(by_tree, np.diff(begin) * forest.n_values)
        first = forest.leaf_begin[n_before * forest.trees_per_round] * forest.n_values
        arrays["leaf_value"][first:] = self._snap(arrays["leaf_value"][first:])
        return replace(forest, arrays=arrays)

    def state(self) -> BoostingState:
        """See `Boosting`."""
        return {
            "unit": self._unit,
            "unit_from": self._unit_from,
            "start": list(self._start),
            "rates": list(self._rates),
            "factors": list(self._factors),
            "changes": [[list(change) for change in changes] for changes in self._changes],
        }

    def mark(self) -> Any:
        """See `Boosting`."""
        known = (self._unit, self._unit_from, self._start)
        return known, len(self._rates), list(self._factors)

    def back_to(self, mark: Any) -> None:
        """See `Boosting`."""
        (self._unit, self._unit_from, self._start), n_rounds, self._factors = mark
        del self._rates[n_rounds:], self._changes[n_rounds:]

    def restore(self, state: BoostingState) -> None:
        """See `Boosting`."""
        self._unit = float(state["unit"])
        self._unit_from = int(state["unit_from"])
        self._start = [float(x) for x in state["start"]]
        self._rates = [float(x) for x in state["rates"]]
        self._factors = [float(x) for x in state["factors"]]
        self._changes = [[(int(j), float(f)) for j, f in changes] for changes in state["changes"]]
        factors = [f for changes in self._changes for _, f in changes]
        if not np.isfinite(
            [self._unit, *self._start, *self._rates, *self._factors, *factors]
        ).all():
            raise ValueError("a weight of the rounds is not finite")


def choose_dropped(params: Params, n_round: int, weights: Sequence[float]) -> list[int]:
    """Choose the parts of the model (rounds, or single trees) to leave out.

    Each is left out with the chance `drop_rate`, times its weight over their mean unless
    `uniform_drop`. With `max_drop` chances are lowered so that no more are expected; of those
    chosen the first ones are taken.

    Args:
        params: Parameters of the dropout.
        n_round: Number of the round.
        weights: Of each part so far.

    Example:
        >>> from gossamer.params import resolve
        >>> params = resolve({"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0})
        >>> choose_dropped(params, 8, [0.1] * 8)
        [0, 1, 2, 3, 5, 7]
        >>> choose_dropped(params.replace(max_drop=1), 8, [0.1] * 8)
        [3]
    """
    n = len(weights)
    key = make_key(params.drop_seed, Stream.DROPOUT, n_round)
    if n == 0 or _random(key, 0) < params.skip_drop:
        return []
    limit = params.max_drop if params.max_drop > 0 else n
    rate = min(params.drop_rate, limit / n)
    if not params.uniform_drop:
        rate *= n / math.fsum(weights)
    chances = [rate] * n if params.uniform_drop else [rate * weight for weight in weights]
    dropped = [j for j, chance in enumerate(chances) if _random(key, j + 1) < chance]
    return dropped[:limit]


def _random(key: int, counter: int) -> float:
    """A number in [0, 1), a function of both arguments."""
    return (_native.random_bits(key, counter) >> 11) * 2.0**-53
