"""Early stopping beside LightGBM's, on made-up metrics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult, early_stopping

lightgbm = pytest.importorskip("lightgbm")

VALUES = st.floats(0, 1).map(lambda value: round(value, 2))  # ties are common


class Model:
    """A booster that knows the name of its training data."""

    _train_data_name = "learn"


class PeerModel(lightgbm.Booster):
    """The same for LightGBM, which asks for its own class."""

    def __init__(self) -> None:
        self._train_data_name = "learn"

    def __del__(self) -> None:
        """There is nothing to free."""


@st.composite
def trainings(draw: Any) -> tuple[list[list[tuple[Any, ...]]], int]:
    """Results of each round, and the first round's number."""
    metrics = draw(st.lists(st.sampled_from(["l1", "auc", "rmse"]), min_size=1, unique=True))
    sets = draw(st.sampled_from([["valid"], ["learn", "valid"], ["a", "learn", "b"], ["a", "b"]]))
    n_rounds = draw(st.integers(1, 15))
    names = [(data, metric) for data in sets for metric in metrics]
    rounds = [
        [(data, metric, draw(VALUES), metric == "auc") for data, metric in names]
        for _ in range(n_rounds)
    ]
    return rounds, draw(st.integers(0, 5))


def stop_of(
    callback: Any, env_class: Any, result_class: Any, error: Any, model: Any, training: Any
):
    rounds, begin = training
    try:
        for i, results in enumerate(rounds, begin):
            named = [result_class(*result) for result in results]
            callback(env_class(model, {}, i, begin, begin + len(rounds), named))
    except error as stop:
        return i, stop.best_iteration, [tuple(result)[:3] for result in stop.best_score]
    return None


@settings(max_examples=200, deadline=None)
@given(
    training=trainings(),
    stopping_rounds=st.integers(1, 4),
    first_metric_only=st.booleans(),
    min_delta=st.sampled_from([0.0, 0.05, 0.3, [], [0.1], "by metric"]),
)
def test_the_same_stop(
    training: Any, stopping_rounds: int, first_metric_only: bool, min_delta: Any
) -> None:
    if min_delta == "by metric":
        n_metrics = len({metric for _, metric, _, _ in training[0][0]})
        min_delta = [0.1, 0.0, 0.2][:n_metrics]
    options = {"first_metric_only": first_metric_only, "min_delta": min_delta, "verbose": False}
    mine = stop_of(
        early_stopping(stopping_rounds, **options),
        CallbackEnv,
        EvalResult,
        EarlyStopException,
        Model(),
        training,
    )
    theirs = stop_of(
        lightgbm.early_stopping(stopping_rounds, **options),
        lightgbm.callback.CallbackEnv,
        lightgbm.EvalResult,
        lightgbm.callback.EarlyStopException,
        PeerModel(),
        training,
    )
    assert mine == theirs


@pytest.mark.parametrize("min_delta", [-0.1, [-0.1], [0.1, 0.2, 0.3]])
def test_the_same_refusals(min_delta: Any) -> None:
    training = ([[("valid", "l1", 0.5, False), ("valid", "auc", 0.5, True)]], 0)
    with pytest.raises(ValueError, match="min_delta"):
        stop_of(
            early_stopping(3, min_delta=min_delta),
            CallbackEnv,
            EvalResult,
            EarlyStopException,
            Model(),
            training,
        )
    with pytest.raises(ValueError, match="min_delta"):
        stop_of(
            lightgbm.early_stopping(3, min_delta=min_delta, verbose=False),
            lightgbm.callback.CallbackEnv,
            lightgbm.EvalResult,
            lightgbm.callback.EarlyStopException,
            PeerModel(),
            training,
        )
