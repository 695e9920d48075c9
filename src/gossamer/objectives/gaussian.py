"""Mean and variance: a normal distribution for every row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, Objective, read_number
from gossamer.objectives.labels import check_limit
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

# Standard deviations are kept above this share of the standard deviation of all labels ...
_FLOOR = 1e-6
# ... which is taken to be at least this share of the largest label: float32 has no finer steps.
_LEAST_SCALE = 1e-6
# Gradients by the mean are up to 1 / _FLOOR^2 times as large as labels, and must fit float32.
_LARGEST_LABEL = 1e24


@dataclass(frozen=True)
class Gaussian(Objective):
    """Negative log-likelihood of a normal distribution: scores are mean and log(sigma).

    Hessians are the Fisher information, so that leaf values are natural gradient steps: 1 / sigma^2
    by the mean, 2 by log(sigma). The latter is raised to 1 + z^2, z = (label - mean) / sigma, where
    that is more: a leaf's step stays below 1, however far labels are from what sigma says.
    Derivatives by the mean are multiplied by the variance of all labels, so that
    `min_sum_hessian_in_leaf` and `lambda_l2` mean what they do for squared error.

    Attributes:
        scale: Standard deviation of all labels.
        floor: log(sigma) counts as not below it.
    """

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "gaussian"
    traits: ClassVar[Traits] = Traits(
        Kind.DISTRIBUTION, "normal", aliases=("normal", "mean_variance")
    )
    default_metric: ClassVar[str | None] = "gaussian_nll"
    metrics: ClassVar[tuple[str, ...] | None] = ("gaussian_nll", "crps", "l1", "l2", "rmse")

    n_outputs: int = 2
    scale: float = 1.0
    floor: float = math.log(_FLOOR)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Gaussian:
        """Make the objective; gradients of these labels must fit float32."""
        heaviest = 1.0 if targets.weight is None else max(1.0, float(targets.weight.max()))
        largest = float(np.abs(targets.label).max())
        check_limit(largest * heaviest, _LARGEST_LABEL)
        label = targets.label.astype(np.float64)
        variance = targets.average((label - targets.average(label)) ** 2)
        scale = max(math.sqrt(variance), _LEAST_SCALE * (largest or 1.0))
        return cls(2, scale, math.log(_FLOOR * scale))

    def start_scores(self, targets: Targets) -> list[float]:
        """Return mean and logarithm of the standard deviation of the labels."""
        return [targets.average(targets.label.astype(np.float64)), math.log(self.scale)]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        out.fill(_native.gradients_normal, score, targets, n_threads, self.floor, self.scale)

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return mean and standard deviation, rows x 2."""
        mean, log_sigma = score.reshape(2, -1)
        sigma = np.empty_like(mean)
        _native.exp_scores(np.maximum(log_sigma, self.floor), sigma, n_threads)
        return np.column_stack([mean, sigma])

    def to_points(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[np.float64]:
        """Return the means."""
        return score[: len(score) // 2]

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "scale": self.scale, "floor": self.floor}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Gaussian:
        """Make the objective of a model file."""
        return cls(2, read_number(config, "scale"), read_number(config, "floor", -math.inf))
