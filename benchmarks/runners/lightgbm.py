"""LightGBM; the mode (row-wise, column-wise, quantized gradients) comes as options."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.runners.base import Runner, Settings, make_lightgbm_params
from benchmarks.split import Array


class LightGBMRunner(Runner):
    """LightGBM's native API.

    The layout is always forced: left to itself LightGBM times both at the start of training.
    """

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        super().__init__(settings, options)
        self._library: Any = importlib.import_module("lightgbm")
        self._params = {**make_lightgbm_params(settings), **options}

    def build(self, x: Array, y: Array) -> Any:
        """Bins the columns; the row-wise copy is made by `train`, as LightGBM does it."""
        return self._library.Dataset(x, y, params=self._params).construct()

    def train(self, data: Any) -> Any:
        """Trains a booster."""
        return self._library.train(self._params, data, self.settings.rounds)

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""
        return np.asarray(model.predict(x, num_threads=self.settings.threads))
