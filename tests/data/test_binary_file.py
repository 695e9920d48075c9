"""Binned data sets in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer import DataError, Dataset, files

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(300, 5))
TABLE[:, 1] = 3  # constant
TABLE[RNG.random(300) < 0.1, 2] = np.nan
LABEL = TABLE[:, 0] > 0
PARAMS = {"objective": "binary", "max_bin": 280, "min_data_in_bin": 1, "min_data_in_leaf": 5}


@pytest.fixture(autouse=True)
def fresh_numbers() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    global RNG
    RNG = np.random.default_rng(1)


def make() -> Dataset:
    return Dataset(
        TABLE,
        LABEL,
        weight=RNG.random(300),
        init_score=RNG.normal(size=300),
        feature_name=["a", "b", "ü", "d", "e"],
        params=PARAMS,
    )


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    make().save_binary(path)
    return path


def test_training_on_the_file_gives_the_same_model(saved: Path) -> None:
    data = make()
    data.save_binary(saved)
    expected = gossamer.train(PARAMS, data, 5)
    again = Dataset(str(saved)).construct()
    assert again.get_feature_name() == ["a", "b", "ü", "d", "e"]
    assert again.num_feature() == 5
    assert {again.feature_num_bin(c) > 256 for c in (0, 3)} == {True}  # two-byte bins
    model = gossamer.train(
        {k: v for k, v in PARAMS.items() if "bin" not in k or k == "objective"}, again, 5
    )
    np.testing.assert_array_equal(model.predict(TABLE), expected.predict(TABLE))


def test_fields_given_win_over_those_of_the_file(saved: Path) -> None:
    data = Dataset(saved, label=np.zeros(300)).construct()
    assert not data.get_label().any()
    assert data.get_weight() is not None


def test_a_file_can_be_the_reference(saved: Path) -> None:
    train = Dataset(saved)
    valid = train.create_valid(TABLE, LABEL).construct()
    assert valid.binned.binning is train.binned.binning


def test_without_label(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    Dataset(TABLE).save_binary(path)
    assert Dataset(path).construct().get_label() is None


def test_equal_data_give_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Dataset(TABLE, LABEL).save_binary(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("content", [b"", b"1,2,3\n4,5,6\n" * 100, b"\xff" * 100])
def test_other_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"table\.csv' is not a usable data set file"):
        Dataset(path).construct()


def test_a_model_is_no_data_set(tmp_path: Path) -> None:
    path = tmp_path / "model"
    gossamer.train({}, Dataset(TABLE, LABEL), 1).save_model(path)
    with pytest.raises(DataError, match="'gossamer model' version 1, not"):
        Dataset(path).construct()


def test_cut_off_and_altered_files(saved: Path) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[:-1])
    with pytest.raises(DataError, match="cut off"):
        Dataset(saved).construct()
    saved.write_bytes(content[:-5] + b"x" + content[-4:])
    with pytest.raises(DataError, match="altered"):
        Dataset(saved).construct()


def _bin_out_of_range(arrays: Any, facts: Any) -> None:
    arrays["bins8"] = arrays["bins8"].copy()
    arrays["bins8"][0, 0] = 255


def _too_few_rows(arrays: Any, facts: Any) -> None:
    arrays["bins16"] = arrays["bins16"][:, :-1]


def _no_bins(arrays: Any, facts: Any) -> None:
    del arrays["bins16"]


def _bad_label(arrays: Any, facts: Any) -> None:
    arrays["label"] = np.full(300, np.nan, dtype=np.float32)


def _bad_weight(arrays: Any, facts: Any) -> None:
    arrays["weight"] = arrays["weight"][:3]


def _bounds_backwards(arrays: Any, facts: Any) -> None:
    arrays["binning.upper"] = arrays["binning.upper"][::-1].copy()


def _no_names(arrays: Any, facts: Any) -> None:
    del facts["names"]


def _few_names(arrays: Any, facts: Any) -> None:
    facts["names"] = ["a", "b"]


def _many_rows(arrays: Any, facts: Any) -> None:
    facts["n_rows"] = 2**40


def _newer(arrays: Any, facts: Any) -> None:
    facts["version"] += 1


@pytest.mark.parametrize(
    "damage",
    [
        _bin_out_of_range,
        _too_few_rows,
        _no_bins,
        _bad_label,
        _bad_weight,
        _bounds_backwards,
        _no_names,
        _few_names,
        _many_rows,
        _newer,
    ],
)
def test_what_fits_its_checksum_is_still_checked(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "data.bin"
    table = np.column_stack([TABLE, np.arange(300) % 4])
    Dataset(table, LABEL, weight=np.ones(300), params=PARAMS).save_binary(path)
    arrays, facts = files.from_bytes(path.read_bytes())
    damage(arrays, facts)
    path.write_bytes(files.to_bytes(arrays, facts))
    with pytest.raises(DataError, match="is not a usable data set file"):
        Dataset(path).construct()
