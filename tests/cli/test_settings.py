from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gossamer as gs
from gossamer.cli.config_file import read_config
from gossamer.cli.settings import split_arguments

TOML = """
[data]
data = "flights.csv"
target = "minutes"
ignore = ["id", "delayed"]
valid = 0.2

[train]
rounds = 7
early-stopping = 5
out = "from_config.gsm"

[params]
num_leaves = 5
learning_rate = 0.3

[params.monotone_constraints]
hour = 1
"""
CONF = """
# as LightGBM's examples
task = train
boosting_type = gbdt
objective = regression
data = flights.csv          # behind it
label_column = name:minutes
ignore_column = name:id,delayed
num_trees = 6
num_leaves = 5
output_model = from_config.gsm
header = true
is_training_metric = true
"""


def run_json(run: Any, *arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("train", *arguments, "--json", "--threads", 1).stdout)
    return found


def test_toml(run: Any, flights: Path) -> None:
    Path("train.toml").write_text(TOML)
    found = run_json(run, "--config", "train.toml")
    assert found["rounds"] == 7 and found["valid_rows"] == 60 and found["columns"] == 6
    assert found["parameters"]["num_leaves"] == 5
    model = gs.Booster(model_file="from_config.gsm")
    assert model.params["monotone_constraints"] == [["hour", 1]] or model.params[
        "monotone_constraints"
    ] == {"hour": 1}


def test_lightgbms_config(run: Any, flights: Path) -> None:
    Path("train.conf").write_text(CONF)
    found = run_json(run, "config=train.conf")
    assert found["rounds"] == 6 and found["columns"] == 6 and found["rows"] == 300
    assert Path("from_config.gsm").exists()


def test_what_is_given_wins(run: Any, flights: Path) -> None:
    Path("train.toml").write_text(TOML)
    found = run_json(
        *(run, "flights.parquet", "--config", "train.toml", "--rounds", 3, "--out", "mine.gsm"),
        *("num_leaves=4", "--valid", "0.5"),
    )
    assert found["rounds"] == 3 and found["parameters"]["num_leaves"] == "4"
    assert found["valid_rows"] == 150 and found["model"] == "mine.gsm"
    assert not Path("from_config.gsm").exists()


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.toml", "target = minutes", "is not TOML"),
        ("a.toml", "[params]\nnum_leafs = 3", "got 'num_leafs'. Did you mean"),
        ("a.toml", "targett = 'minutes'", "Did you mean target?"),
        ("a.toml", "rounds = 'many'", "rounds cannot be used"),
        ("a.conf", "num_leaves 5", "line 1 of the config file 'a.conf' cannot be used"),
        ("a.conf", "[params]\n", "TOML files must be called .toml"),
        ("a.conf", "task = predict", "and this is `gossamer train`"),
    ],
)
def test_wrong_config(run: Any, flights: Path, name: str, text: str, what: str) -> None:
    Path(name).write_text(text)
    result = run("train", "flights.csv", "-t", "minutes", "--config", name, code=2)
    assert what in result.stderr


@pytest.mark.parametrize("files", ["7", "['flights.csv', 7]"])
def test_data_that_is_not_a_name(run: Any, flights: Path, files: str) -> None:
    Path("a.toml").write_text(f"data = {files}\ntarget = 'minutes'")
    result = run("train", "--config", "a.toml", code=2)
    assert "data cannot be used: got 7, expected names of files" in result.stderr


def test_no_text(run: Any, flights: Path) -> None:
    Path("a.conf").write_bytes(b"\xff\xfe\x00")
    result = run("train", "flights.csv", "--config", "a.conf", code=2)
    assert "the config file is not UTF-8 text" in result.stderr


def test_byte_order_mark(folder: Path) -> None:
    Path("a.conf").write_bytes(b"\xef\xbb\xbfnum_leaves=3\r\n\r\n")
    assert read_config("a.conf") == [("num_leaves", "3")]


def test_files_with_an_equals_sign(folder: Path) -> None:
    Path("num_leaves=3").write_text("")
    assert split_arguments(["num_leaves=3", "max_bin=7", "year=2020/a.csv"]) == (
        ["num_leaves=3", "year=2020/a.csv"],
        [("max_bin", "7")],
    )


def test_given_twice(run: Any, flights: Path) -> None:
    arguments = ("train", "flights.csv", "-t", "minutes", "num_leaves=3", "num_leaf=4")
    assert "a parameter is given twice" in run(*arguments, code=2).stderr
