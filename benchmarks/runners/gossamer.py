"""Gossamer."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.runners.base import Runner, Settings, make_lightgbm_params
from benchmarks.split import Array


class GossamerRunner(Runner):
    """Gossamer through its LightGBM-shaped API."""

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        super().__init__(settings, options)
        self._library: Any = importlib.import_module("gossamer")
        self._params = {**make_lightgbm_params(settings), **options}

    def build(self, x: Array, y: Array) -> Any:
        """Bins the columns."""
        return self._library.Dataset(x, y, params=self._params).construct()

    def train(self, data: Any) -> Any:
        """Trains a booster."""
        return self._library.train(self._params, data, self.settings.rounds)

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""
        return np.asarray(model.predict(x))
