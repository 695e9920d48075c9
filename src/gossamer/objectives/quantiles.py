"""Several quantiles in one model, which never cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives.base import Gradients, LeafRefit, Objective, read_number
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits


@dataclass(frozen=True)
class Quantiles(Objective):
    """Pinball loss of several quantiles, one score each.

    Scores are trained one by one and may cross. Predictions are the scores of a row in increasing
    order, so they cannot. That never makes the loss worse: if the scores of quantiles a < b are the
    wrong way round, swapping them lowers the sum of the two pinball losses by (b - a) times their
    distance, whatever the label, and sorting is a series of such swaps.

    Attributes:
        n_outputs: Number of quantiles.
        alphas: The quantiles, increasing.
    """

    by_row: ClassVar[bool] = True
    name: ClassVar[str] = "quantiles"
    traits: ClassVar[Traits] = Traits(
        Kind.QUANTILES, "sorted", is_choice=False, xgboost="reg:quantileerror"
    )
    default_metric: ClassVar[str | None] = "quantile"
    metrics: ClassVar[tuple[str, ...] | None] = ("quantile",)

    n_outputs: int = 1
    alphas: tuple[float, ...] = (0.5,)

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Quantiles:
        """Make the objective."""
        alphas = params.quantile_alpha or (params.alpha,)
        return cls(len(alphas), alphas)

    def leaf_refit_of(self, output: int) -> LeafRefit | None:
        """See `Objective`: each output's leaves are quantiles of the residuals."""
        return LeafRefit(self.alphas[output])

    def start_scores(self, targets: Targets) -> list[float]:
        """Return the quantiles of the labels."""
        return [weighted_quantile(targets.label, targets.weight, alpha) for alpha in self.alphas]

    def has_hessian(self, targets: Targets) -> bool:
        """Only weights make hessians differ from 1."""
        return targets.weight is not None

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        """Fill in the derivatives."""
        out.fill(_native.gradients_quantiles, score, targets, n_threads, np.array(self.alphas))

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return the quantiles of each row in increasing order, rows x quantiles."""
        if self.n_outputs == 1:
            return score
        out = np.empty_like(score)
        _native.sort_outputs(score, self.n_outputs, out, n_threads)
        return out.reshape(-1, self.n_outputs)

    def to_config(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {"name": self.name, "alphas": list(self.alphas)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Quantiles:
        """Make the objective of a model file."""
        alphas = tuple(read_number({"alpha": alpha}, "alpha") for alpha in config["alphas"])
        if not alphas or max(alphas) >= 1:
            raise ValueError("there are no quantiles, or one is not below 1")
        return cls(len(alphas), alphas)


def weighted_quantile(
    values: npt.NDArray[Any], weight: npt.NDArray[Any] | None, alpha: float
) -> float:
    """Return the smallest value that at least a share `alpha` of the weight does not exceed.

    Halfway to the next one where the share is met exactly, as for leaf values.

    Example:
        >>> weighted_quantile(np.array([3.0, 1.0, 2.0, 4.0]), None, 0.5)
        2.5
    """
    values = np.asarray(values, dtype=np.float64)
    counts = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    values, counts = values[counts > 0], counts[counts > 0]
    order = np.argsort(values, kind="stable")
    values, total = values[order], np.cumsum(counts[order])
    wanted = alpha * total[-1]
    first = min(int(np.searchsorted(total, wanted)), len(values) - 1)
    after = first + 1 if total[first] == wanted and first + 1 < len(values) else first
    return float(0.5 * (values[first] + values[after]))
