"""Ids of 64 bits that float64 cannot tell apart."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

IDS = 2**53 + np.arange(100)
LABEL = np.arange(100.0)
FRAME = pd.DataFrame({"id": IDS, "a": LABEL})


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.assign(id=-IDS),
        FRAME.assign(id=pd.array(IDS, "Int64")),
        FRAME.astype({"id": "uint64"}),
        pl.from_pandas(FRAME),
        {"id": IDS, "a": LABEL},
    ],
)
def test_a_warning(table: Any) -> None:
    with pytest.warns(UserWarning, match=r"column 'id' holds whole numbers beyond 2\*\*53"):
        gs.Dataset(table, LABEL).construct()


def test_arrays_and_files(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="columns '0', '1' hold whole numbers"):
        gs.Dataset(np.column_stack([IDS, IDS]), LABEL).construct()
    FRAME.assign(y=LABEL).to_csv(tmp_path / "a.csv", index=False)
    FRAME.assign(y=LABEL).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.warns(UserWarning, match="column 'id' holds whole numbers"):
            gs.Dataset(tmp_path / name, label="y").construct()


def test_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.Dataset(FRAME.assign(id=np.arange(100)), LABEL).construct()
        gs.Dataset(FRAME.assign(id=pd.Categorical(IDS)), LABEL).construct()
        gs.Dataset(FRAME.assign(id=pd.array([None] * 100, "Int64")), LABEL).construct()
        gs.Dataset(np.full((100, 2), 2**53), LABEL).construct()
