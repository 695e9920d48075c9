"""`weighted_bins`: bins of about equal weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

from gossamer import DataError, Dataset, threads, train
from gossamer.binning import find_bins
from gossamer.data.dataset import built_data
from gossamer.data.table.sparse import read_sparse
from gossamer.params import resolve

RNG = np.random.default_rng(8)
TABLE = RNG.normal(size=(600, 3))
LABEL = TABLE[:, 0] + RNG.normal(size=600)
WEIGHT = np.exp(2 * TABLE[:, 0])
FEW = {"max_bin": 16, "min_data_in_bin": 1, "verbosity": -1, "num_threads": 1}


def make_table(seed: int) -> np.ndarray:
    """Columns of many values and of few, of zeros and with holes."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(150, 5))
    table[:, 1] = np.round(table[:, 1] * 3)
    table[rng.random(150) < 0.7, 2] = 0
    table[rng.random(150) < 0.2, 3] = np.nan
    table[:, 4] = np.where(rng.random(150) < 0.9, 0, rng.integers(-2, 3, 150))
    return table


@given(
    seed=st.integers(0, 10_000),
    max_bin=st.sampled_from([4, 5, 20, 255]),
    options=st.sampled_from(
        [{}, {"zero_as_missing": True}, {"use_missing": False}, {"forced_bins": {"0": [-0.5, 0.5]}}]
    ),
    scale=st.sampled_from([1.0, 0.25, 4096.0]),
)
@settings(max_examples=60, deadline=None)
def test_whole_weights_are_repeated_rows(
    seed: int, max_bin: int, options: dict[str, Any], scale: float
) -> None:
    table = make_table(seed)
    times = np.random.default_rng(seed).integers(1, 5, len(table))
    params = resolve({"max_bin": max_bin, "min_data_in_bin": 1, **options})
    names = [str(i) for i in range(5)]
    expected = find_bins(np.repeat(table, times, axis=0), params, names=names)
    weight = (times * scale).astype(np.float32)
    found = find_bins(table, params, names=names, weight=weight)
    np.testing.assert_array_equal(found.upper, expected.upper)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    np.testing.assert_array_equal(found.columns, expected.columns)


@given(seed=st.integers(0, 10_000), max_bin=st.sampled_from([3, 20, 255]), zero=st.booleans())
@settings(max_examples=40, deadline=None)
def test_dense_and_sparse_any_number_of_threads(seed: int, max_bin: int, zero: bool) -> None:
    table = make_table(seed)
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=len(table)).astype(np.float32) ** 3
    weight[rng.random(len(table)) < 0.2] = 0
    params = resolve({"max_bin": max_bin, "zero_as_missing": zero, "bin_construct_sample_cnt": 100})
    expected = find_bins(table, params, weight=weight)
    for n_threads in (1, 2, 3, 8):
        for matrix in (table, np.asfortranarray(table), csr_array(table), csc_array(table)):
            read = matrix if isinstance(matrix, np.ndarray) else read_sparse(matrix)
            found = find_bins(read, params, n_threads, weight=weight)
            np.testing.assert_array_equal(found.upper, expected.upper)
            np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_bins_have_equal_weights() -> None:
    params = resolve({**FEW, "max_bin": 10})
    weight = WEIGHT.astype(np.float32)
    share = []
    for counted in (None, weight):
        upper = find_bins(TABLE[:, :1], params, weight=counted).upper
        place = np.searchsorted(upper, TABLE[:, 0])
        share.append(np.bincount(place, weight) / weight.sum())
    assert share[0].max() > 0.4  # by rows: half of the weight in one bin
    assert share[1].max() < 0.2


def test_min_data_in_bin_counts_rows() -> None:
    """However large the weights are."""
    values = np.arange(12.0).reshape(-1, 1)
    weight = np.full(12, 1000, dtype=np.float32)
    params = resolve({"min_data_in_bin": 3})
    found = find_bins(values, params, weight=weight)
    np.testing.assert_array_equal(found.upper, find_bins(values, params).upper)
    assert len(found.upper) == 4


def test_training() -> None:
    def bounds(**params: Any) -> Any:
        data = Dataset(TABLE, LABEL, weight=WEIGHT, params={**FEW, **params}).construct()
        return built_data(data).table.binning.upper

    plain, weighted = bounds(), bounds(weighted_bins=True)
    assert not np.array_equal(plain, weighted)
    without = Dataset(TABLE, LABEL, params={**FEW, "weighted_bins": True}).construct()
    np.testing.assert_array_equal(built_data(without).table.binning.upper, plain)
    # As a parameter of the training it comes to the data set, and to validation data.
    data = Dataset(TABLE, LABEL, weight=WEIGHT)
    valid = Dataset(TABLE, LABEL, reference=data)
    booster = train({**FEW, "weighted_bins": True}, data, 3, valid)
    np.testing.assert_array_equal(built_data(data).table.binning.upper, weighted)
    np.testing.assert_array_equal(built_data(valid).table.binning.upper, weighted)
    assert set(booster.model.forest.arrays["threshold"]) <= set(weighted)


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    found = {
        train(
            {**FEW, "weighted_bins": True, "num_threads": n},
            Dataset(table, LABEL, weight=WEIGHT),
            3,
        ).model_to_string()
        for n in (1, 2, 3, 8)
        for table in (TABLE, csr_array(TABLE))
    }
    assert len(found) == 1


def test_weights_that_come_late() -> None:
    params = {**FEW, "weighted_bins": True}
    expected = built_data(
        Dataset(TABLE, LABEL, weight=WEIGHT, params=params).construct()
    ).table.binning.upper
    kept = Dataset(TABLE, LABEL, params=params, free_raw_data=False).construct()
    kept.set_weight(WEIGHT)
    np.testing.assert_array_equal(built_data(kept.construct()).table.binning.upper, expected)
    gone = Dataset(TABLE, LABEL, params=params).construct()
    with pytest.raises(DataError, match=r"weights cannot change .*weighted_bins"):
        gone.set_weight(WEIGHT)
    assert gone.weight is None
    with pytest.raises(DataError, match="weighted_bins cannot change"):
        train({"weighted_bins": True}, Dataset(TABLE, LABEL, weight=WEIGHT).construct(), 1)
    # Other data in these bins may have any weights.
    valid = Dataset(TABLE, LABEL, reference=gone, params=params).construct()
    valid.set_weight(WEIGHT)


@pytest.mark.parametrize("weight", [[1.0], np.full(600, -1.0), np.full(600, np.nan), np.zeros(600)])
def test_bad_weights(weight: Any) -> None:
    with pytest.raises(DataError, match="weight"):
        Dataset(TABLE, LABEL, weight=weight, params={"weighted_bins": True}).construct()
