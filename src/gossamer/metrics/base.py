"""What a metric is.

To add one: a class that fills in `Metric` (a frozen dataclass where it has settings), and a line in
`registry.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives import Custom, Objective
from gossamer.objectives.classes import check_class_labels
from gossamer.params import Params
from gossamer.params.traits import Kind

# Raw scores, class-major.
Scores = npt.NDArray[np.float64]


class Metric(ABC):
    """How good scores are, as one number.

    Attributes:
        name: Name in parameters and results.
        maximize: Whether higher is better.
    """

    name: str
    maximize: bool = False

    # The objectives whose scores it can read; empty: any.
    objectives: ClassVar[tuple[type[Objective], ...]] = ()
    # The kind of objectives whose scores it can read; None: any.
    objective_kind: ClassVar[Kind | None] = None
    # Whether "@..." may follow the name.
    takes_argument: ClassVar[bool] = False
    # Whether it compares the scores of several classes; see also CLASS_METRICS in the parameters.
    for_classes: ClassVar[bool] = False

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metrics of a training that go by this name.

        Args:
            params: The parameters.
            argument: What followed "@" in the name, or nothing.
        """
        return [cls()]

    @abstractmethod
    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the value for raw scores (class-major)."""


def predictions_of(
    score: npt.NDArray[np.float64], objective: Objective, n_threads: int
) -> npt.NDArray[np.float64]:
    """Return predictions of one output per row; without a link that is the score itself."""
    if not objective.has_link:
        return score
    n_rows = len(score) // objective.n_outputs
    return check_predictions(objective.to_points(score, n_threads), (n_rows,))


def check_classes(targets: Targets, objective: Objective) -> None:
    """Check that labels are classes where the objective has not: a user's.

    Raises:
        DataError: If one is not.
    """
    if isinstance(objective, Custom):
        check_class_labels(targets, objective.n_outputs, "evaluated")


def check_predictions(
    predictions: npt.NDArray[Any], shape: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """Return predictions as float64; the link of a user may have given them any shape.

    Raises:
        DataError: If they have not the shape that a metric needs.
    """
    if predictions.shape != shape:
        raise DataError.because(
            f"predictions have the shape {predictions.shape}",
            expected=f"{shape} for a metric by name",
            hint="Use metric='none', and a metric function (feval).",
        )
    return np.ascontiguousarray(predictions, dtype=np.float64)
