"""`shap.TreeExplainer` takes boosters and estimators of ours, under every name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gossamer
import gossamer.compat.lightgbm as lgb
import gossamer.compat.xgboost as xgb
from gossamer.compat.shap import register, trees_of

shap = pytest.importorskip("shap")

RNG = np.random.default_rng(2)
X = RNG.normal(size=(200, 4))
Y = X[:, 0] + X[:, 1] ** 2
SIGN = (Y > 1).astype(int)
PLAIN = {"verbosity": -1, "num_leaves": 7}


class Mine(lgb.LGBMRegressor):
    """A subclass outside the package."""


def models() -> dict[str, tuple[Any, Any]]:
    """Return models and their raw scores."""
    booster = gossamer.train(PLAIN, gossamer.Dataset(X, Y), 5)
    theirs = xgb.train({}, xgb.DMatrix(X, label=Y), 5)
    by_estimator = {
        "gossamer": gossamer.GossamerClassifier(n_estimators=5).fit(X, SIGN),
        "lightgbm": lgb.LGBMClassifier(n_estimators=5).fit(X, SIGN),
        "subclass": Mine(n_estimators=5).fit(X, Y),
    }
    margins = {
        "xgboost classifier": xgb.XGBClassifier(n_estimators=5).fit(X, SIGN),
        "xgboost regressor": xgb.XGBRegressor(n_estimators=5).fit(X, Y),
    }
    light = lgb.train(PLAIN, lgb.Dataset(X, Y), 5)
    return {
        "booster": (booster, booster.predict(X)),
        "lightgbm booster": (light, light.predict(X)),
        "xgboost booster": (theirs, theirs.predict(xgb.DMatrix(X))),
        **{name: (m, m.predict(X, raw_score=True)) for name, m in by_estimator.items()},
        **{name: (m, m.predict(X, output_margin=True)) for name, m in margins.items()},
    }


@pytest.mark.filterwarnings("ignore")
def test_values_add_up_to_scores() -> None:
    register()
    register()  # has no effect
    for name, (model, score) in models().items():
        explainer = shap.TreeExplainer(model)
        values = explainer.shap_values(X)
        assert values.shape == (200, 4), name
        np.testing.assert_allclose(
            values.sum(axis=1) + explainer.expected_value, score, atol=1e-5, err_msg=name
        )
        shap.TreeExplainer(model, X[:20]).shap_values(X[:5])  # against a background


@pytest.mark.filterwarnings("ignore")
def test_models_of_other_libraries_are_left_alone() -> None:
    register()
    from sklearn.ensemble import RandomForestRegressor

    model = RandomForestRegressor(3, random_state=0).fit(X, Y)
    assert trees_of(model) is None
    assert shap.TreeExplainer(model).shap_values(X).shape == (200, 4)


SCRIPT = """
import warnings; warnings.simplefilter("ignore")
import sys, numpy as np
{first}
import {library} as lib
x = np.random.default_rng(0).normal(size=(100, 3))
model = lib.{estimator}(n_estimators=3).fit(x, x[:, 0])
assert ("shap" in sys.modules) == bool({first!r})
import shap
print(shap.TreeExplainer(model).shap_values(x).shape, shap.explainers._tree.__spec__.loader)
"""


@pytest.mark.parametrize("first", ["", "import shap"])
@pytest.mark.parametrize(
    ("library", "estimator"),
    [
        ("gossamer", "LGBMRegressor"),
        ("gossamer.compat.lightgbm", "LGBMRegressor"),
        ("gossamer.compat.xgboost", "XGBRegressor"),
    ],
)
def test_scripts_need_no_call(library: str, estimator: str, first: str) -> None:
    text = SCRIPT.format(library=library, estimator=estimator, first=first)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("(100, 3) <_frozen_importlib_external.SourceFileLoader")


def test_one_finder_waits_for_the_import() -> None:
    script = """
import sys, gossamer
from gossamer.compat.shap import register_with_import
register_with_import()
print(sum(type(finder).__module__ == "gossamer.compat.shap" for finder in sys.meta_path))
import shap
print(sum(type(finder).__module__ == "gossamer.compat.shap" for finder in sys.meta_path))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "0"]
