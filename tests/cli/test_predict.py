from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.flights import make_frame
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli

FEATURES = ["hour", "rain", "carrier"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_standard_output(run: Any, model: Path) -> None:
    result = run("predict", "model.gsm", "flights.csv")
    expected = gs.Booster(model_file="model.gsm").predict(make_frame()[FEATURES])
    found = [float(row["prediction"]) for row in rows_of(result.stdout)]
    np.testing.assert_array_equal(found, expected)
    assert result.stderr == ""


@pytest.mark.parametrize("data", ["flights.csv", "flights.parquet"])
@pytest.mark.parametrize("out", ["p.parquet", "p.feather", "p.csv", "p.tsv"])
def test_files(run: Any, model: Path, data: str, out: str) -> None:
    import pandas

    result = run("predict", "model.gsm", data, "--keep", "id,carrier", "--labels", "--out", out)
    assert "300 rows in" in result.stdout and "(id, carrier, prediction, label)" in result.stdout
    readers: dict[str, Any] = {
        ".parquet": pandas.read_parquet,
        ".feather": pandas.read_feather,
        ".csv": pandas.read_csv,
        ".tsv": lambda path: pandas.read_csv(path, sep="\t"),
    }
    found = readers[Path(out).suffix](out)
    frame = make_frame()
    p = gs.Booster(model_file="model.gsm").predict(frame[FEATURES])
    np.testing.assert_array_equal(found["prediction"], p)
    assert found["id"].tolist() == frame["id"].tolist()
    assert found["carrier"].tolist() == frame["carrier"].tolist()
    assert found["label"].tolist() == np.where(p > 0.5, "yes", "no").tolist()
    assert sorted(path.name for path in model.parent.glob(".*")) == [], "nothing is left behind"


def test_several_classes(run: Any, flights: Path) -> None:
    run("train", "flights.csv", "-t", "carrier", "-n", 3, "--threads", 1, "-q")
    found = rows_of(run("predict", "model.gsm", "flights.csv", "--labels").stdout)
    names = ["AA", "BB", "CC"]
    assert list(found[0]) == [*(f"probability_{name}" for name in names), "label"]
    p = np.array([[float(row[f"probability_{name}"]) for name in names] for row in found])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert [row["label"] for row in found] == [names[i] for i in p.argmax(axis=1)]
    raw = rows_of(run("predict", "model.gsm", "flights.csv", "--raw").stdout)
    assert list(raw[0]) == [f"raw_score_{name}" for name in names]


def test_what_else_there_is(run: Any, model: Path) -> None:
    booster, rows = gs.Booster(model_file="model.gsm"), make_frame()[FEATURES]
    for option, argument, names in (
        ("--raw", "raw_score", ["raw_score"]),
        ("--leaf", "pred_leaf", [f"leaf_{i}" for i in range(10)]),
        ("--contrib", "pred_contrib", [*FEATURES, "expected"]),
    ):
        found = rows_of(run("predict", "model.gsm", "flights.csv", option).stdout)
        assert list(found[0]) == names
        values = np.array([[float(row[name]) for name in names] for row in found])
        expected = booster.predict(rows, **{argument: True})
        np.testing.assert_array_equal(values, np.reshape(expected, values.shape))
    first = rows_of(run("predict", "model.gsm", "flights.csv", "--rounds", 3).stdout)
    expected = booster.predict(rows, num_iteration=3)
    np.testing.assert_array_equal([float(row["prediction"]) for row in first], expected)


def test_json(run: Any, model: Path) -> None:
    found = json.loads(run("predict", "model.gsm", "flights.csv", "-o", "p.csv", "--json").stdout)
    assert found["rows"] == 300 and found["columns"] == ["prediction"] and found["out"] == "p.csv"
    assert (
        "--json needs --out" in run("predict", "model.gsm", "flights.csv", "--json", code=2).stderr
    )


def test_order_and_types_of_columns_do_not_matter(run: Any, model: Path) -> None:
    frame = make_frame()
    changed = frame[frame.columns[::-1]].assign(hour=frame["hour"].astype("float32"))
    changed.to_parquet("other.parquet")
    plain = run("predict", "model.gsm", "flights.csv").stdout
    assert run("predict", "model.gsm", "other.parquet").stdout == plain


def test_text_that_looks_like_numbers(run: Any, folder: Path) -> None:
    """Codes that were text in training are text in a file where all of them are digits."""
    lines = [f"{'A1' if i % 3 else '77'},{i % 3}" for i in range(120)]
    Path("train.csv").write_text("\n".join(["code,y", *lines]))
    Path("new.csv").write_text("code\n77\n77\n")
    run("train", "train.csv", "-t", "y", "--task", "regression", "-n", 20, "--threads", 1)
    found = rows_of(run("predict", "model.gsm", "new.csv").stdout)
    assert float(found[0]["prediction"]) == pytest.approx(0, abs=0.3)


def test_types_that_change_further_down(run: Any, model: Path) -> None:
    """A CSV file whose first block has whole numbers only, and much later others, or text."""
    n = 200_000
    with open("long.csv", "w") as file:
        file.write("id,hour,rain,carrier\n")
        file.writelines(f"{i},5,2,AA\n" for i in range(n))
        file.write("x7,5.5,2.5,BB\n")
    run("predict", "model.gsm", "long.csv", "--keep", "id", "--out", "p.csv")
    with open("p.csv") as file:
        found = file.read().splitlines()
    assert len(found) == n + 2
    assert found[1].startswith('"0",') and found[-1].startswith('"x7",')


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["--raw", "--leaf"], 2, "cannot be combined"),
        (["--labels", "--contrib"], 2, "--labels cannot be combined with"),
        (["--keep", "idd"], 1, "--keep: there is no such column"),
        (["--out", "p.xyz"], 1, "the name 'p.xyz' does not determine"),
        (["--out", "nowhere/p.csv"], 1, "there is no folder for 'nowhere/p.csv'"),
        (["--out", "."], 1, "--out: '.' is a folder"),
    ],
)
def test_bad_options(run: Any, model: Path, arguments: list[str], code: int, what: str) -> None:
    assert what in run("predict", "model.gsm", "flights.csv", *arguments, code=code).stderr


