"""CSV files as people have them: right types, or a warning that names the option."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import warnings
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gossamer.data.chunks.source import ColumnsChanged
from gossamer.data.files import open_files
from gossamer.errors import DataError

N = 60
_RANDOM = random.Random(1)
NUMBERS = [_RANDOM.choice([-1, 1]) * round(10 ** _RANDOM.uniform(0, 6.5), 2) for _ in range(N)]
WHOLE = [_RANDOM.randrange(1, 9_999_999) for _ in range(N)]
DAYS = [datetime(2019, 1, 1) + timedelta(days=_RANDOM.randrange(2000)) for _ in range(N)]
TOWNS = [_RANDOM.choice(["Zürich", "Málaga", "Rome", "Ålesund"]) for _ in range(N)]
Column = tuple[list[str], list[Any]]


def _grouped(text: str, decimal: str, group: str) -> str:
    return text.replace(",", "\0").replace(".", decimal).replace("\0", group)


def number(decimal: str = ".", group: str = "", before: str = "", after: str = "") -> Column:
    style = ",.2f" if group else ".2f"
    texts = [before + _grouped(f"{v:{style}}", decimal, group) + after for v in NUMBERS]
    return texts, NUMBERS


def whole(group: str) -> Column:
    return [f"{v:,}".replace(",", group) for v in WHOLE], [float(v) for v in WHOLE]


def with_words(column: Column, *words: str) -> Column:
    texts, values = list(column[0]), list(column[1])
    for i, word in enumerate(words * 3):
        texts[3 * i + 2], values[3 * i + 2] = word, None
    return texts, values


def dates(style: str) -> Column:
    return [day.strftime(style) for day in DAYS], list(DAYS)


def accounting() -> Column:
    return [f"({-v:,.2f})" if v < 0 else f"{v:,.2f}" for v in NUMBERS], NUMBERS


# Every kind alone.
KINDS: dict[str, Column] = {
    "decimal comma": number(","),
    "decimal comma, points": number(",", "."),
    "decimal comma, blanks": number(",", " "),
    "decimal comma, thin blanks": number(",", "\u202f"),
    "thousands": number(".", ","),
    "thousands, apostrophes": number(".", "'"),
    "whole, thousands": whole(","),
    "whole, points": whole("."),
    "dollars": number(".", ",", "$"),
    "euros": number(",", ".", "", " €"),
    "a currency code": number(".", "", "", " CHF"),
    "percent": number(".", "", "", "%"),
    "accounting": accounting(),
    "iso dates": dates("%Y-%m-%d"),
    "dates with points": dates("%d.%m.%Y"),
    "dates with slashes, day first": dates("%d/%m/%Y"),
    "dates with slashes, month first": dates("%m/%d/%Y"),
    "dates with short years": dates("%d.%m.%y"),
    "dates with months as words": dates("%d %b %Y"),
    "dates with months in front": dates("%B %d, %Y"),
    "dates and times": dates("%d.%m.%Y %H:%M"),
    "n.a.": with_words(number(), "n.a."),
    "a dash": with_words(number(), "-"),
    "a question mark": with_words(number(","), "?"),
    "words among dates": with_words(dates("%d/%m/%Y"), "n.a.", "-"),
}
_MIXES = [
    ("decimal comma, points", "dates with points", "a question mark"),
    ("decimal comma", "whole, points", "iso dates"),
    ("euros", "dates with short years", "n.a."),
    ("thousands", "dates with slashes, month first", "a dash"),
    ("dollars", "percent", "dates with months in front"),
    ("accounting", "whole, thousands", "words among dates"),
    ("thousands, apostrophes", "a currency code", "dates and times"),
    ("decimal comma, blanks", "dates with slashes, day first", "a question mark"),
]


def _files() -> dict[str, dict[str, Any]]:
    files: dict[str, dict[str, Any]] = {}
    for name, column in KINDS.items():
        files[name] = {"columns": {name: column}}
    for i, kinds in enumerate(_MIXES):
        columns = {kind: KINDS[kind] for kind in kinds}
        files[f"mixed {i}"] = {"columns": columns, "delimiter": ";" if i % 2 == 0 else ","}
    for encoding in ("latin-1", "cp1252", "utf-8-sig", "utf-16"):
        files[f"in {encoding}"] = {
            "columns": {"decimal comma": KINDS["decimal comma"]},
            "encoding": encoding,
        }
    blanks = {"  price ": KINDS["thousands"], "the  day": KINDS["iso dates"]}
    files["blanks in headers"] = {"columns": blanks}
    files["all at once"] = {
        "columns": {" preis": KINDS["decimal comma, points"], "tag ": KINDS["words among dates"]},
        "delimiter": ";",
        "encoding": "cp1252",
    }
    # 1,234 may be 1.234 or 1234, and 5/6/2024 in May or in June.
    files["three decimals or thousands"] = {
        "columns": {"x": ([f"{i % 9 + 1},{i:03}" for i in range(N)], None)},
        "option": "--decimal",
    }
    files["day or month first"] = {
        "columns": {"x": ([f"{i % 12 + 1}/{i % 11 + 1}/2024" for i in range(N)], None)},
        "option": "--parse-dates",
    }
    files["an unknown word"] = {
        "columns": {"x": ([*number()[0][:-1], "kaputt"], None)},
        "option": "--na",
    }
    return files


FILES = _files()


def write(path: Path, spec: dict[str, Any]) -> None:
    delimiter = spec.get("delimiter", ",")
    columns = {"town": (TOWNS, TOWNS), "n": ([str(v) for v in range(N)], None), **spec["columns"]}
    lines = []
    for row in (tuple(columns), *zip(*(column[0] for column in columns.values()), strict=True)):
        lines.append(delimiter.join(f'"{v}"' if delimiter in v else v for v in row))
    path.write_bytes("\n".join([*lines, ""]).encode(spec.get("encoding", "utf-8")))


def read(path: Path) -> tuple[pa.Table, list[str], list[str]]:
    """The table, the warnings, and the notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = open_files(path)
        while True:
            try:
                table = pa.concat_tables(source.read())
                break
            except ColumnsChanged:
                continue
    notes = [f"{column}: {line}" for column, lines in source.notes.items() for line in lines]
    return table, [str(each.message) for each in caught], notes


