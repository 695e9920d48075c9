"""Parquet, Feather and Arrow files: the same model as from the table in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.files import columnar

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

PARAMS = {"num_leaves": 15, "verbose": -1, "bin_construct_sample_cnt": 900, "num_threads": 1}


def make_frame(n: int = 2000, seed: int = 0) -> Any:
    """Text, categories (sorted, not sorted, in order), gaps, booleans, whole numbers."""
    rng = np.random.default_rng(seed)
    town = np.array(["Rome", "Bern", "Oslo", "Zürich"], dtype=object)[rng.integers(0, 4, n)]
    town[::50] = None
    frame = pandas.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "count": rng.integers(0, 500, n),
            "flag": rng.random(n) < 0.3,
            "town": town,
            "half": rng.normal(size=n).astype(np.float32),
            "size": pandas.Categorical(rng.choice(["S", "M"], n), ["S", "M", "L"]),
            "grade": pandas.Categorical(rng.choice(["b", "a"], n), ["b", "a"], ordered=True),
            "maybe": pandas.array(np.where(rng.random(n) < 0.2, None, 7), dtype="Int64"),
        }
    )
    signal = np.nan_to_num(frame["x"]) + (town == "Oslo") + 0.01 * frame["count"]
    frame["target"] = signal + 0.5 * (frame["size"] == "M")
    frame["w"] = rng.random(n) + 0.1
    return frame


def fit(data: Any, **further: Any) -> str:
    train = gs.Dataset(data, label="target", weight="w", **further)
    return gs.train(PARAMS, train, 8).model_to_string()


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "_CHUNK_VALUES", 1000)
    monkeypatch.setattr(columnar, "_FEWEST_ROWS", 10)


def test_parquet_with_several_groups_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    make_frame().to_parquet(path, row_group_size=300)
    assert fit(path) == fit(pandas.read_parquet(path))


@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_feather(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "rows.feather"
    make_frame().to_feather(path, compression=compression, chunksize=333)
    assert fit(path) == fit(pandas.read_feather(path))


def test_an_arrow_stream(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrows"
    table = pyarrow.Table.from_pandas(make_frame())
    with pyarrow.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=400)
    assert fit(path) == fit(make_frame())


def test_several_files(tmp_path: Path) -> None:
    frame = make_frame()
    paths = [tmp_path / f"part{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        part = frame.iloc[i * 700 : (i + 1) * 700]
        part[part.columns[:: 1 - 2 * (i == 1)]].to_parquet(path)  # once in another order
    (tmp_path / "_SUCCESS").write_text("")
    expected = fit(frame)
    for data in (paths, [str(p) for p in paths], tmp_path, str(tmp_path / "part*.parquet")):
        assert fit(data) == expected


def test_dictionaries_that_differ(tmp_path: Path) -> None:
    """Files know different levels; without pandas' order they are sorted."""
    frame = make_frame()[["x", "town", "target", "w"]]
    for i in range(2):
        part = pyarrow.Table.from_pandas(frame.iloc[i * 1000 : (i + 1) * 1000])
        town = part["town"].combine_chunks().dictionary_encode()
        part = part.set_column(1, "town", town).replace_schema_metadata(None)
        parquet.write_table(part.drop_columns([]), tmp_path / f"{i}.parquet")
    assert fit(tmp_path) == fit(frame)


def test_an_index_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    frame = make_frame().set_index("count")
    frame.to_parquet(path)
    assert fit(path) == fit(pandas.read_parquet(path))
    assert "count" not in gs.Dataset(path, label="target").get_feature_name()


def test_numbers_of_other_types_in_another_file(tmp_path: Path) -> None:
    n = 300
    x = np.arange(n) % 40
    y = (x > 11).astype(float)
    pandas.DataFrame({"x": x[:150], "y": y[:150]}).to_parquet(tmp_path / "1.parquet")
    pandas.DataFrame({"x": x[150:] + 0.5, "y": y[150:]}).to_parquet(tmp_path / "2.parquet")
    whole = pandas.DataFrame({"x": np.concatenate([x[:150], x[150:] + 0.5]), "y": y})
    one, other = (
        gs.train(PARAMS, gs.Dataset(data, label="y"), 3).model_to_string()
        for data in (tmp_path, whole)
    )
    assert one == other


def test_a_column_that_is_missing_in_the_first_file(tmp_path: Path) -> None:
    nothing = pyarrow.table({"t": pyarrow.nulls(3), "y": [0.0, 1.0, 0.0]})
    text = pyarrow.table({"t": ["a", "b", "a"], "y": [1.0, 1.0, 0.0]})
    parquet.write_table(nothing, tmp_path / "1.parquet")
    parquet.write_table(text, tmp_path / "2.parquet")
    data = gs.Dataset(tmp_path, label="y").construct()
    assert data.levels is not None and data.levels.by_column == {0: ("a", "b")}


