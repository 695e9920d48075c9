"""What every runner does, and the settings all of them are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from benchmarks.split import Array, Task


@dataclass(frozen=True)
class Settings:
    """One set of parameters for all contenders, under LightGBM's names."""

    task: Task
    n_classes: int
    num_leaves: int
    rounds: int
    threads: int
    learning_rate: float = 0.1
    min_data_in_leaf: int = 20
    min_sum_hessian_in_leaf: float = 1e-3
    max_bin: int = 255
    lambda_l2: float = 0.0


class Runner(ABC):
    """Builds, trains and predicts with one library; imports it when constructed."""

    def __init__(self, settings: Settings, options: dict[str, object]) -> None:
        self.settings = settings
        self.options = options

    @abstractmethod
    def build(self, x: Array, y: Array) -> Any:
        """Makes the library's binned data set."""

    @abstractmethod
    def train(self, data: Any) -> Any:
        """Trains a model on what `build` made."""

    @abstractmethod
    def predict(self, model: Any, x: Array) -> Array:
        """Predicts values or probabilities."""

    def build_time_in_training(self) -> float:
        """Seconds of the last `train` call that were the building of the data set."""
        return 0.0


def make_lightgbm_params(settings: Settings) -> dict[str, object]:
    """The settings as a LightGBM parameter dictionary, which Gossamer takes too."""
    params: dict[str, object] = {
        "objective": settings.task,
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.num_leaves,
        "min_data_in_leaf": settings.min_data_in_leaf,
        "min_sum_hessian_in_leaf": settings.min_sum_hessian_in_leaf,
        "max_bin": settings.max_bin,
        "lambda_l2": settings.lambda_l2,
        "num_threads": settings.threads,
        "verbosity": -1,
    }
    if settings.task == "multiclass":
        params["num_class"] = settings.n_classes
    return params
