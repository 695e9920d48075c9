"""cv, explain, report, convert, describe, params, bench."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.flights import OTHERS, make_frame

import gossamer as gs
from gossamer.params import TABLE

FEATURES = ["hour", "rain", "carrier"]


def as_json(run: Any, *arguments: Any) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


# ---- cv ----


def test_cv(run: Any, flights: Path) -> None:
    arguments = ("cv", "flights.csv", "-t", "delayed", "--ignore", OTHERS, "--folds", 3)
    found = as_json(run, *arguments, "-n", 20, "--early-stopping", 3, "--out", "folds.gsm")
    assert found["task"] == "binary" and found["folds"] == 3 and found["rows"] == 300
    assert len(found["history"]["valid auc-mean"]) == found["rounds"]
    frame = make_frame()
    params = {"objective": "binary", "metric": ["binary_logloss", "auc"], "verbosity": -1}
    params |= {"first_metric_only": True, "early_stopping_round": 3}
    data = gs.Dataset(frame[FEATURES], frame["delayed"] == "yes")
    expected = gs.cv(params, data, 20, nfold=3)
    assert found["history"] == expected
    assert len(gs.CVBooster(model_file="folds.gsm").boosters) == 3
    text = run(*arguments, "-n", 4, "--no-shuffle").stdout
    assert "300 in 3 folds" in text and "valid auc" in text and "±" in text


def test_terminals_that_know_ascii_only(flights: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "gossamer.cli",
        "cv",
        "flights.csv",
        "-t",
        "minutes",
        "-n",
        "2",
    ]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert " ? " in done.stdout


# ---- explain ----


def test_importance(run: Any, model: Path) -> None:
    booster = gs.Booster(model_file="model.gsm")
    found = as_json(run, "explain", "model.gsm")
    gain = dict(zip(FEATURES, booster.feature_importance("gain"), strict=True))
    assert {each["column"]: each["gain"] for each in found} == gain
    assert [each["gain"] for each in found] == sorted(gain.values(), reverse=True)
    text = run("explain", "model.gsm", "--top", 1).stdout
    assert text.split()[4] == found[0]["column"] and "and 2 more" in text


def test_shap(run: Any, model: Path) -> None:
    found = as_json(run, "explain", "model.gsm", "flights.csv", "--shap")
    values = gs.Booster(model_file="model.gsm").shap_values(make_frame()[FEATURES])
    means = dict(zip(FEATURES, np.abs(values[:, :-1]).mean(axis=0), strict=True))
    assert found["rows"] == 300
    assert {each["column"]: each["mean_abs_shap"] for each in found["columns"]} == means
    fewer = as_json(run, "explain", "model.gsm", "flights.csv", "--shap", "--max-rows", 7)
    assert fewer["rows"] == 7
    assert "mean |shap|" in run("explain", "model.gsm", "flights.csv", "--shap").stdout


def test_one_row(run: Any, model: Path) -> None:
    row = make_frame().iloc[[17]]
    booster = gs.Booster(model_file="model.gsm")
    found = as_json(run, "explain", "model.gsm", "flights.csv", "--row", 17)
    assert found["prediction"] == booster.predict(row[FEATURES])[0]
    shap = {each["column"]: each["shap"] for each in found["columns"]}
    expected = booster.shap_values(row[FEATURES])[0]
    assert shap == dict(zip(FEATURES, expected[:-1], strict=True))
    values = {each["column"]: each["value"] for each in found["columns"]}
    assert values["carrier"] == row["carrier"].item() and values["hour"] == row["hour"].item()
    text = run("explain", "model.gsm", "flights.csv", "--row", 17).stdout
    assert "(probability of yes)" in text and "raw score" in text
    result = run("explain", "model.gsm", "flights.csv", "--row", 300, code=1)
    assert "the file has no such row: got 300, expected 0 to 299" in result.stderr


def test_partial_dependence(run: Any, model: Path) -> None:
    found = as_json(run, "explain", "model.gsm", "flights.csv", "--pdp", "carrier")
    expected = gs.Booster(model_file="model.gsm").partial_dependence(
        make_frame()[FEATURES], "carrier"
    )
    assert found["values"] == ["AA", "BB", "CC"]
    np.testing.assert_allclose(found["predictions"], expected.values)
    assert "AA" in run("explain", "model.gsm", "flights.csv", "--pdp", "carrier").stdout
    result = run("explain", "model.gsm", "flights.csv", "--pdp", "carier", code=1)
    assert "Did you mean carrier?" in result.stderr


def test_several_classes(run: Any, flights: Path) -> None:
    run("train", "flights.csv", "-t", "carrier", "-n", 3, "-q", "--ignore", "id")
    arguments = ("explain", "model.gsm", "flights.csv")
    by_class = [
        as_json(run, *arguments, "--row", 0, "--class", name)["prediction"] for name in ("AA", "CC")
    ]
    model = gs.Booster(model_file="model.gsm")
    expected = model.predict(make_frame().iloc[[0]][model.feature_name()])[0]
    assert by_class == [expected[0], expected[2]]
    assert len(as_json(run, *arguments, "--shap")["columns"]) == len(model.feature_name())
    assert "probability of CC" in run(*arguments, "--row", 0, "--class", "CC").stdout
    assert as_json(run, *arguments, "--pdp", "hour", "--class", "BB")["column"] == "hour"
    expected_of_row = model.predict(make_frame().iloc[[0]][model.feature_name()])[0]
    predicted = ["AA", "BB", "CC"][expected_of_row.argmax()]
    assert f"(probability of {predicted})" in run(*arguments, "--row", 0).stdout
    assert "--pdp needs a class" in run(*arguments, "--pdp", "hour", code=2).stderr
    assert "there is no such class" in run(*arguments, "--row", 0, "--class", "DD", code=1).stderr


@pytest.mark.parametrize("extra", [[], ["flights.csv", "--pdp", "hour"]])
def test_pictures(run: Any, model: Path, extra: list[str]) -> None:
    pytest.importorskip("matplotlib")
    run("explain", "model.gsm", *extra, "--plot", "picture.png")
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--shap"], "--shap needs rows"),
        (["--row", "3"], "--row needs rows"),
        (["flights.csv", "--shap", "--pdp", "hour"], "--shap and --pdp cannot be combined"),
        (["flights.csv", "--shap", "--plot", "a.png"], "--plot draws importance or --pdp"),
    ],
)
def test_explain_usage(run: Any, model: Path, arguments: list[str], what: str) -> None:
    assert what in run("explain", "model.gsm", *arguments, code=2).stderr


# ---- report ----


def test_report(run: Any, model: Path) -> None:
    arguments = ("report", "model.gsm", "flights.csv", "-t", "delayed", "--title", "Late?")
    assert run(*arguments).stdout == "report.html\n"
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Late?" in page and "<html" in page
    assert as_json(run, "report", "model.gsm", "--out", "a.html") == {"report": "a.html"}
    train = ("train", "flights.csv", "-t", "delayed", "-n", 2, "--report", "b.html", "-q")
    run(*train, "--ignore", OTHERS, "--valid", "0.2")
    page = Path("b.html").read_text(encoding="utf-8")
    assert "60" in page and "yes" in page and "Learning curves" in page, "of the validation rows"
    run("train", "flights.csv", "-t", "grade", "--query", "session", "-n", 2, "--report", "c.html")
    assert Path("c.html").exists()


def test_report_of_what(run: Any, model: Path) -> None:
    assert "name the file first." in run("report", "model.gsm", "-t", "delayed", code=2).stderr


# ---- convert ----


def test_convert(run: Any, model: Path) -> None:
    result = run("convert", "model.gsm", "--to", "lightgbm", "--out", "model.txt")
    assert "model.txt: lightgbm" in result.stdout
    assert "lightgbm does not store class names: ['no', 'yes']" in result.stderr
    facts = as_json(run, "convert", "model.txt", "--out", "again.gsm")
    assert facts["format"] == "gossamer" and facts["bytes"] == Path("again.gsm").stat().st_size
    rows = make_frame()[FEATURES]
    a, b = (gs.Booster(model_file=name).predict(rows) for name in ("model.gsm", "again.gsm"))
    np.testing.assert_array_equal(a, b)
    run("convert", "model.gsm", "--out", "short.gsm", "--rounds", 3)
    assert gs.Booster(model_file="short.gsm").current_iteration() == 3


def test_formats_that_are_not_there(run: Any, model: Path) -> None:
    result = run("convert", "model.gsm", "--to", "pmml", "--out", "a.xml", code=2)
    assert "got 'pmml', expected one of gossamer, json, lightgbm" in result.stderr
    assert "The format is not clear" in run("convert", "model.gsm", "--out", "a.xml", code=2).stderr


def test_c(run: Any, model: Path) -> None:
    run("convert", "model.gsm", "--out", "model.c")
    assert "double" in Path("model.c").read_text()


# ---- describe ----


@pytest.mark.parametrize("name", ["flights.csv", "flights.parquet"])
def test_describe_data(run: Any, flights: Path, name: str) -> None:
    found = as_json(run, "describe", name, "--target", "grade")
    frame = make_frame()
    assert found["rows"] == 300 and found["task"]["task"] == "multiclass"
    columns = {each["name"]: each for each in found["columns"]}
    assert list(columns) == list(frame.columns)
    rain = columns["rain"]
    assert rain["type"] == "float" and rain["missing"] == int(frame["rain"].isna().sum())
    assert rain["min"] == frame["rain"].min() and rain["max"] == frame["rain"].max()
    assert rain["mean"] == pytest.approx(frame["rain"].mean())
    assert rain["distinct"] == frame["rain"].nunique()
    assert columns["carrier"]["type"] == "text"
    top = frame["carrier"].value_counts()
    assert dict(columns["carrier"]["top"]) == top.to_dict()
    text = run("describe", name).stdout
    assert "300 rows, 9 columns" in text and "rain" in text


def test_describe_kinds_of_columns(run: Any, folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {
            "flag": [True, False, True],
            "day": pandas.to_datetime(["2020-01-01", "2021-01-01", None]),
            "kind": pandas.Categorical(["b", "a", "b"]),
            "empty": [None, None, None],
        }
    )
    frame.to_parquet("kinds.parquet")
    columns = {c["name"]: c for c in as_json(run, "describe", "kinds.parquet")["columns"]}
    assert [c["type"] for c in columns.values()][:3] == ["boolean", "time", "category"]
    assert columns["kind"]["top"] == [["b", 2], ["a", 1]] and columns["empty"]["missing"] == 3
    assert "2020-01-01" in run("describe", "kinds.parquet").stdout


def test_describe_libsvm(run: Any, folder: Path) -> None:
    Path("rows.svm").write_text("1 0:2.5 2:-1\n0 1:3\n")
    columns = as_json(run, "describe", "rows.svm")["columns"]
    assert [(c["min"], c["max"], c["non_zero"]) for c in columns] == [
        (0, 2.5, 1),
        (0, 3, 1),
        (-1, 0, 1),
    ]
    assert "2 rows, 3 columns" in run("describe", "rows.svm").stdout


def test_describe_model(run: Any, model: Path) -> None:
    found = as_json(run, "describe", "model.gsm")
    assert found["kind"] == "model" and found["classes"] == ["no", "yes"] and found["trees"] == 10
    assert found["text_columns"] == ["carrier"]
    assert sum(each["gain"] for each in found["importance"]) == pytest.approx(1)
    text = run("describe", "model.gsm").stdout
    assert "no, yes" in text and "10 (10 trees)" in text
    run("convert", "model.gsm", "--out", "model.txt", "-q")
    assert as_json(run, "describe", "model.txt")["trees"] == 10


def test_describe_text_that_is_no_model(run: Any, flights: Path) -> None:
    Path("flights.csv").rename("flights.txt")
    assert as_json(run, "describe", "flights.txt")["kind"] == "data"


# ---- params ----


@pytest.mark.parametrize("name", ["num_leaves", "num-leaves", "max_leaves", "eta"])
def test_params(run: Any, name: str) -> None:
    text = run("params", name).stdout
    for part in ("type", "default", "LightGBM", "XGBoost", "aliases"):
        assert part in text


def test_params_facts(run: Any) -> None:
    found = as_json(run, "params", "learning_rate", "tree_method")
    assert found[0]["xgboost"] == ["learning_rate", "eta"] and found[0]["default"] == 0.1
    assert found[1]["lightgbm"] is None and "exact" in found[1]["choices"]
    assert [each["name"] for each in as_json(run, "params")] == list(TABLE)
    listed = run("params").stdout
    assert all(f"  {name} " in listed for name in TABLE)
    assert "](" not in listed and "`" not in listed


def test_parameters_that_are_options(run: Any) -> None:
    for name, option in (("label_column", "--target"), ("valid", "--valid"), ("data", "FILE")):
        text = run("params", name).stdout
        assert f"gossamer train {option}" in text and "Not in this version" not in text
    assert "Not in this version" in run("params", "num_machines").stdout


def test_params_search(run: Any) -> None:
    found = as_json(run, "params", "--search", "Monotone")
    assert "monotone_constraints" in [each["name"] for each in found]
    assert "no parameter matches this word" in run("params", "--search", "xyzzy", code=2).stderr
    assert "Did you mean num_leaf" in run("params", "num_leafs", code=2).stderr
    assert "cannot be combined" in run("params", "eta", "--search", "eta", code=2).stderr


def test_params_changed(run: Any, flights: Path) -> None:
    Path("a.conf").write_text("num_leaves=31\neta=0.3\ndata=x.csv\n")
    assert as_json(run, "params", "--changed", "a.conf") == {"learning_rate": 0.3}
    run("train", "flights.csv", "-t", "minutes", "-n", 2, "-q", "max_depth=3")
    found = as_json(run, "params", "--changed", "model.gsm")
    assert found["max_depth"] == 3
    text = run("params", "--changed", "model.gsm").stdout
    assert "max_depth" in text and "default" in text


def test_names_of_other_libraries() -> None:
    from gossamer.compat.xgboost import params as compat
    from gossamer.params.peer_names import names_in_xgboost

    for theirs, ours in compat.RENAMED.items():
        canonical = gs.params.CANONICAL.get(ours, ours)
        if theirs != "sketch_eps":  # XGBoost 3 has dropped it
            assert theirs in names_in_xgboost(TABLE[canonical]), theirs


# ---- bench ----


def test_bench(run: Any) -> None:
    arguments = ("bench", "--rows", 500, "--columns", 3, "--rounds", 2, "--threads", 1)
    found = as_json(run, *arguments, "--alone", "-q")
    assert found["rows"] == 500 and set(found["seconds"]) == {"gossamer"}
    assert all(value > 0 for value in found["rows_per_second"]["gossamer"].values())
    pytest.importorskip("lightgbm")
    assert "lightgbm" in run(*arguments).stdout