class TestBadFiles:
    def write(self, path: Path, **columns: Any) -> Path:
        parquet.write_table(pyarrow.table(columns), path)
        return path

    def test_no_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        pandas.DataFrame({"a": np.empty(0), "y": np.empty(0)}).to_parquet(path)
        with pytest.raises(gs.DataError, match="data has no rows"):
            gs.Dataset(path, label="y").construct()

    def test_only_a_label(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "a.parquet", y=[1.0, 2.0])
        with pytest.raises(gs.DataError, match="data has no columns"):
            gs.Dataset(path, label="y").construct()

    def test_cut_off(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "a.parquet", a=list(range(1000)), y=[1.0] * 1000)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(gs.DataError, match=r"a\.parquet' cannot be read"):
            gs.Dataset(path, label="y").construct()

    def test_damaged(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "a.parquet", a=list(range(1000)), y=[1.0] * 1000)
        content = bytearray(path.read_bytes())
        content[4:60] = b"\xff" * 56
        path.write_bytes(content)
        with pytest.raises(gs.DataError, match=r"a\.parquet' cannot be read"):
            gs.Dataset(path, label="y").construct()

    def test_a_damaged_feather(self, tmp_path: Path) -> None:
        path = tmp_path / "a.feather"
        make_frame(50).to_feather(path)
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(gs.DataError, match=r"a\.feather' cannot be read"):
            gs.Dataset(path, label="target").construct()

    def test_not_what_its_name_says(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        path.write_text("a,y\n1,2\n")
        with pytest.raises(gs.DataError, match="not a Parquet file, whatever its name says"):
            gs.Dataset(path, label="y").construct()

    @pytest.mark.parametrize("values", [[[1], [2]], [{"b": 1}, {"b": 2}]], ids=["list", "struct"])
    def test_nested_columns(self, tmp_path: Path, values: Any) -> None:
        path = self.write(tmp_path / "a.parquet", deep=values, y=[1.0, 2.0])
        with pytest.raises(gs.DataError, match=r"column 'deep' of the file .* is not numeric"):
            gs.Dataset(path, label="y").construct()
        gs.Dataset(
            self.write(path, deep=values, a=[1, 2], y=[1.0, 2.0]),
            label="y",
            params={"ignore_column": "name:deep"},
        ).construct()

    def test_columns_of_the_same_name(self, tmp_path: Path) -> None:
        path = tmp_path / "a.feather"
        table = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 2, names=["a", "a"])
        with pyarrow.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(gs.DataError, match="columns of the same name: 'a'"):
            gs.Dataset(path).construct()

    def test_files_with_other_columns(self, tmp_path: Path) -> None:
        self.write(tmp_path / "1.parquet", a=[1], b=[2])
        self.write(tmp_path / "2.parquet", a=[1], c=[2])
        with pytest.raises(gs.DataError, match=r"2\.parquet' lacks 'b' and has also 'c'"):
            gs.Dataset(tmp_path).construct()

    def test_files_with_other_types(self, tmp_path: Path) -> None:
        self.write(tmp_path / "1.parquet", a=[1], b=[2])
        self.write(tmp_path / "2.parquet", a=["x"], b=[2])
        with pytest.raises(gs.DataError, match=r"'a' differs among .*got 'string', expected int64"):
            gs.Dataset(tmp_path).construct()

    def test_files_of_several_kinds(self, tmp_path: Path) -> None:
        self.write(tmp_path / "1.parquet", a=[1], b=[2])
        (tmp_path / "2.csv").write_text("a,b\n1,2\n")
        with pytest.raises(gs.DataError, match="different kinds"):
            gs.Dataset(tmp_path).construct()

    def test_permission(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "1.parquet", a=[1], b=[2])
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
        with pytest.raises(gs.DataError, match=r"cannot be read .Permission denied"):
            gs.Dataset(path).construct()

    def test_no_such_label(self, tmp_path: Path) -> None:
        path = self.write(tmp_path / "1.parquet", a=[1.0, 2.0], target=[2, 3])
        with pytest.raises(
            gs.DataError, match=r"got 'tarket', expected one of 'a', 'target'\. Did you mean target"
        ):
            gs.Dataset(path, label="tarket").construct()

    def test_without_pyarrow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = self.write(tmp_path / "1.parquet", a=[1.0, 2.0])
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
        with pytest.raises(ImportError, match=r"pip install .gossamer\[files\]"):
            gs.Dataset(path).construct()
