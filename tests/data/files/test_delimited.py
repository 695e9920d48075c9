"""CSV files: types over all rows, delimiters, headers, quotes; what cannot be read."""

from __future__ import annotations

import gzip
import io
import logging
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer as gs
from gossamer.data.chunks.source import ColumnsChanged
from gossamer.data.files import delimited
from gossamer.data.files.dialect import find_dialect
from gossamer.data.files.open import open_files

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

PARAMS = {"num_leaves": 15, "verbose": -1, "bin_construct_sample_cnt": 900, "num_threads": 1}


def make_frame(n: int = 1500) -> Any:
    rng = np.random.default_rng(0)
    town = np.array(["Rome", 'the "old" one', "a, b", "Zürich"], dtype=object)
    town = town[rng.integers(0, 4, n)]
    town[::50] = None
    frame = pandas.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "count": rng.integers(0, 500, n),
            "flag": rng.random(n) < 0.3,
            "town": town,
        }
    )
    frame["target"] = np.nan_to_num(frame["x"]) + (town == "Rome") + 0.01 * frame["count"]
    return frame


def fit(data: Any, **further: Any) -> str:
    train = gs.Dataset(data, label="target", **further)
    return gs.train(PARAMS, train, 5).model_to_string()


def read(path: Path, **further: Any) -> tuple[dict[str, list[Any]], int]:
    """All rows by column, and how often reading began again."""
    source = open_files(path, **further)
    n_again = 0
    while True:
        try:
            tables = [chunk.to_pydict() for chunk in source.read()]
        except ColumnsChanged:
            n_again += 1
            continue
        assert source.names is not None
        return {n: [v for table in tables for v in table[n]] for n in source.names}, n_again


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", 4096)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_model_is_that_of_the_table_in_memory(
    tmp_path: Path, delimiter: str, newline: str
) -> None:
    path = tmp_path / "rows.csv"
    make_frame().to_csv(path, sep=delimiter, index=False, lineterminator=newline)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + newline.encode() * 3)
    expected = pandas.read_csv(path, sep=delimiter)
    assert fit(path) == fit(expected)


def test_compressed(tmp_path: Path) -> None:
    make_frame().to_csv(tmp_path / "rows.csv", index=False)
    make_frame().to_csv(tmp_path / "rows.csv.gz", index=False)
    assert fit(tmp_path / "rows.csv.gz") == fit(tmp_path / "rows.csv")


def test_several_files(tmp_path: Path) -> None:
    frame = make_frame()
    frame.iloc[:400].to_csv(tmp_path / "1.csv", index=False)
    frame.iloc[400:, ::-1].to_csv(tmp_path / "2.csv", index=False, sep=";")
    whole = tmp_path / "whole" / "rows.csv"
    whole.parent.mkdir()
    frame.to_csv(whole, index=False)
    assert fit([tmp_path / "1.csv", tmp_path / "2.csv"]) == fit(whole)


