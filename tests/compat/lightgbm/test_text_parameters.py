"""The section of parameters in LightGBM's text: complete, and read back as LightGBM shows it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
import gossamer.compat.lightgbm as lgb

peer = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(3)
X = np.column_stack([RNG.uniform(size=(200, 1)), RNG.integers(0, 5, size=(200, 2))])
Y = RNG.uniform(size=200)
FOREST: dict[str, Any] = {
    "bagging_fraction": 0.8,
    "bagging_freq": 2,
    "boosting": "rf",
    "feature_contri": [0.5, 0.5, 0.5],
    "feature_fraction": 0.7,
    "boost_from_average": False,
    "interaction_constraints": [[0, 1], [0]],
    "metric": ["l2", "rmse"],
    "num_leaves": 5,
    "num_threads": 1,
    "verbosity": -1,
}


def section(text: str) -> dict[str, str]:
    lines = text[text.index("parameters:") : text.index("end of parameters")].splitlines()
    pairs = (line[1:-1].partition(":") for line in lines if line.startswith("["))
    return {name: value.strip() for name, _, value in pairs}


def forest() -> lgb.Booster:
    return lgb.train(FOREST, lgb.Dataset(X, Y, categorical_feature=[1, 2]), 2)


def test_the_section_has_the_names_that_lightgbm_writes() -> None:
    params = {"verbosity": -1, "num_leaves": 4}
    other = section(peer.train(params, peer.Dataset(X, Y), 2).model_to_string())
    own = section(lgb.train(params, lgb.Dataset(X, Y), 2).model_to_string())
    # Gossamer chooses the step of `poisson` by the counts, and `seed` is not given.
    assert other.keys() - own.keys() == {"poisson_max_delta_step", "seed"}
    assert own.keys() <= other.keys()
    assert {name for name in own if own[name] != other[name]} == set()


def test_parameters_of_a_loaded_model(tmp_path: Path) -> None:
    model = forest()
    model.save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert text == model.model_to_string() == pickle.loads(pickle.dumps(model)).model_to_string()
    loaded = lgb.Booster(model_file=tmp_path / "model.txt")
    assert {name: loaded.params[name] for name in FOREST} == FOREST
    assert all(type(loaded.params[name]) is type(value) for name, value in FOREST.items())
    assert loaded.params["categorical_feature"] == [1, 2]
    assert loaded.params["num_iterations"] == 2
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.model_to_string() == text


def test_a_loaded_model_is_refitted() -> None:
    model = lgb.train({"num_leaves": 4, "verbosity": -1, "seed": 3}, lgb.Dataset(X, Y), 3)
    text = model.model_to_string()
    found = lgb.Booster(model_str=text).refit(X, Y + 1).predict(X)
    # The few parameters that are not at their defaults say the same as the whole list.
    np.testing.assert_array_equal(found, gs.Booster(model_str=text).refit(X, Y + 1).predict(X))
    assert np.mean(found) > np.mean(model.predict(X))


def test_given_parameters_give_way_to_a_saved_models() -> None:
    text = forest().model_to_string()
    with pytest.warns(UserWarning, match="Ignoring params"):
        loaded = lgb.Booster({"num_leaves": 32, "verbosity": 1}, model_str=text)
    assert loaded.params == lgb.Booster(model_str=text).params


def test_lightgbm_reads_the_section() -> None:
    found = peer.Booster(model_str=forest().model_to_string()).params
    assert {name: found[name] for name in FOREST} == FOREST
    assert found["categorical_feature"] == [1, 2]


def test_a_file_of_lightgbm_with_values_of_its_own(tmp_path: Path) -> None:
    model = peer.train({"verbosity": -1, "num_leaves": 4}, peer.Dataset(X, Y), 2)
    text = model.model_to_string().replace("[num_machines: 1]", "[num_machines: 3]")
    text = text.replace("[tree_learner: serial]", "[tree_learner: unheard_of]")
    loaded = lgb.Booster(model_str=text)
    assert loaded.params["num_leaves"] == 4 and "tree_learner" not in loaded.params
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).predict(X), model.predict(X))


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "poisson", "poisson_max_delta_step": "auto"},
        {"data_sample_strategy": "goss", "top_rate": "auto"},
        {"interaction_constraints": [["a", "b"], ["c"]]},
        {"monotone_constraints": {"a": 1}},
        {"seed": 7, "bagging_fraction": 0.5},
    ],
)
def test_lightgbm_reads_what_it_has_no_words_for(params: dict[str, Any]) -> None:
    data = gs.Dataset(pd.DataFrame(X, columns=list("abc")), Y)
    model = gs.train({**params, "num_leaves": 4}, data, 2)
    text = model.model_to_string(format="lightgbm")
    found = peer.Booster(model_str=text)
    assert found.params["num_leaves"] == 4
    np.testing.assert_allclose(found.predict(X), model.predict(X))


def test_the_bytes_do_not_depend_on_threads() -> None:
    texts = {
        gs.train({"num_threads": n}, gs.Dataset(X, Y), 2).model_to_string(format="lightgbm")
        for n in (1, 2)
    }
    assert len(texts) == 1
    assert section(texts.pop())["num_threads"] == "0"


def test_bagging_that_was_on_is_said() -> None:
    text = gs.train({"subsample": 0.5}, gs.Dataset(X, Y), 2).model_to_string(format="lightgbm")
    assert section(text)["bagging_freq"] == "1"
    assert gs.Booster(model_str=text).resolved_params.bagging_freq == 1
