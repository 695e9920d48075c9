"""`build`: one immutable object from every kind of source."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.builders.build import build
from gossamer.data.built import BuiltData
from gossamer.data.dataset import built_data, given_rows
from gossamer.data.request import Request
from gossamer.params import resolve

RNG = np.random.default_rng(3)
TABLE = RNG.normal(size=(200, 3))
LABEL = (TABLE[:, 0] > 0).astype(np.float32)


def request(data: Any, **fields: Any) -> Request:
    params = resolve({}, context="dataset")
    return Request(data, fields, "auto", "auto", params, params)


def test_every_kind_of_source_gives_the_same_bins(tmp_path: Path) -> None:
    table = build(request(TABLE, label=LABEL))
    gs.Dataset(TABLE, LABEL).save_binary(tmp_path / "rows.bin")
    whole = gs.Dataset(np.vstack([TABLE, TABLE]), np.tile(LABEL, 2)).construct()
    found: dict[str, BuiltData] = {
        "chunks": build(request([TABLE[:90], TABLE[90:]], label=LABEL)),
        "binary file": build(request(tmp_path / "rows.bin")),
        "table": build(request(TABLE, label=LABEL), table),
        "subset": built_data(whole.subset(np.arange(200))),
    }
    for kind, data in found.items():
        assert data.source.kind == kind
        np.testing.assert_array_equal(data.targets.label, LABEL)
        assert data.names == ["Column_0", "Column_1", "Column_2"]
        if kind != "subset":  # whose bins were chosen from other rows
            for feature in range(3):
                np.testing.assert_array_equal(
                    data.table.bins.copy_column(feature), table.table.bins.copy_column(feature)
                )


def test_it_never_changes() -> None:
    data = gs.Dataset(TABLE, LABEL).construct()
    built = built_data(data)
    with pytest.raises(FrozenInstanceError):
        built.table = None  # type: ignore[misc, assignment]
    data.set_label(1 - LABEL).set_weight(LABEL + 1)
    np.testing.assert_array_equal(built.targets.label, LABEL)
    changed = built_data(data)
    np.testing.assert_array_equal(changed.targets.label, 1 - LABEL)
    # Only the fields of the rows are others.
    assert changed.table is built.table
    assert changed.columns is built.columns
    assert changed.raw is built.raw


def test_what_the_user_gave_stays_as_it_was() -> None:
    """A build that fails leaves no half of its work behind, and none changes the arguments."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": TABLE[:, 0], "y": LABEL})
    params = {"max_bin": 9}
    data = gs.Dataset(frame, label="y", weight=[1.0], params=params)
    with pytest.raises(gs.DataError):
        data.construct()
    assert data.label == "y"
    assert list(data.data) == ["a", "y"]
    data.set_weight(None)
    gs.train({"verbosity": -1, "num_leaves": 3}, data, 1)
    assert data.params == params == {"max_bin": 9}
    assert list(frame) == ["a", "y"]
    assert data.get_feature_name() == ["a"]


def test_parameters_of_a_training_that_could_not_build_are_forgotten() -> None:
    data = gs.Dataset(TABLE, LABEL[:-1])
    with pytest.raises(gs.DataError):
        gs.train({"max_bin": 5, "verbosity": -1}, data, 1)
    data.set_label(LABEL).construct()
    assert data.get_params() == {}
    assert data.feature_num_bin(0) > 5


def test_the_table_is_released() -> None:
    data = gs.Dataset(TABLE, LABEL)
    assert given_rows(data) is not None
    built = built_data(data)
    assert built.given is None and given_rows(data) is None
    with pytest.raises(gs.DataError, match="linear_tree needs raw values, and this data set's"):
        built.raw.get("linear_tree")
    kept = built_data(gs.Dataset(TABLE, LABEL, free_raw_data=False))
    assert kept.raw.get("linear_tree") is kept.given is TABLE
