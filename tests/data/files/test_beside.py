"""Files next to the data file: weights, initial scores, queries, positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.files.find import find_files

RNG = np.random.default_rng(3)
TABLE = RNG.normal(size=(60, 3))
LABEL = RNG.integers(0, 3, 60).astype(float)
WEIGHT = RNG.random(60).astype(np.float32)


def _write(path: Path, values: object) -> Path:
    np.savetxt(path, values, delimiter="\t", fmt="%.17g")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return _write(tmp_path / "train.txt", np.column_stack([LABEL, TABLE]))


def test_every_field_is_read(path: Path) -> None:
    score = RNG.normal(size=(60, 3))
    _write(path.with_name("train.txt.weight"), WEIGHT)
    _write(path.with_name("train.txt.init"), score)
    _write(path.with_name("train.txt.query"), [20, 30, 10])
    path.with_name("train.txt.position").write_text("\n".join(["top", "mid", "low"] * 20) + "\n")
    data = gs.Dataset(str(path), label=0).construct()
    np.testing.assert_array_equal(data.get_weight(), WEIGHT)
    np.testing.assert_array_equal(data.get_init_score(), score)
    np.testing.assert_array_equal(data.get_group(), [20, 30, 10])
    np.testing.assert_array_equal(data.get_position(), ["top", "mid", "low"] * 20)


def test_the_model_is_that_of_the_weights(path: Path) -> None:
    _write(path.with_name("train.txt.weight"), WEIGHT)
    params = {"min_data_in_leaf": 3, "verbose": -1}
    found = gs.train(params, gs.Dataset(path, label=0), 3).predict(TABLE)
    expected = gs.train(params, gs.Dataset(TABLE, LABEL, weight=WEIGHT), 3).predict(TABLE)
    np.testing.assert_array_equal(found, expected)


def test_sizes_of_queries_may_be_called_group(path: Path) -> None:
    _write(path.with_name("train.txt.group"), [25, 35])
    np.testing.assert_array_equal(gs.Dataset(path, label=0).construct().get_group(), [25, 35])


def test_what_is_passed_wins(path: Path) -> None:
    _write(path.with_name("train.txt.weight"), WEIGHT)
    _write(path.with_name("train.txt.query"), [20, 30, 10])
    given = gs.Dataset(path, label=0, weight=2 * WEIGHT, query=[0] * 15 + [1] * 45).construct()
    np.testing.assert_array_equal(given.get_weight(), 2 * WEIGHT)
    np.testing.assert_array_equal(given.get_group(), [15, 45])
    by_column = gs.Dataset(_write(path, np.column_stack([LABEL, WEIGHT * 3, TABLE])), 0, weight=1)
    np.testing.assert_allclose(by_column.construct().get_weight(), WEIGHT * 3)


def test_several_files_and_folders(tmp_path: Path) -> None:
    for i, rows in enumerate((slice(0, 20), slice(20, 60))):
        _write(tmp_path / f"{i}.csv", np.column_stack([LABEL[rows], TABLE[rows]]))
        _write(tmp_path / f"{i}.csv.weight", WEIGHT[rows])
    assert [file.name for file in find_files(tmp_path)] == ["0.csv", "1.csv"]
    data = gs.Dataset(tmp_path, label=0).construct()
    np.testing.assert_array_equal(data.get_weight(), WEIGHT)
    (tmp_path / "0.csv.weight").unlink()
    with pytest.raises(gs.DataError, match=r"only some .* '.weight' .* got 1 of 2"):
        gs.Dataset(str(tmp_path / "*.csv"), label=0).construct()


@pytest.mark.parametrize(
    ("suffix", "text", "match"),
    [
        ("weight", "1\nx\n", "line 2 of .*weight' cannot be used: got 'x', expected numbers"),
        ("weight", "1 2\n", "got '1 2', expected one number"),
        ("init", "1 2\n3\n", "got '3', expected as many numbers as the first line"),
        ("weight", "1\n", "weight"),
    ],
)
def test_what_cannot_be_used(path: Path, suffix: str, text: str, match: str) -> None:
    path.with_name(f"train.txt.{suffix}").write_text(text)
    with pytest.raises(gs.DataError, match=match):
        gs.Dataset(path, label=0).construct()
