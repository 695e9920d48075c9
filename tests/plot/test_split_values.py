from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(300, 2)), RNG.integers(0, 4, 300), np.ones(300)])
LABEL = ROWS[:, 0] + ROWS[:, 1] ** 2 + (ROWS[:, 2] == 1)
NAMES = ["a $", "b", "c", "unused"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    data = gs.Dataset(ROWS, LABEL, feature_name=NAMES, categorical_feature=["c"])
    return gs.train({"verbose": -1, "cat_target_statistics": "off"}, data, 10)


def test_bars(model: Any) -> None:
    ax = gs.plot_split_value_histogram(model, "b", bins=7)
    counts, edges = model.get_split_value_histogram("b", bins=7)
    assert [bar.get_height() for bar in ax.patches] == counts.tolist()
    middles = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
    np.testing.assert_allclose(middles, (edges[1:] + edges[:-1]) / 2)
    assert ax.patches[0].get_width() == pytest.approx(0.8 * (edges[1] - edges[0]))
    assert ax.get_title() == "Split value histogram for feature with name b"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Feature split value", "Count")
    assert all(tick == int(tick) for tick in ax.get_yticks())
    ax.figure.savefig(io.BytesIO())
    assert gs.plot_split_value_histogram(model, 0).get_title().endswith("with index 0")


def test_options(model: Any) -> None:
    given = plt.figure().add_subplot()
    ax = gs.plot_split_value_histogram(
        model,
        0,
        ax=given,
        width_coef=0.5,
        xlim=(-9, 9),
        ylim=(0, 99),
        title="@index/name@: @feature@",
        xlabel=None,
        ylabel=None,
        grid=False,
        color="red",
    )
    assert ax is given and ax.get_title() == "index: 0"
    assert (ax.get_xlim(), ax.get_ylim()) == ((-9, 9), (0, 99))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("", "")
    assert ax.patches[0].get_facecolor() == (1, 0, 0, 1)
    estimator = gs.GossamerRegressor(n_estimators=3, verbose=-1).fit(ROWS, LABEL)
    assert gs.plot_split_value_histogram(estimator, 1, title=None).get_title() == ""


def test_bad_input(model: Any) -> None:
    with pytest.raises(ParameterError, match="no tree splits on this column: got 'unused'"):
        gs.plot_split_value_histogram(model, "unused")
    with pytest.raises(DataError, match="no such column: got 'd'"):
        gs.plot_split_value_histogram(model, "d")
    with pytest.raises(DataError, match="no such column: got 4"):
        gs.plot_split_value_histogram(model, 4)
    with pytest.raises(DataError, match="categories have no thresholds"):
        gs.plot_split_value_histogram(model, "c")
    with pytest.raises(ParameterError, match="xlim"):
        gs.plot_split_value_histogram(model, 0, xlim=3)
    with pytest.raises(ParameterError, match="got 'int'"):
        gs.plot_split_value_histogram(3, 0)
