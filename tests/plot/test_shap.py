from __future__ import annotations

import inspect
import io
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import gossamer as gs
from gossamer.errors import DataError, ParameterError
from gossamer.plot.style import HIGH, LOW, MISSING

RNG = np.random.default_rng(0)
ROWS = np.column_stack([RNG.normal(size=(300, 3)), RNG.integers(0, 3, 300)])
ROWS[::10, 1] = np.nan
LABEL = 3 * ROWS[:, 0] + np.nan_to_num(ROWS[:, 1]) + (ROWS[:, 3] == 1)
NAMES = ["a $", "b", "noise", "c"]


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    data = gs.Dataset(ROWS, LABEL, feature_name=NAMES, categorical_feature=["c"])
    return gs.train({"verbose": -1, "num_threads": 1, "lambda_l2": 1.0}, data, 20)


@pytest.fixture(scope="module")
def classes() -> Any:
    params = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    return gs.train(params, gs.Dataset(ROWS, ROWS[:, 3], feature_name=NAMES), 5)


def rows_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_yticklabels()]


def points_of(ax: Any) -> tuple[Any, Any, Any]:
    """Places and colours of all points, by row of the picture."""
    x = np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections])
    colours = [
        np.broadcast_to(c.get_facecolors()[:, :3], (len(c.get_offsets()), 3))
        for c in ax.collections
    ]
    return x[:, 0], x[:, 1], np.concatenate(colours)


# ---- summary ----


def test_a_point_for_every_row(model: Any) -> None:
    ax = gs.plot_shap_summary(model, ROWS)
    values = model.shap_values(ROWS)[:, :-1]
    order = np.argsort(-np.abs(values).mean(axis=0))
    assert rows_of(ax) == [NAMES[i] for i in order]
    x, y, colours = points_of(ax)
    for place, column in enumerate(order):
        own = np.abs(y - place) < 0.5
        np.testing.assert_allclose(np.sort(x[own]), np.sort(values[:, column]))
        is_grey = np.isclose(colours[own], to_rgb(MISSING)).all(axis=1)
        # Missing values and categories have no place between low and high.
        expected = np.isnan(ROWS[:, column]).sum() if NAMES[column] != "c" else 300
        assert is_grey.sum() == expected
    top = np.abs(y) < 0.5  # column a: higher values are redder, and raise predictions
    assert np.corrcoef(x[top], colours[top, 0])[0, 1] > 0.8
    assert (ax.get_title(), ax.get_xlabel()) == ("Shapley values", "Shapley value (raw score)")
    ax.figure.savefig(io.BytesIO())


def test_bars(model: Any, classes: Any) -> None:
    ax = gs.plot_shap_summary(model, ROWS, kind="bar", max_num_features=2)
    strength = np.sort(np.abs(model.shap_values(ROWS)[:, :-1]).mean(axis=0))[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], strength[:2])
    assert ax.get_xlabel() == "mean |Shapley value|"
    ax = gs.plot_shap_summary(classes, ROWS, kind="bar")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [f"output {k}" for k in range(3)]
    total = np.abs(classes.shap_values(ROWS)[..., :-1]).mean(axis=0).sum()
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(total)
    assert gs.plot_shap_summary(classes, ROWS, kind="bar", output=1).get_legend() is None


def test_outputs(classes: Any) -> None:
    ax = gs.plot_shap_summary(classes, ROWS, output=2, max_num_features=1)
    values = classes.shap_values(ROWS)[:, 2, :-1]
    best = np.abs(values).mean(axis=0).argmax()
    np.testing.assert_allclose(np.sort(points_of(ax)[0]), np.sort(values[:, best]))
    for draw in (
        lambda **k: gs.plot_shap_summary(classes, ROWS, **k),
        lambda **k: gs.plot_shap_waterfall(classes, ROWS, **k),
        lambda **k: gs.plot_shap_dependence(classes, ROWS, 0, **k),
    ):
        with pytest.raises(ParameterError, match=r"3 outputs: expected output=0\.\.2"):
            draw()
        with pytest.raises(ParameterError, match="no such output: got 3"):
            draw(output=3)
        with pytest.raises(ParameterError, match="output cannot be used: got -1"):
            draw(output=-1)


