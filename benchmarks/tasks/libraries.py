"""Training and prediction with each library: weights, queries, several targets, early stopping."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from benchmarks.paper.runners import RoundClock, make_xgboost_clock
from benchmarks.runners.base import Settings, make_lightgbm_params
from benchmarks.runners.sklearn import SklearnRunner
from benchmarks.runners.xgboost import XGBoostRunner
from benchmarks.split import Array
from benchmarks.tasks.problem import Part

Options = dict[str, Any]
FISHER = "fisher"  # objective of LightGBM here: mean and log(sigma) with Fisher's information


@dataclass
class Fitted:
    """A trained model.

    Attributes:
        model: The library's.
        n_rounds: Rounds that count: the best ones after early stopping.
        start: What is added to raw scores.
    """

    model: Any
    n_rounds: int
    start: Array | float = 0.0


class Library(Protocol):
    """What a worker needs of a library; imports it when constructed."""

    def build(self, train: Part, valid: Part | None) -> Any:
        """Makes the binned data sets."""

    def train(self, data: Any, clock: RoundClock, patience: int) -> Fitted:
        """Trains, stopping when `patience` rounds brought nothing; 0 means never."""

    def predict(self, fitted: Fitted, x: Array, is_raw: bool) -> Array:
        """Predictions, or raw scores."""


class LightGBM:
    """LightGBM, and what has its API."""

    module = "lightgbm"

    def __init__(self, settings: Settings, options: Options) -> None:
        self._library: Any = importlib.import_module(self.module)
        self._settings = settings
        self._params = {**make_lightgbm_params(settings), **options}
        # LightGBM ignores it among the parameters.
        self._categories = self._params.pop("categorical_feature", "auto")
        self._start: Array | float = 0.0

    def build(self, train: Part, valid: Part | None) -> Any:
        """Makes the binned data sets."""
        start = None
        if self._params["objective"] == FISHER:
            self._params["objective"] = _fisher_gradients
            self._start = np.array([train.y.mean(), np.log(train.y.std())])
            start = np.tile(self._start, (len(train.y), 1))
        data = self._library.Dataset(
            train.x,
            train.y,
            weight=train.weight,
            group=train.group(),
            init_score=start,
            categorical_feature=self._categories,
            params=self._binning_params(),
        )
        data.construct()
        if valid is None:
            return data, []
        return data, [
            data.create_valid(
                valid.x, valid.y, weight=valid.weight, group=valid.group()
            ).construct()
        ]

    def _binning_params(self) -> Options:
        """A data set takes no function, nor several classes without an objective that has them."""
        if not callable(self._params["objective"]):
            return self._params
        return {k: v for k, v in self._params.items() if k not in ("objective", "num_class")}

    def train(self, data: Any, clock: RoundClock, patience: int) -> Fitted:
        """Trains."""
        rows, valid = data
        callbacks = clock.callbacks()
        if patience:
            callbacks.append(self._library.early_stopping(patience, verbose=False))
        rounds = self._settings.rounds
        model = self._library.train(
            self._params, rows, rounds, valid if patience else [], callbacks=callbacks
        )
        n_rounds = model.best_iteration if patience and model.best_iteration > 0 else rounds
        return Fitted(model, n_rounds, self._start)

    def predict(self, fitted: Fitted, x: Array, is_raw: bool) -> Array:
        """Predictions, or raw scores."""
        found = fitted.model.predict(x, num_iteration=fitted.n_rounds, raw_score=is_raw)
        return np.asarray(found) + fitted.start


class Gossamer(LightGBM):
    """Gossamer."""

    module = "gossamer"


# XGBoost would start these at 0.5, whatever the labels, and be that far behind.
_XGBOOST_STARTS: dict[object, Callable[[Array], float]] = {
    "survival:aft": lambda y: float(np.exp(np.log(y[y[:, 0] > 0.0, 0]).mean())),
    "reg:squaredlogerror": lambda y: float(np.expm1(np.log1p(y).mean())),
    "reg:pseudohubererror": lambda y: float(np.median(y)),
}


class XGBoost(XGBoostRunner):
    """XGBoost, on a QuantileDMatrix.

    It has no minimum of rows per leaf. Without any other minimum some of its losses run away, so it
    gets its own default of the hessian where the options say nothing.
    """

    def __init__(self, settings: Settings, options: Options) -> None:
        super().__init__(settings, {"min_child_weight": 1.0, **options})

    def build(self, train: Part, valid: Part | None) -> Any:  # type: ignore[override]
        """Makes the binned data sets."""
        start = _XGBOOST_STARTS.get(self._params["objective"])
        if start is not None:
            self._params["base_score"] = start(train.y)
        data = self._matrix(train, None)
        return data, [] if valid is None else [(self._matrix(valid, data), "valid")]

    def train(self, data: Any, clock: RoundClock, patience: int) -> Fitted:  # type: ignore[override]
        """Trains."""
        rows, valid = data
        rounds = self.settings.rounds
        model = self._library.train(
            self._params,
            rows,
            rounds,
            evals=valid if patience else [],
            verbose_eval=False,
            early_stopping_rounds=patience or None,
            callbacks=[make_xgboost_clock(self._library, clock)],
        )
        return Fitted(model, model.best_iteration + 1 if patience else rounds)

    def predict(self, fitted: Fitted, x: Array, is_raw: bool) -> Array:  # type: ignore[override]
        """Predictions, or raw scores."""
        kind = "margin" if is_raw else "value"
        rounds = (0, fitted.n_rounds)
        found = fitted.model.inplace_predict(x, predict_type=kind, iteration_range=rounds)
        return np.asarray(found)

    def _matrix(self, part: Part, reference: Any) -> Any:
        if self._params["objective"] == "survival:aft":
            low, high = part.y.T
            labels = {"label_lower_bound": low.copy(), "label_upper_bound": high.copy()}
        else:
            labels = {"label": part.y}
        return self._library.QuantileDMatrix(
            part.x,
            **labels,
            weight=part.weight,
            group=part.group(),
            max_bin=self.settings.max_bin,
            nthread=self.settings.threads,
            ref=reference,
        )


class Sklearn(SklearnRunner):
    """scikit-learn's HistGradientBoosting; its data are binned in training."""

    def build(self, train: Part, valid: Part | None) -> Any:  # type: ignore[override]
        """Nothing to build ahead of `fit`."""
        return train.x, train.y, train.weight

    def train(self, data: Any, clock: RoundClock, patience: int) -> Fitted:  # type: ignore[override]
        """Fits an estimator; it stops at no round, and tells none."""
        return Fitted(super().train(data), self.settings.rounds)

    def predict(self, fitted: Fitted, x: Array, is_raw: bool) -> Array:  # type: ignore[override]
        """Predictions."""
        return super().predict(fitted.model, x)


_LIBRARIES: dict[str, Any] = {
    "gossamer": Gossamer,
    "lightgbm": LightGBM,
    "xgboost": XGBoost,
    "sklearn": Sklearn,
}
LIBRARIES = tuple(_LIBRARIES)


def make_library(name: str, settings: Settings, options: Options) -> Library:
    """Makes what trains with a library; imports it."""
    made: Library = _LIBRARIES[name](settings, options)
    return made


def is_installed(name: str) -> bool:
    """Whether a library can be imported."""
    return importlib.util.find_spec(name) is not None


def _fisher_gradients(scores: Array, data: Any) -> tuple[Array, Array]:
    """Gradients of the normal likelihood by mean and log(sigma), and Fisher's information."""
    label = data.get_label()
    inverse = np.exp(-scores[:, 1])
    z = (scores[:, 0] - label) * inverse
    gradient = np.column_stack([z * inverse, 1.0 - z**2])
    return gradient, np.column_stack([inverse**2, np.full(len(label), 2.0)])
