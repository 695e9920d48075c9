"""GOSS, gradient-based one-side sampling (algorithm 2 of the LightGBM paper)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.objectives import Gradients
from gossamer.params import Params
from gossamer.sampling.base import ROUNDING, Bag, GradientSampler, RowsOnDevice
from gossamer.sampling.goss_rates import Counts, choose_counts, divide_counts
from gossamer.sampling.keys import Stream, make_key

_logger = logging.getLogger("gossamer")


class Goss(GradientSampler):
    """Keeps the rows of large gradients, and draws some of the others, which then count for all.

    Rows are scored by the length of their gradient: |gradient| as in the paper; of several outputs
    sqrt(sum of gradient^2). (LightGBM multiplies by the hessian, which did worse wherever it made a
    difference.) With `top_rate="auto"` the rates follow from the scores of each round: the fewest
    rows that hold the error `goss_error`, or, where `bagging_fraction` gives the share of rows, the
    rates of the smallest error.

    Attributes:
        rates: Shares (kept, drawn) of the last draw; (1, 0) where all rows were used.

    Example:
        >>> from gossamer.params import resolve
        >>> goss = Goss(resolve({"data_sample_strategy": "goss", "learning_rate": 0.5}), 1000, 1)
        >>> gradients = Gradients.empty(1000, 1, has_hessian=False, weighable=True)
        >>> gradients.gradient[:] = np.linspace(-1, 1, 1000)
        >>> goss.draw(1, gradients, 1) is None  # all rows in the first 1 / learning_rate rounds
        True
        >>> bag = goss.draw(2, gradients, 1)
        >>> len(bag.inside), goss.rates
        (300, (0.2, 0.1))
    """

    uses: ClassVar[tuple[str, ...]] = (
        "top_rate",
        "other_rate",
        "goss_error",
        "bagging_fraction",
        "learning_rate",
        "bagging_seed",
    )

    def __init__(self, params: Params, n_rows: int, n_outputs: int) -> None:
        """Look up the rates, and allocate the scores."""
        super().__init__(params, n_rows, n_outputs)
        # As in LightGBM: gradients say little before the model has learned something.
        self._first_round = int(1 / params.learning_rate)
        self._error = params.goss_error
        share = params.bagging_fraction
        self._n_used = max(1, int(n_rows * share)) if share < 1 else None
        self._counts: Counts | None = None  # None: chosen again each round
        if not isinstance(params.top_rate, str):
            self._counts = _round_rates(params.top_rate, params.other_rate, n_rows)
        self.rates = (1.0, 0.0)

    @property
    def is_on(self) -> bool:
        """Whether rows are sampled at all."""
        return self._counts is None or sum(self._counts) < self._n_rows

    def draw(self, n_round: int, gradients: Gradients, n_threads: int, tree: int = 0) -> Bag | None:
        """Return the rows of a round; None: all of them. Rows drawn at random are weighted."""
        self.rates = (1.0, 0.0)
        if not self.is_on:
            return None
        hessian = gradients.restore_hessian()
        if n_round < self._first_round:
            return None
        if self._counts is None:
            self._native.score(gradients.gradient, hessian, 0.0, n_threads)
        counts = self._choose(n_round, self._native.histogram)
        if counts is None:
            return None
        rows = self._take_rows()
        key = make_key(self._seed, Stream.GOSS, n_round, tree)
        self._native.sample_goss(*counts, key, gradients.gradient, hessian, rows, n_threads)
        return Bag(rows[: sum(counts)], self._n_rows)

    def draw_on_device(self, n_round: int, rows: RowsOnDevice) -> int | None:
        """See `RowSampler`."""
        self.rates = (1.0, 0.0)
        if not self.is_on or n_round < self._first_round:
            return None
        rows.score(0.0)
        counts = self._choose(n_round, rows.histogram)
        if counts is None:
            return None
        return rows.sample_goss(*counts, make_key(self._seed, Stream.GOSS, n_round, 0))

    def _choose(
        self, n_round: int, find_histogram: Callable[[], npt.NDArray[np.uint32]]
    ) -> Counts | None:
        """Choose how many rows to keep and to draw; None: all rows are used."""
        counts = self._counts
        if counts is None:
            if self._n_used is None:
                counts = choose_counts(find_histogram(), self._error)
            else:
                counts = divide_counts(find_histogram(), self._n_used)
        if sum(counts) >= self._n_rows:
            return None
        self.rates = counts.n_top / self._n_rows, counts.n_other / self._n_rows
        if self._counts is None:
            _logger.debug("Round %d: GOSS keeps %.4f and draws %.4f.", n_round + 1, *self.rates)
        return counts


def _round_rates(top: float, other: float, n_rows: int) -> Counts:
    """Numbers of rows; all of them where the rates add up to 1, however they round."""
    if top + other > 1 - ROUNDING:
        return Counts(n_rows, 0)
    n_top = max(1, int(n_rows * top))
    return Counts(n_top, min(int(n_rows * other), n_rows - n_top))
