"""Linear trees of tables that come as a list of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer as gs

X = np.random.default_rng(2).normal(size=(200, 3))
Y = X[:, 0] * (X[:, 1] > 0)


@pytest.mark.parametrize("in_data", [False, True])
def test_a_list_of_arrays_is_a_table(in_data: bool) -> None:
    params = {"linear_tree": True, "verbosity": -1}
    own = {"linear_tree": True} if in_data else {}
    data = gs.Dataset([X[:70], X[70:]], Y, params=own)
    found = gs.train(params, data, 5)
    expected = gs.train(params, gs.Dataset(X, Y), 5)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    valid = gs.Dataset([X[:50], X[50:]], Y, reference=data)
    gs.train(params, data, 2, valid_sets=[valid])
