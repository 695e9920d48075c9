"""`Dataset.describe()`: what it says is so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gossamer import Dataset
from gossamer.data.describe import StorageSummary
from gossamer.data.storage import binned

N_ROWS = 2000
RNG = np.random.default_rng(0)
# Two one-hot encodings, columns that meet everything, two full columns, a constant.
N_COLOURS, N_TOWNS, N_WORDS = 5, 40, 30
TABLE = np.zeros((N_ROWS, N_COLOURS + N_TOWNS + N_WORDS + 3))
TABLE[np.arange(N_ROWS), RNG.integers(0, N_COLOURS, N_ROWS)] = 1
TABLE[np.arange(N_ROWS), N_COLOURS + RNG.integers(0, N_TOWNS, N_ROWS)] = 1
WORDS = slice(N_COLOURS + N_TOWNS, N_COLOURS + N_TOWNS + N_WORDS)
TABLE[:, WORDS] = RNG.integers(1, 4, (N_ROWS, N_WORDS)) * (RNG.random((N_ROWS, N_WORDS)) < 0.1)
TABLE[:, -3:-1] = RNG.normal(size=(N_ROWS, 2))
TABLE[:, -1] = 7
NAMES = [
    *(f"colour {i}" for i in range(N_COLOURS)),
    *(f"town {i}" for i in range(N_TOWNS)),
    *(f"word {i}" for i in range(N_WORDS)),
    "price",
    "size",
    "always 7",
]
COLOURS, TOWNS = NAMES[:N_COLOURS], NAMES[N_COLOURS : N_COLOURS + N_TOWNS]

every_input = pytest.mark.parametrize(
    "read", [np.asarray, csr_array, csc_array], ids=["dense", "csr", "csc"]
)


def describe(data: Any = TABLE, **params: Any) -> StorageSummary:
    return Dataset(data, params=params, feature_name=NAMES).describe()


def check_adds_up(summary: StorageSummary) -> None:
    """Every column is in one place."""
    named = [*summary.alone, *summary.sharing, *summary.sparse]
    for bundle in summary.bundles:
        assert len(bundle) >= 2
        named += bundle
    assert len(set(named)) == len(named)
    assert len(named) + summary.constant == summary.n_columns
    assert set(named) <= set(NAMES)


@every_input
@pytest.mark.parametrize("enable_bundle", [True, False])
@pytest.mark.parametrize("is_enable_sparse", [True, False])
@pytest.mark.parametrize("shares", [True, False])
def test_numbers_add_up(
    read: Any,
    enable_bundle: bool,
    is_enable_sparse: bool,
    shares: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(binned, "_MIN_ROWS_TO_SHARE", 0 if shares else N_ROWS + 1)
    summary = describe(read(TABLE), enable_bundle=enable_bundle, is_enable_sparse=is_enable_sparse)
    check_adds_up(summary)
    assert (summary.n_rows, summary.n_columns, summary.constant) == (N_ROWS, len(NAMES), 1)
    assert bool(summary.bundles) == enable_bundle
    # Where lanes are shared they cost so little that sparse columns are not worth it.
    can_share = enable_bundle and shares
    assert bool(summary.sharing) == can_share
    assert bool(summary.sparse) == (is_enable_sparse and not can_share)
    assert (summary.order is None) == (not enable_bundle)
    assert summary.conflicts == summary.values_dropped == 0
    if not is_enable_sparse:
        assert summary.entries == summary.bytes_in_sparse_columns == 0
    n_lanes = sum(summary.places)
    if not shares:
        assert n_lanes == len(summary.alone) + len(summary.bundles)
    else:
        assert n_lanes <= len(summary.alone) + len(summary.sharing) + len(summary.bundles)
    assert summary.bytes_in_rows >= N_ROWS * (summary.places[0] + 2 * summary.places[1])
    assert summary.seconds >= 0


@every_input
def test_one_hot_columns_are_bundled_by_name(read: Any) -> None:
    summary = describe(read(TABLE), is_enable_sparse=False, bundle_order="column")
    assert COLOURS in summary.bundles
    assert TOWNS in summary.bundles
    assert summary.alone[-2:] == ["price", "size"]
    assert summary.order == "column"


@every_input
def test_sparse_columns_are_counted(read: Any) -> None:
    summary = describe(read(TABLE), enable_bundle=False)
    assert set(summary.sparse) >= {*TOWNS, *NAMES[WORDS]}
    assert not {"price", "size", "always 7"} & set(summary.sparse)
    columns = [NAMES.index(name) for name in summary.sparse]
    assert summary.entries == np.count_nonzero(TABLE[:, columns])
    assert summary.bytes_in_sparse_columns >= 6 * summary.entries


@pytest.mark.parametrize(("n_columns", "share", "is_sparse"), [(28, 0.2, False), (400, 0.01, True)])
def test_narrow_tables_have_no_sparse_columns(
    n_columns: int, share: float, is_sparse: bool, measured_costs: None
) -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(2000, n_columns)) * (rng.random((2000, n_columns)) < share)
    data = Dataset(table, np.zeros(2000), params={"enable_bundle": False}).construct()
    assert bool(data.describe().sparse) == is_sparse


@pytest.mark.parametrize("order", ["auto", "degree", "count", "column"])
def test_orders(order: str) -> None:
    summary = describe(bundle_order=order, is_enable_sparse=False)
    check_adds_up(summary)
    assert summary.order == order or (order == "auto" and summary.order in ("column", "degree"))
    for bundle in summary.bundles:
        filled = np.count_nonzero(TABLE[:, [NAMES.index(name) for name in bundle]], axis=1)
        assert filled.max() == 1


def test_many_bins_need_two_bytes() -> None:
    rng = np.random.default_rng(1)
    table = np.zeros((N_ROWS, 4))
    table[np.arange(N_ROWS), rng.integers(0, 4, N_ROWS)] = rng.normal(size=N_ROWS)
    summary = Dataset(table, params={"bundle_order": "column"}).describe()
    assert summary.bundles == [["Column_0", "Column_1", "Column_2", "Column_3"]]
    assert summary.places == (0, 1)
    assert summary.bytes_in_rows == 2 * N_ROWS


@every_input
def test_conflicts_are_told(read: Any) -> None:
    rng = np.random.default_rng(2)
    table = np.zeros((N_ROWS, 6))
    table[np.arange(N_ROWS), rng.integers(0, 6, N_ROWS)] = 1
    table[:30] = 1  # five of six are lost
    exact = Dataset(read(table)).describe()
    assert exact.conflicts == exact.values_dropped == 0
    summary = Dataset(read(table), params={"max_conflict_rate": 0.1}).describe()
    assert summary.bundles == [[f"Column_{i}" for i in range(6)]]
    assert summary.conflicts == summary.values_dropped == 150
    assert "150 conflicts, 150 values not seen by training" in str(summary)


@every_input
def test_conflicts_of_bundles_that_became_sparse_columns_do_not_count(read: Any) -> None:
    table = (np.random.default_rng(3).random((N_ROWS, 200)) < 0.02).astype(float)
    summary = Dataset(read(table), params={"max_conflict_rate": 0.01}).describe()
    lost = 0
    for bundle in summary.bundles:
        columns = [int(name.removeprefix("Column_")) for name in bundle]
        lost += np.maximum(np.count_nonzero(table[:, columns], axis=1) - 1, 0).sum()
    assert len(summary.sparse) > 100
    assert summary.conflicts == summary.values_dropped == lost


@pytest.mark.parametrize(
    ("columns", "params"),
    [
        (slice(None), {}),
        (slice(-3, None), {}),
        (WORDS, {"enable_bundle": False}),
        (slice(0, N_COLOURS), {}),
    ],
    ids=["all", "no bundles", "sparse columns", "a bundle"],
)
def test_text_says_the_same(columns: slice, params: dict[str, Any]) -> None:
    data = Dataset(TABLE[:, columns], params=params, feature_name=NAMES[columns])
    summary = data.describe()
    lines = str(summary).splitlines()
    assert lines[0] == f"2,000 rows x {len(NAMES[columns])} columns"
    told = {line[2:23].strip(): line[23:].split() for line in lines[1:6]}
    n_bundled = sum(map(len, summary.bundles))
    assert told == {
        "constant, not used": [str(summary.constant)],
        "stored separately": [str(len(summary.alone))],
        "sharing a byte": [str(len(summary.sharing))],
        "in bundles": [str(n_bundled), str(len(summary.bundles)), "bundles"],
        "sparse columns": [str(len(summary.sparse)), f"{summary.entries:,}", "values"],
    }
    assert f"{summary.places[0]} columns of 1 byte, {summary.places[1]} of 2 bytes" in lines[6]
    n_found = len(summary.findings)
    assert [each.kind for each in summary.findings] == ["constant"] * summary.constant
    assert all(set(each.columns) <= set(NAMES) for each in summary.findings)
    assert len(lines) == (8 if summary.bundles else 7) + (n_found + 1 if n_found else 0)
    if summary.bundles:
        assert lines[7].startswith(f"bundles: found by {summary.order}, 0 conflicts")


def test_of_rows_taken_from_a_data_set() -> None:
    whole = Dataset(TABLE, np.zeros(N_ROWS), feature_name=NAMES)
    part = whole.subset(np.arange(0, N_ROWS, 4)).describe()
    check_adds_up(part)
    summary = whole.describe()
    assert part.n_rows == N_ROWS // 4
    for name in ("constant", "alone", "sharing", "bundles", "sparse", "places"):
        assert getattr(part, name) == getattr(summary, name), name
    columns = [NAMES.index(name) for name in part.sparse]
    assert part.entries == np.count_nonzero(TABLE[::4][:, columns])


def test_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    data = Dataset(TABLE, feature_name=NAMES).save_binary(path)
    loaded, summary = Dataset(path).describe(), data.describe()
    check_adds_up(loaded)
    for name in ("constant", "alone", "sharing", "bundles", "sparse", "places", "entries"):
        assert getattr(loaded, name) == getattr(summary, name), name
    # How the bundles were found is not in the file: nothing may be said of it.
    assert loaded.order is None
    assert "None" not in str(loaded)


def test_values_that_were_dropped_are_not_denied(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    table = np.eye(6)[np.arange(600) % 6]
    table[:30] = 1
    data = Dataset(table, params={"max_conflict_rate": 0.5}).save_binary(path)
    assert data.describe().values_dropped == 150
    for other in (Dataset(path), data.subset(np.arange(500))):
        assert "0 values not seen by training" not in str(other.describe())


def test_of_validation_data() -> None:
    data = Dataset(TABLE, feature_name=NAMES)
    other = TABLE.copy()
    other[:10, :20] = 1
    check_adds_up(data.create_valid(other).describe())


def test_of_a_table_with_constants_only() -> None:
    summary = Dataset(np.zeros((10, 3))).describe()
    assert (summary.constant, summary.alone, summary.bundles) == (3, [], [])
    assert "3 columns" in str(summary)