def test_no_classes(run: Any, flights: Path) -> None:
    run("train", "flights.csv", "-t", "minutes", "-n", 2, "-q")
    result = run("predict", "model.gsm", "flights.csv", "--labels", code=1)
    assert "--labels is for models of classes: got 'objective=regression'" in result.stderr


def test_missing_columns(run: Any, model: Path) -> None:
    make_frame().drop(columns="rain").to_csv("less.csv")
    result = run("predict", "model.gsm", "less.csv", "-o", "p.csv", code=1)
    assert "lacks columns of the training data: 'rain'" in result.stderr
    assert not Path("p.csv").exists()


@pytest.mark.parametrize(
    ("objective", "extra", "columns"),
    [
        ("gaussian", [], ["prediction_0", "prediction_1"]),
        ("quantile", ["quantile_alpha=0.1,0.5,0.9"], [f"prediction_{i}" for i in range(3)]),
        ("poisson", [], ["prediction"]),
    ],
)
def test_several_outputs(
    run: Any, flights: Path, objective: str, extra: list[str], columns: list[str]
) -> None:
    arguments = ("-t", "importance", "--ignore", "delayed", "-n", 2, "-q", "--objective", objective)
    run("train", "flights.csv", *arguments, *extra)
    model = gs.Booster(model_file="model.gsm")
    expected = model.predict(make_frame()[model.feature_name()])
    found = rows_of(run("predict", "model.gsm", "flights.csv").stdout)
    assert list(found[0]) == columns
    values = np.array([[float(row[name]) for name in columns] for row in found])
    np.testing.assert_array_equal(values, np.reshape(expected, values.shape))


@pytest.mark.parametrize("objective", ["hinge", "binary:logitraw", "focal"])
def test_labels_of_scores(run: Any, flights: Path, objective: str) -> None:
    arguments = ("-t", "delayed", "--ignore", "id,session", "-n", 20, "--objective", objective)
    run("train", "flights.csv", *arguments, "-q")
    found = rows_of(run("predict", "model.gsm", "flights.csv", "--labels").stdout)
    labels = np.array([row["label"] for row in found])
    assert (labels == make_frame()["delayed"]).mean() > 0.95


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ["prediction"]),
        (("--labels", "--keep", "id"), ["id", "prediction", "label"]),
        (("--contrib",), ["a", "town", "expected"]),
    ],
)
def test_a_file_without_rows_gives_a_file_without_rows(
    tmp_path: Path, ending: str, options: tuple[str, ...], names: list[str]
) -> None:
    lines = [f"{i % 7},{'ab'[i % 2]},{'yes' if i % 2 else 'no'}" for i in range(100)]
    rows = tmp_path / "rows.csv"
    rows.write_text("a,town,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    model, out = str(tmp_path / "m.gsm"), tmp_path / f"out.{ending}"
    run = CliRunner().invoke
    assert run(cli, ["train", str(rows), "-t", "y", "-o", model, "--rounds", "3"]).exit_code == 0
    empty = tmp_path / "empty.csv"
    empty.write_text("id,a,town\n", encoding="utf-8")
    result = run(cli, ["predict", model, str(empty), "--out", str(out), *options])
    assert result.exit_code == 0, result.output
    assert "0 rows" in result.output
    assert f"({', '.join(names)})" in result.output
    if ending == "parquet":
        found = pytest.importorskip("pyarrow.parquet").read_table(out)
        assert (found.column_names, found.num_rows) == (names, 0)
    else:
        assert (
            out.read_text(encoding="utf-8") == {"csv": ",", "tsv": "\t"}[ending].join(names) + "\n"
        )
