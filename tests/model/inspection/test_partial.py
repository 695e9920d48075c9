"""Partial dependence: means of predictions with a column held at a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import Booster, DataError, Dataset, ParameterError, train
from tests.model.inspection.test_shap_values import KINDS, fit, make_table

TABLE = make_table(3, 120)


@pytest.fixture(scope="module")
def plain() -> Booster:
    return fit("regression")


def naive(booster: Booster, columns: dict[int, float], **arguments: Any) -> Any:
    """What is predicted of each row with these values."""
    changed = TABLE.copy()
    for column, value in columns.items():
        changed[:, column] = value
    return booster.predict(changed, **arguments)


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_column(kind: str) -> None:
    booster = fit(kind)
    grid = [-1.0, 0.0, 2.0, np.nan]
    for column in (0, 2):
        mean = booster.partial_dependence(TABLE, column, grid=grid)
        each = booster.partial_dependence(TABLE, column, grid=grid, kind="individual")
        expected = np.stack([naive(booster, {column: v}) for v in grid], axis=1)
        np.testing.assert_array_equal(each.values, expected)
        np.testing.assert_allclose(mean.values, expected.mean(axis=0), rtol=1e-12)
        np.testing.assert_array_equal(mean.grid[0], grid)
        assert mean.names == (booster.feature_name()[column],)
        assert (mean.kind, each.kind) == ("average", "individual")


@pytest.mark.parametrize("kind", ["regression", "multiclass"])
def test_two_columns(kind: str) -> None:
    booster = fit(kind)
    grids = [-1.0, 1.0], [0.0, 1.0, 2.0]
    each = booster.partial_dependence(TABLE, (1, "Column_2"), grid=grids, kind="individual")
    mean = booster.partial_dependence(TABLE, (1, "Column_2"), grid=grids)
    last = each.values.shape[3:]
    assert each.values.shape[:3] == (120, 2, 3) and last == ((3,) if kind == "multiclass" else ())
    for i, a in enumerate(grids[0]):
        for j, b in enumerate(grids[1]):
            expected = naive(booster, {1: a, 2: b})
            np.testing.assert_array_equal(each.values[:, i, j], expected)
            np.testing.assert_allclose(mean.values[i, j], expected.mean(axis=0), rtol=1e-12)


def test_rounds_and_raw_scores() -> None:
    booster = fit("binary")
    some = {"raw_score": True, "start_iteration": 1, "num_iteration": 2}
    found = booster.partial_dependence(TABLE, 0, grid=[0.5], **some)
    assert found.values[0] == pytest.approx(naive(booster, {0: 0.5}, **some).mean())
    probability = booster.partial_dependence(TABLE, 0, grid=[0.5]).values[0]
    assert 0 < probability < 1 and probability != found.values[0]


def test_grids_of_the_data(plain: Booster) -> None:
    known = TABLE[:, 0][~np.isnan(TABLE[:, 0])]
    few = plain.partial_dependence(TABLE, 0, grid_resolution=5, percentiles=(0.1, 0.9)).grid[0]
    np.testing.assert_allclose(few, np.quantile(known, np.linspace(0.1, 0.9, 5)))
    every = plain.partial_dependence(TABLE, 2).grid[0]
    np.testing.assert_array_equal(every, np.arange(6.0))
    many = plain.partial_dependence(TABLE, 2, grid_resolution=3).grid[0]
    assert len(many) <= 3
    categories = fit("categories").partial_dependence(TABLE, 2, grid_resolution=3)
    np.testing.assert_array_equal(categories.grid[0], np.arange(6.0))
    assert categories.is_categorical == (True,)
    assert plain.partial_dependence(TABLE, 2).is_categorical == (False,)


def test_levels() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"v": rng.normal(size=300), "city": rng.choice(["Bern", "Oslo", "Rome"], 300)}
    )
    label = frame["v"] + 2 * (frame["city"] == "Oslo")
    booster = train({"verbose": -1}, Dataset(frame, label), 30)
    found = booster.partial_dependence(frame, "city")
    assert found.grid[0].tolist() == ["Bern", "Oslo", "Rome"] and found.is_categorical == (True,)
    expected = [booster.predict(frame.assign(city=city)).mean() for city in found.grid[0]]
    np.testing.assert_allclose(found.values, expected)
    own = booster.partial_dependence(frame, "city", grid=["Rome", "Oslo"])
    np.testing.assert_array_equal(own.values, found.values[[2, 1]])
    with pytest.raises(ParameterError, match="unknown level: got 'Atlantis'"):
        booster.partial_dependence(frame, "city", grid=["Atlantis"])


def test_inputs(plain: Booster) -> None:
    dense = np.nan_to_num(TABLE)
    expected = plain.partial_dependence(dense, 0, grid_resolution=6)
    kept = dense.copy()
    kept.flags.writeable = False
    for rows in (kept, np.asfortranarray(dense), dense.tolist(), sparse.csr_matrix(dense)):
        found = plain.partial_dependence(rows, 0, grid_resolution=6)
        np.testing.assert_array_equal(found.values, expected.values)
    whole = (10 * dense).astype(np.int16)  # the grid is not made of whole numbers
    found = plain.partial_dependence(whole, 0, grid=[0.25, -0.25])
    assert found.values[0] != found.values[1]


def test_threads(plain: Booster) -> None:
    one = plain.partial_dependence(TABLE, 0, num_threads=1).values
    for n_threads in (2, 3, 8):
        again = plain.partial_dependence(TABLE, 0, num_threads=n_threads).values
        assert again.tobytes() == one.tobytes()


@pytest.mark.parametrize(
    ("some", "error", "words"),
    [
        ({"feature": 4}, DataError, r"no such column: got 4, expected 0\.\.3"),
        ({"feature": -1}, DataError, "no such column"),
        ({"feature": "x"}, DataError, "no such column: got 'x'"),
        ({"feature": (0, 0)}, ParameterError, "a column, or two"),
        ({"feature": (0, 1, 2)}, ParameterError, "a column, or two"),
        ({"feature": ()}, ParameterError, "a column, or two"),
        ({"feature": (0.5, 1)}, DataError, "this is not a column: got 0.5"),
        ({"kind": "both"}, ParameterError, "kind is not known"),
        ({"percentiles": (0.9, 0.1)}, ParameterError, "percentiles"),
        ({"percentiles": 0.5}, ParameterError, "percentiles"),
        ({"percentiles": (-1, 0.5)}, ParameterError, "percentiles"),
        ({"grid_resolution": 1}, ParameterError, "grid_resolution .*>= 2"),
        ({"grid": []}, ParameterError, "grid of 'Column_0'"),
        ({"grid": ["a"]}, ParameterError, "grid of 'Column_0'.*numbers"),
        ({"grid": [[1.0, 2.0]]}, ParameterError, "grid of 'Column_0'"),
        ({"feature": (0, 1), "grid": [1.0]}, ParameterError, "for each of the columns"),
        ({"data": TABLE[:0]}, DataError, "no rows"),
        ({"data": TABLE[:, :3]}, DataError, "number of columns"),
        ({"data": np.full((5, 4), np.nan)}, DataError, r"no values to make a grid of.*Pass grid"),
    ],
)
def test_bad_input(
    plain: Booster, some: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        plain.partial_dependence(**{"data": TABLE, "feature": 0, **some})
