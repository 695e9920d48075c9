"""Random orders and orders by key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import _native
from gossamer.data.random_order import _STREAM, random_order, stable_order


@pytest.mark.parametrize("n_keys", [1, 300, 2**16, 2**16 + 1, 2**33, 2**63])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_stable_order_is_numpys(n_keys: int, dtype: type) -> None:
    rng = np.random.default_rng(n_keys)
    keys = rng.integers(0, n_keys, 2000, dtype=np.uint64).astype(dtype)
    keys[1000:] = keys[:1000]  # so that some are equal
    keys[5] = n_keys - 1
    np.testing.assert_array_equal(stable_order(keys, n_keys), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_narrow_keys(dtype: type) -> None:
    keys = np.random.default_rng(0).integers(0, 100, 500).astype(dtype)
    np.testing.assert_array_equal(stable_order(keys, 100), np.argsort(keys, kind="stable"))


def test_random_order_draws_by_row() -> None:
    """The draws are those of the native core."""
    key = _native.random_bits(7, _STREAM)
    draws = np.array([_native.random_bits(key, row) for row in range(50)], dtype=np.uint64)
    np.testing.assert_array_equal(random_order(50, 7), np.argsort(draws))


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.integers(-5, 2**70))
def test_more_rows_keep_the_order_of_the_first(n_rows: int, more: int, seed: int) -> None:
    longer = random_order(n_rows + more, seed)
    np.testing.assert_array_equal(np.sort(longer), np.arange(n_rows + more))
    np.testing.assert_array_equal(longer[longer < n_rows], random_order(n_rows, seed))


def test_seeds_differ_and_places_are_uniform() -> None:
    orders = np.stack([random_order(20, seed) for seed in range(2000)])
    assert len(np.unique(orders, axis=0)) == 2000
    # The mean place of each row: standard error 5.8 / sqrt(2000) = 0.13.
    places = np.argsort(orders, axis=1).mean(axis=0)
    np.testing.assert_allclose(places, 9.5, atol=0.65)
