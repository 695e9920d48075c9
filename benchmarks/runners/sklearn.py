"""scikit-learn's HistGradientBoosting."""

from __future__ import annotations

import importlib
import time
from typing import Any

import numpy as np

from benchmarks.runners.base import Runner, Settings
from benchmarks.split import Array


class SklearnRunner(Runner):
    """Estimators that bin inside `fit`; that part is timed and moved to the build.

    The number of threads is taken from OMP_NUM_THREADS, which the launcher sets.
    """

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        super().__init__(settings, options)
        ensemble: Any = importlib.import_module("sklearn.ensemble")
        is_regression = settings.task == "regression"
        base: Any = (
            ensemble.HistGradientBoostingRegressor
            if is_regression
            else ensemble.HistGradientBoostingClassifier
        )
        self._binning_s = 0.0
        self._estimator = _time_binning(base, self)
        self._params: dict[str, object] = {
            "max_iter": settings.rounds,
            "learning_rate": settings.learning_rate,
            "max_leaf_nodes": settings.num_leaves,
            "max_depth": None,
            "min_samples_leaf": settings.min_data_in_leaf,
            "max_bins": settings.max_bin,
            "l2_regularization": settings.lambda_l2,
            "early_stopping": False,
            **options,
        }

    def build(self, x: Array, y: Array) -> Any:
        """Nothing to build ahead of `fit`."""
        return x, y

    def train(self, data: Any) -> Any:
        """Fits an estimator."""
        self._binning_s = 0.0
        return self._estimator(**self._params).fit(*data)

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""
        if self.settings.task == "regression":
            return np.asarray(model.predict(x))
        probability = np.asarray(model.predict_proba(x))
        return probability[:, 1] if self.settings.task == "binary" else probability

    def build_time_in_training(self) -> float:
        """Seconds the last fit spent binning."""
        return self._binning_s

    def add_binning_time(self, seconds: float) -> None:
        """Adds to the binning time of the fit under way."""
        self._binning_s += seconds


def _time_binning(base: Any, runner: SklearnRunner) -> Any:
    """A subclass of an estimator whose private binning step is timed."""
    original: Any = getattr(base, "_bin_data", None)
    if original is None:  # a version without that step: all of the time counts as training
        return base

    def bin_data(self: Any, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        binned = original(self, *args, **kwargs)
        runner.add_binning_time(time.perf_counter() - start)
        return binned

    return type(base.__name__, (base,), {"_bin_data": bin_data})
