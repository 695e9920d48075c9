"""MVS, minimal variance sampling (Ibragimov and Gusev 2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from gossamer import _native
from gossamer.objectives import Gradients
from gossamer.params import Params
from gossamer.sampling.base import ROUNDING, Bag, GradientSampler, RowsOnDevice
from gossamer.sampling.keys import Stream, make_key


class Mvs(GradientSampler):
    """Keeps a row with a probability that grows with the size of its gradient.

    A row's score is sqrt(sum over outputs of gradient^2 + reg x hessian^2), its probability
    min(1, score / mu), where mu makes the probabilities add up to the share asked for. Gradient
    and hessian of the rows that are kept are divided by it, so sums are right on average; of all
    such ways to sample, this one has the least variance. It is used from the first round on.

    Example:
        >>> import numpy as np
        >>> from gossamer.params import resolve
        >>> params = resolve({"data_sample_strategy": "mvs", "bagging_fraction": 0.4})
        >>> gradients = Gradients.empty(1000, 1, has_hessian=False, weighable=True)
        >>> gradients.gradient[:] = np.linspace(-1, 1, 1000)
        >>> 350 < len(Mvs(params, 1000, 1).draw(0, gradients, 1).inside) < 450
        True
    """

    uses: ClassVar[tuple[str, ...]] = (
        "top_rate",
        "other_rate",
        "bagging_fraction",
        "mvs_reg",
        "bagging_seed",
    )

    def __init__(self, params: Params, n_rows: int, n_outputs: int) -> None:
        """Look up the share, and allocate the scores."""
        super().__init__(params, n_rows, n_outputs)
        self._share = params.bagging_fraction
        if self._share == 1:
            assert not isinstance(params.top_rate, str)
            self._share = params.top_rate + params.other_rate
        self._reg = params.mvs_reg

    @property
    def is_on(self) -> bool:
        """Whether rows are sampled at all."""
        return self._share < 1 - ROUNDING

    def draw(self, n_round: int, gradients: Gradients, n_threads: int, tree: int = 0) -> Bag | None:
        """Return the rows of a round; None: all of them. They are weighted."""
        if not self.is_on:
            return None
        gradient, hessian = gradients.gradient, gradients.restore_hessian()
        reg = self._find_reg(lambda: _native.mean_step(gradient, hessian, n_threads))
        self._native.score(gradient, hessian, reg, n_threads)
        rows = self._take_rows()
        key = make_key(self._seed, Stream.MVS, n_round, tree)
        n_expected = self._share * self._n_rows
        n_inside = self._native.sample_mvs(n_expected, key, gradient, hessian, rows, n_threads)
        return Bag(rows[:n_inside], self._n_rows)

    def draw_on_device(self, n_round: int, rows: RowsOnDevice) -> int | None:
        """See `RowSampler`."""
        if not self.is_on:
            return None
        rows.score(self._find_reg(rows.mean_step))
        key = make_key(self._seed, Stream.MVS, n_round, 0)
        return rows.sample_mvs(self._share * self._n_rows, key)

    def _find_reg(self, mean_step: Callable[[], float]) -> float:
        """Return the weight of squared hessians in a row's score."""
        # CatBoost takes the last tree's leaf values; this is their size if gradients agree.
        return mean_step() ** 2 if isinstance(self._reg, str) else self._reg
