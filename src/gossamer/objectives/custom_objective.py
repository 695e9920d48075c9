"""`CustomObjective`: what a user may say about a loss of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.data import Dataset
from gossamer.errors import ParameterError

# Scores, (rows,) or (rows, outputs), to predictions.
LinkFunction = Callable[[npt.NDArray[np.float64]], Any]


class CustomObjective:
    """A custom loss with a start value and a link, so that `predict` returns predictions.

    Pass its functions as arguments, or define a subclass with the same names:

    - `gradient(score, data)` returns gradients and hessians with the shape of `score`: (rows,), or
      (rows, outputs) with several outputs. It must apply weights itself (`data.get_weight()`).
    - `start(data)` returns the score before the first tree, one number or one per output, or None.
    - `link` is a function from scores to predictions, or the name of one: "identity", "exp",
      "sigmoid", "softmax", "softplus". A model file stores only names.
    - `n_outputs` is the number of scores per row; None uses `num_class`, or else the number of
      targets.
    - `metric` is the name of the default metric, or a list of names.

    Pass the object as the parameter `objective`, to `train` or to an estimator.

    Example:
        >>> from gossamer import Dataset, train
        >>> class Poisson(CustomObjective):
        ...     link = "exp"
        ...
        ...     def gradient(self, score, data):
        ...         rate = np.exp(score)
        ...         return rate - data.get_label(), rate
        ...
        ...     def start(self, data):
        ...         return np.log(data.get_label().mean())
        >>> x = np.arange(100.0).reshape(-1, 1)
        >>> model = train({"objective": Poisson()}, Dataset(x, label=1 + 2 * (x[:, 0] > 49)), 50)
        >>> model.predict([[10.0], [90.0]]).round(1)
        array([1., 3.])
    """

    # By this the parameters know it: they cannot import it.
    is_custom_objective: ClassVar[bool] = True

    n_outputs: int | None = None
    link: Any = "identity"
    metric: str | Sequence[str] | None = None
    _gradient: Callable[[npt.NDArray[np.float64], Dataset], tuple[Any, Any]] | None = None
    _start: Callable[[Dataset], Any] | float | Sequence[float] | None = None

    def __init__(
        self,
        gradient: Callable[[npt.NDArray[np.float64], Dataset], tuple[Any, Any]] | None = None,
        *,
        start: Callable[[Dataset], Any] | float | Sequence[float] | None = None,
        link: str | LinkFunction | None = None,
        n_outputs: int | None = None,
        metric: str | Sequence[str] | None = None,
    ) -> None:
        """Fill in what is given; the rest stays as the class has it."""
        given = {
            "_gradient": gradient,
            "_start": start,
            "link": link,
            "n_outputs": n_outputs,
            "metric": metric,
        }
        vars(self).update((name, value) for name, value in given.items() if value is not None)

    def gradient(self, score: npt.NDArray[np.float64], data: Dataset) -> tuple[Any, Any]:
        """Return gradients and hessians at the scores."""
        if self._gradient is None:
            raise ParameterError.because(
                f"{type(self).__name__} has no gradient",
                expected="CustomObjective(gradient), or a method gradient(self, score, data)",
            )
        return self._gradient(score, data)

    def start(self, data: Dataset) -> float | Sequence[float] | None:
        """Return the score before the first tree, one or one per output; None means zero."""
        found: Any = self._start(data) if callable(self._start) else self._start
        return found  # type: ignore[no-any-return]

    def __call__(self, score: npt.NDArray[np.float64], data: Dataset) -> tuple[Any, Any]:
        """Return gradients and hessians, as LightGBM's objective functions do."""
        return self.gradient(score, data)
