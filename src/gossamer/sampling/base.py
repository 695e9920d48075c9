"""What a row sampler is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.objectives import Gradients
from gossamer.params import Params

# Rates are decimals: two that add up to 1 may miss it by so little.
ROUNDING: Final = 1e-12


class Bag(NamedTuple):
    """Rows in the bag and rows outside it (uint32, increasing)."""

    inside: npt.NDArray[np.uint32]
    outside: npt.NDArray[np.uint32]


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


class GradientSampler(RowSampler):
    """Draws rows by the size of their gradients, and weights those that stand for others."""

    def __init__(self, params: Params, n_rows: int, n_outputs: int) -> None:
        """Allocate the scores of the rows."""
        self._seed, self._n_rows = params.bagging_seed, n_rows
        self._native = _native.GradientSampler(n_rows, n_outputs)

    @property
    def weighs_rows(self) -> bool:
        """See `RowSampler`."""
        return self.is_on
