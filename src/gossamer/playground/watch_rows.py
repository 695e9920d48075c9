"""`WatchRows`: a callback that keeps the rows on which each tree was grown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.callbacks import CallbackEnv
from gossamer.objectives import Gradients
from gossamer.sampling.base import Bag, RowSampler


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The rows of a round.

    Attributes:
        kept: Rows that count as they are.
        drawn: Rows that were drawn at random and count for others as well.
        weight: How often each of the drawn rows counts.
    """

    kept: npt.NDArray[np.intp]
    drawn: npt.NDArray[np.intp]
    weight: float


class _Watched(RowSampler):
    """Draws what another sampler draws, and keeps it."""

    uses = ()

    def __init__(self, sampler: RowSampler, seen: dict[int, UsedRows | None]) -> None:
        self._sampler, self._seen = sampler, seen

    @property
    def is_on(self) -> bool:
        return self._sampler.is_on

    @property
    def weighs_rows(self) -> bool:
        return self._sampler.weighs_rows

    def draw(self, n_round: int, gradients: Gradients, n_threads: int, tree: int = 0) -> Bag | None:
        before = gradients.gradient.copy()
        bag = self._sampler.draw(n_round, gradients, n_threads, tree)
        self._seen[n_round] = None if bag is None else _divide(bag, before, gradients.gradient)
        return bag


def _divide(bag: Bag, before: npt.NDArray[np.float32], after: npt.NDArray[np.float32]) -> UsedRows:
    """Divide rows by whether their gradients were weighted."""
    inside = bag.inside.astype(np.intp)
    is_drawn = before[inside] != after[inside]
    drawn = inside[is_drawn]
    weight = float(np.median(after[drawn] / before[drawn])) if len(drawn) else 1.0
    return UsedRows(inside[~is_drawn], drawn, weight)


@dataclass(eq=False)
class WatchRows:
    """Keeps the rows on which the tree of each round was grown.

    Attributes:
        rows: Round, from 0 -> its rows; None: all of them.

    Example:
        >>> import gossamer as gs
        >>> x = np.random.default_rng(0).normal(size=(1000, 2))
        >>> params = {"data_sample_strategy": "goss", "learning_rate": 0.5, "verbose": -1}
        >>> watch = WatchRows()
        >>> model = gs.train(params, gs.Dataset(x, x[:, 0]), 4, callbacks=[watch])
        >>> watch.rows[0] is None, len(watch.rows[3].kept), len(watch.rows[3].drawn)
        (True, 200, 100)
    """

    order: ClassVar[int] = 0
    before_iteration: ClassVar[bool] = True

    rows: dict[int, UsedRows | None] = field(default_factory=dict)

    def __call__(self, env: CallbackEnv) -> None:
        """Before the first round: watch the sampler."""
        training = env.model.training
        if env.iteration == env.begin_iteration and training is not None:
            sampler = _Watched(training.prepared.sampler, self.rows)
            training.prepared = replace(training.prepared, sampler=sampler)
