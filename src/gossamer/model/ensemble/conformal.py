"""Conformal prediction from out-of-fold scores (CV+): counts and bounds, without any model.

Every held-out row has a *misfit*: how badly the member that had not seen the row predicted it. A
new row gets a misfit of a wanted label from every member, and is compared with the misfits that the
same member has on its own held-out rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Bisections end when the bracket is this share of its first width.
_PRECISION: Final = 1e-12
_MOST_STEPS: Final = 100


@dataclass(frozen=True, eq=False)
class Misfits:
    """Misfits of held-out rows, by member.

    Attributes:
        values: For each member its misfits, increasing.
        weights: For each member the weights of the misfits before each, and of all.
    """

    values: list[Floats]
    weights: list[Floats]

    @classmethod
    def of(cls, misfit: Floats, weight: Floats, member: npt.NDArray[np.int64], n: int) -> Misfits:
        """Sort misfits by member.

        Args:
            misfit: Of each pair of a row and a member that held it out.
            weight: How much each pair counts.
            member: The member of each pair.
            n: Number of members.

        Example:
            >>> found = Misfits.of(np.array([2.0, 1.0, 5.0]), np.ones(3), np.array([0, 0, 1]), 2)
            >>> found.values[0], found.weights[0], found.total
            (array([1., 2.]), array([0., 1., 2.]), 3.0)
        """
        values, weights = [], []
        for m in range(n):
            own = member == m
            order = np.argsort(misfit[own], kind="stable")
            values.append(misfit[own][order])
            weights.append(np.concatenate([[0.0], np.cumsum(weight[own][order])]))
        return cls(values, weights)

    @property
    def total(self) -> float:
        """Weight of all pairs."""
        return float(sum(each[-1] for each in self.weights))

    def weight_below(self, misfit: Floats, side: str) -> Floats:
        """Return the weight of the pairs whose misfit is less than the same member's.

        Args:
            misfit: (members, rows).
            side: "left": less; "right": less or equal.
        """
        below = np.zeros(misfit.shape[1])
        for values, weights, each in zip(self.values, self.weights, misfit, strict=True):
            below += weights[np.searchsorted(values, each, side=side)]  # type: ignore[call-overload]
        return below

    def upper_bounds(
        self, centre: Floats, scale: Floats, coverage: float, weight: Floats
    ) -> Floats:
        """Return the smallest bounds that as many labels as wanted lie below.

        Args:
            centre: (members, rows): what a member predicts for each row.
            scale: (members, rows): what its misfits are multiplied by.
            coverage: The share wanted.
            weight: The weight of each row itself.

        Returns:
            For each row the smallest q such that pairs with centre + scale * misfit <= q have the
            share `coverage` of the weight of all pairs and the row; infinite where all pairs
            together have less.

        Example:
            >>> misfits = Misfits.of(np.arange(9.0), np.ones(9), np.zeros(9, int), 1)
            >>> one = np.ones((1, 1))
            >>> misfits.upper_bounds(10 * one, one, 0.8, np.ones(1)).round(6)
            array([17.])
        """
        wanted = coverage * (self.total + weight)
        wanted = wanted * (1 - 1e-12)  # 0.9 * 10 is above 9
        ends = [(values[0], values[-1]) if len(values) else (0.0, 0.0) for values in self.values]
        low = np.min([c + s * e[0] for c, s, e in zip(centre, scale, ends, strict=True)], axis=0)
        high = np.max([c + s * e[1] for c, s, e in zip(centre, scale, ends, strict=True)], axis=0)
        low = np.nextafter(low, -np.inf)
        width = high - low
        for _ in range(_MOST_STEPS):
            middle = low + (high - low) / 2
            is_enough = self.weight_below((middle - centre) / scale, "right") >= wanted
            low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
            if np.all(high - low <= _PRECISION * width):
                break
        return np.where(wanted > self.total, np.inf, high)
