"""What an objective is.

To add one: a file with a frozen dataclass that fills in `Objective`, and a line in `registry.py`.
What other modules need to know of an objective is in its `traits`: none of them asks for its name.
Scores are raw, float64 and class-major: output k of row i is `score[k * n_rows + i]`.
"""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.objectives.device_loss import DeviceLoss
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# As in LightGBM: shares of a class are kept this far away from 0 and 1.
EPSILON = 1e-15
# Where Newton steps of the log losses are damped: far beyond what an ordinary leaf asks for.
LARGEST_LOG_ODDS_STEP = 8.0
# Gradients are float32 (at most 3.4e38); scores may overshoot the labels a little.
LARGEST_GRADIENT = 1e38


# What an objective learns in addition to the trees, such as position biases.
State = Any


@dataclass(frozen=True, eq=False)
class Gradients:
    """First and second derivatives of the loss, made once per training and filled every round.

    Attributes:
        gradient: float32, class-major.
        hessian: float32, class-major; None where every hessian is 1 and stays so.
        has_hessian: Whether the objective fills in hessians; they are 1 otherwise.
    """

    gradient: npt.NDArray[np.float32]
    hessian: npt.NDArray[np.float32] | None
    has_hessian: bool

    def fill(
        self, loop: Callable[..., None], score: Any, targets: Targets, n_threads: int, *numbers: Any
    ) -> None:
        """Let a native loop over all rows fill in the derivatives.

        Args:
            loop: Takes scores, labels, weights, the numbers, gradients, hessians and threads.
            score: Scores, class-major.
            targets: Labels and weights.
            n_threads: Number of threads.
            *numbers: What the loss depends on.
        """
        rows = (score, targets.label, targets.weight)
        loop(*rows, *numbers, self.gradient, self.hessian, n_threads)

    @classmethod
    def empty(
        cls,
        n_rows: int,
        n_outputs: int,
        *,
        has_hessian: bool,
        weighable: bool = False,
        allocate: Callable[[int, npt.DTypeLike], npt.NDArray[Any]] = np.empty,
    ) -> Gradients:
        """Allocate the derivatives of `n_outputs` scores per row.

        Args:
            n_rows: Number of rows.
            n_outputs: Scores per row.
            has_hessian: Whether the objective fills in hessians.
            weighable: Whether rows will be weighted, so that hessians are allocated in any case.
            allocate: Returns an array of some size and type.
        """
        size = n_rows * n_outputs
        gradient = allocate(size, np.float32)
        hessian = allocate(size, np.float32) if has_hessian or weighable else None
        return cls(gradient, hessian, has_hessian)

    def split(
        self, n_outputs: int
    ) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]]:
        """Return the gradients and hessians of each output: views."""
        gradient = np.split(self.gradient, n_outputs)
        if self.hessian is None:
            return [(part, None) for part in gradient]
        return list(zip(gradient, np.split(self.hessian, n_outputs), strict=True))

    def copy(self) -> Gradients:
        """Return a copy: rows of it may be weighted."""
        hessian = None if self.hessian is None else self.hessian.copy()
        return Gradients(self.gradient.copy(), hessian, self.has_hessian)

    def restore_hessian(self) -> npt.NDArray[np.float32]:
        """Return the hessians as the objective means them, before any row is weighted.

        Those that the objective does not fill in still have the weights of the last round.
        """
        assert self.hessian is not None
        if not self.has_hessian:
            self.hessian.fill(1.0)
        return self.hessian


@dataclass(frozen=True)
class LeafRefit:
    """Leaf values found again from the rows of a leaf, where a Newton step would be poor.

    The residuals are label - score, the weights are the hessians (so these must be the weights of
    the rows times a factor that does not depend on the score).

    Attributes:
        alpha: Leaf values become this weighted quantile of the residuals.
        delta: If above 0: the quantile plus the mean of what is beyond it, each row counted up to
            `delta` (Huber's loss).
    """

    alpha: float = 0.5
    delta: float = 0.0


