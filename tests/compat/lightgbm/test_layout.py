"""LightGBM's modules and names."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle

import lightgbm
import numpy as np
import pytest
from sklearn.base import clone

import gossamer
import gossamer.compat.lightgbm as lgb
from gossamer.compat.lightgbm.basic import LightGBMError
from gossamer.compat.lightgbm.compat import LGBMNotFittedError


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4))
    return x, x[:, 0] + 0.1 * rng.normal(size=300)


@pytest.mark.parametrize(
    "module", ["", "basic", "callback", "engine", "sklearn", "plotting", "dask"]
)
def test_all_public_names_are_there(module: str) -> None:
    dot = f".{module}" if module else ""
    ours = importlib.import_module(f"gossamer.compat.lightgbm{dot}")
    if module == "dask":  # LightGBM's own needs dask
        names = ["DaskLGBMClassifier", "DaskLGBMRanker", "DaskLGBMRegressor"]
    else:
        names = importlib.import_module(f"lightgbm{dot}").__all__
    missing = [name for name in names if not hasattr(ours, name) or name not in ours.__all__]
    assert not missing


@pytest.mark.parametrize("module", ["basic", "callback", "engine", "sklearn", "plotting", "compat"])
def test_modules_are_attributes(module: str) -> None:
    assert inspect.ismodule(getattr(lgb, module))


def test_a_star_import_has_the_estimators() -> None:
    names: dict[str, object] = {}
    exec("from gossamer.compat.lightgbm import *", names)
    assert names["LGBMClassifier"] is lgb.LGBMClassifier
    exec("from gossamer import *", names)
    assert names["LGBMRanker"] is gossamer.GossamerRanker


def test_the_version_is_lightgbms() -> None:
    assert lgb.__version__ == lightgbm.__version__


def test_there_is_no_other_attribute() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        lgb.no_such_name  # noqa: B018


def test_errors_are_lightgbm_errors(table: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(LightGBMError):
        lgb.train({"objective": "nonsense"}, lgb.Dataset(*table))
    with pytest.raises(LGBMNotFittedError):
        lgb.LGBMRegressor().predict(table[0])


@pytest.mark.parametrize("kind", ["Classifier", "Ranker", "Regressor"])
def test_dask_estimators_are_lightgbms_here_and_ours_under_plain_names(kind: str) -> None:
    dask = pytest.importorskip("gossamer.dask")
    ours = getattr(dask, f"DaskGossamer{kind}")
    assert getattr(gossamer, f"DaskLGBM{kind}") is ours
    assert f"DaskLGBM{kind}" in dir(gossamer)
    named = getattr(lgb, f"DaskLGBM{kind}")
    assert issubclass(named, ours)
    local = named(num_leaves=5, eta=0.2).to_local()
    assert type(local) is getattr(lgb, f"LGBM{kind}")
    assert local.get_params()["eta"] == 0.2


def test_models_are_text_that_lightgbm_reads(table: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = table
    model = lgb.train({"verbosity": -1}, lgb.Dataset(x, y), 5)
    theirs = lightgbm.Booster(model_str=model.model_to_string())
    np.testing.assert_allclose(theirs.predict(x), model.predict(x), rtol=1e-12)
    again = lgb.Booster(model_str=model.model_to_string())
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_copies_are_of_the_same_class(table: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = table
    model = lgb.train({"verbosity": -1}, lgb.Dataset(x, y), 5, keep_training_booster=True)
    assert not model.update()
    assert model.num_trees() == 6
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model[:3]):
        assert type(other) is lgb.Booster
    assert type(copy.copy(gossamer.train({}, gossamer.Dataset(x, y), 1))) is gossamer.Booster


def test_cv_returns_these_boosters(table: tuple[np.ndarray, np.ndarray]) -> None:
    data = lgb.Dataset(*table)
    found = lgb.cv({"verbosity": -1}, data, 2, stratified=False, nfold=3, return_cvbooster=True)
    assert all(isinstance(model, lgb.Booster) for model in found["cvbooster"].boosters)
    assert isinstance(found["cvbooster"], lgb.CVBooster)


@pytest.mark.parametrize("name", ["LGBMModel", "LGBMClassifier", "LGBMRegressor", "LGBMRanker"])
def test_estimators_take_what_lightgbms_take(name: str) -> None:
    ours, theirs = getattr(lgb, name), getattr(lightgbm, name)
    assert issubclass(ours, lgb.LGBMModel)
    assert set(inspect.signature(theirs).parameters) <= set(inspect.signature(ours).parameters)
    theirs_fit = inspect.signature(theirs.fit).parameters
    assert set(theirs_fit) <= set(inspect.signature(ours.fit).parameters)
    assert clone(ours(num_leaves=7, max_bin=63)).get_params()["max_bin"] == 63
    assert repr(ours(num_leaves=7)).startswith(f"{name}(num_leaves=7")


def test_estimators_keep_such_a_booster(table: tuple[np.ndarray, np.ndarray], tmp_path) -> None:
    x, y = table
    model = lgb.LGBMClassifier(n_estimators=3).fit(x, (y > 0).astype(int))
    assert type(model.booster_) is lgb.Booster
    model.save_model(tmp_path / "model.txt")
    loaded = lgb.LGBMClassifier().load_model(tmp_path / "model.txt")
    assert type(loaded.booster_) is lgb.Booster
    np.testing.assert_allclose(loaded.predict_proba(x), model.predict_proba(x))
    assert type(pickle.loads(pickle.dumps(model)).booster_) is lgb.Booster


def test_a_tree_that_is_not_there_is_an_index_error(table: tuple[np.ndarray, np.ndarray]) -> None:
    model = lgb.train({"verbosity": -1}, lgb.Dataset(*table), 2)
    with pytest.raises(IndexError, match="no such tree"):
        lgb.create_tree_digraph(model, tree_index=83)
