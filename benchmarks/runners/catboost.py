"""CatBoost, growing leaf by leaf like the others rather than its symmetric trees."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.runners.base import Runner, Settings
from benchmarks.split import Array

_LOSSES = {"binary": "Logloss", "multiclass": "MultiClass", "regression": "RMSE"}
_MAX_DEPTH = 16  # CatBoost's own limit


class CatBoostRunner(Runner):
    """CatBoost on a quantized Pool, with its own regularisation switched off."""

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        super().__init__(settings, options)
        self._library: Any = importlib.import_module("catboost")
        self._params: dict[str, object] = {
            "loss_function": _LOSSES[settings.task],
            "iterations": settings.rounds,
            "learning_rate": settings.learning_rate,
            "grow_policy": "Lossguide",
            "max_leaves": settings.num_leaves,
            "depth": _MAX_DEPTH,
            "min_data_in_leaf": settings.min_data_in_leaf,
            "l2_leaf_reg": settings.lambda_l2,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "score_function": "L2",
            "leaf_estimation_method": "Newton",
            "leaf_estimation_iterations": 1,
            "boost_from_average": settings.task != "multiclass",
            "thread_count": settings.threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
            **options,
        }

    def build(self, x: Array, y: Array) -> Any:
        """Bins the columns: n borders make n + 1 bins."""
        pool = self._library.Pool(x, y, thread_count=self.settings.threads)
        pool.quantize(border_count=self.settings.max_bin - 1)
        return pool

    def train(self, data: Any) -> Any:
        """Trains a model."""
        model = self._library.CatBoost(self._params)
        model.fit(data)
        return model

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""
        kind = "RawFormulaVal" if self.settings.task == "regression" else "Probability"
        out = np.asarray(model.predict(x, prediction_type=kind, thread_count=self.settings.threads))
        return out[:, 1] if self.settings.task == "binary" else out
