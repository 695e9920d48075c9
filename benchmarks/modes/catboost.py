"""CatBoost as it comes, with categories."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.paper.runners import RoundClock
from benchmarks.runners.base import Settings
from benchmarks.split import Array
from benchmarks.tasks.libraries import Fitted, Library, Options, make_library
from benchmarks.tasks.problem import Part


class CatBoost:
    """CatBoost's classifier with its own rounds, rate, and trees; only threads are set."""

    def __init__(self, settings: Settings, options: Options) -> None:
        self._library: Any = importlib.import_module("catboost")
        self._threads = settings.threads
        self._categories: list[int] = options["categorical_feature"]
        self._rounds: int | None = options.get("rounds")

    def build(self, train: Part, valid: Part | None) -> Any:
        """Makes the Pool."""
        return self._library.Pool(self._mixed(train.x), train.y, cat_features=self._categories)

    def train(self, data: Any, clock: RoundClock, patience: int) -> Fitted:
        """Fits a classifier."""
        model = self._library.CatBoostClassifier(
            iterations=self._rounds,
            thread_count=self._threads,
            allow_writing_files=False,
            logging_level="Silent",
        )
        model.fit(data)
        return Fitted(model, int(model.tree_count_))

    def predict(self, fitted: Fitted, x: Array, is_raw: bool) -> Array:
        """Probabilities of class 1, or of each class."""
        found = np.asarray(fitted.model.predict_proba(self._mixed(x)))
        return found[:, 1] if found.shape[1] == 2 else found

    def _mixed(self, x: Array) -> Array:
        """Codes as whole numbers, which CatBoost asks for, beside numbers as they are."""
        mixed = x.astype(object)
        mixed[:, self._categories] = x[:, self._categories].astype(np.int64)
        return mixed


def make_any_library(name: str, settings: Settings, options: Options) -> Library:
    """Makes what trains with a library; imports it."""
    return (
        CatBoost(settings, options) if name == "catboost" else make_library(name, settings, options)
    )
