"""XGBoost: the hist method, leaf by leaf, where the options do not name another."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.runners.base import Runner, Settings
from benchmarks.split import Array

_OBJECTIVES = {
    "binary": "binary:logistic",
    "multiclass": "multi:softprob",
    "regression": "reg:squarederror",
}


class XGBoostRunner(Runner):
    """XGBoost's native API; for hist on a QuantileDMatrix, which is binned when it is built."""

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        super().__init__(settings, options)
        self._library: Any = importlib.import_module("xgboost")
        # There is no minimum of rows per leaf. With squared error the hessian of a row is one,
        # so min_child_weight is that minimum; elsewhere it is LightGBM's hessian minimum.
        is_regression = settings.task == "regression"
        self._params: dict[str, object] = {
            "objective": _OBJECTIVES[settings.task],
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": settings.num_leaves,
            "max_bin": settings.max_bin,
            "learning_rate": settings.learning_rate,
            "min_child_weight": (
                settings.min_data_in_leaf if is_regression else settings.min_sum_hessian_in_leaf
            ),
            "reg_lambda": settings.lambda_l2,
            "nthread": settings.threads,
            "verbosity": 0,
            **options,
        }
        if settings.task == "multiclass":
            self._params["num_class"] = settings.n_classes

    def build(self, x: Array, y: Array) -> Any:
        """Bins the columns; the other methods take the values as they are."""
        if self._params["tree_method"] != "hist":
            return self._library.DMatrix(x, y, nthread=self.settings.threads)
        return self._library.QuantileDMatrix(
            x, y, max_bin=self.settings.max_bin, nthread=self.settings.threads
        )

    def train(self, data: Any) -> Any:
        """Trains a booster."""
        return self._library.train(self._params, data, self.settings.rounds)

    def predict(self, model: Any, x: Array) -> Array:
        """Predicts in place, without a DMatrix, which is the faster way."""
        return np.asarray(model.inplace_predict(x))
