"""Forests, boosting and trees of scikit-learn: predictions of the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import NotSupportedError

ensemble = pytest.importorskip("sklearn.ensemble")
tree = pytest.importorskip("sklearn.tree")


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values with few digits, labels, and rows next to the thresholds."""
    rng = np.random.default_rng(0)
    x = rng.integers(-30, 30, (200, 3)) / 10
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=200) * 0.1
    steps = np.array([0, 1e-9, -1e-9, 3e-8, -3e-8, 6e-8, -6e-8, 1e-7])
    near = (x[:50, np.newaxis] + steps[:, np.newaxis]).reshape(-1, 3)
    return x, y, np.vstack([x, near, x[:, ::-1] + 0.05])


REGRESSORS = [
    ("RandomForestRegressor", {}),
    ("ExtraTreesRegressor", {"bootstrap": True}),
    ("GradientBoostingRegressor", {}),
    ("GradientBoostingRegressor", {"loss": "huber", "subsample": 0.5}),
    ("GradientBoostingRegressor", {"loss": "quantile", "init": "zero"}),
    ("GradientBoostingRegressor", {"loss": "absolute_error"}),
]


@pytest.mark.parametrize(("kind", "params"), REGRESSORS)
def test_regressors(kind: str, params: dict[str, Any]) -> None:
    x, y, rows = data()
    model = getattr(ensemble, kind)(n_estimators=7, random_state=1, **params).fit(x, y)
    booster = gs.Booster.from_model(model)
    np.testing.assert_array_equal(booster.predict(rows), model.predict(rows))
    assert booster.current_iteration() == 7


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_forests_of_classes(kind: str, n_classes: int) -> None:
    x, y, rows = data()
    label = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = getattr(ensemble, f"{kind}Classifier")(7, max_depth=4, random_state=1).fit(x, label)
    booster = gs.Booster.from_model(model)
    np.testing.assert_array_equal(booster.predict(rows), model.predict_proba(rows))


@pytest.mark.parametrize(
    ("n_classes", "loss"), [(2, "log_loss"), (2, "exponential"), (3, "log_loss")]
)
def test_boosted_classes(n_classes: int, loss: str) -> None:
    x, y, rows = data()
    label = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = ensemble.GradientBoostingClassifier(n_estimators=6, loss=loss).fit(x, label)
    booster = gs.Booster.from_model(model)
    raw = booster.predict(rows, raw_score=True)
    np.testing.assert_array_equal(raw, model.decision_function(rows))
    expected = model.predict_proba(rows)
    expected = expected[:, 1] if n_classes == 2 else expected
    np.testing.assert_allclose(booster.predict(rows), expected, rtol=2e-15)


def test_several_targets_and_missing_values() -> None:
    x, y, rows = data()
    x[::5, 1] = np.nan
    model = ensemble.RandomForestRegressor(5, random_state=0).fit(x, np.column_stack([y, -y * 2]))
    booster = gs.Booster.from_model(model)
    np.testing.assert_array_equal(booster.predict(x), model.predict(x))
    assert booster.predict(rows).shape == (len(rows), 2)


def test_a_single_tree_and_one_without_splits() -> None:
    x, y, rows = data()
    for depth in (None, 1):
        model = tree.DecisionTreeRegressor(max_depth=depth).fit(x, y)
        booster = gs.Booster.from_model(model)
        np.testing.assert_array_equal(booster.predict(rows), model.predict(rows))
    model = tree.DecisionTreeClassifier().fit(x, np.zeros(200))
    np.testing.assert_array_equal(gs.Booster.from_model(model).predict(rows), 1.0)


def test_what_cannot_be_taken_over() -> None:
    x, y, _ = data()
    both = np.column_stack([y > 0, y > 1])
    with pytest.raises(NotSupportedError, match="a classifier of several targets"):
        gs.Booster.from_model(ensemble.RandomForestClassifier(2).fit(x, both))
    start = tree.DecisionTreeRegressor(max_depth=1)
    model = ensemble.GradientBoostingRegressor(n_estimators=2, init=start).fit(x, y)
    with pytest.raises(NotSupportedError, match="another model's predictions"):
        gs.Booster.from_model(model)
