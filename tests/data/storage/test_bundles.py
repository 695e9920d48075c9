"""Bundles and sparse columns: parameters, parts of data sets, data that training never saw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gossamer import Booster, DataError, Dataset, ParameterError, train
from gossamer.data.dataset import built_data
from gossamer.model.files import model_file

N_ROWS = 1500
SIZES = (4, 25, 9)
N_SPARSE = 40


def make_table(seed: int, missing: float = 0.0) -> np.ndarray:
    """One-hot encodings, columns of several values that are zero in most rows, a full column."""
    rng = np.random.default_rng(seed)
    table = np.zeros((N_ROWS, sum(SIZES) + N_SPARSE + 1))
    first = 0
    for size in SIZES:
        table[np.arange(N_ROWS), first + rng.integers(0, size, N_ROWS)] = 1
        first += size
    filled = rng.random((N_ROWS, N_SPARSE)) < 0.08
    table[:, first:-1] = filled * rng.integers(-2, 4, filled.shape)
    table[:, -1] = rng.normal(size=N_ROWS)
    table[(table != 0) & (rng.random(table.shape) < missing)] = np.nan
    return table


TABLE = make_table(0)
HOLES = make_table(1, missing=0.03)
WEIGHTS = np.random.default_rng(2).normal(size=TABLE.shape[1])
NOISE = np.random.default_rng(3).normal(size=N_ROWS)
PLAIN = {"enable_bundle": False, "is_enable_sparse": False}
PARAMS = {"verbosity": -1, "min_data_in_leaf": 5, "num_leaves": 15}

STORAGES: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "bundles": {"is_enable_sparse": False},
    "sparse columns": {"enable_bundle": False},
    "bundles and sparse columns": {},
    "conflicts": {"max_conflict_rate": 0.02},
}
every_storage = pytest.mark.parametrize("storage", STORAGES)
every_input = pytest.mark.parametrize(
    "read", [np.asarray, csr_array, csc_array], ids=["dense", "csr", "csc"]
)
every_table = pytest.mark.parametrize("table", [TABLE, HOLES], ids=["complete", "missing"])


def label_of(table: np.ndarray) -> np.ndarray:
    return np.nan_to_num(table, nan=1.5) @ WEIGHTS + NOISE[: len(table)]


def make_data(table: np.ndarray, read: Any = np.asarray, **params: Any) -> Dataset:
    return Dataset(read(table), label_of(table), params=params)


def trees(data: Dataset, **params: Any) -> bytes:
    """What was learned: the model without its parameters."""
    booster = train({**PARAMS, **params}, data, 8)
    assert booster.model.forest.arrays["column"].size > 20
    return model_file.to_bytes(replace(booster.model, params={}))


@every_input
@every_table
def test_every_way_to_store_is_taken(read: Any, table: np.ndarray) -> None:
    """The other tests here compare models; this one shows that there is something to compare."""
    summary = make_data(table, read).describe()
    assert summary.bundles and summary.sparse and summary.alone
    assert make_data(table, read, enable_bundle=False).describe().sparse
    assert make_data(table, read, is_enable_sparse=False).describe().bundles
    summary = make_data(table, read, **PLAIN).describe()
    assert not summary.bundles and not summary.sparse


@pytest.mark.parametrize("n_columns", [2, 3, 300])
def test_dense_one_hot_arrays_are_bundled(n_columns: int) -> None:
    codes = np.random.default_rng(0).integers(0, n_columns, 3000)
    for dtype in (np.float32, np.float64, np.int8, bool):
        table = np.eye(n_columns)[codes].astype(dtype)
        summary = Dataset(table, params={"min_data_in_bin": 1}).describe()
        n_bundled = sum(map(len, summary.bundles))
        # Of two columns each is filled in half of the rows: not worth a search.
        assert n_bundled == (0 if n_columns < 4 else n_columns)
        if n_columns == 300:
            assert sum(summary.places) <= 2


# ---- parameters ----


@pytest.mark.parametrize("rate", [-0.1, 1.1, np.nan, np.inf, "much"])
def test_conflict_rates_out_of_range(rate: Any) -> None:
    with pytest.raises(ParameterError, match="max_conflict_rate"):
        make_data(TABLE, max_conflict_rate=rate).construct()
    with pytest.raises(ParameterError, match="max_conflict_rate"):
        train({"max_conflict_rate": rate}, make_data(TABLE), 1)


def test_unknown_orders() -> None:
    with pytest.raises(ParameterError, match="bundle_order"):
        make_data(TABLE, bundle_order="random").construct()


@pytest.mark.parametrize(
    "changed",
    [
        {"enable_bundle": False},
        {"is_enable_sparse": False},
        {"max_conflict_rate": 0.1},
        {"bundle_order": "count"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_storage_cannot_change_after_construction(changed: dict[str, Any]) -> None:
    [name] = changed
    data = make_data(TABLE).construct()
    with pytest.raises(DataError, match=f"{name} cannot change after the data set is constructed"):
        train({**PARAMS, **changed}, data, 1)
    booster = Booster(PARAMS, make_data(TABLE))
    with pytest.raises(ParameterError, match=f"{name} cannot change during a training"):
        booster.reset_parameter(changed)
    # With the raw data at hand the table is binned again.
    again = Dataset(TABLE, label_of(TABLE), free_raw_data=False).construct()
    before = again.describe()
    train({**PARAMS, **changed}, again, 1)
    if name in ("enable_bundle", "is_enable_sparse"):
        assert again.describe().bundles != before.bundles or again.describe().sparse == []
    assert again.get_params()[name] == changed[name]


def test_with_conflicts_training_sees_the_first_value_only() -> None:
    """The model is that of a table without the others."""
    rng = np.random.default_rng(4)
    table = np.zeros((N_ROWS, 6))
    table[np.arange(N_ROWS), rng.integers(0, 6, N_ROWS)] = 1
    extra = rng.choice(N_ROWS, 60, replace=False)
    table[extra, rng.integers(0, 6, 60)] = 2
    label = table @ rng.normal(size=6) + NOISE
    kept = np.where(np.cumsum(table != 0, axis=1) > 1, 0, table)
    assert not np.array_equal(kept, table)

    def learned(table: np.ndarray, **params: Any) -> bytes:
        settings = {**PARAMS, "min_data_in_bin": 1, "max_bin": 255, **params}
        booster = train(settings, Dataset(table, label), 5)
        return model_file.to_bytes(replace(booster.model, params={}))

    lossy = Dataset(table, params={"max_conflict_rate": 0.5}).describe()
    assert lossy.values_dropped == np.count_nonzero(table) - np.count_nonzero(kept)
    assert learned(table, max_conflict_rate=0.5) == learned(kept, **PLAIN)
    assert learned(table) != learned(kept, **PLAIN)


def test_no_more_conflicts_than_the_rate_allows() -> None:
    rng = np.random.default_rng(5)
    table = (rng.random((N_ROWS, 30)) < 0.04).astype(float)
    for rate in (0.0, 0.01, 0.1):
        data = Dataset(table, params={"max_conflict_rate": rate, "is_enable_sparse": False})
        summary = data.describe()
        lost = 0
        for bundle in summary.bundles:
            columns = [int(name.removeprefix("Column_")) for name in bundle]
            own = np.maximum(np.count_nonzero(table[:, columns], axis=1) - 1, 0).sum()
            assert own <= rate * N_ROWS
            lost += own
        assert summary.values_dropped == summary.conflicts == lost
        assert (lost > 0) == (rate > 0)


# ---- parts of data sets, and files ----


@every_storage
@every_input
@every_table
def test_a_subset_trains_like_plain_rows(storage: str, read: Any, table: np.ndarray) -> None:
    rows = np.flatnonzero(np.random.default_rng(6).random(N_ROWS) < 0.6)
    data = make_data(table, read, **STORAGES[storage])
    part = data.subset(rows)
    if storage == "conflicts":
        # What was dropped stays dropped: compare with the same rows, saved nowhere else.
        assert trees(part) == trees(make_data(table, read, **STORAGES[storage]).subset(rows))
        return
    assert trees(part) == trees(make_data(table, **PLAIN).subset(rows))
    # All rows again, in parts of a part.
    whole = data.subset(np.arange(N_ROWS))
    assert trees(whole.subset(rows)) == trees(part)


@every_storage
@every_input
@every_table
@pytest.mark.parametrize("params", [{}, {"extra_trees": True}], ids=["", "extra trees"])
def test_a_file_trains_like_the_original(
    storage: str, read: Any, table: np.ndarray, params: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "data.bin"
    data = make_data(table, read, **STORAGES[storage])
    data.save_binary(path)
    expected = trees(data, **params)
    assert trees(Dataset(path), **params) == expected
    # A file of the file holds the same.
    Dataset(path).save_binary(tmp_path / "again.bin")
    assert path.read_bytes() == (tmp_path / "again.bin").read_bytes()


@every_storage
@pytest.mark.parametrize("kind", [{"zero_as_missing": True}, {"use_missing": False}], ids=str)
def test_files_and_subsets_where_zeros_mean_something_else(
    storage: str, kind: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "data.bin"
    data = make_data(HOLES, csr_array, **STORAGES[storage], **kind).save_binary(path)
    for params in ({}, {"extra_trees": True}):
        expected = trees(data, **params)
        assert trees(Dataset(path), **params) == expected
        if storage != "conflicts":
            assert expected == trees(make_data(HOLES, **PLAIN, **kind), **params)
    rows = np.arange(0, N_ROWS, 3)
    Dataset(path).construct().subset(rows).save_binary(tmp_path / "part.bin")
    assert trees(Dataset(tmp_path / "part.bin")) == trees(data.subset(rows))


@every_storage
def test_a_file_is_a_reference_for_other_data(storage: str, tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    data = make_data(TABLE, csr_array, **STORAGES[storage]).save_binary(path)
    other = make_table(7, missing=0.05)
    results = []
    for reference in (data, Dataset(path)):
        booster = Booster(PARAMS, reference)
        booster.add_valid(reference.create_valid(csr_array(other), label_of(other)), "other")
        for _ in range(5):
            booster.update()
        assert booster.training is not None
        [valid] = booster.training.valid
        np.testing.assert_array_equal(booster.predict(other, raw_score=True), valid.score)
        results.append(booster.eval_valid())
    assert results[0] == results[1]


# ---- data that training never saw ----


def clashing(missing: float) -> np.ndarray:
    """Columns meet that never did, and values are missing where none was."""
    rng = np.random.default_rng(8)
    table = make_table(9)
    table[rng.random(table.shape) < 0.05] = 3
    table[rng.random(table.shape) < missing] = np.nan
    return table


@every_storage
@every_input
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_validation_scores_are_those_of_the_model(storage: str, read: Any, missing: float) -> None:
    table = clashing(missing)
    data = make_data(TABLE, read, **STORAGES[storage])
    booster = Booster({**PARAMS, "metric": "l2"}, data)
    booster.add_valid(data.create_valid(read(table), label_of(table)), "early")
    for _ in range(6):
        booster.update()
    # One that comes late gets all trees at once.
    booster.add_valid(data.create_valid(read(table), label_of(table)), "late")
    predicted = booster.predict(table, raw_score=True)
    assert booster.training is not None
    for valid in booster.training.valid:
        np.testing.assert_array_equal(valid.score, predicted)
    early, late = booster.eval_valid()
    assert early.metric_value == late.metric_value
    label = label_of(table).astype(np.float32)
    assert early.metric_value == pytest.approx(np.mean((predicted - label) ** 2))


@every_storage
@every_input
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("where", ["reference", "file", "subset"])
def test_training_on_data_in_the_bins_of_other_data(
    storage: str, read: Any, missing: float, where: str, tmp_path: Path
) -> None:
    """What never fit the bundles of the other data is seen like anything else."""
    table = clashing(missing)

    def make(storage: str, read: Any) -> Dataset:
        data = Dataset(
            read(table), label_of(table), reference=make_data(TABLE, **STORAGES[storage])
        )
        if where == "file":
            data.save_binary(tmp_path / "data.bin")
            return Dataset(tmp_path / "data.bin")
        return data.subset(np.arange(0, N_ROWS, 2)) if where == "subset" else data

    booster = Booster(PARAMS, make(storage, read))
    for _ in range(8):
        booster.update()
    rows = table[::2] if where == "subset" else table
    assert booster.training is not None
    np.testing.assert_array_equal(
        booster.predict(rows, raw_score=True), booster.training.train.score
    )
    assert booster.model.forest.arrays["leaf_count"].min() >= PARAMS["min_data_in_leaf"]
    # Bins are those of the other data: they do not depend on how that is stored.
    for params in ({}, {"extra_trees": True}):
        assert trees(make(storage, read), **params) == trees(make("plain", np.asarray), **params)


def test_a_data_set_is_still_a_reference_after_training_on_it() -> None:
    table = clashing(0.05)
    data = Dataset(table, label_of(table), reference=make_data(TABLE))
    before = Dataset(HOLES, label_of(HOLES), reference=data)
    before.construct()
    booster = Booster(PARAMS, data)
    after = Dataset(HOLES, label_of(HOLES), reference=data)
    for name, valid in (("before", before), ("after", after)):
        booster.add_valid(valid, name)
    for _ in range(5):
        booster.update()
    predicted = booster.predict(HOLES, raw_score=True)
    assert booster.training is not None
    for scored in booster.training.valid:
        np.testing.assert_array_equal(scored.score, predicted)


# ---- tables so large that bundles are looked for in a sample of the rows ----


@pytest.fixture(scope="module")
def large() -> tuple[np.ndarray, np.ndarray]:
    """A one-hot encoding, two columns that find no bundle, and full ones that fill the sample."""
    rng = np.random.default_rng(10)
    table = np.zeros((45_000, 78), dtype=np.float32)
    table[np.arange(len(table)), rng.integers(0, 12, len(table))] = rng.integers(1, 4, len(table))
    for column in (12, 13):
        filled = rng.random(len(table)) < 0.29
        table[filled, column] = rng.integers(1, 4, filled.sum())
    table[:, 14:] = rng.integers(1, 4, (len(table), 64))
    return table, (table[:, :14] @ rng.normal(size=14)).astype(np.float32)


HIDDEN = np.arange(2048, 2560)  # a block of rows that is not in the sample


def test_values_that_the_sample_does_not_see(large: tuple[np.ndarray, np.ndarray]) -> None:
    table, label = large[0].copy(), large[1]
    table[HIDDEN[0], 12] = np.nan  # no bundle has room for it
    table[HIDDEN[1], :12] = [0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
    table[HIDDEN[2], :12] = [np.nan, *[0] * 11]

    def learned(data: Any, **params: Any) -> bytes:
        settings = {**PARAMS, "is_enable_sparse": False, "num_threads": 2, **params}
        booster = train(settings, Dataset(data, label), 3)
        return model_file.to_bytes(replace(booster.model, params={}))

    assert learned(csr_array(table)) == learned(table, enable_bundle=False)


@pytest.mark.parametrize("hidden", [1.0, np.nan], ids=["conflicts", "missing"])
def test_conflicts_that_the_sample_does_not_see(
    large: tuple[np.ndarray, np.ndarray], hidden: float
) -> None:
    table = large[0].copy()
    table[HIDDEN, :12] = 0
    table[np.ix_(HIDDEN, [3, 8])] = hidden
    params = {"max_conflict_rate": 0.001, "is_enable_sparse": False, "verbosity": -1}
    data = Dataset(csr_array(table), large[1], params=params)
    summary = data.describe()
    lost = 0
    for bundle in summary.bundles:
        columns = [int(name.removeprefix("Column_")) for name in bundle]
        own = np.maximum(np.count_nonzero(table[:, columns], axis=1) - 1, 0).sum()
        assert own <= 45
        lost += own
    assert summary.values_dropped == summary.conflicts == lost
    assert np.all(
        built_data(data).table.bins.has_missing()
        <= built_data(data).table.bins.storage()["may_miss"]
    )
