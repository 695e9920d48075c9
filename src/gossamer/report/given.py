"""`Given`: the model and the data that a page is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Table, Targets
from gossamer.data.random_order import random_order
from gossamer.errors import GossamerError
from gossamer.model import Booster
from gossamer.model.inspection.importance import feature_importance
from gossamer.model.inspection.partial import is_categorical
from gossamer.model.inspection.shap_values import shap_values
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, predict
from gossamer.objectives import SeveralTargets
from gossamer.objectives.gaussian import Gaussian
from gossamer.objectives.quantiles import Quantiles
from gossamer.params import Params

History = Mapping[str, Mapping[str, Sequence[float]]]
Floats = npt.NDArray[np.float64]

# Rows that are explained: Shapley values, partial dependence.
_EXPLAINED: Final = 500
# Values in such a table, so that wide ones stay small.
_EXPLAINED_VALUES: Final = 20_000_000
SEED: Final = 8  # of the sample of rows: the same page each time


@dataclass(frozen=True, eq=False)
class Given:
    """What a page is about.

    Attributes:
        booster: The model as the user has it.
        model: Its rounds that the page is about.
        params: The parameters, complete.
        title: Heading of the page.
        history: Metrics by data set, round by round.
        class_names: Names of the classes; empty: numbers.
        table: A sample of the rows of the data, columns as in training; None: no data.
        n_rows: Rows of the data that was given.
        rows: Which rows the sample consists of, increasing.
        targets: Labels and queries of the sample; None: not given.
        n_features: Columns of which partial dependence and the like is drawn.
        trees: Numbers of the trees to embed; None: the first ones.
        has_weight: Whether the rows came with weights, which are not looked at.
        target: What is predicted; None: not known.
        source: Where the rows come from; None: not known.
        date: When the page is written, as 2024-05-31.
        date_columns: Columns that the data holds as dates; the model knows them as seconds.
        is_training: Whether the rows are known to be those that the model was trained on.
        held_out: Of such rows, for a model over folds: out-of-fold raw scores, outputs x rows of
            the sample.
    """

    booster: Booster
    model: Model
    params: Params
    title: str
    history: History
    class_names: tuple[str, ...]
    table: Table | None
    n_rows: int
    rows: npt.NDArray[np.int64]
    targets: Targets | None
    n_features: int
    trees: tuple[int, ...] | None
    has_weight: bool = False
    target: str | None = None
    source: str | None = None
    date: str = ""
    date_columns: frozenset[int] = frozenset()
    is_training: bool = False
    held_out: Floats | None = None

    @property
    def is_sample(self) -> bool:
        """Whether some rows of the data are left out."""
        return len(self.rows) < self.n_rows

    @property
    def options(self) -> PredictOptions:
        """How to predict."""
        return PredictOptions(num_threads=self.params.num_threads)

    @cached_property
    def scores(self) -> Floats:
        """Raw scores of the sample, rows x outputs."""
        assert self.table is not None
        found = predict(self.model, self.table, replace(self.options, raw_score=True))
        return found.reshape(self.table.n_rows, -1)

    @cached_property
    def predictions(self) -> npt.NDArray[Any]:
        """Predictions of the sample: (rows,), or (rows, outputs)."""
        assert self.table is not None
        return predict(self.model, self.table, self.options)

    @property
    def judged_scores(self) -> Floats:
        """Raw scores that are compared with the labels, rows x outputs."""
        return self.scores if self.held_out is None else self.held_out.T

    @cached_property
    def judged_predictions(self) -> npt.NDArray[Any]:
        """Predictions that are compared with the labels: (rows,), or (rows, outputs)."""
        if self.held_out is None:
            return self.predictions
        if not self.model.objective.has_link:
            return self.held_out.T if len(self.held_out) > 1 else self.held_out[0]
        found: npt.NDArray[Any] = self.model.objective.to_predictions(self.held_out.ravel(), 1)
        return found

    @cached_property
    def gains(self) -> Floats:
        """Importance of the columns by gain."""
        return feature_importance(self.model.forest, "gain", self.model.derived)

    @cached_property
    def by_gain(self) -> list[int]:
        """All columns, the most important first."""
        found: list[int] = np.argsort(-self.gains, kind="stable").tolist()
        return found

    @cached_property
    def explained_rows(self) -> npt.NDArray[np.int64]:
        """Rows of the sample that are explained, increasing."""
        assert self.table is not None
        room = _EXPLAINED_VALUES // (self.model.forest.n_columns * self.model.forest.n_outputs + 1)
        return choose_rows(self.table.n_rows, max(min(_EXPLAINED, room), 1))

    @cached_property
    def explained(self) -> Table:
        """The sample of rows that are explained."""
        assert self.table is not None
        return Table(self.table.take_rows(self.explained_rows).values)

    @cached_property
    def effects(self) -> list[Any] | str:
        """Shapley values of the explained rows: for each output rows x columns; or why not."""
        width = self.model.forest.n_columns * self.model.forest.n_outputs
        if width > _EXPLAINED_VALUES:
            return f"a row would have {width:,} of them."
        try:
            values: Any = shap_values(self.model, self.explained, self.options)
        except GossamerError as error:
            return str(error)
        parts = values if isinstance(values, list) else list(np.moveaxis(values, 1, 0))
        return [part[:, :-1] for part in parts]

    def levels_of(self, column: int) -> tuple[Any, ...] | None:
        """Return what the codes of a column stand for; None: its values are numbers."""
        levels = self.model.levels
        return None if levels is None else levels.by_column.get(column)

    def is_categorical(self, column: int) -> bool:
        """Return whether the values of a column are categories."""
        return is_categorical(self.model, column)

    def output_name(self, k: int) -> str:
        """Return what one of several outputs is called."""
        if isinstance(self.model.objective, SeveralTargets):
            return f"target {k}"
        if k < len(self.class_names):
            return self.class_names[k]
        objective = self.model.objective
        if isinstance(objective, Quantiles):
            return f"quantile {objective.alphas[k]:g}"
        if isinstance(objective, Gaussian):
            return ("mean", "standard deviation")[k]
        return f"class {k}" if objective.n_classes else f"output {k}"


def choose_rows(n_rows: int, most: int) -> npt.NDArray[np.int64]:
    """Return all rows, or a random sample that is always the same; increasing.

    Example:
        >>> choose_rows(3, 5), len(choose_rows(100, 5))
        (array([0, 1, 2]), 5)
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(random_order(n_rows, SEED)[:most])
