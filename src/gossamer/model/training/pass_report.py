"""What passes over data on disk cost, as a training goes on."""

from __future__ import annotations

import time
from typing import Final

from gossamer.logger import info
from gossamer.model.training.training import Training

_REPORT_SECONDS: Final = 10.0
# The share of a sample that the hint names, and how many times as fast it must be.
_SHARE: Final = 0.2
_TIMES_AS_FAST: Final = 10
# A tree of a sample is grown from two passes.
_PASSES_OF_SAMPLE: Final = 2


class PassReport:
    """Says how many passes a round takes, and rows per second: after the first round, and later.

    Of a training whose bins are in memory there is nothing to say.

    Args:
        training: The training, before its first round.
        seconds: Least time between two messages.
    """

    def __init__(self, training: Training | None, seconds: float = _REPORT_SECONDS) -> None:
        is_on_disk = training is not None and training.is_on_disk()
        self._training, self._seconds = training if is_on_disk else None, seconds
        self._begin = self._said = time.perf_counter()
        self._n_rounds = 0
        self._n_before = 0 if self._training is None else self._training.n_passes()

    def after_round(self) -> None:
        """Say how the last round went, if it is time."""
        training = self._training
        if training is None:
            return
        n_passes = training.n_passes() - self._n_before
        now = time.perf_counter()
        self._n_rounds += 1
        if n_passes == 0 or (self._n_rounds > 1 and now - self._said < self._seconds):
            return
        self._said = now
        rate = n_passes * training.train.data.n_rows / max(now - self._begin, 1e-9)
        info(
            f"{n_passes:,} passes over {training.train.data.n_rows:,} rows in {self._n_rounds:,} "
            f"rounds, {rate:,.0f} rows per second."
        )
        if self._n_rounds == 1:
            self._hint(training, n_passes / training.trees_per_round)

    def _hint(self, training: Training, per_tree: float) -> None:
        """Say if trees of samples would be ten times as fast."""
        if per_tree < _TIMES_AS_FAST * _PASSES_OF_SAMPLE or not training.could_sample(_SHARE):
            return
        info(
            f"A tree reads the data from disk {per_tree:.0f} times. With bagging_fraction={_SHARE} "
            f"it would be {_PASSES_OF_SAMPLE} times, and {per_tree / _PASSES_OF_SAMPLE:.0f} times "
            "as fast where the disk is what takes the time."
        )