def test_there_are_forty_files() -> None:
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", FILES)
def test_no_silent_misreading(tmp_path: Path, name: str) -> None:
    spec = FILES[name]
    write(tmp_path / "rows.csv", spec)
    table, warned, notes = read(tmp_path / "rows.csv")
    assert table.column("town").to_pylist() == TOWNS
    assert table.column("n").to_pylist() == list(range(N))
    if "option" in spec:
        assert any(spec["option"] in text for text in warned)
        return
    assert not warned
    for column, (_, values) in spec["columns"].items():
        plain = " ".join(column.split())
        found = table.column(plain).to_pylist()
        assert [v is None for v in found] == [v is None for v in values]
        assert [v for v in found if v is not None] == [v for v in values if v is not None]
        assert any(note.startswith(f"{plain}: read as") for note in notes)
    if spec.get("encoding") in ("latin-1", "cp1252"):
        assert any("Windows-1252" in note for note in notes)


@pytest.mark.parametrize("late", ["1,5", "n.a.", "$7", "2,5 €"])
def test_values_far_down(tmp_path: Path, late: str) -> None:
    """The beginning of the file looks like whole numbers."""
    path = tmp_path / "rows.csv"
    path.write_text("a;b\n" + "7;1\n" * 300_000 + f"{late};2\n")
    table, warned, notes = read(path)
    assert not warned
    assert len(notes) == 1
    assert table.column("a")[0].as_py() == 7
    last = {"1,5": 1.5, "n.a.": None, "$7": 7, "2,5 €": 2.5}[late]
    assert table.column("a")[-1].as_py() == last


