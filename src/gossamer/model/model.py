"""`Model`: all that predicting needs. It knows nothing about how it was trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.levels import Levels
from gossamer.data.table.columns import Level
from gossamer.data.table.names import default_names, names_for
from gossamer.data.table.time_columns import DATES, TimeKinds
from gossamer.model.derived import Derived
from gossamer.model.ensemble.fold_record import FoldRecord
from gossamer.objectives import Objective
from gossamer.tree import Forest


@dataclass(frozen=True, eq=False)
class Model:
    """Trees, what their sum starts from, and how it becomes a prediction.

    Attributes:
        objective: Turns raw scores into predictions.
        names: Names of the columns.
        start: The score before the first tree, one per output.
        forest: The trees.
        params: The parameters that were given, by canonical name; for information only.
        levels: What the codes of text and categories stand for; None: all columns are numbers.
        average_output: Whether a score is the start and the mean of the trees, not their sum.
        derived: Columns that the trees know in addition to the user's; None: none.
        class_names: What classes 0, 1, ... stand for, as the user wrote them; None: not given.
        table_names: Names of the columns in the training table, where they are not `names`.
        folds: Members and out-of-fold scores of an ensemble over folds; None: it is no such model,
            or was changed since.
        times: The columns that were dates or times in training; None: not known.
    """

    objective: Objective
    names: list[str]
    start: npt.NDArray[np.float64]
    forest: Forest
    params: dict[str, Any]
    levels: Levels | None = None
    average_output: bool = False
    derived: Derived | None = None
    class_names: tuple[Level, ...] | None = None
    table_names: list[str] | None = None
    folds: FoldRecord | None = None
    times: TimeKinds | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return len(self.names)

    @property
    def has_own_names(self) -> bool:
        """Whether the names are the user's rather than Column_0, Column_1, ..."""
        return self.names != default_names(len(self.names))

    def is_date(self, column: int) -> bool:
        """Whether a column was dates in training, as far as is known."""
        return (self.times or {}).get(column) in DATES

    def names_for(self, found: Sequence[str]) -> list[str] | None:
        """Return the names by which the columns of a table are known; None: by none."""
        return names_for(self.names, self.table_names, found)

    def rounds(self, first: int, last: int) -> Model:
        """Return the model with the rounds from `first` to before `last` only.

        Without its first round a sum does not start from `start`: the parts of a model then add up
        to the whole. A mean always does.
        """
        if first == 0 and last == self.forest.n_rounds:
            return self
        k = self.forest.trees_per_round
        forest = self.forest.slice(first * k, last * k)
        return replace(self, start=self.start_from(first), forest=forest, folds=None)

    def start_from(self, first: int) -> npt.NDArray[np.float64]:
        """Return what scores start from when the rounds before `first` are left out."""
        return self.start if first == 0 or self.average_output else np.zeros_like(self.start)
