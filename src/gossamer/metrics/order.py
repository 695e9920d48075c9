"""Metrics of the order of the scores: auc, average_precision, aucpr, ams.

For classes there are auc_mu, multi_auc and multi_aucpr.

They take raw scores: a link changes no order. A row is positive when its label is above zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.errors import ParameterError
from gossamer.metrics.argument import read_share, with_argument
from gossamer.metrics.base import Metric, Scores, check_classes
from gossamer.objectives import Objective
from gossamer.params import Params
from gossamer.params.traits import Kind, traits_of


class AUC(Metric):
    """Area under the ROC curve; 1 where there is only one class, as in LightGBM."""

    area: ClassVar[Callable[..., float]] = staticmethod(_native.auc)

    name = "auc"
    maximize = True

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the area under the curve."""
        return self.area(score, targets.label, targets.weight, n_threads)


def metric_of_two_classes(params: Params, label: npt.NDArray[Any]) -> str | None:
    """Return a metric of a training that needs two classes where labels are other numbers.

    Args:
        params: The parameters of the training.
        label: The labels.

    Returns:
        Its name; None: there is none.

    Example:
        >>> from gossamer.params import resolve
        >>> metric_of_two_classes(resolve({"metric": "auc"}), np.array([0.5, 2.5]))
        'auc'
    """
    if traits_of(params.objective).kind is not Kind.REGRESSION:
        return None
    names = [
        name for name in params.metric or () if name in (AUC.name, "average_precision", "aucpr")
    ]
    return names[0] if names and not np.isin(label, (-1, 0, 1)).all() else None


class AveragePrecision(AUC):
    """Mean of the precision at each positive row; 1 where there is only one class."""

    area: ClassVar[Callable[..., float]] = staticmethod(_native.average_precision)

    name = "average_precision"


class AUCPR(AUC):
    """Area under the precision-recall curve as XGBoost draws it; 1 where there is only one class.

    Between two distinct scores negatives come in proportion to positives (Davis and Goadrich's
    interpolation), where `average_precision` takes the precision at the lower one.
    """

    area: ClassVar[Callable[..., float]] = staticmethod(_native.aucpr)

    name = "aucpr"


@dataclass(frozen=True)
class AMS(Metric):
    """Approximate median significance of a selection of rows (XGBoost's `ams@k`).

    Attributes:
        share: The share of rows with the highest scores that is selected; with 0 or 1 the best
            selection by any threshold counts.
    """

    takes_argument: ClassVar[bool] = True

    name: str = "ams"
    maximize: bool = True
    share: float = 0.0

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; the share must be there."""
        share = read_share("ams", argument)
        return [cls(with_argument("ams", share), True, share)]

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the significance; rows of equal score are selected in their order."""
        order = np.argsort(-score, kind="stable")
        score, is_signal = score[order], targets.label[order] > 0
        weight = 1.0 if targets.weight is None else targets.weight[order].astype(np.float64)
        signal = np.cumsum(np.where(is_signal, weight, 0.0))
        # 10 is added to the background, as in the challenge that the metric comes from.
        background = np.cumsum(np.where(is_signal, 0.0, weight)) + 10.0
        inner = (signal + background) * np.log1p(signal / background) - signal
        significance = np.sqrt(2 * np.maximum(inner, 0.0))
        n_selected = int(self.share * len(score))
        if 0 < n_selected < len(score):
            return float(significance[n_selected - 1])
        is_threshold = score[:-1] != score[1:]
        return float(significance[:-1][is_threshold].max(initial=0.0))


class MultiAUC(Metric):
    """Mean AUC of each class against all others, weighted by its rows (XGBoost's `auc`).

    Classes without rows are left out.
    """

    for_classes: ClassVar[bool] = True
    area: ClassVar[Callable[..., float]] = _native.auc

    name = "multi_auc"
    maximize = True

    def evaluate(
        self,
        score: npt.NDArray[np.float64],
        targets: Targets,
        objective: Objective,
        n_threads: int = 1,
    ) -> float:
        """Return the mean area under the curves."""
        check_classes(targets, objective)
        by_class = score.reshape(objective.n_outputs, -1)
        if objective.traits.link != "sigmoid":  # there scores and predictions have the same order
            by_class = np.exp(by_class - by_class.max(axis=0))
            by_class /= by_class.sum(axis=0)
        areas, sizes = [], []
        for c, predicted in enumerate(by_class):
            is_class = targets.label == c
            size = is_class.sum() if targets.weight is None else targets.weight[is_class].sum()
            if size > 0:
                label = is_class.astype(np.float32)
                areas.append(type(self).area(predicted, label, targets.weight, n_threads))
                sizes.append(float(size))
        return float(np.average(areas, weights=sizes))


class MultiAUCPR(MultiAUC):
    """Mean area under the precision-recall curve of each class against all others.

    It is weighted by the rows of the class, as XGBoost's `aucpr`.
    """

    area: ClassVar[Callable[..., float]] = _native.aucpr

    name = "multi_aucpr"


@dataclass(frozen=True)
class AUCMu(Metric):
    """Mean AUC over all pairs of classes (AUC-mu); pairs of which one is missing are left out.

    Attributes:
        costs: Cost of taking a row of one class for another, classes x classes, row by row.
    """

    for_classes: ClassVar[bool] = True

    name: str = "auc_mu"
    maximize: bool = True
    costs: tuple[float, ...] = ()

    @classmethod
    def from_params(cls, params: Params, argument: str = "") -> list[Metric]:
        """Make the metric; `auc_mu_weights` are the costs, 1 unless given."""
        n_classes = params.num_class
        costs = 1 - np.eye(n_classes)
        if params.auc_mu_weights:
            costs = _read_costs(params.auc_mu_weights, n_classes)
        return [cls(costs=tuple(costs.ravel().tolist()))]

    def evaluate(
        self, score: Scores, targets: Targets, objective: Objective, n_threads: int = 1
    ) -> float:
        """Return the mean area under the curves."""
        check_classes(targets, objective)
        return _native.auc_mu(
            score,
            targets.label,
            targets.weight,
            objective.n_outputs,
            np.array(self.costs),
            n_threads,
        )


def _read_costs(given: tuple[float, ...], n_classes: int) -> npt.NDArray[np.float64]:
    """The matrix; as in LightGBM its diagonal counts for nothing, and nothing else may be zero."""
    if len(given) != n_classes**2:
        raise ParameterError.because(
            "auc_mu_weights is of the wrong length",
            found=f"{len(given)} numbers",
            expected=f"{n_classes**2}: {n_classes} x {n_classes} classes, row by row",
        )
    costs = np.array(given, dtype=np.float64).reshape(n_classes, n_classes)
    np.fill_diagonal(costs, 1.0)
    if not costs.all():
        row, column = (int(place[0]) for place in np.nonzero(costs == 0))
        raise ParameterError.because(
            f"auc_mu_weights is zero for class {row} taken for class {column}",
            expected="numbers other than 0 outside the diagonal",
        )
    np.fill_diagonal(costs, 0.0)
    return costs
