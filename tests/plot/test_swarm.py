from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.plot.swarm import spread, van_der_corput

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200)


@given(NUMBERS)
def test_points_stay_in_their_row(values: list[float]) -> None:
    found = spread(np.array(values), 0.4)
    assert found.shape == (len(values),) and np.abs(found).max() <= 0.4
    np.testing.assert_array_equal(found, spread(np.array(values), 0.4))


def test_dense_places_are_wide() -> None:
    dense = np.linspace(-0.1, 0.1, 900)
    sparse = np.linspace(5.0, 10.0, 60)
    found = np.abs(spread(np.concatenate([dense, sparse])))
    assert found[:900].max() > 0.3 and found[900:].max() < 0.1


def test_points_of_one_value_are_spread_evenly() -> None:
    gaps = np.diff(np.sort(spread(np.zeros(255))))
    assert gaps.max() < 1.01 * gaps.min()
    assert spread(np.array([3.0]))[0] == 0


def test_van_der_corput() -> None:
    found = van_der_corput(7)
    np.testing.assert_array_equal(np.sort(found), np.arange(1, 8) / 8)