def test_rows_and_sparse_tables(model: Any) -> None:
    ax = gs.plot_shap_summary(model, ROWS, max_rows=50, max_num_features=1)
    assert len(points_of(ax)[0]) == 50
    dense = np.nan_to_num(ROWS)
    data = gs.Dataset(dense, LABEL)
    plain = gs.train({"verbose": -1, "num_threads": 1}, data, 5)
    from_sparse = gs.plot_shap_summary(plain, scipy.sparse.csr_array(dense))
    for a, b in zip(
        points_of(from_sparse), points_of(gs.plot_shap_summary(plain, dense)), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_background_and_rounds(model: Any) -> None:
    ax = gs.plot_shap_summary(model, ROWS, background=ROWS[:9], num_iteration=3, kind="bar")
    values = model.shap_values(ROWS, ROWS[:9], num_iteration=3)[:, :-1]
    expected = np.sort(np.abs(values).mean(axis=0))[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected[expected > 0])


# ---- waterfall ----


def test_steps_lead_to_the_score(model: Any) -> None:
    ax = gs.plot_shap_waterfall(model, ROWS, row=7)
    values = model.shap_values(ROWS[[7]])[0]
    bars = ax.patches
    assert bars[0].get_x() + bars[0].get_width() == pytest.approx(
        model.predict(ROWS[[7]], raw_score=True)[0]
    )
    assert bars[-1].get_x() == pytest.approx(values[-1])
    for bar, above in zip(bars[1:], bars, strict=False):
        assert bar.get_x() + bar.get_width() == pytest.approx(above.get_x())
    sizes = [bar.get_width() for bar in bars]
    assert sizes == sorted(sizes, key=abs, reverse=True)
    for bar in bars:
        colour = HIGH if bar.get_width() > 0 else LOW
        assert bar.get_facecolor()[:3] == pytest.approx(to_rgb(colour))
    assert f"a $ = {ROWS[7, 0]:.4g}" in rows_of(ax)
    assert f"c = {ROWS[7, 3]:g}" in rows_of(ax)
    assert ax.get_title() == "Prediction of row 7"
    written = [text.get_text() for text in ax.texts]
    assert f"expected {values[-1]:.3f}" in written
    ax.figure.savefig(io.BytesIO())


def test_the_rest_is_one_step(model: Any) -> None:
    ax = gs.plot_shap_waterfall(model, ROWS, row=-300, max_num_features=2)
    assert rows_of(ax)[2] == "2 more columns" and len(ax.patches) == 3
    assert ax.get_title() == "Prediction of row 0"
    assert "b = missing" in rows_of(gs.plot_shap_waterfall(model, ROWS[:1]))


def test_levels_have_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"city": pandas.Categorical(["Bern", "Rome"] * 50)})
    model = gs.train({"verbose": -1}, gs.Dataset(frame, [0.0, 1.0] * 50), 3)
    assert rows_of(gs.plot_shap_waterfall(model, frame, row=1)) == ["city = Rome"]
    ax = gs.plot_shap_dependence(model, frame, "city")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["Bern", "Rome"]


# ---- dependence ----


def test_dependence(model: Any) -> None:
    ax = gs.plot_shap_dependence(model, ROWS, "b", color_by="a $")
    values = model.shap_values(ROWS)[:, 1]
    x, y, _ = points_of(ax)
    known = ~np.isnan(ROWS[:, 1])
    np.testing.assert_allclose(np.sort(y), np.sort(values))
    np.testing.assert_allclose(x[known], ROWS[known, 1])
    assert x[~known].min() > ROWS[known, 1].max()
    assert ax.get_xticklabels()[-1].get_text() == "missing"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("b", "Shapley value of b")
    ax.figure.savefig(io.BytesIO())
    assert len(gs.plot_shap_dependence(model, ROWS, 0).collections) == 1