def test_an_encoding_far_down(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(("a,b\n" + "x,1\n" * 300_000 + "Zürich,2\n").encode("latin-1"))
    table, _, notes = read(path)
    assert table.column("a")[-1].as_py() == "Zürich"
    assert any("Windows-1252" in note for note in notes)


def test_an_order_found_far_down(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("day,b\n" + "03/04/2024,1\n" * 100_000 + "13/04/2024,2\n")
    table, warned, _ = read(path)
    assert not warned
    assert table.column("day")[0].as_py() == datetime(2024, 4, 3)


def test_text_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = ["A-1,1.2.3,10 Main St,-", "B-2,1.2.4,7 Oak Ave,yes"] * 20
    path.write_text("\n".join(["code,version,street,answer", *rows, ""]))
    table, warned, notes = read(path)
    assert not warned
    assert not notes
    assert [str(kind) for kind in table.schema.types] == ["string"] * 4


class TestOptions:
    def test_decimal(self, tmp_path: Path) -> None:
        from gossamer.data.text import TextOptions

        path = tmp_path / "rows.csv"
        path.write_text('x,y\n"1,234",1\n"5,678",2\n')
        for decimal, value in ((".", 1234.0), (",", 1.234)):
            source = open_files(path, options=TextOptions(decimal=decimal))
            assert next(iter(source.read())).column("x")[0].as_py() == value

    def test_dates(self, tmp_path: Path) -> None:
        from gossamer.data.text import TextOptions

        path = tmp_path / "rows.csv"
        path.write_text("x,y\n03/04/2024,1\n05/06/2024,2\n")
        months = {"dmy": 4, "mdy": 3}
        for order, month in months.items():
            source = open_files(path, options=TextOptions(dates=order))
            assert next(iter(source.read())).column("x")[0].as_py().month == month
        source = open_files(path, options=TextOptions(dates="none"))
        assert next(iter(source.read())).column("x")[0].as_py() == "03/04/2024"

    def test_na_and_encoding(self, tmp_path: Path) -> None:
        from gossamer.data.text import TextOptions

        path = tmp_path / "rows.csv"
        path.write_bytes("x,town\nkaputt,Łódź\n2.5,Łódź\n".encode("cp1250"))
        source = open_files(path, options=TextOptions(na=("kaputt",), encoding="cp1250"))
        table = next(iter(source.read()))
        assert table.to_pydict() == {"x": [None, 2.5], "town": ["Łódź", "Łódź"]}


class TestFormats:
    ROWS = "x,y\n1.5,a\n2.5,b\n"

    def zipped(self, *names: str) -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in names:
                archive.writestr(name, self.ROWS)
        return buffer.getvalue()

    @pytest.mark.parametrize(
        ("name", "compress"),
        [
            ("rows.csv.gz", gzip.compress),
            ("rows.csv.bz2", bz2.compress),
            ("rows.csv.xz", lzma.compress),
            ("rows.csv.zst", lambda data: pa.compress(data, "zstd", asbytes=True)),
        ],
    )
    def test_compressed(
        self, tmp_path: Path, name: str, compress: Callable[[bytes], bytes]
    ) -> None:
        (tmp_path / name).write_bytes(compress(self.ROWS.encode()))
        assert read(tmp_path / name)[0].to_pydict() == {"x": [1.5, 2.5], "y": ["a", "b"]}

    def test_zip(self, tmp_path: Path) -> None:
        (tmp_path / "rows.zip").write_bytes(self.zipped("folder/rows.csv"))
        assert read(tmp_path / "rows.zip")[0].to_pydict() == {"x": [1.5, 2.5], "y": ["a", "b"]}
        (tmp_path / "two.zip").write_bytes(self.zipped("a.csv", "b.csv"))
        with pytest.raises(DataError, match="holds 2 files"):
            open_files(tmp_path / "two.zip")

    def test_json_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps({"x": i / 2, "y": f"t{i}"}) + "\n" for i in range(5)))
        table = read(path)[0]
        assert table.column("x").to_pylist() == [0, 0.5, 1, 1.5, 2]
        (tmp_path / "rows.csv").write_text(path.read_text())  # whatever its name says
        (tmp_path / "noname").write_text(path.read_text())
        assert read(tmp_path / "noname")[0].equals(table)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"\xd0\xcf\x11\xe0" + b"1" * 20, "an Excel workbook"),
            (b'[{"x": 1}]', "a JSON array"),
            (b"SQLite format 3\x00", "an SQLite database"),
            (b"<!DOCTYPE html><html>", "an HTML or XML page"),
            (b"\x93NUMPY\x01", "a NumPy array"),
        ],
    )
    def test_named_by_first_bytes(self, tmp_path: Path, content: bytes, expected: str) -> None:
        (tmp_path / "rows.csv").write_bytes(content)
        with pytest.raises(DataError, match=expected):
            open_files(tmp_path / "rows.csv")

    def test_a_workbook(self, tmp_path: Path) -> None:
        (tmp_path / "rows.xlsx").write_bytes(self.zipped("[Content_Types].xml", "xl/workbook.xml"))
        with pytest.raises(DataError, match=r"an Excel workbook.*read_excel"):
            open_files(tmp_path / "rows.xlsx")


