"""Objectives written by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset, Targets
from gossamer.errors import DataError, message
from gossamer.objectives.base import Gradients, Objective, by_row
from gossamer.params import Params

# LightGBM's signature: (raw scores, training data) -> (gradients, hessians).
CustomFunction = Callable[[npt.NDArray[np.float64], Dataset], tuple[Any, Any]]


@dataclass(frozen=True)
class Custom(Objective):
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
    default_metric: ClassVar[str | None] = None
    has_link: ClassVar[bool] = False

    n_outputs: int = 1
    function: CustomFunction | None = None
    train_set: Dataset | None = None

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Custom:
        """Make the objective; the function comes with each round, see `with_function`."""
        return cls(params.num_class)

    def with_function(self, function: CustomFunction, train_set: Dataset) -> Custom:
        """Return the same with a function."""
        return Custom(self.n_outputs, function, train_set)

    def start_scores(self, targets: Targets) -> list[float]:
        """Return zeros."""
        return [0.0] * self.n_outputs

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Call the function and check what it returns."""
        if self.function is None or self.train_set is None:
            raise DataError(
                message(
                    "objective=custom has no function",
                    hint="Pass a function as params['objective'], or to update(fobj=...).",
                )
            )
        # A copy, so that the function cannot change the scores.
        predictions = by_row(score.copy(), self.n_outputs)
        result = self.function(predictions, self.train_set)
        try:
            gradient, hessian = result
        except (TypeError, ValueError):
            raise DataError(
                message(
                    "the objective function returned something else",
                    got=result,
                    expected="two arrays: gradients and hessians",
                )
            ) from None
        assert out.hessian is not None
        _fill("gradient", gradient, predictions.shape, out.gradient)
        _fill("hessian", hessian, predictions.shape, out.hessian)
        if out.hessian.min() < 0:
            place = int(out.hessian.argmin()) % targets.n_rows
            raise DataError(
                message(
                    f"the objective function returned a negative hessian for row {place}",
                    got=float(out.hessian.min()),
                    expected="numbers >= 0",
                )
            )

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps; the function is not part of it."""
        return {"name": self.name, "num_class": self.n_outputs}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Custom:
        """Make the objective of a model file."""
        return cls(int(config["num_class"]))


def _fill(name: str, values: object, shape: tuple[int, ...], out: npt.NDArray[np.float32]) -> None:
    """Check and copy what the function returned, rows x outputs, to class-major."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise DataError(message(f"the {name} cannot be made an array ({error})")) from None
    if array.dtype.kind not in "biuf":
        raise DataError(
            message(f"the {name} must be numeric", got=str(array.dtype), expected="floats")
        )
    # One output may come as a column; several may come flattened class after class (LightGBM 3).
    is_flat = array.ndim == 1 and array.size == out.size
    if array.shape != shape and not is_flat and not (array.size == out.size and len(shape) == 1):
        raise DataError(
            message(
                f"the {name} has shape {array.shape}",
                expected=f"{shape}, that of the scores",
                hint="The objective function must return one value per row and output.",
            )
        )
    with np.errstate(over="ignore"):
        out[:] = array.ravel(order="F")
    if not np.isfinite(out).all():
        row = int(np.argmin(np.isfinite(out))) % shape[0]
        raise DataError(
            message(
                f"the objective function returned a {name} that is not finite for row {row}",
                expected="finite numbers within float32",
            )
        )
