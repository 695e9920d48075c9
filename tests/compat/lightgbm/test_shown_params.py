"""What `params` and `get_params()` say: compared with LightGBM."""

from __future__ import annotations

import pickle
from typing import Any

import lightgbm
import numpy as np
import pytest

import gossamer.compat.lightgbm as lgb

RNG = np.random.default_rng(3)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + X[:, 1] ** 2


def _loss(score: Any, data: Any) -> tuple[Any, Any]:
    return score - data.get_label(), np.ones_like(score)


@pytest.mark.parametrize("library", [lgb, lightgbm])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"objective": "l2"}, {"objective": "l2", "num_iterations": 2}),
        ({"n_estimators": 3, "objective": "l2"}, {"num_iterations": 3, "objective": "l2"}),
        ({"num_iterations": 3, "objective": "l2"}, {"num_iterations": 3, "objective": "l2"}),
        ({"objective": _loss}, {"objective": "none", "num_iterations": 2}),
    ],
)
def test_after_a_training(library: Any, given: Any, expected: Any) -> None:
    data = library.Dataset(X, Y, params={"max_bin": 33, "verbose": -1})
    booster = library.train({**given, "verbosity": -1}, data, 2)
    assert booster.params == {**expected, "verbosity": -1, "max_bin": 33}
    assert booster.num_trees() == expected["num_iterations"]
    again = pickle.loads(pickle.dumps(booster))
    assert again.params == booster.params
    np.testing.assert_array_equal(again.predict(X), booster.predict(X))


@pytest.mark.filterwarnings("ignore:Overriding the parameters from Reference:UserWarning")
@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_a_data_set_has_the_parameters_of_its_reference(library: Any) -> None:
    params = {"max_bin": 33, "min_data_in_bin": 5}
    train_set = library.Dataset(X, Y, params={**params, "verbose": -1}).construct()
    valid_set = library.Dataset(X, Y, reference=train_set, params={"verbose": -1}).construct()
    assert train_set.get_params() == valid_set.get_params() == params


@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_the_parameters_of_the_reference_win_with_a_warning(library: Any) -> None:
    train_set = library.Dataset(X, Y, params={"max_bin": 33, "verbose": -1})
    params = {"max_bin": 15, "verbose": -1}
    with pytest.warns(UserWarning, match="Overriding"):
        valid_set = library.Dataset(X, Y, reference=train_set, params=params).construct()
    assert valid_set.get_params() == {"max_bin": 33}
    assert valid_set.feature_num_bin(0) == train_set.feature_num_bin(0) > 15


@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_those_of_a_file_win(library: Any) -> None:
    data = library.Dataset(X, Y, params={"verbose": -1})
    text = library.train({"num_leaves": 5, "verbose": -1}, data, 2).model_to_string()
    with pytest.warns(UserWarning):
        booster = library.Booster({"num_leaves": 9}, model_str=text)
    assert booster.params["num_leaves"] == 5


def test_a_function_is_still_used_by_what_comes_after() -> None:
    data = lgb.Dataset(X, Y, free_raw_data=False, params={"verbose": -1})
    params = {"objective": _loss, "verbosity": -1}
    booster = lgb.train(params, data, 2, keep_training_booster=True)
    booster.update()
    assert booster.num_trees() == 3
    more = lgb.train(params, data, 2, init_model=booster)
    assert more.num_trees() == 5


@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_the_importance_in_the_text_of_a_model(library: Any) -> None:
    def sections(**params: Any) -> str:
        data = library.Dataset(X, Y, params={"verbose": -1})
        booster = library.train({"verbosity": -1, "num_leaves": 5, **params}, data, 3)
        text = booster.model_to_string(
            importance_type="gain" if params.get("saved_feature_importance_type") else "split"
        )
        return str(text.split("feature_importances:\n")[1].split("\n\n")[0])

    assert sections() != sections(saved_feature_importance_type=1)


def test_the_importance_follows_the_parameter() -> None:
    data = lgb.Dataset(X, Y, params={"verbose": -1})
    params = {"verbosity": -1, "saved_feature_importance_type": 1}
    booster = lgb.train(params, data, 3)
    assert booster.model_to_string() == booster.model_to_string(importance_type="gain")
    assert booster.model_to_string() != booster.model_to_string(importance_type="split")


@pytest.mark.parametrize("library", [lgb, lightgbm])
def test_no_rounds_are_an_error(library: Any) -> None:
    for n_rounds in (0, -3):  # messages differ
        with pytest.raises(ValueError):
            library.train({}, library.Dataset(X, Y), n_rounds)
        with pytest.raises(ValueError):
            library.cv({}, library.Dataset(X, Y), num_boost_round=n_rounds)
