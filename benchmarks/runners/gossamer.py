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
        wanted = {**make_lightgbm_params(settings), **options}
        # An option of None leaves a parameter out: tree_method=exact takes no max_bin.
        self._params = {name: value for name, value in wanted.items() if value is not None}

    def build(self, x: Array, y: Array) -> Any:
        """Bins the columns."""
        return self._library.Dataset(x, y, params=self._params).construct()

    def train(self, data: Any) -> Any:
        """Trains a booster."""
        return self._library.train(self._params, data, self.settings.rounds)

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""
        return np.asarray(model.predict(x))
