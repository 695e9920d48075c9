"""What a row sampler is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Protocol

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.objectives import Gradients
from gossamer.params import Params

# Rates are decimals: two that add up to 1 may miss it by so little.
ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Bag:
    """Some of `n_rows` rows (uint32, increasing).

    Example:
        >>> Bag(np.array([0, 2], dtype=np.uint32), 4).outside
        array([1, 3], dtype=uint32)
    """

    inside: npt.NDArray[np.uint32]
    n_rows: int

    @cached_property
    def outside(self) -> npt.NDArray[np.uint32]:
        """All other rows."""
        is_outside = np.ones(self.n_rows, dtype=bool)
        is_outside[self.inside] = False
        return np.flatnonzero(is_outside).astype(np.uint32)


class RowsOnDevice(Protocol):
    """Draws rows where gradients are on a device; every draw returns the number of its rows."""

    def sample_rows(self, fractions: tuple[float, float], by_class: bool, key: int) -> int:
        """Draw with the chances of negative and positive rows."""

    def score(self, reg: float) -> None:
        """Score rows, as `_native.GradientSampler` does."""

    def histogram(self) -> npt.NDArray[np.uint32]:
        """Return rows by the leading bits of their score."""

    def mean_step(self) -> float:
        """Return the sum of |gradient| over the sum of hessian."""

    def sample_goss(self, n_top: int, n_other: int, key: int) -> int:
        """Keep the rows of largest score, and draw others, whose gradients are weighted."""

    def sample_mvs(self, n_expected: float, key: int) -> int:
        """Keep rows with chances that grow with their scores; divide gradients by them."""


class RowSampler(ABC):
    """Draws the rows that a round's trees are grown on.

    A round's rows follow from the seed, the round and the gradients, whatever was drawn before.

    Attributes:
        uses: Names of the parameters it depends on.
    """

    uses: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def is_on(self) -> bool:
        """Whether rows are sampled at all."""

    @property
    def weighs_rows(self) -> bool:
        """Whether gradients and hessians are changed, so that there must be hessians."""
        return False

    @abstractmethod
    def draw(self, n_round: int, gradients: Gradients, n_threads: int, tree: int = 0) -> Bag | None:
        """Return the rows of a round; None: all of them. Gradients may be weighted in place.

        Each of a round's parallel trees has rows of its own; `tree` is its number.
        """

    def give_back(self, bag: Bag | None) -> None:  # noqa: B027 (most samplers have no use for it)
        """Take back a bag that is not needed any more; the next one may use its memory."""

    @property
    def draws_on_device(self) -> bool:
        """Whether rows can be drawn where gradients are on a device."""
        return False

    def draw_on_device(self, n_round: int, rows: RowsOnDevice) -> int | None:
        """Draw the rows of a round there; return how many there are, None: all of them."""
        raise NotImplementedError


class GradientSampler(RowSampler):
    """Draws rows by the size of their gradients, and weights those that stand for others."""

    def __init__(self, params: Params, n_rows: int, n_outputs: int) -> None:
        """Allocate the scores of the rows."""
        self._seed, self._n_rows = params.bagging_seed, n_rows
        self._native = _native.GradientSampler(n_rows, n_outputs)
        self._rows: npt.NDArray[np.uint32] | None = None  # memory for the next bag

    def _take_rows(self) -> npt.NDArray[np.uint32]:
        """Return memory for the rows of a bag. New memory would cost as much as drawing them."""
        rows, self._rows = self._rows, None
        return np.empty(self._n_rows, dtype=np.uint32) if rows is None else rows

    def give_back(self, bag: Bag | None) -> None:
        """See `RowSampler`."""
        if bag is not None:
            self._rows = bag.inside.base

    @property
    def weighs_rows(self) -> bool:
        """See `RowSampler`."""
        return self.is_on

    @property
    def draws_on_device(self) -> bool:
        """See `RowSampler`."""
        return True
