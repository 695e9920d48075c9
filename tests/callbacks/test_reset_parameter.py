"""Parameters that change while training."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.callbacks import CallbackEnv, reset_parameter
from gossamer.errors import ParameterError


def test_list(train: Any, model: Any) -> None:
    params = {"learning_rate": 0.3}
    train(reset_parameter(learning_rate=[0.3, 0.2]), [None, None], model, params, begin=5)
    assert model.params == params == {"learning_rate": 0.2}


def test_function_of_rounds_done(train: Any, model: Any) -> None:
    train(reset_parameter(eta=lambda n_done: n_done), [None] * 3, model, begin=5)
    assert model.params == {"eta": 2}


def test_model_is_left_alone_when_nothing_changes(train: Any, model: Any) -> None:
    train(reset_parameter(eta=[0.1, 0.1]), [None, None], model, {"eta": 0.1})
    assert model.params == {}


def test_every_fold(train: Any, cv_model: Any) -> None:
    train(reset_parameter(eta=[0.1]), [None], cv_model)
    assert [booster.params for booster in cv_model.boosters] == [{"eta": 0.1}] * 2


def test_list_of_wrong_length(model: Any) -> None:
    env = CallbackEnv(model, {}, 0, 0, 3, None)
    with pytest.raises(ParameterError, match=r"'eta'.*got 2, expected 3 values"):
        reset_parameter(eta=[0.1, 0.2])(env)


def test_neither_list_nor_function() -> None:
    with pytest.raises(ParameterError, match="'eta'"):
        reset_parameter(eta=0.1)  # type: ignore[arg-type]


def test_place_among_callbacks() -> None:
    callback = reset_parameter()
    assert (callback.order, callback.before_iteration) == (10, True)
