"""Random forest (`boosting=rf`): trees that know nothing of each other, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gossamer.data.built import BuiltData
from gossamer.errors import DataError
from gossamer.model.training.boosting import Boosting, RoundScores, Scores
from gossamer.params.check_boosting import no_own_objective

if TYPE_CHECKING:
    from gossamer.model.training.scored_set import ScoredSet
    from gossamer.model.training.training import Training


class RandomForest(Boosting):
    """A score is the start and the mean of all trees, each grown as if it were the first.

    Gradients are always those at the start; leaf values are not shrunk. Scores of data sets are
    sums of the trees alone here, so that they are bit for bit the same as predictions.
    """

    adds_trees: ClassVar[bool] = False
    averages: ClassVar[bool] = True

    def check_data(self, data: BuiltData, name: str) -> None:
        """See `Boosting`."""
        if data.rows.init_score is not None:
            raise DataError.because(
                f"boosting=rf cannot start from the init_score of the data set {name!r}",
                expected="no init_score: every tree starts from the same constant",
                hint="Leave init_score out, or use boosting=gbdt.",
            )

    def check_function(self) -> None:
        """See `Boosting`."""
        raise no_own_objective()

    def begin_round(self, training: Training, n_round: int) -> RoundScores:
        """See `Boosting`."""
        training.prepared.grower.set_step(learning_rate=1.0)
        start = np.repeat(training.start, training.train.data.n_rows)
        # Residuals are taken from the scores that trees are added to.
        into = start if training.prepared.grower.refits_leaves else training.train.score
        return RoundScores(start, into)

    def end_round(self, training: Training, trees: Sequence[Any]) -> None:
        """See `Boosting`."""
        if training.prepared.grower.refits_leaves:
            self._add_trees(training, training.train, trees)
        super().end_round(training, trees)

    def start_scores(self, training: Training, scored: ScoredSet) -> None:
        """See `Boosting`."""
        scored.score[:] = 0.0

    def current(self, training: Training, scored: ScoredSet) -> Scores:
        """See `Boosting`."""
        n_outputs = training.n_outputs
        mean = scored.score.reshape(n_outputs, -1) / max(training.n_rounds, 1)
        mean += training.start[:, None]
        return mean.ravel()