def test_dependence_on_categories(model: Any) -> None:
    ax = gs.plot_shap_dependence(model, ROWS, "c", color_by="b")
    x, _, _ = points_of(ax)
    assert sorted(set(np.round(x))) == [0, 1, 2]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2"]
    ax = gs.plot_shap_dependence(model, ROWS, "a $", color_by="c")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1", "2"]
    ax.figure.savefig(io.BytesIO())


# ---- all of them ----

CALLS = {
    "plot_shap_summary": lambda model, data, **k: gs.plot_shap_summary(model, data, **k),
    "plot_shap_waterfall": lambda model, data, **k: gs.plot_shap_waterfall(model, data, **k),
    "plot_shap_dependence": lambda model, data, **k: gs.plot_shap_dependence(model, data, 0, **k),
}


@pytest.mark.parametrize("name", CALLS)
def test_axes_and_labels(model: Any, name: str) -> None:
    given = Figure().add_subplot()
    ax = CALLS[name](model, ROWS, ax=given, title="T", xlabel="X", ylabel="Y", grid=False)
    assert ax is given and plt.get_fignums() == []
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("T", "X", "Y")
    ax = CALLS[name](model, ROWS, figsize=(3, 2), dpi=50, title=None, xlabel=None)
    assert (ax.figure.get_size_inches().tolist(), ax.figure.dpi) == ([3, 2], 50)
    assert (ax.get_title(), ax.get_xlabel()) == ("", "")
    estimator = gs.GossamerRegressor(n_estimators=2, verbose=-1).fit(np.nan_to_num(ROWS), LABEL)
    assert CALLS[name](estimator, np.nan_to_num(ROWS)).get_figure() is not None
    keywords = inspect.signature(getattr(gs, name)).parameters
    assert {"ax", "figsize", "dpi", "title"} <= set(keywords)


@pytest.mark.parametrize("name", CALLS)
def test_bad_data(model: Any, name: str) -> None:
    with pytest.raises(DataError, match="columns"):
        CALLS[name](model, ROWS[:, :2])
    with pytest.raises(DataError, match="row"):
        CALLS[name](model, ROWS[:0])
    with pytest.raises(ParameterError, match=f"{name} cannot draw this: got 'str'"):
        CALLS[name]("model", ROWS)


def test_bad_input(model: Any) -> None:
    with pytest.raises(ParameterError, match="kind is not known: got 'dot'"):
        gs.plot_shap_summary(model, ROWS, kind="dot")
    with pytest.raises(ParameterError, match="max_rows cannot be used: got 0"):
        gs.plot_shap_summary(model, ROWS, max_rows=0)
    with pytest.raises(DataError, match=r"no such row: got 300, expected 0\.\.299"):
        gs.plot_shap_waterfall(model, ROWS, row=300)
    with pytest.raises(ParameterError, match=r"row cannot be used: got 1\.5"):
        gs.plot_shap_waterfall(model, ROWS, row=1.5)
    with pytest.raises(DataError, match="no such column: got 'd'"):
        gs.plot_shap_dependence(model, ROWS, "d")
    with pytest.raises(DataError, match="no such column: got 9"):
        gs.plot_shap_dependence(model, ROWS, 0, color_by=9)
    infinite = ROWS.copy()
    infinite[0, 0] = np.inf
    with pytest.raises(DataError, match=r"'a \$' has infinite values"):
        gs.plot_shap_dependence(model, infinite, 0)
    assert gs.plot_shap_summary(model, infinite).collections
    empty = gs.train({"verbose": -1}, gs.Dataset(np.zeros((50, 1)), np.arange(50)), 1)
    with pytest.raises(ParameterError, match="nothing to draw"):
        gs.plot_shap_summary(empty, np.zeros((5, 1)))
    assert gs.plot_shap_waterfall(empty, np.zeros((5, 1))).get_xlim()[0] < 24.5
