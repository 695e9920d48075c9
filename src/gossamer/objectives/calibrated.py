"""Calibrated probabilities: another objective's link, corrected by what held-out rows said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.errors import NotSupportedError
from gossamer.objectives.base import Gradients, Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.multiclass import Multiclass
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

METHODS: Final = ("isotonic", "sigmoid", "temperature")


@dataclass(frozen=True)
class Calibrated(Objective):
    """The probabilities of another objective, corrected.

    With slope a and shifts b, probabilities are the objective's own at a * score + b; with knots,
    its own probability of each class is mapped by a function that is linear between knots, and with
    several classes the results are divided by their sum.

    Attributes:
        inner: The objective of the training: `binary` or `multiclass`.
        method: One of `METHODS`.
        slope: Factor on raw scores.
        shift: What is added to the raw score of each output then.
        knots: For each output probabilities, increasing, and what they become.
    """

    name: ClassVar[str] = "calibrated"
    traits: ClassVar[Traits] = Traits(Kind.BINARY, "calibrated", is_choice=False)
    default_metric: ClassVar[str | None] = None

    inner: Objective = field(default_factory=Binary)
    method: str = "temperature"
    slope: float = 1.0
    shift: tuple[float, ...] = ()
    knots: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()

    def __post_init__(self) -> None:
        """Be the inner objective in all but the link."""
        traits = replace(self.inner.traits, link="calibrated", lightgbm="", xgboost="", shap="")
        for name, value in (
            ("name", self.inner.name),
            ("traits", traits),
            ("default_metric", self.inner.default_metric),
            ("n_outputs", self.inner.n_outputs),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Calibrated:
        """Refuse: models are calibrated once they are trained."""
        raise _trained_only()

    def start_scores(self, targets: Targets) -> list[float]:
        """Refuse: models are calibrated once they are trained."""
        raise _trained_only()

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Refuse: models are calibrated once they are trained."""
        raise _trained_only()

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return calibrated probabilities."""
        if self.method != "isotonic":
            shifted = score.reshape(self.n_outputs, -1) * self.slope
            if self.shift:
                shifted += np.array(self.shift)[:, None]
            return self.inner.to_predictions(np.ascontiguousarray(shifted).ravel(), n_threads)
        found = self.inner.to_predictions(score, n_threads)
        if found.ndim == 1:
            return np.asarray(np.interp(found, *self.knots[0]))
        mapped = [np.interp(found[:, k], *knots) for k, knots in enumerate(self.knots)]
        columns = np.column_stack(mapped)
        total = columns.sum(axis=1, keepdims=True)
        return np.where(total > 0, columns / np.where(total > 0, total, 1.0), found)

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        found: dict[str, Any] = {"method": self.method}
        if self.method == "isotonic":
            found["knots"] = [[list(part) for part in knots] for knots in self.knots]
        else:
            found |= {"slope": self.slope, "shift": list(self.shift)}
        return {**self.inner.to_config(), "calibration": found}

    @classmethod
    def around(cls, inner: Objective, config: Any) -> Calibrated:
        """Make it of an objective and the calibration of a model file.

        Raises:
            ValueError: If it does not describe one.
        """
        method = config["method"]
        if method not in METHODS or not can_be_calibrated(inner):
            raise ValueError(f"there is no calibration {method!r} of this objective")
        if method == "isotonic":
            knots = tuple(_read_knots(each) for each in config["knots"])
            if len(knots) != inner.n_outputs:
                raise ValueError("there are not knots for each output")
            return cls(inner, method, knots=knots)
        shift = _read_numbers(config["shift"])
        if len(shift) not in (0, inner.n_outputs):
            raise ValueError("there is not one shift for each output")
        (slope,) = _read_numbers([config["slope"]])
        return cls(inner, method, slope, shift)

    def for_prediction(self) -> Calibrated:
        """Return itself: it cannot train."""
        return self


def can_be_calibrated(objective: Objective) -> bool:
    """Whether predictions are probabilities that sum to 1.

    Example:
        >>> can_be_calibrated(Binary())
        True
    """
    return type(objective) in (Binary, Multiclass)


def _trained_only() -> NotSupportedError:
    return NotSupportedError.because(
        "a calibrated objective cannot be trained with",
        hint="Train with the objective itself, and pass calibration= to train_folds().",
    )


def _read_numbers(values: Any) -> tuple[float, ...]:
    if not isinstance(values, Sequence) or not all(
        type(value) in (int, float) and math.isfinite(value) for value in values
    ):
        raise ValueError("numbers of the calibration are not finite")
    return tuple(map(float, values))


def _read_knots(found: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    before, after = (_read_numbers(part) for part in found)
    if not before or len(before) != len(after) or np.any(np.diff(before) <= 0):
        raise ValueError("knots of the calibration are not increasing pairs")
    return before, after
