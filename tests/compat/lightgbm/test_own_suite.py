"""Behaviour that LightGBM's own tests state, in our words."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer.compat.lightgbm as lgb

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 4))
Y = X[:, 0] - X[:, 1]
QUIET = {"verbosity": -1, "num_leaves": 5}


def test_files_of_any_name_are_text(tmp_path: Path) -> None:
    model = lgb.train(QUIET, lgb.Dataset(X, Y), 2)
    for name in ("lgb.model", "model", "model.pkl"):
        model.save_model(tmp_path / name)
        assert (tmp_path / name).read_text() == model.model_to_string()
        loaded = lgb.Booster(model_file=tmp_path / name)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model.save_model(tmp_path / "model.gsm")
    assert (tmp_path / "model.gsm").read_bytes()[:4] != b"tree"


def test_unknown_parameters_are_ignored_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="Unknown parameter: nonsense"):
        model = lgb.train({**QUIET, "nonsense": 123}, lgb.Dataset(X, Y), 2)
    assert model.num_trees() == 2
    with pytest.warns(UserWarning, match="num_leaves"):
        lgb.cv({**QUIET, "num_leavs": 4}, lgb.Dataset(X, Y), 2, stratified=False)
    with pytest.warns(UserWarning, match="Unknown parameter: nonsense"):
        estimator = lgb.LGBMRegressor(nonsense=123, n_estimators=2).fit(X, Y)
    assert estimator.get_params()["nonsense"] == 123
    assert estimator.predict(X).shape == (200,)


def test_early_stopping_rounds_that_are_none_or_text() -> None:
    data = lgb.Dataset(X, Y)
    valid = data.create_valid(X[:50], Y[:50])
    model = lgb.train({**QUIET, "early_stopping_round": None}, data, 3, valid_sets=valid)
    assert "early_stopping_round" not in model.params
    with pytest.raises(TypeError, match="early_stopping_round must be an integer"):
        lgb.train({**QUIET, "early_stopping_round": "None"}, data, 3, valid_sets=valid)


def test_callbacks_say_what_they_were_given() -> None:
    schedules: dict[str, Any] = {"bagging_fraction": [0.7] * 5 + [0.6] * 5}
    callback = lgb.reset_parameter(**schedules)
    assert callback.kwargs == pickle.loads(pickle.dumps(callback)).kwargs == schedules
    for rounds in (-10, -1, 0):
        assert lgb.early_stopping(rounds).enabled is False
    assert lgb.early_stopping(1).enabled is True


def test_names_of_validation_sets_are_text() -> None:
    data = lgb.Dataset(X, Y)
    with pytest.raises(TypeError, match=r"valid_names\[0\] must be a string"):
        lgb.train(QUIET, data, 1, valid_sets=[data], valid_names=[data])


def test_white_space_in_names_is_an_underscore() -> None:
    data = lgb.Dataset(X, Y, feature_name=[f"f {i}" for i in range(4)])
    assert lgb.train(QUIET, data, 2).feature_name() == [f"f_{i}" for i in range(4)]


def test_models_of_cv_show_a_function_as_none() -> None:
    def squared(preds: Any, data: lgb.Dataset) -> Any:
        return preds - data.get_label(), np.ones(len(preds))

    found = lgb.cv(
        {**QUIET, "objective": squared},
        lgb.Dataset(X, Y),
        2,
        stratified=False,
        return_cvbooster=True,
    )
    assert [model.params["objective"] for model in found["cvbooster"].boosters] == ["none"] * 5


def test_refitted_models_keep_their_data() -> None:
    model = lgb.train(QUIET, lgb.Dataset(X, Y), 2)
    weight = RNG.uniform(size=200)
    refitted = model.refit(X, Y, weight=weight, dataset_params={"max_bin": 260})
    assert refitted.train_set is not None
    assert refitted.train_set.get_params()["max_bin"] == 260
    np.testing.assert_allclose(refitted.train_set.get_weight(), weight, rtol=1e-6)


def test_validation_sets_of_a_booster() -> None:
    data = lgb.Dataset(X, Y)
    valid = lgb.Dataset(X[:50], Y[:50], reference=data)
    model = lgb.Booster(QUIET, data)
    assert model.valid_sets == []
    model.eval(valid, "test")
    assert model.valid_sets == [valid]


def test_positions_are_numbered_by_their_first_rows() -> None:
    data = lgb.Dataset(X[:5], [0, 1, 0, 1, 0], position=[15, 15, 8, 27, 15], group=[5]).construct()
    found = data.get_field("position")
    assert found is not None
    np.testing.assert_array_equal(found, np.array([0, 0, 1, 2, 0], np.int32), strict=True)


def test_estimators_say_what_lightgbm_says() -> None:
    for kind in (lgb.LGBMModel, lgb.LGBMClassifier, lgb.LGBMRegressor, lgb.LGBMRanker):
        tags = kind().__sklearn_tags__()
        assert tags.target_tags.one_d_labels
        assert tags.input_tags.sparse
    with pytest.warns(UserWarning, match="Found 'eval_at' in params"):
        lgb.LGBMRanker(n_estimators=2, eval_at=[2]).fit(X, Y > 0, group=[100, 100])


def test_other_columns_are_an_error_of_lightgbm() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = lgb.LGBMRegressor(n_estimators=2).fit(frame, Y)
    renamed = frame.rename(columns={"b": "z"})
    for check in (True, None):
        with pytest.raises(lgb.basic.LightGBMError, match="feature names should match"):
            model.predict(renamed, validate_features=check)
    model.predict(renamed, validate_features=False)
    array = lgb.LGBMRegressor(n_estimators=2).fit(X, Y)
    with pytest.raises(lgb.basic.LightGBMError, match="X has 3 features"):
        array.predict(X[:, :3])
