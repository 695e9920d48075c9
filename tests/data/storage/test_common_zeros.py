"""Columns that are zero in the same rows are stored next to each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import gossamer as gs
from gossamer import _native
from gossamer.data.dataset import built_data

PARAMS = {"objective": "regression", "verbosity": -1, "num_leaves": 20, "num_threads": 2}


def make_table(n_rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Every third column is zero in three of four rows; the others have few zeros."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((n_rows, 30)).astype(np.float32)
    x[np.ix_(rng.random(n_rows) < 0.75, np.arange(0, 30, 3))] = 0.0
    return x, x[:, 0] + x[:, 1] * (x[:, 3] > 0) + rng.standard_normal(n_rows)


def dump(data: gs.Dataset) -> str:
    """The trees of a model."""
    return str(gs.train(PARAMS, data, 5).trees_to_dataframe().to_csv())


def test_lanes_with_zeros_are_neighbours() -> None:
    x, y = make_table()
    bins = built_data(gs.Dataset(x, y, params=PARAMS).construct()).table.bins
    share = bins.storage()["zero_share"]
    assert len(share) == 30
    assert (share[::3] > 0.7).all()
    assert (np.delete(share, np.arange(0, 30, 3)) < 0.01).all()


def test_models_are_the_same_in_every_storage(tmp_path: Path) -> None:
    x, y = make_table()
    expected = dump(gs.Dataset(x, y))
    gs.Dataset(x, y, params=PARAMS).save_binary(tmp_path / "rows.bin")
    assert dump(gs.Dataset(tmp_path / "rows.bin")) == expected
    assert dump(gs.Dataset(sp.csr_matrix(x), y)) == expected  # has no shares of zeros
    for options in ({"enable_bundle": False}, {"is_enable_sparse": False}):
        assert dump(gs.Dataset(x, y, params=options)) == expected


def test_shares_of_zeros_must_fit_the_features() -> None:
    columns, upper = np.array([0], np.int32), np.array([0.5, np.inf])
    with pytest.raises(ValueError, match="zero_share must have a value for each feature"):
        _native.BinMatrix(columns, upper, np.array([0, 2]), 0, 5, zero_share=np.array([0.5, 0.5]))
