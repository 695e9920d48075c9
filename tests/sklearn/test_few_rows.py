"""LightGBM's defaults need 40 rows to split; who has fewer is told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gossamer import GossamerClassifier, GossamerRegressor

X = np.arange(30.0).reshape(-1, 1)
Y = np.arange(30) > 14


def test_thirty_rows_with_the_defaults() -> None:
    with pytest.warns(UserWarning, match=r"30 rows and min_child_samples=20.*Lower"):
        model = GossamerRegressor().fit(X, Y)
    np.testing.assert_allclose(model.predict(X), 0.5)
    assert not model.feature_importances_.any()


def test_thirty_rows_and_smaller_leaves() -> None:
    model = GossamerClassifier(min_child_samples=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_no_warning_where_there_is_nothing_to_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GossamerRegressor().fit(X, np.ones(30))
        GossamerRegressor(verbose=-1).fit(X, Y)
        GossamerRegressor().fit(np.repeat(X, 2, axis=0), np.repeat(Y, 2))


def test_one_row() -> None:
    assert GossamerRegressor().fit([[1.0]], [5.0]).predict([[2.0]]) == [5.0]
    model = GossamerClassifier().fit([[1.0]], ["only"])
    assert model.predict([[2.0]]) == ["only"]
    assert model.predict_proba([[2.0], [3.0]]).tolist() == [[1.0], [1.0]]
    assert model.decision_function([[2.0]]).shape == (1,)