# ---- the commands ----


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    path = tmp_path / "messy.csv"
    rng = np.random.default_rng(0)
    lines = ["preis;tag;stadt;ziel"]
    for i in range(300):
        price = rng.uniform(1, 5000)
        target = "" if i % 30 == 0 else f"{3 * price + i:.2f}".replace(".", ",")
        day = datetime(2024, 1, 1) + timedelta(days=i % 200)
        text = f"{price:,.2f}".translate(str.maketrans(",.", ".,"))
        lines.append(f"{text} €;{day:%d.%m.%Y};{'Köln' if i % 2 else 'Bonn'};{target}")
    path.write_bytes("\n".join([*lines, ""]).encode("cp1252"))
    return path


def test_train_and_predict(run: Any, messy: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.gsm"
    done = run("train", messy, "-t", "ziel", "-o", model, "--rounds", 20, "--valid", 0.2)
    assert done.exit_code == 0, done.stderr
    for text in (
        "10 of 300 rows",
        "have no target 'ziel'. They are dropped",
        "Column 'preis': read as numbers with decimal commas",
        "Column 'tag': read as dates, day first",
        "Windows-1252",
        "Task: regression",
    ):
        assert text in done.stderr
    out = tmp_path / "p.csv"
    assert run("predict", model, messy, "-o", out).exit_code == 0
    piped = run("predict", model, "-", input=messy.read_bytes())
    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout == out.read_text()
    assert len(out.read_text().splitlines()) == 301


def test_missing_targets_are_refused(run: Any, messy: Path) -> None:
    done = run("train", messy, "-t", "ziel", "--missing-target", "error", code=1)
    assert "10 of 300 rows" in done.stderr
    assert "--missing-target drop" in done.stderr


def test_describe_never_fails_because_of_targets(run: Any, messy: Path, tmp_path: Path) -> None:
    done = run("describe", messy, "--target", "ziel")
    assert done.exit_code == 0, done.stderr
    assert "10 of 300 rows have no target" in done.stdout
    assert "Column 'preis': read as numbers" in done.stdout
    (tmp_path / "none.csv").write_text("x,y\n1,\n2,\n")
    for target in ("y", "x"):
        done = run("describe", tmp_path / "none.csv", "--target", target)
        assert done.exit_code == 0, done.stderr
    (tmp_path / "one.csv").write_text("x,y\n1,3\n2,3\n")
    done = run("describe", tmp_path / "one.csv", "--target", "y")
    assert "nothing can be learnt" in done.stdout


def test_a_constant_model_warns(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "ten.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 3 + i / 7}\n" for i in range(10)))
    done = run("train", path, "-t", "y", "-o", tmp_path / "m.gsm")
    assert done.exit_code == 0, done.stderr
    assert "predicts the same value for every row" in done.stderr
    assert "min_data_in_leaf=20 needs at least 40 rows" in done.stderr


def test_things_to_know(run: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["copy,id,day,unit,size,y"]
    for i in range(400):
        y = int(rng.integers(0, 2))
        day = datetime(2024, 1, 1) + timedelta(days=i)
        lines.append(f"{'ab'[y]},{i},{day:%Y-%m-%d},m,{rng.normal():.3f},{y}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([*lines, ""]))
    expected = [
        "Things to know about your data:",
        "'unit' has the same value in every row",
        "'id' has a different value in every row",
        "'copy' has the same information as the target",
        "in order of 'day'",
    ]
    done = run("describe", path, "-t", "y")
    assert all(text in done.stdout for text in expected)
    assert len(json.loads(run("describe", path, "-t", "y", "--json").stdout)["findings"]) == 4
    train = ("train", path, "-t", "y", "-o", tmp_path / "m.gsm", "-n", 5)
    done = run(*train, "--valid", 0.2)
    assert all(text in done.stderr for text in [*expected, "% of the gain"])
    page = tmp_path / "report.html"
    done = run(*train, "--valid", 0.2, "--early-stopping", 3, "--report", page)
    html = page.read_text(encoding="utf-8")
    assert "<dt>target</dt><dd>y</dd>" in html
    assert "rows.csv</dd>" in html
    assert "valid: from" in html
    assert "train: from" in html
    done = run(*train, "--valid-last", 0.2)
    assert "in order of 'day'" not in done.stderr
    assert "'id', 'day' differ between" in done.stderr or "id, day differ between" in done.stderr
