"""What losses have in common whose prediction is the probability 1 / (1 + exp(-score))."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.objectives.base import LARGEST_LOG_ODDS_STEP
from gossamer.objectives.links import link_named
from gossamer.objectives.pointwise import Pointwise


class SigmoidLink(Pointwise):
    """A loss whose scores are log-odds."""

    @property
    def damp_from(self) -> float:
        """See `Objective`."""
        return LARGEST_LOG_ODDS_STEP

    def start_at(self, prediction: float) -> list[float]:
        """Return the log-odds of a probability."""
        return [link_named("sigmoid").to_score(prediction)]

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        """Return probabilities."""
        out = np.empty_like(score)
        _native.sigmoid(score, 1.0, out, n_threads)
        return out
