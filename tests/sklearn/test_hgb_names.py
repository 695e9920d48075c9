"""Parameters by the names of scikit-learn's histogram gradient boosting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import gossamer as gs

RNG = np.random.default_rng(11)
X = RNG.normal(size=(300, 3))
NAMES = {"max_iter": 5, "max_leaf_nodes": 7, "l2_regularization": 2.0, "min_samples_leaf": 9}


@pytest.mark.parametrize("kind", [gs.GossamerRegressor, gs.GossamerClassifier])
def test_names_of_numbers(kind: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    ours = {"n_estimators": 5, "num_leaves": 7, "reg_lambda": 2.0, "min_child_samples": 9}
    found = clone(kind(**NAMES, learning_rate=0.2)).fit(X, y)
    np.testing.assert_array_equal(
        found.predict(X), kind(**ours, learning_rate=0.2).fit(X, y).predict(X)
    )
    assert found.n_iter_ == 5


def test_categorical_features() -> None:
    pandas = pytest.importorskip("pandas")
    codes = np.arange(300) % 6
    y = X[:, 0] + (codes % 2) * 3.0
    letters = pandas.Categorical.from_codes(codes, list("pqrstu"))
    frame = pandas.DataFrame({"a": X[:, 0], "b": letters})
    expected = gs.GossamerRegressor(n_estimators=5).fit(frame, y)
    found = gs.GossamerRegressor(max_iter=5, categorical_features="from_dtype").fit(frame, y)
    np.testing.assert_array_equal(found.predict(frame), expected.predict(frame))
    table = np.column_stack([X[:, 0], codes])
    named = gs.GossamerRegressor(max_iter=5, categorical_features=[1]).fit(table, y)
    same = gs.GossamerRegressor(n_estimators=5).fit(table, y, categorical_feature=[1])
    np.testing.assert_array_equal(named.predict(table), same.predict(table))
