"""Objectives and metrics that are functions of (predictions, DMatrix)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.metrics import is_rising
from gossamer.data import Dataset
from gossamer.errors import DataError, NotSupportedError
from gossamer.objectives import CustomObjective
from gossamer.objectives.links import link_named

# (Scores, data) -> (gradients, hessians).
ObjectiveFunction = Callable[[npt.NDArray[np.float32], DMatrix], tuple[Any, Any]]
# (Predictions, data) -> (name, value), or a list of these.
MetricFunction = Callable[[npt.NDArray[np.float32], DMatrix], Any]

# How scores become predictions, where not as they are.
_LINKS: Final = {
    "binary:logistic": "sigmoid",
    "reg:logistic": "sigmoid",
    "multi:softprob": "softmax",
    "multi:softmax": "softmax",  # classes follow from the probabilities
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "survival:cox": "exp",
    "survival:aft": "exp",
}
# What XGBoost starts from when the loss is a function.
_START: Final = 0.5


@dataclass(eq=False)
class Faces:
    """The `DMatrix` that functions are shown for each data set.

    Attributes:
        known: Those that the user has made.
    """

    known: list[tuple[Dataset, DMatrix]] = field(default_factory=list)

    def of(self, data: Dataset) -> DMatrix:
        """Return the `DMatrix` of a data set; one with its fields only where there is none."""
        for known, face in self.known:
            if known is data:
                return face
        found = DMatrix.from_dataset(data)
        self.known.append((data, found))
        return found


def as_objective(
    function: ObjectiveFunction, params: dict[str, Any], faces: Faces
) -> CustomObjective:
    """Return a function as an objective that starts and predicts as the one in `params`.

    Args:
        function: Takes scores and the training data.
        params: Our parameters, with the name of an objective; `base_score` is taken out.
        faces: What the function is shown.

    Raises:
        NotSupportedError: If the objective's predictions are classes.
    """
    objective = params["objective"]
    if objective == "binary:hinge":
        raise NotSupportedError.because(
            f"objective={objective} cannot be combined with a function for the gradients",
            got=objective,
            expected="an objective that predicts numbers",
            hint="Leave objective out and read the scores.",
        )
    link = _LINKS.get(objective, "identity")
    base_score = params.pop("base_score", _START)
    start = _START if link == "softmax" else link_named(link).to_score(float(base_score))
    n_classes = int(params.get("num_class", 1))

    def gradient(score: npt.NDArray[np.float64], data: Dataset) -> tuple[Any, Any]:
        return function(score.astype(np.float32), faces.of(data))

    n_outputs = n_classes if n_classes > 1 else None
    return CustomObjective(gradient, start=start, link=link, n_outputs=n_outputs)


def call_metric(
    function: MetricFunction, predictions: npt.NDArray[Any], data: DMatrix
) -> list[tuple[str, float]]:
    """Call a metric function and check what it returns.

    Raises:
        DataError: If it is neither (name, value) nor a list of these.

    Example:
        >>> call_metric(lambda p, data: ("bias", p.mean()), np.ones(2), DMatrix([[0.0], [1.0]]))
        [('bias', 1.0)]
    """
    found = function(predictions.astype(np.float32), data)
    try:
        pairs = found if isinstance(found, list) else [found]
        return [(str(name), float(value)) for name, value in pairs]
    except (TypeError, ValueError):
        raise DataError.because(
            "the metric function returned an unexpected value", got=found, expected="(name, value)"
        ) from None


def as_feval(function: MetricFunction, faces: Faces) -> Callable[[Any, Dataset], Any]:
    """Return a metric function of XGBoost's kind as our training calls it."""

    def feval(predictions: npt.NDArray[Any], data: Dataset) -> list[tuple[str, float, bool]]:
        pairs = call_metric(function, predictions, faces.of(data))
        return [(name, value, is_rising(name)) for name, value in pairs]

    return feval
