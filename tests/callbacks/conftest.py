"""A fake model and environments for callbacks; no training needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult
from gossamer.logger import register_logger


@dataclass
class FakeModel:
    """A booster that only remembers its parameters."""

    _train_data_name: str = "training"
    params: dict[str, Any] = field(default_factory=dict)

    def reset_parameter(self, params: dict[str, Any]) -> None:
        """Remember parameters."""
        self.params.update(params)


@dataclass
class FakeCVModel:
    """What `cv()` trains: a booster per fold."""

    boosters: list[FakeModel] = field(default_factory=lambda: [FakeModel(), FakeModel()])


Row = list[EvalResult]
Train = Callable[..., EarlyStopException | None]


@pytest.fixture(autouse=True)
def _no_registered_logger() -> Iterator[None]:
    yield
    register_logger(None)


@pytest.fixture
def model() -> FakeModel:
    """A fake booster."""
    return FakeModel()


@pytest.fixture
def cv_model() -> FakeCVModel:
    """A fake booster of cv()."""
    return FakeCVModel()


@pytest.fixture
def train() -> Train:
    """Call a callback round by round, with these results, until it stops the training."""

    def run(
        callback: Callable[[CallbackEnv], None],
        rounds: list[Row | None],
        model: Any = None,
        params: dict[str, Any] | None = None,
        begin: int = 0,
    ) -> EarlyStopException | None:
        model = FakeModel() if model is None else model
        params = {} if params is None else params
        end = begin + len(rounds)
        try:
            for iteration, results in enumerate(rounds, begin):
                callback(CallbackEnv(model, params, iteration, begin, end, results))
        except EarlyStopException as stop:
            return stop
        return None

    return run
