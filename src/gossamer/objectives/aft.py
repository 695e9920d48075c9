"""Accelerated failure time: log(time) = score + scale * noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import DataError
from gossamer.objectives.base import Gradients, read_number
from gossamer.objectives.survival import TimeLink, Times, bad_row, check_bounds, check_columns
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# Numbers of the native core.
_DISTRIBUTIONS: Final = {"normal": 0, "logistic": 1, "extreme": 2}
# Where the best constant is infinite (every row censored on the same side): this many scales
# beyond the times.
_FARTHEST = 10.0
_MOST_STEPS = 100
# Where Newton's steps are damped, in scales.
_LARGEST_STEP = 4.0
# As XGBoost: likelihoods below 1e-12 count as that much.
LARGEST_LOSS = 27.63102111592855


@dataclass(frozen=True)
class AFT(TimeLink):
    """Negative log-likelihood of times of which only an interval may be known.

    Labels are two columns, lower and upper bound: equal where the time is known, upper = inf where
    it is right-censored, lower = 0 where it is left-censored. One column: all times are known.
    Predictions are times, exp(score). As in XGBoost, derivatives are bounded.

    Attributes:
        distribution: Of the noise: normal, logistic or extreme (smallest extreme value: Weibull).
        scale: Factor on the noise.
    """

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "aft"
    traits: ClassVar[Traits] = Traits(
        Kind.SURVIVAL,
        "bounded_exp",
        aliases=("survival:aft",),
        predicts_times=True,
        lightgbm="poisson",
        xgboost="survival:aft",
    )
    default_metric: ClassVar[str | None] = "aft-nloglik"
    metrics: ClassVar[tuple[str, ...] | None] = (
        "aft-nloglik",
        "interval-regression-accuracy",
        "c_index",
    )
    takes_targets: ClassVar[bool] = True
    takes_intervals: ClassVar[bool] = True

    distribution: str = "normal"
    scale: float = 1.0

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> AFT:
        """Make the objective; times must be above 0."""
        _check_label(targets, "training")
        return cls(params.aft_loss_distribution, params.aft_loss_distribution_scale)

    def check_valid(self, targets: Targets, train: Targets, name: str) -> None:
        """Check that times are above 0."""
        _check_label(targets, name)

    @property
    def damp_from(self) -> float:
        """See `Objective`.

        The logistic and the extreme value distribution curve exponentially less in the tails, where
        Newton's step overshoots; the normal distribution curves the same everywhere.
        """
        return 0.0 if self.distribution == "normal" else _LARGEST_STEP * self.scale

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the constant of least loss: Newton's steps, kept between bounds.

        The three distributions are log-concave, so the loss is convex in the score.
        """
        label = targets.label
        logs = np.log(label[(label > 0) & np.isfinite(label)].astype(np.float64))
        if len(logs) == 0:  # (0, inf) throughout: nothing is known
            return [0.0]
        low = float(logs.min()) - _FARTHEST * self.scale
        high = float(logs.max()) + _FARTHEST * self.scale
        score = float(logs.mean())
        for _ in range(_MOST_STEPS):
            slope, curvature = _native.aft_slopes(score, *self._arguments(targets), 1)
            low, high = (score, high) if slope < 0 else (low, score)
            step = score - slope / curvature if curvature > 0 else low
            # Bounds that Newton's step leaves are halved instead.
            before, score = score, step if low < step < high else 0.5 * (low + high)
            if abs(score - before) <= 1e-10 * max(1.0, abs(score)):
                break
        return [score]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        assert out.hessian is not None
        _native.gradients_aft(
            score, *self._arguments(targets), out.gradient, out.hessian, n_threads
        )

    def total_loss(
        self, score: npt.NDArray[np.float64], targets: Targets, n_threads: int, most: float
    ) -> float:
        """Return the weighted sum of the losses, each of them at most `most`."""
        return _native.sum_aft_loss(score, *self._arguments(targets), most, n_threads)

    def _arguments(
        self, targets: Targets
    ) -> tuple[Times, Times | None, npt.NDArray[np.float32] | None, int, float]:
        """What the native functions take: lower, upper, weight, distribution, scale."""
        n_rows = targets.n_rows
        upper = targets.label[n_rows:] if targets.n_targets == 2 else None
        number = _DISTRIBUTIONS[self.distribution]
        return targets.label[:n_rows], upper, targets.weight, number, self.scale

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "distribution": self.distribution, "scale": self.scale}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AFT:
        """Make the objective of a model file."""
        distribution = config["distribution"]
        if distribution not in _DISTRIBUTIONS:
            raise ValueError(distribution)
        return cls(distribution, read_number(config, "scale"))


def _check_label(targets: Targets, name: str) -> None:
    check_columns(targets, AFT.name, name)
    if targets.n_targets == 1:
        is_bad = ~(targets.label > 0)
        if is_bad.any():
            raise bad_row(
                is_bad, lambda row: float(targets.label[row]), AFT.name, name, "a time above 0"
            )
        return
    lower, upper = targets.label.reshape(2, -1)
    is_bad = ~((lower >= 0) & (upper > 0) & (lower <= upper))
    expected = "0 <= lower bound <= upper bound, the upper one above 0 (inf: right-censored)"
    check_bounds(is_bad, lower, upper, AFT.name, name, expected)
    if np.isinf(upper).all() and not lower.any():
        raise DataError.because(
            f"every row of the {name} data is (0, inf): nothing is known of any time",
            expected="at least one bound",
        )
