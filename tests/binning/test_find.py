"""Bin boundaries, compared with the oracle's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import bin_table
from oracle import find_bins as oracle_find_bins

from gossamer import _native
from gossamer.binning import MissingKind, find_bins
from gossamer.binning.find import sample_rows
from gossamer.data.storage.binned import bin_table as bin_natively
from gossamer.data.table.matrix import Table
from gossamer.params import resolve

VALUES = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(allow_nan=True, allow_infinity=True, width=32),
    st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 1e-36, 1e30, -1e30]),
)


@settings(deadline=None)  # machines may be busy
@given(
    column=st.lists(VALUES, min_size=1, max_size=60),
    max_bin=st.integers(2, 12),
    min_data_in_bin=st.integers(1, 5),
    use_missing=st.booleans(),
    zero_as_missing=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_bins_equal_the_oracles(
    column: list[float],
    max_bin: int,
    min_data_in_bin: int,
    use_missing: bool,
    zero_as_missing: bool,
    dtype: type,
) -> None:
    values = np.array(column, dtype=dtype)
    options = {
        "max_bin": max_bin,
        "min_data_in_bin": min_data_in_bin,
        "use_missing": use_missing,
        "zero_as_missing": zero_as_missing,
    }
    expected = oracle_find_bins(values, **options)
    binned = bin_natively(Table(values.reshape(-1, 1)), resolve(options, context="dataset"))
    if expected.n_bins == 1:
        assert binned.binning.n_features == 0
        return
    upper = binned.binning.upper_of(0)
    assert len(upper) == expected.n_value_bins
    # Halfway between two values; next to an infinity there is no such place.
    is_between = np.abs(expected.upper_bounds) < 1e300
    bounds = np.array(expected.upper_bounds)[is_between]
    np.testing.assert_allclose(upper[is_between], bounds, rtol=1e-15)
    assert bool(binned.bins.has_missing()[0]) == expected.has_missing
    np.testing.assert_array_equal(
        binned.bins.copy_column(0), bin_table(values.reshape(-1, 1), [expected])[:, 0]
    )


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_every_type_gives_the_same_bins(dtype: str) -> None:
    matrix = np.random.default_rng(0).integers(0, 100, size=(500, 3))
    expected = find_bins(matrix.astype(np.float64), resolve({}))
    found = find_bins(matrix.astype(dtype), resolve({}))
    np.testing.assert_array_equal(found.upper, expected.upper)


def test_every_layout_gives_the_same_bins() -> None:
    matrix = np.random.default_rng(0).normal(size=(300, 4))
    twice = np.repeat(np.repeat(matrix, 2, axis=0), 2, axis=1)
    expected = find_bins(matrix, resolve({}))
    for other in (np.asfortranarray(matrix), twice[::2, ::2], matrix[::-1]):
        np.testing.assert_array_equal(find_bins(other, resolve({})).upper, expected.upper)


def test_constant_columns_are_left_out_unless_something_is_missing() -> None:
    matrix = np.ones((20, 4))
    matrix[:, 1] = np.arange(20)
    matrix[3, 2] = np.nan
    binning = find_bins(matrix, resolve({}))
    assert binning.columns.tolist() == [1, 2]
    assert binning.offsets.tolist() == [0, len(binning.upper) - 1, len(binning.upper)]
    assert binning.upper_of(1).tolist() == [np.inf]


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, MissingKind.NAN),
        ({"zero_as_missing": True}, MissingKind.ZERO),
        ({"use_missing": False}, MissingKind.NAN_IS_ZERO),
        ({"use_missing": False, "zero_as_missing": True}, MissingKind.NAN_IS_ZERO),
    ],
)
def test_what_counts_as_missing(params: dict[str, bool], kind: MissingKind) -> None:
    assert find_bins(np.arange(4.0).reshape(2, 2), resolve(params)).missing_kind is kind


@settings(deadline=None)
@given(n_rows=st.integers(1, 5000), n_sample=st.integers(1, 400), seed=st.integers(-5, 5))
def test_a_sample_has_one_row_of_each_stretch(n_rows: int, n_sample: int, seed: int) -> None:
    rows = sample_rows(n_rows, n_sample, seed)
    if n_rows <= n_sample:
        assert rows is None
        return
    assert rows is not None
    begin = np.arange(n_sample + 1) * n_rows // n_sample
    assert len(rows) == n_sample
    assert np.all((rows >= begin[:-1]) & (rows < begin[1:]))


def test_the_sample_depends_on_the_seed_only() -> None:
    first, again, other = (sample_rows(10**6, 1000, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == other) < 0.05


def test_sampled_rows_are_spread_evenly_within_their_stretches() -> None:
    rows = sample_rows(10**6, 10**4, 3)
    assert rows is not None
    share_below_half = np.mean(rows % 100 < 50)
    assert abs(share_below_half - 0.5) < 0.02


def test_numpy_and_native_random_bits_agree() -> None:
    from gossamer.binning.find import _mix_bits

    counters = np.arange(50, dtype=np.uint64)
    key = _native.random_bits(7, 0)
    expected = [_native.random_bits(key, int(c)) for c in counters]
    assert _mix_bits(np.uint64(key) ^ _mix_bits(counters)).tolist() == expected


def test_bins_come_from_the_sample() -> None:
    matrix = np.arange(10_000.0).reshape(-1, 1)
    params = resolve({"bin_construct_sample_cnt": 10, "min_data_in_bin": 1})
    binning = find_bins(matrix, params)
    rows = sample_rows(10_000, 10, params.data_random_seed)
    assert rows is not None
    np.testing.assert_array_equal(binning.upper[:-1], (rows[1:] + rows[:-1]) / 2)
