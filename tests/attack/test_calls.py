"""Odd arguments of functions and methods: errors of ours, or of Python's kinds for wrong types."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.conftest import Tally
from attack.scale import share

import gossamer as gs
from gossamer import Booster, Dataset, GossamerError, train

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(50, 3))
LABEL = ROWS[:, 0]
PARAMS = {"verbosity": -1, "num_threads": 1}
ODD: tuple[Any, ...] = (
    *(None, -1, 0, 1, 77, 2.5, math.nan, True, np.float32(1), np.int8(-3), "", "x", b"x"),
    *([], {}, (), [None], {"x": 1}, object(), np.array([]), np.zeros((2, 2)), ROWS, set()),
)


def calls(model: Booster) -> dict[str, Callable[[Any], Any]]:
    """Calls that take one odd argument."""
    text = model.model_to_string()

    def data(**fields: Any) -> Dataset:
        return Dataset(ROWS, LABEL, **fields)

    def training() -> Booster:
        return Booster(PARAMS, data())

    return {
        "predict": model.predict,
        "predict num_iteration": lambda v: model.predict(ROWS, num_iteration=v),
        "predict start_iteration": lambda v: model.predict(ROWS, start_iteration=v),
        "feature_importance": lambda v: model.feature_importance(v),
        "feature_importance iteration": lambda v: model.feature_importance(iteration=v),
        "model_to_string": lambda v: model.model_to_string(num_iteration=v),
        "model_to_string start": lambda v: model.model_to_string(start_iteration=v),
        "model_to_string format": lambda v: model.model_to_string(format=v),
        "dump_model": lambda v: model.dump_model(num_iteration=v),
        "get_leaf_output tree": lambda v: model.get_leaf_output(v, 0),
        "get_leaf_output leaf": lambda v: model.get_leaf_output(0, v),
        "set_leaf_output": lambda v: Booster(model_str=text).set_leaf_output(0, 0, v),
        "refit": lambda v: model.refit(v, LABEL),
        "refit label": lambda v: model.refit(ROWS, v),
        "refit decay": lambda v: model.refit(ROWS, LABEL, decay_rate=v),
        "train rounds": lambda v: train(PARAMS, data(), v),
        "train data": lambda v: train(PARAMS, v, 2),
        "train init_model": lambda v: train(PARAMS, data(), 2, init_model=v),
        "early_stopping": gs.early_stopping,
        "checkpoint rounds": lambda v: gs.checkpoint("run", every_rounds=v),
        "set_label": lambda v: data().set_label(v).construct(),
        "set_weight": lambda v: data().set_weight(v).construct(),
        "set_group": lambda v: data().set_group(v).construct(),
        "set_init_score": lambda v: data().set_init_score(v).construct(),
        "subset": lambda v: data(free_raw_data=False).subset(v).construct(),
        "add_valid": lambda v: training().add_valid(v, "valid"),
        "reset_parameter": lambda v: training().reset_parameter(v),
        "train valid_sets": lambda v: train(PARAMS, data(), 2, valid_sets=v),
        "train valid_names": lambda v: train(PARAMS, data(), 2, valid_sets=[data()], valid_names=v),
        "train callbacks": lambda v: train(PARAMS, data(), 2, callbacks=v),
        "train a callback": lambda v: train(PARAMS, data(), 2, callbacks=[v]),
        "reference": lambda v: data(reference=v).construct(),
        "set_field": lambda v: data().set_field(v, LABEL),
        "get_field": lambda v: data().construct().get_field(v),
        "shuffle_models": lambda v: Booster(model_str=text).shuffle_models(v),
        "model_str": lambda v: None if v is None else Booster(model_str=v),
        "update fobj": lambda v: training().update(fobj=v),
        "predictor": lambda v: model.predictor()(v),
    }


def test_odd_arguments(tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = train(PARAMS, Dataset(ROWS, LABEL), 3)
    ways = [(name, call, value) for name, call in calls(model).items() for value in ODD]
    for place in np.random.default_rng(0).permutation(len(ways))[: share(250, len(ways))]:
        name, call, value = ways[place]
        with tally.run(f"{name}({ascii(value)[:60]})"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call(value)
            except GossamerError as error:
                assert 10 < len(str(error)) < 3000, f"an error that nobody reads: {error}"
            except OSError:  # a file that is not there
                assert isinstance(value, (str, bytes))
