"""Models of scikit-learn: raw scores of the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import DataError, NotSupportedError

ensemble = pytest.importorskip("sklearn.ensemble")
pandas = pytest.importorskip("pandas")
threadpoolctl = pytest.importorskip("threadpoolctl")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep threads of scikit-learn from waiting for each other on a busy machine."""
    with threadpoolctl.threadpool_limits(1):
        yield


def numbers(n_rows: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, 0]) * 2 + np.isnan(x[:, 1]) + rng.normal(size=n_rows) * 0.1
    return x, y


def hgb(kind: str, **kwargs: Any) -> Any:
    return getattr(ensemble, f"HistGradientBoosting{kind}")(
        max_iter=15, min_samples_leaf=5, **kwargs
    )


def new_rows(x: np.ndarray) -> np.ndarray:
    rows = np.random.default_rng(9).normal(size=(200, x.shape[1]))
    rows[::7, 1], rows[::11, 0] = np.nan, np.inf
    return np.vstack([x, rows])


@pytest.mark.parametrize(
    ("loss", "objective"),
    [
        ("squared_error", "regression"),
        ("absolute_error", "regression_l1"),
        ("quantile", "quantile"),
        ("poisson", "poisson"),
        ("gamma", "gamma"),
    ],
)
def test_regressors(loss: str, objective: str) -> None:
    x, y = numbers()
    model = hgb("Regressor", loss=loss, quantile=0.3).fit(x, np.exp(y / 4))
    booster = gs.Booster.from_model(model)
    rows = new_rows(x)
    raw = model._raw_predict(rows).ravel()
    np.testing.assert_array_equal(booster.predict(rows, raw_score=True), raw)
    np.testing.assert_allclose(booster.predict(rows), model.predict(rows), rtol=1e-15)
    assert booster.params["objective"] == objective
    assert booster.current_iteration() == 15


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(n_classes: int) -> None:
    x, y = numbers()
    label = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = hgb("Classifier").fit(x, label)
    booster = gs.Booster.from_model(model)
    rows = new_rows(x)
    raw = booster.predict(rows, raw_score=True)
    np.testing.assert_array_equal(raw, model.decision_function(rows))
    expected = model.predict_proba(rows)
    expected = expected[:, 1] if n_classes == 2 else expected
    np.testing.assert_allclose(booster.predict(rows), expected, rtol=2e-15)
    assert booster.num_model_per_iteration() == (1 if n_classes == 2 else 3)


def frame(n_rows: int = 400) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(1)
    city = rng.choice(["Rome", "Oslo", "Bern", "Graz", "Lyon"], n_rows)
    number = rng.choice([1, 5, 7, 30], n_rows)
    x = pandas.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "city": pandas.Categorical(np.where(rng.random(n_rows) < 0.1, None, city)),
            "age": rng.normal(size=n_rows),
            "room": pandas.Categorical(number),
        }
    )
    y = (city == "Rome") * 2 + (number == 5) + x["size"] * (city == "Bern")
    return x, y.to_numpy() + rng.normal(size=n_rows) * 0.01


def test_categories_of_a_frame() -> None:
    x, y = frame()
    model = hgb("Regressor", categorical_features="from_dtype").fit(x, y)
    booster = gs.Booster.from_model(model)
    assert booster.feature_name() == ["size", "city", "age", "room"]
    assert any(predictor[0].nodes["is_categorical"].any() for predictor in model._predictors)
    np.testing.assert_array_equal(booster.predict(x), model.predict(x))
    # Levels in another order, levels that nobody has seen, and missing ones.
    new = x.head(4).copy()
    new["city"] = pandas.Categorical(["Ulm", "Rome", None, "Oslo"])
    new["room"] = pandas.Categorical([30, 2, 7, None])
    np.testing.assert_array_equal(booster.predict(new), model.predict(new))
    np.testing.assert_array_equal(
        booster.predict(new[["room", "age", "city", "size"]]), booster.predict(new)
    )


def test_categories_of_an_array() -> None:
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.normal(size=300), rng.choice([2.0, 40, 3000, 0.5], 300)])
    x[::9, 1] = np.nan
    y = (x[:, 1] == 40) * 3 - (x[:, 1] == 0.5) + x[:, 0] * 0.1
    model = hgb("Regressor", categorical_features=[1]).fit(x, y)
    booster = gs.Booster.from_model(model)
    rows = np.vstack([x, [[0, 41], [0, -1], [0, 2.4], [np.nan, np.nan]]])
    np.testing.assert_array_equal(booster.predict(rows), model.predict(rows))


def test_a_model_that_was_taken_over_is_one_of_ours(tmp_path: Any) -> None:
    x, y = frame()
    booster = gs.Booster.from_model(hgb("Regressor").fit(x, y))
    booster.save_model(tmp_path / "model")
    again = gs.Booster(model_file=tmp_path / "model")
    np.testing.assert_array_equal(again.predict(x), booster.predict(x))
    assert booster.feature_importance("split").sum() > 0
    contrib = booster.predict(x, pred_contrib=True)
    np.testing.assert_allclose(contrib.sum(axis=1), booster.predict(x), atol=1e-12)


def test_what_cannot_be_taken_over() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    x, y = numbers()
    with pytest.raises(NotSupportedError, match="LinearRegression"):
        gs.Booster.from_model(linear.LinearRegression())
    with pytest.raises(DataError, match="not fitted"):
        gs.Booster.from_model(hgb("Regressor"))
    custom = hgb("Regressor").fit(x, y)
    custom.loss = "pinball"
    with pytest.raises(NotSupportedError, match="the loss has no objective here: got 'pinball'"):
        gs.Booster.from_model(custom)
