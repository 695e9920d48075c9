"""The runners of the other benchmarks, with a clock on every round and a look at the model."""

from __future__ import annotations

import base64
import hashlib
import importlib
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from benchmarks.paper.problem import Matrix
from benchmarks.runners.base import Settings
from benchmarks.runners.gossamer import GossamerRunner
from benchmarks.runners.lightgbm import LightGBMRunner
from benchmarks.runners.xgboost import XGBoostRunner
from benchmarks.split import Array


class RoundClock:
    """Notes when each round starts and ends.

    Attributes:
        starts: Start of each round, in seconds of `time.perf_counter`.
        ends: End of each round.
    """

    def __init__(self) -> None:
        self.starts: list[float] = []
        self.ends: list[float] = []

    def start(self, *_: object) -> None:
        """A round starts."""
        self.starts.append(time.perf_counter())

    def end(self, *_: object) -> bool:
        """A round has ended; False means to go on."""
        self.ends.append(time.perf_counter())
        return False

    def seconds(self) -> list[float]:
        """Seconds of each round that ended."""
        pairs = zip(self.starts, self.ends, strict=False)
        return [end - start for start, end in pairs]

    def callbacks(self) -> list[Callable[..., object]]:
        """The clock as callbacks of LightGBM and Gossamer."""

        def before(env: object) -> None:
            self.start(env)

        def after(env: object) -> None:
            self.end(env)

        before.before_iteration = True  # type: ignore[attr-defined]
        return [before, after]


def make_xgboost_clock(library: Any, clock: RoundClock) -> Any:
    """The clock as a callback of XGBoost."""
    base: Any = library.callback.TrainingCallback

    def before(_: Any, model: Any, *args: object) -> Any:
        clock.start()
        return False

    def after(_: Any, *args: object) -> bool:
        return clock.end()

    return type("Clock", (base,), {"before_iteration": before, "after_iteration": after})()


class PaperRunner(Protocol):
    """What a worker needs of a library."""

    def build(self, x: Matrix, y: Array) -> Any:
        """Makes the library's binned data set."""

    def train_timed(self, data: Any, clock: RoundClock) -> Any:
        """Trains a model, telling the clock about every round."""

    def predict_first(self, model: Any, x: Matrix, rounds: int) -> Array:
        """Predicts with the first rounds of a model."""

    def digest(self, model: Any, rounds: int) -> str | None:
        """SHA-256 of the trees of the first rounds, or None where it is not asked for."""


class PaperGossamer(GossamerRunner):
    """Gossamer."""

    def train_timed(self, data: Any, clock: RoundClock) -> Any:
        """Trains a model."""
        rounds = self.settings.rounds
        return self._library.train(self._params, data, rounds, callbacks=clock.callbacks())

    def predict_first(self, model: Any, x: Matrix, rounds: int) -> Array:
        """Predicts with the first rounds."""
        return np.asarray(model.predict(x, num_iteration=rounds))

    def digest(self, model: Any, rounds: int) -> str | None:
        """Of the bytes of the model file, less the parameters, which differ by intention."""
        files: Any = importlib.import_module("gossamer.files")
        text = model.model_to_string(num_iteration=rounds).split("\n", 1)[1]
        arrays, facts = files.from_bytes(base64.b64decode(text))
        facts.pop("parameters")
        return hashlib.sha256(files.to_bytes(arrays, facts)).hexdigest()


class PaperLightGBM(LightGBMRunner):
    """LightGBM."""

    def train_timed(self, data: Any, clock: RoundClock) -> Any:
        """Trains a model."""
        rounds = self.settings.rounds
        return self._library.train(self._params, data, rounds, callbacks=clock.callbacks())

    def predict_first(self, model: Any, x: Matrix, rounds: int) -> Array:
        """Predicts with the first rounds."""
        found = model.predict(x, num_iteration=rounds, num_threads=self.settings.threads)
        return np.asarray(found)

    def digest(self, model: Any, rounds: int) -> str | None:
        """Of the model's text up to the importances and parameters."""
        text: str = model.model_to_string(num_iteration=rounds)
        return hashlib.sha256(text.split("\nend of trees", 1)[0].encode()).hexdigest()


class PaperXGBoost(XGBoostRunner):
    """XGBoost; absent values are missing to it, and zero to the others."""

    def train_timed(self, data: Any, clock: RoundClock) -> Any:
        """Trains a model."""
        callbacks = [make_xgboost_clock(self._library, clock)]
        return self._library.train(self._params, data, self.settings.rounds, callbacks=callbacks)

    def predict_first(self, model: Any, x: Matrix, rounds: int) -> Array:
        """Predicts with the first rounds."""
        return np.asarray(model.inplace_predict(x, iteration_range=(0, rounds)))

    def digest(self, model: Any, rounds: int) -> str | None:
        """Nothing compares XGBoost's models."""
        return None


_RUNNERS: dict[str, Callable[[Settings, dict[str, object]], PaperRunner]] = {
    "gossamer": PaperGossamer,
    "lightgbm": PaperLightGBM,
    "xgboost": PaperXGBoost,
}


def make_runner(library: str, settings: Settings, options: dict[str, object]) -> PaperRunner:
    """Makes the runner of a library; imports it."""
    return _RUNNERS[library](settings, options)
