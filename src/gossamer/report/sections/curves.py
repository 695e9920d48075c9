"""Curves of scores against classes: ROC, precision and recall, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.report.given import Floats

Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows by decreasing score: how many are positive among those above each distinct score.

    Attributes:
        n_positive: Positive rows above or at each distinct score, from 0.
        n_negative: Negative ones.
    """

    n_positive: Floats
    n_negative: Floats

    @classmethod
    def of(cls, score: Floats, is_positive: Truths) -> Ranked:
        """Count the rows.

        Example:
            >>> ranked = Ranked.of(np.array([3.0, 2, 2, 1]), np.array([True, True, False, False]))
            >>> ranked.n_positive, ranked.n_negative
            (array([0., 1., 2., 2.]), array([0., 0., 1., 2.]))
        """
        order = np.argsort(-score, kind="stable")
        ordered = score[order]
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
        positive = np.cumsum(is_positive[order], dtype=np.float64)[last]
        return cls(np.append(0.0, positive), np.append(0.0, last + 1 - positive))

    @property
    def area(self) -> float:
        """The area under the ROC curve."""
        false, true = self.roc()
        return float(((true[1:] + true[:-1]) / 2 * np.diff(false)).sum())

    def roc(self) -> tuple[Floats, Floats]:
        """Return the shares of negative and of positive rows above each score."""
        return self.n_negative / self.n_negative[-1], self.n_positive / self.n_positive[-1]

    def precision_recall(self) -> tuple[Floats, Floats]:
        """Return recall and precision above each score."""
        above = np.maximum(self.n_positive + self.n_negative, 1)
        precision = self.n_positive / above
        precision[0] = precision[1]
        return self.n_positive / self.n_positive[-1], precision


def thin(x: Floats, y: Floats, most: int = 250) -> tuple[Floats, Floats]:
    """Return fewer points of a curve, evenly far from one another.

    Example:
        >>> thin(np.arange(1000.0), np.arange(1000.0), 3)
        (array([  0., 500., 999.]), array([  0., 500., 999.]))
    """
    if len(x) <= most:
        return x, y
    step = np.abs(np.diff(x)) / max(np.ptp(x), 1e-300) + np.abs(np.diff(y)) / max(np.ptp(y), 1e-300)
    way = np.append(0.0, np.cumsum(step))
    kept = np.unique(np.searchsorted(way, np.linspace(0, way[-1], most)))
    kept = np.minimum(kept, len(x) - 1)
    return x[kept], y[kept]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rows in groups of about equal size, by prediction.

    Attributes:
        predicted: Mean prediction of each group.
        actual: Mean label of each group.
        n_rows: Rows of each group.
    """

    predicted: Floats
    actual: Floats
    n_rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, prediction: Floats, label: Any, n_groups: int = 10) -> Calibration:
        """Make the groups; equal predictions stay together.

        Example:
            >>> found = Calibration.of(np.array([0.1, 0.1, 0.9, 0.9]), np.array([0, 0, 1, 0]), 2)
            >>> found.predicted, found.actual
            (array([0.1, 0.9]), array([0. , 0.5]))
        """
        order = np.argsort(prediction, kind="stable")
        ordered = prediction[order]
        ends = np.linspace(0, len(order), n_groups + 1)[1:].round().astype(int)
        ends = np.unique(np.searchsorted(ordered, ordered[np.maximum(ends - 1, 0)], "right"))
        starts = np.append(0, ends[:-1])
        sizes = ends - starts
        values = np.asarray(label, np.float64)[order]
        return cls(
            np.add.reduceat(ordered, starts) / sizes,
            np.add.reduceat(values, starts) / sizes,
            sizes,
        )

    @property
    def error(self) -> float:
        """Mean distance of predicted and actual, by rows."""
        return float((np.abs(self.predicted - self.actual) * self.n_rows).sum() / self.n_rows.sum())

    def intervals(self) -> tuple[Floats, Floats]:
        """Return where the true share of each group lies, with a chance of 95 % (Wilson)."""
        z, n, p = 1.96, self.n_rows, self.actual
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return centre - half, centre + half
