"""Behaviour that LightGBM's own tests state, in our words."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer
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
        estimator = lgb.LGBMRegressor(nonsense=123, n_estimators=2, verbose=-1).fit(X, Y)
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


def test_weights_of_one_are_none() -> None:
    data = lgb.Dataset(X, Y, weight=np.ones(200))
    assert len(data.get_weight()) == 200
    data.construct()
    assert data.weight is None and data.get_weight() is None and data.get_field("weight") is None
    data.set_weight(np.full(200, 2.0))
    assert data.weight.dtype == np.float32
    data.set_weight(np.ones(200))
    assert data.get_weight() is None


def test_positions_become_numbers() -> None:
    data = lgb.Dataset(X, Y, position=np.tile([40, 10, 40, 20], 50))
    assert data.get_position()[0] == 40
    data.construct()
    for found in (data.position, data.get_position(), data.get_field("position")):
        np.testing.assert_array_equal(found, np.tile([0, 1, 0, 2], 50))
        assert found.dtype == np.int32


@pytest.mark.parametrize("name", ["label", "weight", "group", "init_score", "position"])
def test_fields_of_data_that_is_not_constructed(name: str) -> None:
    data = lgb.Dataset(X, Y)
    with pytest.raises(lgb.basic.LightGBMError, match="needs a constructed data set"):
        data.get_field(name)
    assert data.construct().get_field("label") is not None


def test_related_data_sets_are_of_the_same_class() -> None:
    data = lgb.Dataset(X, Y, weight=np.ones(200))
    for other in (data.create_valid(X, Y, weight=np.ones(200)), data.subset([1, 2, 3])):
        assert type(other) is lgb.Dataset
        assert other.construct().get_weight() is None


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_subsets_of_tables_are_tables(library: str) -> None:
    frame: Any = pytest.importorskip(library)
    columns = {"a": X[:, 0], "b": X[:, 1]}
    table = frame.table(columns) if library == "pyarrow" else frame.DataFrame(columns)
    for package in (lgb, gossamer):
        data = package.Dataset(table, Y, free_raw_data=False)
        found = data.subset([3, 5, 8]).construct().get_data()
        assert type(found) is type(table)
        np.testing.assert_array_equal(found.to_pandas().to_numpy(), X[[3, 5, 8], :2])


CHANGED = {
    "feature_pre_filter": False,
    "pre_partition": True,
    "header": True,
    "two_round": True,
    "precise_float_parser": True,
    "max_bin": 15,
}


@pytest.mark.parametrize("name", CHANGED)
def test_how_data_is_read_cannot_change_later(name: str) -> None:
    params = {**QUIET, name: CHANGED[name]}
    data = lgb.Dataset(X, Y).construct()
    with pytest.raises(lgb.basic.LightGBMError, match="cannot change after"):
        lgb.train(params, data, 2)
    assert lgb.train(params, lgb.Dataset(X, Y), 2).num_trees() == 2
    kept = lgb.Dataset(X, Y, free_raw_data=False).construct()
    assert lgb.train(params, kept, 2).num_trees() == 2


@pytest.mark.parametrize("name", ["label", "weight_column", "query_column", "ignore_column"])
def test_columns_with_a_role_cannot_change_later(name: str) -> None:
    data = lgb.Dataset(X, Y).construct()
    with pytest.raises(lgb.basic.LightGBMError, match="cannot change after"):
        lgb.train({**QUIET, name: 1}, data, 2)


def test_labels_above_zero_are_class_one() -> None:
    label = np.where(Y > 0, 10, 0)
    params = {**QUIET, "objective": "binary", "metric": ["auc", "binary_logloss"]}
    same = lgb.train(params, lgb.Dataset(X, Y > 0), 5, valid_sets=lgb.Dataset(X, Y > 0))
    with pytest.warns(UserWarning, match="those above 0 are class 1"):
        model = lgb.train(params, lgb.Dataset(X, label), 5, valid_sets=lgb.Dataset(X, label))
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert model.best_score == same.best_score
    with pytest.warns(UserWarning, match="those above 0 are class 1"):
        booster = lgb.Booster(params, lgb.Dataset(X, label))
    with pytest.warns(UserWarning, match="of the valid data"):
        booster.add_valid(lgb.Dataset(X, label), "valid")
    booster.update()
    with pytest.raises(ValueError, match="expected 0 or 1"):
        lgb.train(params, lgb.Dataset(X, label + 0.5), 2)  # all above 0
    with pytest.raises(ValueError, match="expected 0 or 1"):
        gossamer.train(params, gossamer.Dataset(X, label), 2)


def test_messages_are_printed_unless_silence_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    params = {"nonsense": 1, "subsample": 0.7, "bagging_fraction": 0.8}
    lgb.train({**params, "verbosity": 0}, lgb.Dataset(X, Y), 1)
    out = capsys.readouterr().out
    assert "Unknown parameter: nonsense" in out and "bagging_fraction=0.8" in out
    with pytest.warns(UserWarning, match="Unknown parameter: nonsense"):
        lgb.train({"nonsense": 1, "verbosity": -1}, lgb.Dataset(X, Y), 1)
    assert capsys.readouterr().out == ""


@pytest.mark.filterwarnings("ignore:.* is ignored:UserWarning")
def test_arguments_win_over_their_other_names() -> None:
    peer = pytest.importorskip("lightgbm")
    for package in (lgb, peer):
        model = package.LGBMRegressor(eta=0.08, max_leaves=3, n_iter=2, verbose=-1).fit(X, Y)
        shown = model.booster_.params
        assert shown["eta"] == 0.08 and shown["learning_rate"] == 0.1
        assert shown["num_leaves"] == 31 and model.n_estimators_ == 2
        assert "[learning_rate: 0.1]" in model.booster_.model_to_string()
    with pytest.warns(UserWarning, match=r"learning_rate is set to 0.1: eta=0.08 is ignored"):
        model = lgb.LGBMRegressor(eta=0.08, n_estimators=2).fit(X, Y)
    plain = lgb.LGBMRegressor(n_estimators=2).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_boosters_of_estimators_show_all_arguments() -> None:
    peer = pytest.importorskip("lightgbm")
    shown = lgb.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y > 0).booster_.params
    other = peer.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, Y > 0).booster_.params
    named = other.keys() - {"metric", "num_threads"}
    assert {name: shown[name] for name in named} == {name: other[name] for name in named}
    forest = lgb.LGBMRegressor(n_estimators=2, subsample=0.5).fit(X, Y)
    assert forest.booster_.params["subsample_freq"] == 1


def test_the_classifier_takes_one_label_a_row() -> None:
    tags = lgb.LGBMClassifier().__sklearn_tags__()
    assert tags.classifier_tags.multi_class and not tags.classifier_tags.multi_label


def test_dask_estimators_have_a_client() -> None:
    pytest.importorskip("distributed")
    assert lgb.DaskLGBMRegressor().get_params()["client"] is None


def test_cv_divides_queries_as_lightgbm_does() -> None:
    splitter = pytest.importorskip("sklearn.model_selection").GroupKFold(3)
    params = {**QUIET, "objective": "lambdarank", "eval_at": 3, "min_data_in_leaf": 5}
    sizes = [4, 16, 10, 10] * 5  # queries of one size may be placed in any order
    grades = np.digitize(Y, [-1.0, 1.0])
    data = {
        package: package.Dataset(X, grades, group=sizes, free_raw_data=False)
        for package in (lgb, gossamer)
    }
    found = lgb.cv(params, data[lgb], 3, None, 3)
    assert found == lgb.cv(params, data[lgb], 3, folds=splitter)
    assert found != gossamer.cv(params, data[gossamer], 3, nfold=3)
    with pytest.raises(ValueError, match="queries"):
        lgb.cv(params, data[lgb], 3, nfold=21)


def test_cv_divides_queries_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.model_selection", None)
    params = {**QUIET, "objective": "lambdarank", "eval_at": 3}
    data = lgb.Dataset(X, np.digitize(Y, [-1.0, 1.0]), group=[10] * 20)
    assert list(lgb.cv(params, data, 2)) == ["valid ndcg@3-mean", "valid ndcg@3-stdv"]
