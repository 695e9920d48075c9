from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import gossamer
from gossamer import GossamerRegressor
from gossamer.errors import ParameterError
from gossamer.plot import plot_importance

NAMES = ["price in $", "other $", "0", "unused"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4))
    x[:, 3] = 1.0
    y = 5 * x[:, 0] + x[:, 1] + 0.1 * x[:, 2]
    return GossamerRegressor(n_estimators=20).fit(x, y, feature_name=NAMES)


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def test_importance(model: Any) -> None:
    ax = plot_importance(model)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(v for v in model.feature_importances_ if v > 0)
    assert labels(ax)[-1] == "price in $"
    assert "unused" not in labels(ax)
    assert ax.get_title() == ax.get_xlabel() == "Feature importance"
    ax.figure.savefig(io.BytesIO())


def test_gain(model: Any) -> None:
    ax = plot_importance(model.booster_, importance_type="gain", xlabel="@importance_type@")
    gains = sorted(model.booster_.feature_importance("gain"))[1:]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], gains)
    assert ax.texts[-1].get_text() == f"{gains[-1]:.3f}"
    assert ax.get_xlabel() == "gain"
    assert plot_importance(model, importance_type="gain", precision=None).texts
    own_type = plot_importance(model.set_params(importance_type="gain"))
    assert own_type.patches[-1].get_width() == gains[-1]
    model.set_params(importance_type="split")


def test_options(model: Any) -> None:
    assert len(plot_importance(model, max_num_features=2).patches) == 2
    assert len(plot_importance(model, max_num_features=0).patches) == 3
    assert labels(plot_importance(model, ignore_zero=False))[0] == "unused"
    ax = plot_importance(model, height=0.7, color="red", xlim=(0, 9), ylim=(0, 5), grid=False)
    assert ax.patches[0].get_height() == pytest.approx(0.7)
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 9), (0, 5))


def test_nothing_to_draw() -> None:
    data = gossamer.Dataset(np.zeros((50, 1)), np.arange(50))
    model = gossamer.train({"verbose": -1}, data, 1)
    with pytest.raises(ParameterError, match="no splits"):
        plot_importance(model)
    assert len(plot_importance(model, ignore_zero=False).patches) == 1
    with pytest.raises(ParameterError, match="got 'dict'"):
        plot_importance({})


def test_many_columns_get_a_tall_figure(model: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 100))
    wide = gossamer.train({"verbose": -1}, gossamer.Dataset(x, x.sum(axis=1)), 5)
    ax = plot_importance(wide, ignore_zero=False)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(a.y1 <= b.y0 for a, b in pairwise(boxes))
    assert plot_importance(model).figure.get_size_inches()[1] == pytest.approx(4.8)


def test_mean_of_folds() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    data = gossamer.Dataset(x, 2 * x[:, 0] + x[:, 1])
    found = gossamer.cv({"verbose": -1}, data, 5, nfold=3, return_cvbooster=True)["cvbooster"]
    ax = plot_importance(found, importance_type="gain")
    each = np.array(found.feature_importance("gain"))
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(each.mean(axis=0)))
    (lines,) = ax.collections
    top = lines.get_segments()[1][:, 0]
    np.testing.assert_allclose(top[1] - top[0], 2 * each[:, 0].std())
    assert plot_importance(found).patches
    with pytest.raises(ParameterError, match="CVBooster of 0 models"):
        plot_importance(gossamer.CVBooster())
    with pytest.raises(ParameterError, match="importance_type is not known: got 'weight'"):
        plot_importance(found, importance_type="weight")


def test_percent() -> None:
    from matplotlib.figure import Figure

    import gossamer as gs

    rows = [[i, i % 7, i % 3] for i in range(100)]
    model = gs.train({"verbose": -1}, gs.Dataset(rows, label=range(100)), 3)
    ax = gs.plot_importance(
        model, ax=Figure().add_subplot(), importance_type="gain", percent=True, ignore_zero=False
    )
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(100)
    assert ax.texts[-1].get_text().endswith(" %")
    assert ax.get_xlabel() == "Feature importance (%)"
    assert ax.patches[0].get_height() == 0.7