class Objective(ABC):
    """A loss: where to start, its two derivatives, and how scores become predictions.

    Attributes:
        name: Name in parameters and model files.
        traits: What it is: its kind, its link, what other libraries call it.
        default_metric: Metric when none is asked for; None: no metric.
        n_outputs: Scores, and so trees per round.
        sigmoid: Factor on scores within the link sigmoid.
    """

    name: ClassVar[str]
    traits: ClassVar[Traits]
    default_metric: ClassVar[str | None]
    # Whether it takes the labels of several targets itself; otherwise there is one objective each.
    takes_targets: ClassVar[bool] = False
    # Whether two columns of labels may be the ends of an interval, the second one infinite.
    takes_intervals: ClassVar[bool] = False
    # Whether the derivatives of a row follow from its own scores, label and weight alone.
    by_row: ClassVar[bool] = False
    # Metrics that can be evaluated with it; None: those for one number per row.
    metrics: ClassVar[tuple[str, ...] | None] = None
    n_outputs: int = 1
    sigmoid: float = 1.0

    @property
    def has_link(self) -> bool:
        """Whether predictions are something else than raw scores."""
        return self.traits.has_link

    @property
    def n_classes(self) -> int:
        """The number of classes that the objective tells apart; 0: it is about something else."""
        if self.traits.kind is Kind.BINARY:
            return 2
        return self.n_outputs if self.traits.kind is Kind.MULTICLASS else 0

    @property
    def leaf_refit(self) -> LeafRefit | None:
        """How leaf values are found again once a tree is grown; None: they are not."""
        return None

    def leaf_refit_of(self, output: int) -> LeafRefit | None:
        """How leaf values of one output's trees are found again; None: they are not."""
        return self.leaf_refit

    @property
    def own_metric(self) -> str | None:
        """Metric when none is asked for; None: no metric."""
        return self.default_metric

    @property
    def damp_from(self) -> float:
        """Leaf values beyond this (before shrinkage) are damped; 0: none are.

        For losses whose Newton step overshoots where the model is confident and wrong.
        """
        return 0.0

    @property
    def hessian_is_variance(self) -> bool:
        """Whether labels are two classes, and the hessian is the variance of the gradient.

        Gradients whose squares are smaller than that come from rows that are fitted too closely.
        Weights multiply the variance once more.
        """
        return False

    @classmethod
    @abstractmethod
    def from_params(cls, params: Params, targets: Targets) -> Objective:
        """Make the objective of a training, and check the labels.

        Raises:
            DataError: If the labels do not fit.
        """

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:  # noqa: B027
        """Check the labels of a validation set (as the user gave them, like the training's).

        Raises:
            DataError: If the labels do not fit.
        """

    def prepare(self, targets: Targets) -> Targets:
        """Return the labels as the loss sees them; metrics still see the user's."""
        return targets

    @abstractmethod
    def start_scores(self, targets: Targets) -> list[float]:
        """Return the best constant score of each output."""

    def start_at(self, prediction: float) -> list[float]:
        """Return the score of each output at which this is predicted (`base_score`).

        Raises:
            ParameterError: If no score is predicted so, or the link cannot be inverted.
        """
        if self.has_link:
            raise no_inverse(self.name)
        return [prediction] * self.n_outputs

    def start_state(self, targets: Targets) -> State:
        """Return what is learned in addition to the trees, before the first round."""
        return None

    def for_round(self, n_round: int, state: State) -> Objective:
        """Return the objective of one round; most are the same in all of them."""
        return self

    def next_state(self, state: State, targets: Targets, gradients: Gradients) -> State:
        """Return the state after a round with these gradients."""
        return state

    @abstractmethod
    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives at the scores."""

    @property
    def device_loss(self) -> DeviceLoss | None:
        """The loss for a GPU; None: its gradients are found on the CPU."""
        return None

    @property
    def row_loss(self) -> _native.RowLoss | None:
        """The loss for several rounds in one native call; None: every round passes Python."""
        return None

    def has_hessian(self, targets: Targets) -> bool:
        """Whether hessians differ from 1."""
        return True

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Turn raw scores into predictions: (rows,), or (rows, outputs) with several outputs."""
        return by_row(score, self.n_outputs)

    def to_points(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[np.float64]:
        """Return predictions for metrics that take one number per row."""
        return self.to_predictions(score, n_threads) if self.has_link else score

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps, so that `from_config` can make it again."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Objective:
        """Make an objective that predicts; it need not be able to train."""
        return cls()

    def for_prediction(self) -> Objective:
        """Return the objective without what only training needs (functions, data)."""
        return type(self).from_config(self.to_config())


def read_number(config: dict[str, Any], key: str, least: float = 0.0) -> float:
    """Return a number of a model file's objective: finite, and above `least`.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> read_number({"sigmoid": 1}, "sigmoid")
        1.0
    """
    value = config[key]
    if type(value) not in (int, float) or not least < value < math.inf:
        raise ValueError(f"{key} is not a finite number above {least:g}: {reprlib.repr(value)}")
    return float(value)


def read_outputs(config: dict[str, Any], key: str = "num_class") -> int:
    """Return the number of outputs of a model file's objective.

    Raises:
        ValueError: If it is not a whole number above 0.

    Example:
        >>> read_outputs({"num_class": 3})
        3
    """
    value = config[key]
    if type(value) is not int or value < 1:
        raise ValueError(f"{key} is not a whole number above 0: {reprlib.repr(value)}")
    return value


@dataclass(frozen=True)
class CountsOutputs(Objective):
    """An objective of which a model file keeps the number of outputs alone."""

    n_outputs: int = 1

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps; a user's function is not part of it."""
        return {"name": self.name, "num_class": self.n_outputs}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Objective:
        """Make the objective of a model file."""
        return cls(read_outputs(config))


def no_inverse(name: str) -> ParameterError:
    """Make the error of a `base_score` that cannot become a score."""
    return ParameterError.because(
        f"base_score cannot be used with objective={name}",
        expected="an objective whose predictions belong to one score each",
        hint="Leave it out, or pass the scores to start from as init_score.",
    )


def random_key(seed: int, n_round: int) -> int:
    """Make the key of an objective's random numbers in one round.

    Example:
        >>> random_key(5, 0) == random_key(5, 1)
        False
    """
    stream = 100  # apart from the streams of sampling
    return _native.random_bits(_native.random_bits(seed & (2**64 - 1), stream), n_round)


def by_row(score: npt.NDArray[np.float64], n_outputs: int) -> npt.NDArray[np.float64]:
    """Return class-major scores as (rows,), or (rows, outputs) with several outputs.

    Example:
        >>> by_row(np.array([0.0, 1.0, 10.0, 11.0]), 2)
        array([[ 0., 10.],
               [ 1., 11.]])
    """
    if n_outputs == 1:
        return score
    return np.ascontiguousarray(score.reshape(n_outputs, -1).T)
