"""Bagging: rows by chance alone."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.objectives import Gradients
from gossamer.params import Params
from gossamer.sampling.base import Bag, RowSampler
from gossamer.sampling.keys import Stream, make_key


class Bagging(RowSampler):
    """Draws rows with equal chances, or those of their class; every `bagging_freq` rounds others.

    Example:
        >>> from gossamer.params import resolve
        >>> targets = Targets(np.zeros(1000, dtype=np.float32))
        >>> sampler = Bagging(resolve({"bagging_fraction": 0.5, "bagging_freq": 2}), targets)
        >>> bag = sampler.draw(0)
        >>> len(bag.inside) + len(bag.outside), sampler.draw(1) is bag, sampler.draw(2) is bag
        (1000, True, False)
    """

    uses: ClassVar[tuple[str, ...]] = (
        "bagging_fraction",
        "pos_bagging_fraction",
        "neg_bagging_fraction",
        "bagging_freq",
        "bagging_seed",
    )

    def __init__(self, params: Params, targets: Targets) -> None:
        """Look up which rows to draw, and how often."""
        self._seed = params.bagging_seed
        self._freq = params.bagging_freq
        self._n_rows = targets.n_rows
        self._label: npt.NDArray[np.float32] | None = None
        positive, negative = params.pos_bagging_fraction, params.neg_bagging_fraction
        if min(positive, negative) < 1:
            self._label = targets.label
        else:
            positive = negative = params.bagging_fraction
        self._fractions = negative, positive
        self._bag: Bag | None = None
        self._drawn_for = -1

    @property
    def is_on(self) -> bool:
        """Whether rows are sampled at all."""
        return self._freq > 0 and min(self._fractions) < 1

    def draw(
        self, n_round: int, gradients: Gradients | None = None, n_threads: int = 1
    ) -> Bag | None:
        """Return the rows of a round; None: all of them. Gradients do not matter."""
        if not self.is_on:
            return None
        draw = n_round // self._freq
        if self._bag is None or draw != self._drawn_for:
            key = make_key(self._seed, Stream.BAGGING, draw)
            rows = np.empty(self._n_rows, dtype=np.uint32)
            n_inside = _native.sample_rows(
                self._n_rows, *self._fractions, self._label, key, rows, n_threads
            )
            self._bag = Bag(rows[:n_inside], rows[n_inside:])
            self._drawn_for = draw
        return self._bag