class TestTypes:
    """Types are those that fit all rows, wherever the values stand that need them."""

    N = 3000

    def write(self, tmp_path: Path, last: str, others: str = "7") -> Path:
        path = tmp_path / "rows.csv"
        path.write_text("a,b\n" + f"{others},1\n" * self.N + f"{last},2\n")
        return path

    @pytest.mark.parametrize(
        ("others", "last", "expected"),
        [
            ("7", "0.5", [7.0, 0.5]),
            ("7", "x", ["7", "x"]),
            ("0.5", "x", ["0.5", "x"]),
            ("True", "x", ["True", "x"]),
            ("True", "1.5", ["True", "1.5"]),
            ("", "x", [None, "x"]),
            ("", "True", [None, True]),
            ("NA", "3", [None, 3.0]),
            ("7", "1e400", [7.0, np.inf]),
            ("7", "99999999999999999999", [7.0, 1e20]),
            ("2020-01-01", "x", ["2020-01-01", "x"]),
        ],
    )
    def test_widening(
        self,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        others: str,
        last: str,
        expected: list[Any],
    ) -> None:
        path = self.write(tmp_path, last, others)
        with caplog.at_level(logging.INFO, "gossamer"), warnings.catch_warnings(record=True) as odd:
            warnings.simplefilter("always")
            columns, n_again = read(path)
        assert any("--na 'x'" in str(each.message) for each in odd) == (
            last == "x" and others in ("7", "0.5", "2020-01-01")
        )
        assert [columns["a"][0], columns["a"][-1]] == expected
        assert len(columns["a"]) == self.N + 1
        assert columns["b"][-1] == 2
        assert n_again == len(caplog.records) <= 1

    def test_many_columns_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        names = [f"c{i}" for i in range(20)]
        rows = [",".join("1" for _ in names)] * 500
        for i in range(20):
            rows.append(",".join("0.5" if i == j else "1" for j in range(20)))
        path.write_text("\n".join([",".join(names), *rows]) + "\n")
        columns, n_again = read(path)
        assert n_again == 1
        assert all(sum(columns[name]) == 519.5 for name in names)

    def test_the_model(self, tmp_path: Path) -> None:
        """A column that becomes text late, in training."""
        n = 2000
        codes = [str(i % 7) for i in range(n)] + ["x"] * 50
        frame = pandas.DataFrame({"code": codes, "z": np.arange(n + 50) % 31})
        frame["target"] = (frame["code"].isin(["3", "x"])) + 0.1 * frame["z"]
        path = tmp_path / "rows.csv"
        frame.to_csv(path, index=False)
        with pytest.warns(UserWarning, match="column 'code' is read as text: 97.6%.*--na 'x'"):
            from_file = fit(path)
        assert from_file == fit(frame)

    def test_another_file_widens(self, tmp_path: Path) -> None:
        (tmp_path / "1.csv").write_text("a,b\n1,2\n")
        (tmp_path / "2.csv").write_text("b,a\n2.5,x\n")
        columns, n_again = read(tmp_path)
        assert columns == {"a": ["1", "x"], "b": [2.0, 2.5]}
        assert n_again == 1

    def test_text_in_training_is_text_later(self, tmp_path: Path) -> None:
        (tmp_path / "train.csv").write_text("code,y\n" + "1,0\nA,1\n2,5\n" * 30)
        (tmp_path / "valid.csv").write_text("code,y\n1,0\n2,5\n")
        data = gs.Dataset(tmp_path / "train.csv", label="y", params={"min_data_in_leaf": 1})
        valid = data.create_valid(tmp_path / "valid.csv").construct()
        np.testing.assert_array_equal(valid.get_label(), [0, 5])
        model = gs.train({**PARAMS, "min_data_in_leaf": 1}, data, 5, [valid])
        frame = pandas.DataFrame({"code": ["1", "2"]})
        expected = model.predict(frame)
        np.testing.assert_array_equal(model.predict(tmp_path / "valid.csv"), expected)


