"""What files keep of an estimator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xgboost

import gossamer.compat.xgboost as xgb

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 3))


@pytest.mark.parametrize("name", ["model.json", "model.gsm"])
def test_the_kind_of_model(tmp_path: Path, name: str) -> None:
    model = xgb.XGBClassifier(n_estimators=2).fit(X, X[:, 0] > 0)
    model.save_model(tmp_path / name)
    assert model.get_booster().attr("scikit_learn") is None
    with pytest.raises(TypeError, match="got 'classifier', expected regressor"):
        xgb.XGBRegressor().load_model(tmp_path / name)
    again = xgb.XGBClassifier()
    again.load_model(tmp_path / name)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if name == "model.json":
        with pytest.raises(TypeError, match="different type"):
            xgboost.XGBRegressor().load_model(tmp_path / name)


def test_categories_are_welcome_again(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": pandas.Categorical(list("wxyz") * 20)})
    model = xgb.XGBRegressor(n_estimators=3, enable_categorical=True)
    model.fit(frame, X[:, 0] + frame["b"].cat.codes)
    model.save_model(tmp_path / "model.json")
    again = xgb.XGBRegressor()
    again.load_model(tmp_path / "model.json")
    assert again.enable_categorical and again.feature_types[1] == "c"
    np.testing.assert_allclose(again.predict(frame), model.predict(frame), rtol=1e-6, atol=1e-6)


def test_files_of_xgboosts_estimators(tmp_path: Path) -> None:
    theirs = xgboost.XGBRegressor(n_estimators=2).fit(X, X[:, 0])
    theirs.save_model(tmp_path / "model.json")
    with pytest.raises(TypeError, match="got 'regressor', expected classifier"):
        xgb.XGBClassifier().load_model(tmp_path / "model.json")
    ours = xgb.XGBRegressor()
    ours.load_model(tmp_path / "model.json")
    assert not ours.enable_categorical
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
