"""Models handed over to Treelite predict the same there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import NotSupportedError

treelite = pytest.importorskip("treelite")


def data(n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with missing values and zeros, and two columns of categories."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 5))
    x[rng.random(x.shape) < 0.15] = np.nan
    x[:, 3], x[:, 4] = rng.integers(0, 90, n_rows), rng.integers(0, 6, n_rows)
    x[::13, 3] = np.nan
    y = np.nan_to_num(x[:, 0]) + (x[:, 3] % 7 < 3) * 2 + (x[:, 4] == 2) + np.isnan(x[:, 1])
    return x, y + rng.normal(size=n_rows) * 0.1


def train(params: dict[str, Any], label: np.ndarray | None = None, rounds: int = 12) -> gs.Booster:
    x, y = data()
    params = {"num_threads": 1, "min_data_in_leaf": 5, "num_leaves": 12} | params
    params |= {"cat_target_statistics": "off"}
    kind = params.pop("categorical", [3, 4])
    label = y if label is None else label
    return gs.train(params, gs.Dataset(x, label, categorical_feature=kind), rounds)


def rows() -> np.ndarray:
    x, _ = data()
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-36, -1, 500, 1e10])
    more = np.repeat(odd[:, np.newaxis], 5, axis=1)
    return np.vstack([x, more, np.random.default_rng(1).permuted(x, axis=0)])


def check(booster: gs.Booster, rtol: float = 1e-12) -> None:
    """Compare predictions, and raw scores to twelve digits."""
    x = rows()
    model = booster.to_treelite()
    found = treelite.gtil.predict(model, x, nthread=1)
    expected = booster.predict(x)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=rtol, atol=1e-13)
    raw = treelite.gtil.predict(booster.to_treelite(raw_score=True), x, nthread=1)
    expected = booster.predict(x, raw_score=True)
    np.testing.assert_allclose(raw.reshape(expected.shape), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"use_missing": False},
        {"categorical": []},
        {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1},
        {"num_parallel_tree": 3, "bagging_fraction": 0.5, "bagging_freq": 1},
        {"boosting": "rf", "num_parallel_tree": 2, "bagging_fraction": 0.7, "bagging_freq": 1},
    ],
)
def test_trees(params: dict[str, Any]) -> None:
    check(train(params))


@pytest.mark.parametrize(
    "objective",
    ["regression_l1", "poisson", "cross_entropy", "cross_entropy_lambda", "hinge", "binary"],
)
def test_links(objective: str) -> None:
    _, y = data()
    label = np.exp(y / 4) if objective == "poisson" else (y > 1).astype(float)
    check(train({"objective": objective}, label))
    if objective == "binary":
        check(train({"objective": objective, "sigmoid": 2.5}, label))


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "multiclass"},
        {"objective": "multiclassova", "sigmoid": 0.7},
        {"objective": "multiclass", "multi_strategy": "multi_output_tree", "categorical": []},
        {"objective": "multiclass", "boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1},
    ],
)
def test_several_classes(params: dict[str, Any]) -> None:
    _, y = data()
    # Treelite computes probabilities of classes in float32.
    check(train(params | {"num_class": 3}, np.digitize(y, [0, 1.5])), rtol=1e-6)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets(strategy: str) -> None:
    _, y = data()
    params = {"multi_strategy": strategy, "categorical": []}
    check(train(params, np.column_stack([y, -y * 3])))
    both = np.column_stack([y > 0, y > 1]).astype(float)
    check(train(params | {"objective": "binary"}, both))


def test_rounds_files_and_models_without_splits(tmp_path: Path) -> None:
    booster, x = train({}, rounds=8), rows()
    found = treelite.gtil.predict(booster.to_treelite(num_iteration=3, start_iteration=2), x)
    expected = booster.predict(x, start_iteration=2, num_iteration=3)
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-12, atol=1e-13)
    path = tmp_path / "model.treelite"
    booster.save_model(path, format="treelite")
    found = treelite.gtil.predict(treelite.Model.deserialize(str(path)), x)
    np.testing.assert_allclose(found.ravel(), booster.predict(x), rtol=1e-12)
    check(train({}, rounds=0))
    check(train({}, np.full(400, 2.5), rounds=2))


@pytest.mark.parametrize("sign", [-1, 1])
def test_zero_that_is_missing(sign: int) -> None:
    x = sign * np.array([[-1.0], [0.0], [1.0], [2.0]] * 30)
    params = {"zero_as_missing": True, "min_data_in_leaf": 1, "num_threads": 1, "num_leaves": 2}
    rows = np.array([[v] for v in (-3, -1e-35, 0, 5e-36, -5e-36, 1e-35, 2e-35, -2e-35, 3, np.nan)])
    for cut in (0.5, 1.5):  # zero goes where -1 goes
        near = gs.train(params, gs.Dataset(x, sign * x[:, 0] > cut), 2)
        found = treelite.gtil.predict(near.to_treelite(), np.vstack([x, rows]))
        expected = near.predict(np.vstack([x, rows]))
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-12)
        assert len(np.unique(expected)) == 2
    apart = gs.train(params, gs.Dataset(x, (x[:, 0] == 0) * 5 + (x[:, 0] > 1)), 2)
    with pytest.raises(NotSupportedError, match="zeros another way"):
        apart.to_treelite()


def test_what_treelite_has_not() -> None:
    x, y = data()
    linear = gs.train({"linear_tree": True, "num_threads": 1}, gs.Dataset(x[:, :3], y), 2)
    with pytest.raises(NotSupportedError, match="no linear leaves"):
        linear.to_treelite()
    params = {"cat_target_statistics": "on", "num_threads": 1}
    derived = gs.train(params, gs.Dataset(x, y, categorical_feature=[3]), 2)
    with pytest.raises(NotSupportedError, match="cat_target_statistics='off'"):
        derived.to_treelite()
    log = train({"objective": "squared_log_error"}, np.exp(y / 4))
    with pytest.raises(NotSupportedError, match="raw_score=True"):
        log.to_treelite()
    raw = treelite.gtil.predict(log.to_treelite(raw_score=True), x)
    np.testing.assert_allclose(raw.ravel(), log.predict(x, raw_score=True), rtol=1e-12)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "treelite.model_builder", None)
    with pytest.raises(ImportError, match=r"pip install \"gossamer\[treelite\]\""):
        train({}, rounds=1).to_treelite()
