"""Bagging: rows chosen at random."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import Targets
from gossamer.data.storage.binned import RowWindow
from gossamer.errors import ParameterError
from gossamer.objectives import Gradients
from gossamer.objectives.rank_labels import check_queries
from gossamer.params import Params
from gossamer.sampling.base import Bag, RowSampler, RowsOnDevice
from gossamer.sampling.keys import Stream, make_key


class Bagging(RowSampler):
    """Draws rows with equal chances, or by class, again every `bagging_freq` rounds.

    With `bagging_by_query` whole queries are drawn.

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
        "bagging_by_query",
    )

    def __init__(self, params: Params, targets: Targets, window: RowWindow | None = None) -> None:
        """Look up which rows to draw, and how often; `window`: see `make_row_sampler`."""
        self._seed = params.bagging_seed
        self._freq = params.bagging_freq
        self._window = window
        self._n_rows = targets.n_rows if window is None else window.n_rows
        self._label: npt.NDArray[np.float32] | None = None
        positive, negative = params.pos_bagging_fraction, params.neg_bagging_fraction
        if min(positive, negative) < 1:
            self._label = targets.label
        else:
            positive = negative = params.bagging_fraction
        self._fractions = negative, positive
        self._queries = None
        if params.bagging_by_query:
            if self._label is not None:
                raise ParameterError.because(
                    "bagging_by_query draws whole queries, so rows cannot differ by class",
                    expected="no pos_bagging_fraction or neg_bagging_fraction",
                )
            self._queries = check_queries(targets, "bagging_by_query", "training")
        self._bags: dict[tuple[int, int], Bag] = {}  # by draw and tree

    @property
    def is_on(self) -> bool:
        """Whether rows are sampled at all."""
        return self._freq > 0 and min(self._fractions) < 1

    def draw(
        self,
        n_round: int,
        gradients: Gradients | None = None,
        n_threads: int = 1,
        tree: int = 0,
    ) -> Bag | None:
        """Return the rows of a round; None: all of them. Gradients do not matter."""
        if not self.is_on:
            return None
        draw = n_round // self._freq
        bag = self._bags.get((draw, tree))
        if bag is None:
            # Kept as long as they are needed: through this round, or through several.
            if self._freq == 1 or any(other != draw for other, _ in self._bags):
                self._bags.clear()
            key = make_key(self._seed, Stream.BAGGING, draw, tree)
            n_queries = None if self._queries is None else len(self._queries) - 1
            rows = np.empty(self._n_rows if n_queries is None else n_queries, dtype=np.uint32)
            n_inside = _native.sample_rows(
                len(rows), *self._fractions, self._label, key, rows, n_threads
            )
            bag = self._bags[draw, tree] = self._as_bag(rows[:n_inside])
        return bag

    def _as_bag(self, drawn: npt.NDArray[np.uint32]) -> Bag:
        """Return the rows, or the rows of the queries, that were drawn."""
        if self._queries is not None:
            is_drawn = np.zeros(len(self._queries) - 1, dtype=bool)
            is_drawn[drawn] = True
            drawn = np.flatnonzero(np.repeat(is_drawn, np.diff(self._queries))).astype(np.uint32)
        if self._window is None:
            return Bag(drawn, self._n_rows)
        begin, end = self._window.begin, self._window.end
        first, last = np.searchsorted(drawn, [begin, end])
        return Bag(drawn[first:last] - np.uint32(begin), end - begin)

    @property
    def draws_on_device(self) -> bool:
        """See `RowSampler`."""
        return self._queries is None and self._window is None

    def draw_on_device(self, n_round: int, rows: RowsOnDevice) -> int | None:
        """See `RowSampler`."""
        if not self.is_on:
            return None
        key = make_key(self._seed, Stream.BAGGING, n_round // self._freq, 0)
        return rows.sample_rows(self._fractions, self._label is not None, key)
