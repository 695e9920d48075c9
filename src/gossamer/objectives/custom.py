"""Objectives written by the user: a function, or a `CustomObjective`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset, Targets
from gossamer.errors import DataError, ModelFileError, ParameterError
from gossamer.objectives.base import CountsOutputs, Gradients, by_row, no_inverse, read_outputs
from gossamer.objectives.custom_objective import CustomObjective, LinkFunction
from gossamer.objectives.links import link_named
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# LightGBM's signature: (raw scores, training data) -> (gradients, hessians).
CustomFunction = Callable[[npt.NDArray[np.float64], Dataset], tuple[Any, Any]]


@dataclass(frozen=True)
class Custom(CountsOutputs):
    """A loss whose derivatives a Python function returns.

    There is no best constant to start from and no link: predictions are raw scores. Weights are
    the function's own business (`train_data.get_weight()`).

    Attributes:
        n_outputs: Scores per row.
        function: Takes raw scores, (rows,) or (rows, outputs), and the training data; returns
            gradients and hessians of the same shape. None in a model that was loaded.
        train_set: What the function is given.
    """

    name: ClassVar[str] = "custom"
    traits: ClassVar[Traits] = Traits(
        Kind.CUSTOM, aliases=("none", "null", "na"), xgboost="reg:squarederror"
    )
    default_metric: ClassVar[str | None] = None

    n_outputs: int = 1
    function: CustomFunction | None = None
    train_set: Dataset | None = None

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Custom:
        """Make the objective; the function comes with each round, see `make_custom`."""
        return cls(params.num_class)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return what a `CustomObjective` starts from, otherwise zeros."""
        if not isinstance(self.function, CustomObjective) or self.train_set is None:
            return [0.0] * self.n_outputs
        found = self.function.start(self.train_set)
        return [0.0] * self.n_outputs if found is None else _to_start(found, self.n_outputs)

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Call the function and check what it returns."""
        if self.function is None or self.train_set is None:
            raise DataError.because(
                "objective=custom has no function",
                hint="Pass a function as params['objective'], or to update(fobj=...).",
            )
        # A copy, so that the function cannot change the scores.
        predictions = by_row(score.copy(), self.n_outputs)
        result = self.function(predictions, self.train_set)
        try:
            gradient, hessian = result
        except (TypeError, ValueError):
            raise DataError.because(
                "the objective function returned an unexpected value",
                got=result,
                expected="two arrays: gradients and hessians",
            ) from None
        assert out.hessian is not None
        _fill("gradient", gradient, predictions.shape, out.gradient)
        _fill("hessian", hessian, predictions.shape, out.hessian)
        if out.hessian.min() < 0:
            place = int(out.hessian.argmin()) % targets.n_rows
            raise DataError.because(
                f"the objective function returned a negative hessian for row {place}",
                got=float(out.hessian.min()),
                expected="numbers >= 0",
            )
        if not out.hessian.any() and out.gradient.any():
            raise DataError.because(
                "the objective function returned a hessian of 0 for every row",
                expected="numbers > 0 where the gradient is not 0",
                hint="Where the second derivative is 0, return ones.",
            )


@dataclass(frozen=True)
class CustomWithLink(Custom):
    """A `CustomObjective` whose predictions are not raw scores.

    Attributes:
        link: Name of the link, or the function itself. None in a model that was loaded without
            its function: predictions are raw scores then.
    """

    name: ClassVar[str] = "custom_link"
    traits: ClassVar[Traits] = Traits(Kind.CUSTOM, "named", is_choice=False)

    link: str | LinkFunction | None = None

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return what the link gives."""
        if isinstance(self.link, str):
            return link_named(self.link).predict(score, self.n_outputs, n_threads)
        rows = by_row(score, self.n_outputs)
        if self.link is None:
            return rows
        predictions = np.asarray(self.link(rows.copy()))
        if predictions.ndim not in (1, 2) or len(predictions) != len(rows):
            raise DataError.because(
                "the link of the objective returned an unexpected value",
                found=f"shape {predictions.shape}",
                expected=f"one prediction for each of the {len(rows)} rows",
            )
        return predictions

    def start_at(self, prediction: float) -> list[float]:
        """Return the score at which this is predicted, where the link has a name."""
        link = link_named(self.link) if isinstance(self.link, str) else None
        if link is None or link.inverse is None:
            raise no_inverse("custom")
        return [link.to_score(prediction)] * self.n_outputs

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps: the link if it has a name."""
        link = self.link if isinstance(self.link, str) else None
        return {"name": self.name, "num_class": self.n_outputs, "link": link}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> CustomWithLink:
        """Make the objective of a model file."""
        link = config["link"]
        if link is not None:
            try:
                link_named(link)
            except ParameterError as error:
                raise ModelFileError(str(error)) from None
        return cls(read_outputs(config), link=link)

    def for_prediction(self) -> CustomWithLink:
        """Return the objective with its link alone."""
        return CustomWithLink(self.n_outputs, link=self.link)


def make_custom(function: CustomFunction, train_set: Dataset | None, n_outputs: int) -> Custom:
    """Make an objective of a function or a `CustomObjective`.

    Args:
        function: The user's.
        train_set: What it is given; None: only to predict.
        n_outputs: Scores per row.

    Raises:
        ParameterError: If it is a `CustomObjective` with another number of outputs, or its link
            is not known.
    """
    if not isinstance(function, CustomObjective):
        return Custom(n_outputs, function, train_set)
    if function.n_outputs not in (None, n_outputs):
        raise ParameterError.because(
            "n_outputs of the objective does not fit",
            got=function.n_outputs,
            expected=str(n_outputs),
            hint="It is num_class, or else the number of targets.",
        )
    link = function.link
    if not callable(link):
        link_named(link)
        if link == "identity":
            return Custom(n_outputs, function, train_set)
        if link == "softmax" and n_outputs == 1:
            raise ParameterError.because(
                "the link softmax needs several outputs",
                got=n_outputs,
                expected="n_outputs >= 2",
                hint="Use the link sigmoid for one.",
            )
    return CustomWithLink(n_outputs, function, train_set, link)


def _to_start(found: object, n_outputs: int) -> list[float]:
    """Check what `CustomObjective.start` returned."""
    try:
        start = np.asarray(found, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        start = np.empty(0)
    if len(start) == 1:
        start = np.repeat(start, n_outputs)
    if len(start) != n_outputs or not np.isfinite(start).all():
        raise DataError.because(
            "start() of the objective returned an unexpected value",
            got=found,
            expected=f"a finite number, or {n_outputs} of them: one per output",
        )
    return [float(score) for score in start]


def _fill(name: str, values: object, shape: tuple[int, ...], out: npt.NDArray[np.float32]) -> None:
    """Check and copy what the function returned, rows x outputs, to class-major."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise DataError.because(f"the {name} cannot be made an array ({error})") from None
    if array.dtype.kind not in "biuf":
        raise DataError.because(
            f"the {name} must be numeric", got=str(array.dtype), expected="floats"
        )
    # One output may come as a column; several may come flattened class after class (LightGBM 3).
    is_flat = array.ndim == 1 and array.size == out.size
    if array.shape != shape and not is_flat and not (array.size == out.size and len(shape) == 1):
        raise DataError.because(
            f"the {name} has shape {array.shape}",
            expected=f"{shape}, as the scores have",
            hint="The objective function must return one value per row and output.",
        )
    with np.errstate(over="ignore"):
        out[:] = array.ravel(order="F")
    if not np.isfinite(out).all():
        row = int(np.argmin(np.isfinite(out))) % shape[0]
        raise DataError.because(
            f"the objective function returned a {name} that is not finite for row {row}",
            expected="finite numbers within float32",
        )
