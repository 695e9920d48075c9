"""Labels of survival data: times of events, and times until which nothing was seen.

They come in two forms: one signed time per row (negative: censored then), or an interval (lower,
upper) that the time lies in: equal where it is known, upper = inf where it is right-censored,
lower = 0 where it is left-censored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.base import Objective
from gossamer.objectives.links import link_named

Times = npt.NDArray[np.float32]


class TimeLink(Objective):
    """An objective whose prediction is exp(score): a time, or a hazard ratio."""

    def start_at(self, prediction: float) -> list[float]:
        """Return the logarithm of a prediction."""
        return [link_named("exp").to_score(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the times, or the hazard ratios."""
        out = np.empty_like(score)
        _native.exp_scores(score, out, n_threads)
        return out


def check_columns(targets: Targets, objective: str, name: str) -> None:
    """Check that there are one or two columns of labels.

    Raises:
        DataError: If there are more.
    """
    if targets.n_targets > 2:
        raise DataError.because(
            f"labels of the {name} data do not fit objective={objective}",
            found=f"{targets.n_targets} columns",
            expected="one column of times, or two: lower and upper bound",
        )


def signed_times(targets: Targets) -> Times:
    """Return event times, negative where nothing was seen until then.

    Example:
        >>> label = np.array([3, 5, 3, np.inf], dtype=np.float32)  # known: 3; later than 5
        >>> signed_times(Targets(label, n_targets=2))
        array([ 3., -5.], dtype=float32)
    """
    if targets.n_targets == 1:
        return targets.label
    lower, upper = targets.label.reshape(2, -1)
    return np.where(lower == upper, lower, -lower)


def intervals(targets: Targets) -> tuple[Times, Times]:
    """Return the lower and the upper bounds of the times; signed times are turned into both.

    Example:
        >>> intervals(Targets(np.array([3, -5], dtype=np.float32)))
        (array([3., 5.], dtype=float32), array([ 3., inf], dtype=float32))
    """
    label, n_rows = targets.label, targets.n_rows
    if targets.n_targets == 2:
        return label[:n_rows], label[n_rows:]
    return np.abs(label), np.where(label > 0, label, np.float32(np.inf))


def bad_row(
    is_bad: npt.NDArray[np.bool_], values: Any, objective: str, name: str, expected: str
) -> DataError:
    """Make the error for the first bad row.

    Args:
        is_bad: By row; at least one is.
        values: Called with the row, returns what is shown.
        objective: Name of the objective.
        name: Name of the data set.
        expected: What the row should have been.
    """
    row = int(np.argmax(is_bad))
    others = int(is_bad.sum()) - 1
    place = f"label of row {row}" + (f" (and of {others} more)" if others else "")
    return DataError.because(
        f"{place} of the {name} data does not fit objective={objective}",
        got=values(row),
        expected=expected,
    )


def check_bounds(
    is_bad: npt.NDArray[np.bool_],
    lower: npt.NDArray[Any],
    upper: npt.NDArray[Any],
    objective: str,
    name: str,
    expected: str,
) -> None:
    """Raise if the bounds of the time of some row do not fit an objective.

    Args:
        is_bad: Whether they do not fit, by row.
        lower: Lower bounds.
        upper: Upper bounds.
        objective: Name of the objective.
        name: Name of the data set.
        expected: What bounds should be.

    Raises:
        DataError: If any row is bad.
    """
    if is_bad.any():
        bounds = np.column_stack([lower, upper])
        raise bad_row(is_bad, lambda row: tuple(bounds[row].tolist()), objective, name, expected)
