"""Links by name: how raw scores become predictions, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.errors import ParameterError
from gossamer.objectives.base import by_row

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A function that a model file can name.

    Attributes:
        name: Its name.
        predict: Takes scores, class-major, the number of outputs and of threads; returns
            predictions, (rows,) or (rows, outputs).
        inverse: The score of a prediction; None: there is more than one.
        domain: The predictions there are, in words.
    """

    name: str
    predict: Callable[[Scores, int, int], npt.NDArray[Any]]
    inverse: Callable[[float], float] | None
    domain: str = ""

    def to_score(self, prediction: float) -> float:
        """Return the score at which this is predicted.

        Raises:
            ParameterError: If nothing is predicted so.

        Example:
            >>> link_named("sigmoid").to_score(0.5)
            0.0
        """
        try:
            assert self.inverse is not None
            return self.inverse(prediction)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise no_prediction(prediction, self.domain) from None


def no_prediction(prediction: float, expected: str) -> ParameterError:
    """Make the error of a `base_score` that no score is predicted as."""
    return ParameterError.because(
        "base_score is not a prediction of the objective", got=prediction, expected=expected
    )


def link_named(name: str) -> Link:
    """Return a link.

    Raises:
        ParameterError: If there is none of this name.

    Example:
        >>> link_named("exp").predict(np.zeros(2), 1, 1)
        array([1., 1.])
    """
    if name not in _LINKS:
        raise ParameterError.because(
            "there is no link of this name",
            got=name,
            expected=f"a function, or one of {', '.join(_LINKS)}",
        )
    return _LINKS[name]


def _identity(score: Scores, n_outputs: int, n_threads: int) -> Scores:
    return by_row(score, n_outputs)


def _exp(score: Scores, n_outputs: int, n_threads: int) -> Scores:
    with np.errstate(over="ignore"):
        return np.exp(by_row(score, n_outputs))


def _sigmoid(score: Scores, n_outputs: int, n_threads: int) -> Scores:
    out = np.empty_like(score)
    _native.sigmoid(score, 1.0, out, n_threads)
    return by_row(out, n_outputs)


def _softmax(score: Scores, n_outputs: int, n_threads: int) -> Scores:
    out = np.empty_like(score)
    _native.softmax(score, n_outputs, out, n_threads)
    return out.reshape(-1, n_outputs) if n_outputs > 1 else out


def _softplus(score: Scores, n_outputs: int, n_threads: int) -> Scores:
    return np.logaddexp(0.0, by_row(score, n_outputs))


_LINKS: Final[dict[str, Link]] = {
    link.name: link
    for link in (
        Link("identity", _identity, float),
        Link("exp", _exp, math.log, "a number > 0"),
        Link("sigmoid", _sigmoid, lambda p: math.log(p / (1 - p)), "a number > 0 and < 1"),
        Link("softmax", _softmax, None),
        Link("softplus", _softplus, lambda p: p + math.log(-math.expm1(-p)), "a number > 0"),
    )
}
