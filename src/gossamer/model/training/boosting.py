"""How trees make up a score: `Boosting` adds them, other modes change a part of it.

The modes keep what they know in addition to the trees; data, scores and trees are in the `Training`
that calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.built import BuiltData
from gossamer.data.storage.row_files import blocks
from gossamer.params import Params
from gossamer.tree import Forest, Tree

if TYPE_CHECKING:
    from gossamer.model.training.scored_set import ScoredSet
    from gossamer.model.training.training import Training

Scores = npt.NDArray[np.float64]
# What a mode knows in addition to the trees, as JSON can hold it.
BoostingState = dict[str, Any]


class RoundScores(NamedTuple):
    """Raw scores of the training rows in one round."""

    at: Scores  # where gradients are taken
    into: Scores  # what the new trees are added to; residuals of leaf values are taken from it


class Boosting:
    """Gradient boosting: a score is the start and the sum of all trees.

    Attributes:
        averages: Whether a score is the start and the mean of the trees, not their sum.
        rescales: Whether a round changes the weights of earlier trees, so that the first rounds of
            a model are not the model of that time.
        adds_trees: Whether a round is no more than that its trees are added to the scores: a GPU
            can do it alone.
    """

    averages: ClassVar[bool] = False
    rescales: ClassVar[bool] = False
    adds_trees: ClassVar[bool] = True

    def __init__(self, params: Params) -> None:
        """Look up the parameters."""
        self._params = params

    def set_params(self, params: Params) -> None:
        """Take other parameters for the rounds to come."""
        self._params = params

    def check_data(self, data: BuiltData, name: str) -> None:
        """Refuse a data set that the mode cannot use.

        Raises:
            DataError: If there are initial scores, and the mode cannot start from them.
        """

    def check_function(self) -> None:
        """Refuse an objective of one's own if the mode cannot use it.

        Raises:
            ParameterError: If so.
        """

    # ---- a round ----

    def begin_round(self, training: Training, n_round: int) -> RoundScores:
        """Return the scores that a round works with; random choices depend on its number."""
        score = training.train.score
        return RoundScores(score, score)

    def end_round(self, training: Training, trees: Sequence[Any]) -> None:
        """Bring all scores up to date; `trees` have been added to `RoundScores.into`."""
        for valid in training.valid:
            self._add_trees(training, valid, trees)

    def rewind(self, training: Training, n_rounds: int, with_scores: bool = True) -> None:
        """Take back all rounds but the first `n_rounds`; scores become what they were.

        Args:
            training: What is taken back.
            n_rounds: Rounds that stay.
            with_scores: Whether scores are needed any more.
        """
        del training.trees[n_rounds * training.trees_per_round :]
        if with_scores:
            for scored in (training.train, *training.valid):
                self.start_scores(training, scored)
                self.add_rounds(training, scored)

    # ---- scores ----

    def start_scores(self, training: Training, scored: ScoredSet) -> None:
        """Set scores to what they are before the first tree."""
        score = scored.score
        for part in blocks(len(score)):
            score[part] = 0.0 if scored.base is None else scored.base[part]
        for k in range(training.n_outputs):
            output = scored.output(k)
            for part in blocks(len(output)):
                output[part] += training.start[k]

    def add_rounds(self, training: Training, scored: ScoredSet) -> None:
        """Add all trees so far to scores."""
        self._add_trees(training, scored, training.trees)

    def current(self, training: Training, scored: ScoredSet) -> Scores:
        """Return the raw scores as the model predicts them now: what metrics see."""
        return scored.read_score()

    def _add_trees(self, training: Training, scored: ScoredSet, trees: Sequence[Any]) -> None:
        for t, tree in enumerate(trees):
            add_tree(training, scored, t, tree)

    # ---- the model ----

    def weigh(self, forest: Forest) -> Forest:
        """Return the trees as the model has them, from the trees as they were grown."""
        return forest

    def state(self) -> BoostingState:
        """Return what a checkpoint needs in addition to `Training.trees` and `Training.start`."""
        return {}

    def restore(self, state: BoostingState) -> None:
        """Take the state that `state` returned."""

    def mark(self) -> Any:
        """Return what `back_to` needs if the round that begins cannot be finished."""

    def back_to(self, mark: Any) -> None:
        """Forget what happened since `mark`; scores are made again by the caller."""


def add_tree(
    training: Training, scored: ScoredSet, t: int, tree: Any, values: Scores | None = None
) -> None:
    """Add tree number `t` to scores, or `values` in the place of its own."""
    n_trees = training.trees_per_set
    if tree.n_leaves > 1:
        device = training.prepared.grower.device
        if device is not None and values is None and isinstance(tree, _native.Tree):
            bins, scores, host = scored.table.bins, scored.on_device, scored.host_score
            if device.add_tree(bins, scores, host, tree, t % n_trees):
                return
        score = scored.score if n_trees == 1 else scored.output(t % n_trees)
        scored.table.add_tree(tree, score, scored.n_threads, values=values, raw=scored.raw)
    elif values is None and isinstance(tree, Tree) and tree.leaf_value.any():  # set by the user
        score = scored.score if n_trees == 1 else scored.output(t % n_trees)
        score += np.repeat(tree.leaf_value, scored.table.n_rows)
