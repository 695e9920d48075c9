"""The real `shap` package reads our trees, and finds our values."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import Booster, Dataset, NotSupportedError, train
from tests.model.inspection.test_shap_values import KINDS, N_ROWS, fit, linear_model, make_table

NEW = make_table(77, 30)
CANNOT = ("categories", "target statistics", "zero_as_missing")
READABLE = [kind for kind in KINDS if kind not in CANNOT]


@pytest.fixture(scope="module")
def shap() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("shap")


def by_column(booster: Booster, values: Any) -> Any:
    """As the package lays them out: rows, columns, outputs."""
    return np.moveaxis(values, 1, 2) if values.ndim == 3 else values


@pytest.mark.parametrize("kind", READABLE)
def test_the_same_values(shap: Any, kind: str) -> None:
    booster = fit(kind)
    explainer = shap.TreeExplainer(booster.to_shap())
    ours = by_column(booster, booster.shap_values(NEW))
    theirs = explainer.shap_values(NEW, check_additivity=False)
    np.testing.assert_allclose(theirs, ours[:, :-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(explainer.expected_value, ours[0, -1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", READABLE)
def test_the_same_values_against_a_background(shap: Any, kind: str) -> None:
    booster, background = fit(kind), make_table(5, 20)
    explainer = shap.TreeExplainer(booster.to_shap(), background)
    ours = by_column(booster, booster.shap_values(NEW, background=background))
    theirs = explainer.shap_values(NEW, check_additivity=False)
    np.testing.assert_allclose(theirs, ours[:, :-1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(explainer.expected_value, ours[0, -1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["regression", "binary", "deep"])
def test_the_same_interactions(shap: Any, kind: str) -> None:
    booster = fit(kind)
    theirs = shap.TreeExplainer(booster.to_shap()).shap_interaction_values(NEW)
    ours = booster.shap_interactions(NEW)[:, :-1, :-1]
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)


def test_the_package_predicts_our_probabilities(shap: Any) -> None:
    booster, background = fit("binary"), make_table(5, 20)
    explainer = shap.TreeExplainer(booster.to_shap(), background, model_output="probability")
    values = explainer.shap_values(NEW)
    np.testing.assert_allclose(
        values.sum(axis=1) + explainer.expected_value, booster.predict(NEW), atol=1e-6
    )


def test_some_rounds(shap: Any) -> None:
    booster = fit("regression")
    theirs = shap.TreeExplainer(booster.to_shap(num_iteration=2)).shap_values(NEW)
    ours = booster.shap_values(NEW, num_iteration=2)[:, :-1]
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)


def test_explanations(shap: Any) -> None:
    for kind in ("regression", "multiclass", "categories", "target statistics"):
        booster = fit(kind)
        found = booster.to_explanation(NEW)
        ours = by_column(booster, booster.shap_values(NEW))
        np.testing.assert_array_equal(found.values, ours[:, :-1])
        np.testing.assert_array_equal(found.base_values, ours[:, -1])
        np.testing.assert_array_equal(found.data, NEW)
        assert found.feature_names == booster.feature_name()
    booster = fit("regression")
    against = booster.to_explanation(NEW, background=NEW[:3], num_iteration=2)
    ours = booster.shap_values(NEW, background=NEW[:3], num_iteration=2)
    np.testing.assert_array_equal(against.values, ours[:, :-1])
    rows = sparse.csr_matrix(np.nan_to_num(NEW))
    np.testing.assert_array_equal(booster.to_explanation(rows).data, rows.toarray())


def test_plots_of_the_package(shap: Any) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = fit("regression").to_explanation(NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap.plots.bar(found, show=False)
        shap.plots.waterfall(found[0], show=False)
        shap.plots.beeswarm(found, show=False)
    pyplot.close("all")


def test_the_page_about_it(shap: Any) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    page = (Path(__file__).parents[3] / "docs/explaining.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:py|python)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 9
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks:
            exec(compile(block, "docs/explaining.md", "exec"), names)
    pyplot.close("all")
    expected = names["model"].shap_values(names["x_test"], background=names["background"])
    found = names["explainer"].shap_values(names["x_test"])
    np.testing.assert_allclose(found, expected[:, :-1], atol=1e-6)


def test_a_model_without_splits(shap: Any) -> None:
    booster = train({"verbose": -1, "min_data_in_leaf": N_ROWS}, Dataset(NEW, NEW[:, 2] == 1), 2)
    explainer = shap.TreeExplainer(booster.to_shap())
    assert explainer.expected_value == pytest.approx(booster.predict(NEW)[0])


class TestWithoutThePackage:
    """The trees as arrays, and what cannot be described."""

    @pytest.mark.parametrize("kind", READABLE)
    def test_trees(self, kind: str) -> None:
        booster = fit(kind)
        found = booster.to_shap()
        assert len(found["trees"]) == booster.num_trees()
        score = np.tile(found["base_offset"], (len(NEW), 1))
        for tree in found["trees"]:
            place = np.zeros(len(NEW), np.int64)
            while (column := tree["features"][place]).max() >= 0:
                x = NEW[np.arange(len(NEW)), np.maximum(column, 0)]
                left, right, default = (
                    tree[f"children_{side}"][place] for side in ("left", "right", "default")
                )
                down = np.where(x <= tree["thresholds"][place], left, right)
                down = np.where(np.isnan(x), default, down)
                place = np.where(column >= 0, down, place)
            score += tree["values"][place]
        expected = booster.predict(NEW, raw_score=True).reshape(len(NEW), -1)
        np.testing.assert_allclose(score, expected, rtol=0, atol=1e-9)

    @pytest.mark.parametrize(
        ("kind", "words"),
        list(zip(CANNOT, ("categorical splits", "target statistics", "zeros"), strict=True)),
    )
    def test_what_cannot_be_described(self, kind: str, words: str) -> None:
        with pytest.raises(NotSupportedError, match=rf"with {words}.*to_explanation"):
            fit(kind).to_shap()

    def test_linear_leaves(self) -> None:
        with pytest.raises(NotSupportedError, match="linear leaves"):
            linear_model(make_table(0)).to_shap()

    def test_the_package_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "shap", None)
        with pytest.raises(ImportError, match="pip install shap"):
            fit("regression").to_explanation(NEW)
