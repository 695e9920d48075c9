"""How data sets and models show themselves."""

from __future__ import annotations

import numpy as np

import gossamer as gs

X = np.random.default_rng(0).normal(size=(200, 3))


def test_data_sets() -> None:
    data = gs.Dataset(X, X[:, 0], feature_name=["a", "<b>", "c" * 99])
    assert repr(data) == "<Dataset: data ndarray, constructed no>"
    data.construct()
    assert repr(data) == "<Dataset: rows 200, columns 3, label yes>"
    shown = data._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    assert "c" * 37 + "..." in shown
    freed = gs.Dataset(None)
    assert repr(freed) == "<Dataset: data freed, constructed no>"


def test_models() -> None:
    data = gs.Dataset(X, X[:, 0] > 0, feature_name=["a", "<b>", "c"])
    params = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 3}
    model = gs.train(params, data, 5, [data])
    assert repr(model).startswith(
        "<Booster: objective binary, rounds 5, columns 3, training binary_logloss 0."
    )
    shown = model._repr_html_()
    assert "<th>trees</th><td>5</td>" in shown and "min_data_in_leaf=3" in shown
    assert "&lt;b&gt;" in shown and "<b>" not in shown


def test_many_names() -> None:
    x = np.zeros((10, 50))
    assert "and 44 more" in gs.Dataset(x).construct()._repr_html_()


def test_the_version() -> None:
    assert gs.__version__.count(".") >= 2
