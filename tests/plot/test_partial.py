from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from gossamer import Dataset, GossamerRegressor, plot_partial_dependence, train
from gossamer.errors import ParameterError

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(200, 2)), RNG.integers(0, 3, 200)])
LABEL = ROWS[:, 0] + ROWS[:, 1] * ROWS[:, 2]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    data = Dataset(ROWS, LABEL, feature_name=["a $", "b", "c"], categorical_feature=["c"])
    return train({"verbose": -1, "cat_target_statistics": "off"}, data, 10)


def save(ax: Any) -> None:
    ax.figure.savefig(io.BytesIO())


def test_a_curve(model: Any) -> None:
    ax = plot_partial_dependence(model, ROWS, 0, grid=[-1.0, 0.0, 1.0])
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [-1, 0, 1])
    expected = model.partial_dependence(ROWS, 0, grid=[-1.0, 0.0, 1.0]).values
    np.testing.assert_array_equal(line.get_ydata(), expected)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a $", "mean prediction")
    ax = plot_partial_dependence(model, ROWS, 0, raw_score=True, title=None, xlabel=None)
    assert (ax.get_ylabel(), ax.get_title(), ax.get_xlabel()) == ("mean raw score", "", "")


def test_lines(model: Any) -> None:
    assert len(plot_partial_dependence(model, ROWS, "b", kind="both").get_lines()) == 51
    ax = plot_partial_dependence(model, ROWS, "b", kind="individual", n_lines=30)
    assert len(ax.get_lines()) == 29 and ax.get_ylabel() == "prediction"
    each = model.partial_dependence(ROWS, "b", kind="individual").values
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), each[7])
    save(ax)


def test_categories(model: Any) -> None:
    ax = plot_partial_dependence(model, ROWS, "c")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2"]
    save(ax)


def test_two_columns(model: Any) -> None:
    ax = plot_partial_dependence(model, ROWS, ("b", "c"), grid_resolution=10)
    (mesh,) = ax.collections
    expected = model.partial_dependence(ROWS, ("b", "c"), grid_resolution=10).values
    np.testing.assert_array_equal(mesh.get_array(), expected.T)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("b", "c")
    save(ax)
    with pytest.raises(ParameterError, match="two columns are drawn as a mean"):
        plot_partial_dependence(model, ROWS, ("b", "c"), kind="both")


def test_estimators_and_outputs() -> None:
    ax = plot_partial_dependence(
        GossamerRegressor(n_estimators=3, verbose=-1).fit(ROWS, LABEL), ROWS, 0
    )
    assert ax.get_title() == "Partial dependence"
    params = {"objective": "multiclass", "num_class": 3, "verbose": -1}
    several = train(params, Dataset(ROWS, ROWS[:, 2]), 3)
    ax = plot_partial_dependence(several, ROWS, 0, output=2, kind="both")
    expected = several.partial_dependence(ROWS, 0).values[:, 2]
    np.testing.assert_array_equal(ax.get_lines()[-1].get_ydata(), expected)
    with pytest.raises(ParameterError, match=r"3 outputs: expected output=0\.\.2"):
        plot_partial_dependence(several, ROWS, 0)
    with pytest.raises(ParameterError, match="no such output: got 3"):
        plot_partial_dependence(several, ROWS, 0, output=3)


def test_bad_input(model: Any) -> None:
    with pytest.raises(ParameterError, match="kind is not known"):
        plot_partial_dependence(model, ROWS, 0, kind="mean")
    with pytest.raises(ParameterError, match="got 'list', expected a Booster"):
        plot_partial_dependence([1], ROWS, 0)
