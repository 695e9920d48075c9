"""Which files are meant, and of what kind they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gossamer as gs
from gossamer.data.files.file_kinds import kind_of
from gossamer.data.files.find import find_files, names_files


def test_what_names_files() -> None:
    assert names_files("a") and names_files(Path("a")) and names_files(("a", Path("b")))
    assert not any(
        names_files(data) for data in ([], [["a"]], [1, "a"], None, np.array(["a"]), b"a")
    )


class TestFind:
    def test_a_folder_that_may_not_be_searched(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied", "deep")

        monkeypatch.setattr(Path, "rglob", refuse)
        with pytest.raises(gs.DataError, match=r"cannot be searched .*Permission denied: 'deep'"):
            find_files(tmp_path)

    def test_order(self, tmp_path: Path) -> None:
        for name in ("c.csv", "a.csv", "b.csv"):
            (tmp_path / name).write_text("x")
        deeper = tmp_path / "deep" / "d.csv"
        deeper.parent.mkdir()
        deeper.write_text("x")
        (tmp_path / ".hidden").write_text("x")

        def names(data: object) -> list[str]:
            return [path.name for path in find_files(data)]  # type: ignore[arg-type]

        assert names(tmp_path) == ["a.csv", "b.csv", "c.csv", "d.csv"]
        assert names(str(tmp_path / "*.csv")) == ["a.csv", "b.csv", "c.csv"]
        assert names(str(tmp_path / "**" / "*.csv")) == ["a.csv", "b.csv", "c.csv", "d.csv"]
        assert names([tmp_path / "c.csv", str(tmp_path / "a.csv")]) == ["c.csv", "a.csv"]
        assert names([str(tmp_path / "[ab].csv"), deeper]) == ["a.csv", "b.csv", "d.csv"]

    def test_a_name_that_looks_like_a_pattern(self, tmp_path: Path) -> None:
        path = tmp_path / "rows[1].csv"
        path.write_text("x")
        assert find_files(str(path)) == [path]

    def test_a_partitioned_folder(self, tmp_path: Path) -> None:
        part = tmp_path / "year=2020" / "a.csv"
        part.parent.mkdir()
        part.write_text("x")
        with pytest.raises(gs.DataError, match=r"is partitioned: .* got 'year=2020'"):
            find_files(tmp_path)
        assert find_files(str(tmp_path / "**" / "*")) == [part]

    def test_nothing_there(self, tmp_path: Path) -> None:
        (tmp_path / "train.csv").write_text("x")
        (tmp_path / "folder").mkdir()
        with pytest.raises(gs.DataError, match=r"no file .*tran\.csv'\. Did you mean train\.csv"):
            find_files(tmp_path / "tran.csv")
        with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere' either"):
            find_files(tmp_path / "nowhere" / "a.csv")
        with pytest.raises(gs.DataError, match=r"no file matches the pattern .*\*\.parquet"):
            find_files(str(tmp_path / "*.parquet"))
        with pytest.raises(gs.DataError, match="no data files in the folder"):
            find_files(tmp_path / "folder")


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a", b"PAR1xxxxxxxx", "parquet"),
        ("a.csv", b"PAR1xxxxxxxx", "parquet"),
        ("a", b"ARROW1\0\0xxx", "arrow"),
        ("a", b"\xff\xff\xff\xffxxxx", "arrow stream"),
        ("a", b"a,b\n1,2\n", "csv"),
        ("a.tsv", b"1 2:3\n", "csv"),
        ("a.svm", b"a,b\n1,2\n", "svm"),
        ("a", b"# comment\n\n-1.5e3 qid:7 0:2 8:1e-3 # more\n", "svm"),
        ("a", b"+1 3:4\n", "svm"),
        ("a", b"1 2 3\n", "csv"),
        ("a", b"12:30,5\n", "csv"),
    ],
)
def test_kinds(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert kind_of(path) == kind


def test_a_data_set_file_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    gs.Dataset([[1.0], [2.0]], label=[0, 1]).save_binary(path)
    assert kind_of(path) == "binary"
    np.testing.assert_array_equal(gs.Dataset(path).construct().get_label(), [0, 1])
    with pytest.raises(gs.DataError, match="one at a time"):
        gs.Dataset([path, path]).construct()
