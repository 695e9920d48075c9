"""The history of metrics."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.callbacks import EvalResult, record_evaluation
from gossamer.errors import ParameterError


def test_history_of_train(train: Any) -> None:
    history: dict[str, Any] = {"old": {}}
    rounds = [
        [EvalResult("a", "l2", value, False), EvalResult("b", "l1", -value, False)]
        for value in (1.0, 2.0)
    ]
    train(record_evaluation(history), rounds, begin=7)
    assert history == {"a": {"l2": [1.0, 2.0]}, "b": {"l1": [-1.0, -2.0]}}


def test_history_of_cv(train: Any) -> None:
    history: dict[str, Any] = {}
    train(record_evaluation(history), [[EvalResult("valid", "l2", 1.0, False, 0.0)]])
    assert history == {"valid": {"l2-mean": [1.0], "l2-stdv": [0.0]}}


def test_nothing_to_record(train: Any) -> None:
    history: dict[str, Any] = {}
    train(record_evaluation(history), [None, []])
    assert history == {}


def test_only_dictionaries() -> None:
    with pytest.raises(ParameterError, match="a dictionary"):
        record_evaluation([])  # type: ignore[arg-type]


def test_place_among_callbacks() -> None:
    callback = record_evaluation({})
    assert (callback.order, callback.before_iteration) == (20, False)