class TestDialect:
    @pytest.mark.parametrize(
        ("name", "text", "delimiter", "header"),
        [
            ("a.csv", "a,b;c\n", ",", True),
            ("a.csv", "a;b;c,d\n", ";", True),
            ("a.csv", '"a;b;c",d\n', ",", True),
            ("a.tsv", "a,b\t1\n", "\t", True),
            ("a.csv", "1,2.5,\n", ",", False),
            ("a.csv", "1,-1e5,NA,inf\n", ",", False),
            ("a.csv", "1,2,x\n", ",", True),
            ("a.txt", "1\t2\n", "\t", False),
            ("a.csv", "\n\na,b\n", ",", True),
            ("a.csv", "a\n", ",", True),
        ],
    )
    def test_first_line(
        self, tmp_path: Path, name: str, text: str, delimiter: str, header: bool
    ) -> None:
        path = tmp_path / name
        path.write_text(text)
        found = find_dialect(path)
        assert (found.delimiter, found.header) == (delimiter, header)

    def test_without_a_header(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        rng = np.random.default_rng(0)
        table = rng.normal(size=(300, 4))
        np.savetxt(path, table, delimiter=",", fmt="%.17g")
        data = gs.Dataset(path, params={"label_column": 0, "header": False}).construct()
        assert data.get_feature_name() == ["Column_1", "Column_2", "Column_3"]
        np.testing.assert_array_equal(data.get_label(), table[:, 0].astype(np.float32))
        other = gs.Dataset(path, label=2).construct()
        assert other.get_feature_name() == ["Column_0", "Column_1", "Column_3"]

    def test_a_header_of_numbers(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        path.write_text("1,2\n5,6\n7,8\n")
        assert read(path)[0] == {"Column_0": [1, 5, 7], "Column_1": [2, 6, 8]}
        assert read(path, header=True)[0] == {"1": [5, 7], "2": [6, 8]}
        path.write_text("a,b\nx,y\n")
        assert read(path, header=False)[0] == {"Column_0": ["a", "x"], "Column_1": ["b", "y"]}

    def test_a_column_without_a_name(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        pandas.DataFrame({"a": [1, 2]}).to_csv(path)
        assert list(read(path)[0]) == list(pandas.read_csv(path)) == ["Unnamed: 0", "a"]

    @pytest.mark.parametrize("header", [True, False])
    def test_long_lines(self, tmp_path: Path, header: bool) -> None:
        path = tmp_path / "rows.csv"
        table = np.arange(60_000.0).reshape(3, 20_000)
        np.savetxt(path, table, delimiter=",", fmt="%.1f")
        if header:
            path.write_text(",".join(f"c{i}" for i in range(20_000)) + "\n" + path.read_text())
        source = open_files(path)
        assert source.n_columns == 20_000
        found = np.vstack([chunk.to_pandas().to_numpy() for chunk in source.read()])
        np.testing.assert_array_equal(found, table)

    def test_line_breaks_in_quotes(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.csv"
        path.write_text('a,"b\nc"\n' + '"x\ny",1\n' * 2000)
        columns, _ = read(path)
        assert columns == {"a": ["x\ny"] * 2000, "b\nc": [1] * 2000}


class TestBadFiles:
    def check(self, tmp_path: Path, content: bytes | str, match: str, name: str = "a.csv") -> None:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(gs.DataError, match=match):
            gs.Dataset(path, label="y").construct()

    def test_empty(self, tmp_path: Path) -> None:
        self.check(tmp_path, "", r"a\.csv' is empty")
        self.check(tmp_path, "\n\n", r"a\.csv' has only blank lines")

    def test_only_a_header(self, tmp_path: Path) -> None:
        self.check(tmp_path, "x,y\n", "data has no rows")

    def test_ragged_lines(self, tmp_path: Path) -> None:
        text = "x,y\n1,2\n3,4,5\n"
        self.check(tmp_path, text, r"line 3 of .*a\.csv' .*'3,4,5': got 3, expected 2")
        text = "x,y\n" + "1,2\n" * 5000 + "7\n"
        self.check(tmp_path, text, r"line 5002 of .*'7': got 1, expected 2")

    def test_a_nul_byte(self, tmp_path: Path) -> None:
        self.check(tmp_path, b"x,y\n1,2\0\n", "NUL byte")
        self.check(tmp_path, b"x,y\n" + b"1,2\n" * 50_000 + b"1,\0\n", "NUL byte")
        self.check(tmp_path, "x,y\n1,2\n".encode("utf-16-le"), "UTF-16")

    def test_columns_of_the_same_name(self, tmp_path: Path) -> None:
        self.check(tmp_path, "x,x,y\n1,2,3\n", "same name: 'x'")

    def test_gzip_that_is_cut_off(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        text = io.StringIO()
        text.write("x,y\n")
        np.savetxt(text, rng.normal(size=(20_000, 2)), delimiter=",")
        content = gzip.compress(text.getvalue().encode())
        self.check(tmp_path, content[:-1000], "cannot be read .*end", "a.csv.gz")

    def test_other_columns(self, tmp_path: Path) -> None:
        (tmp_path / "1.csv").write_text("a,y\n1,2\n")
        (tmp_path / "2.csv").write_text("b,y\n1,2\n")
        with pytest.raises(gs.DataError, match=r"2\.csv' lacks 'a' and has also 'b'"):
            gs.Dataset(tmp_path, label="y").construct()

    def test_text_as_label(self, tmp_path: Path) -> None:
        self.check(tmp_path, "x,y\n1,a\n2,b\n", "label must be numeric")

    def test_no_label(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("x,y\n1,2\n2,3\n")
        with pytest.raises(gs.DataError, match=r"no label\. Name a column.*There are 'x', 'y'"):
            gs.train(PARAMS, gs.Dataset(path), 1)


@pytest.mark.filterwarnings("ignore:.*is read as text:UserWarning")
@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(
        st.one_of(
            st.none(),
            st.integers(-(2**40), 2**40),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        min_size=1,
        max_size=200,
    ),
    rest=st.sampled_from(["", "text"]),
)
def test_numbers_are_read_exactly(
    values: list[Any], rest: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    lines = ["" if value is None else repr(value) for value in values]
    path.write_text("\n".join(["a,b", *(f"{line},1" for line in lines), f"{rest},1"]) + "\n")
    found = read(path)[0]["a"]
    if rest:
        assert found == [*(line or None for line in lines), rest]
    else:
        assert found == [*values, None]


def test_a_reader_waits_for_the_threads_that_have_its_stream(tmp_path: Path) -> None:
    # A thread of pyarrow that drops a Python object while Python ends aborts the process.
    class Stub:
        def __init__(self) -> None:
            self.is_done = False

        def open_csv(self, stream: Any) -> Any:
            def keep(held: list[Any]) -> None:
                time.sleep(0.2)
                self.is_done = True
                held.clear()

            threading.Thread(target=keep, args=([stream],)).start()
            return io.BytesIO()  # has close

    (tmp_path / "x.csv").write_text("a\n1\n")
    stub = Stub()
    stream = delimited._Checked(tmp_path / "x.csv", "utf-8")
    with delimited._Reader(stub, stream, delimited._Refused(tmp_path / "x.csv"), {}):
        assert not stub.is_done
    assert stub.is_done
    assert stream.closed
