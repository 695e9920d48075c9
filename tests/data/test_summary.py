"""How data sets and models show themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

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
    assert "<td>numeric</td><td>" in shown and "<caption>Columns</caption>" in shown
    assert "mean" in shown
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
    assert "<caption>gain" in shown and "%</td>" in shown  # importance
    assert shown.count("<polyline") == 1 and "training" in shown  # the curve
    assert model.eval_history.keys() == {"training"}
    assert len(model.eval_history["training"]["binary_logloss"]) == 5
    again = pickle.loads(pickle.dumps(model))
    assert again.eval_history == model.eval_history and again._repr_html_() == shown
    plain = gs.train({"verbose": -1}, gs.Dataset(X, X[:, 0]), 2)
    assert "<polyline" not in plain._repr_html_() and plain.eval_history == {}
    constant = gs.train({"verbose": -1}, gs.Dataset(X, np.ones(200)), 2)
    assert "<caption>gain" not in constant._repr_html_()


def test_cross_validation() -> None:
    data = gs.Dataset(X, X[:, 0] > 0, feature_name=["a", "<b>", "c"])
    params = {"objective": "binary", "metric": ["auc", "binary_logloss"], "verbose": -1}
    found = gs.cv(params, data, 8, nfold=3, return_cvbooster=True)
    assert isinstance(found, dict) and len(found) == 5
    shown = found._repr_html_()
    assert "<td>valid auc</td>" in shown and shown.count("<polyline") == 2
    best = found.best_round("valid auc")
    assert found["valid auc-mean"][best - 1] == max(found["valid auc-mean"])
    best = found.best_round("valid binary_logloss")
    assert found["valid binary_logloss-mean"][best - 1] == min(found["valid binary_logloss-mean"])
    models = found["cvbooster"]
    assert repr(models) == "<CVBooster: folds 3, objective binary, rounds 8>"
    card = models._repr_html_()
    assert "gain, mean over the folds" in card and "<b>" not in card
    assert repr(gs.CVBooster()) == "<CVBooster: folds 0>" and gs.CVBooster()._repr_html_()


def test_cross_validation_plots() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    pandas = pytest.importorskip("pandas")
    found = gs.cv({"metric": "l2", "verbose": -1}, gs.Dataset(X, X[:, 0]), 4, nfold=2)
    ax = found.plot(ax=figure.Figure().add_subplot())
    assert ax.get_ylabel() == "l2"
    frame = found.to_pandas()
    pandas.testing.assert_index_equal(frame.index, pandas.RangeIndex(1, 5, name="round"))
    assert frame["valid l2-mean"].tolist() == found["valid l2-mean"]


def test_verbose_prints(capsys: pytest.CaptureFixture[str]) -> None:
    data = gs.Dataset(X, X[:, 0])
    gs.train({}, data, 3, [data])
    assert capsys.readouterr().out == ""
    gs.train({"verbose": 1}, data, 3, [data])
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line[:3] for line in lines] == ["[1]", "[2]", "[3]"]
    assert last.startswith("Trained 3 rounds on 200 rows x 3 columns in ")
    gs.train({"verbose": 1}, data, 3, [data], callbacks=[gs.log_evaluation(2)])
    assert len(capsys.readouterr().out.splitlines()) == 2  # the user's own, and the time
    gs.GossamerRegressor(n_estimators=2, verbose=1).fit(X, X[:, 0])
    assert capsys.readouterr().out.startswith("Trained 2 rounds")
    gs.cv({"verbose": 1, "metric": "l2"}, data, 2, nfold=2)
    assert capsys.readouterr().out.count("valid's l2") == 2


def test_many_names() -> None:
    x = np.zeros((10, 50))
    assert "and 44 more" in gs.Dataset(x).construct()._repr_html_()


def test_the_version() -> None:
    assert gs.__version__.count(".") >= 2
