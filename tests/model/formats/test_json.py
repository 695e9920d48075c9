"""Our own model as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack import mutated_models as fuzz

from gossamer import Booster, Dataset, train
from gossamer.errors import ModelFileError
from gossamer.model import formats
from gossamer.model.files import model_file


@pytest.fixture(scope="module")
def pool() -> dict[str, Any]:
    return {file.name: file for file in fuzz.make_files()}


def test_every_kind_of_model_comes_back_bit_for_bit(pool: dict[str, Any]) -> None:
    assert len(pool) > 15
    for file in pool.values():
        again = formats.from_bytes(file.as_json)
        assert model_file.to_bytes(again) == file.content, file.name
        assert formats.to_bytes(again, "json") == file.as_json


def test_file_and_string(tmp_path: Path) -> None:
    table = np.random.default_rng(0).normal(size=(100, 2))
    names = ["größe", 'quo"te\n']
    model = train({"num_leaves": 3}, Dataset(table, table[:, 0], feature_name=names), 3)
    model.save_model(tmp_path / "model.json", format="json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert text == model.model_to_string(format="json")
    for other in (
        Booster(model_file=tmp_path / "model.json"),
        Booster(model_str=text),
        Booster(model_str=json.dumps(json.loads(text), indent=3, sort_keys=True)),
    ):
        assert other.model_to_string() == model.model_to_string()
        np.testing.assert_array_equal(other.predict(table), model.predict(table))
    assert json.loads(text)["feature_names"] == names


def test_thresholds_without_end(pool: dict[str, Any]) -> None:
    whole = json.loads(pool["regression"].as_json)
    whole["trees"][0]["threshold"][:2] = ["inf", "-inf"]
    model = formats.from_bytes(json.dumps(whole).encode())
    assert model.forest.arrays["threshold"][:2].tolist() == [np.inf, -np.inf]
    assert formats.from_bytes(formats.to_bytes(model, "json")).forest.arrays["threshold"][0] > 1e308


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["version"], 5, "cannot read: got 5, expected at most 4"),
        (["start"], None, "start is not a list"),
        (["start"], ["inf"], "start score is not finite"),
        (["trees"], {}, "trees is not a list of objects"),
        (["trees", 0], [], "trees is not a list of objects"),
        (["trees", 0, "gain"], [1.0], "gain of tree 0 has 1 numbers, not"),
        (["trees", 0, "left", 0], 1.0, "left of tree 0 has something that is not a whole number"),
        (["trees", 0, "left", 0], 2**31, "not a whole number of int32"),
        (["trees", 0, "left", 0], True, "not a whole number of int32"),
        (["trees", 0, "left", 0], 0, "bad child node"),
        (["trees", 0, "threshold", 0], "nan", "something that is not a number"),
        (["trees", 0, "threshold", 0], None, "something that is not a number"),
        (["trees", 1, "leaf_value", 0], 10**400, "inconsistent|too large|damaged"),
        (["trees", 1, "leaf_value", 0], "inf", "leaf value is not finite"),
        (["trees", 1, "node_count", 0], -1, "node_count is negative"),
        (["n_values"], 0, "n_values is not a whole number above 0"),
        (["feature_names"], ["a"], "column out of range"),
        (["objective"], {"name": "none such"}, "objective cannot be read"),
    ],
)
def test_what_is_wrong(pool: dict[str, Any], path: list[Any], value: Any, words: str) -> None:
    whole = json.loads(pool["regression"].as_json)
    at = whole
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ModelFileError, match=words):
        formats.from_bytes(json.dumps(whole).encode())


@pytest.mark.parametrize("name", ["start", "trees", "feature_names", "objective", "parameters"])
def test_what_is_missing(pool: dict[str, Any], name: str) -> None:
    whole = json.loads(pool["regression"].as_json)
    del whole[name]
    with pytest.raises(ModelFileError, match=f"'{name}' is missing"):
        formats.from_bytes(json.dumps(whole).encode())


@pytest.mark.parametrize(
    ("kind", "name"),
    [("categories", "category"), ("categories", "category_begin"), ("linear", "linear_low")],
)
def test_half_a_group(pool: dict[str, Any], kind: str, name: str) -> None:
    whole = json.loads(pool[kind].as_json)
    tree = next(tree for tree in whole["trees"] if name in tree)
    del tree[name]
    with pytest.raises(ModelFileError, match=f"'{name}' is missing"):
        formats.from_bytes(json.dumps(whole).encode())


def test_arrays_do_not_slide_into_the_next_tree(pool: dict[str, Any]) -> None:
    whole = json.loads(pool["regression"].as_json)
    one, other = whole["trees"][:2]
    other["gain"].insert(0, one["gain"].pop())
    with pytest.raises(ModelFileError, match="gain of tree 0 has"):
        formats.from_bytes(json.dumps(whole).encode())


def test_json_that_is_no_json(pool: dict[str, Any]) -> None:
    text = pool["regression"].as_json
    for changed, words in [
        (text.replace(b'"version": 1', b'"version": NaN'), "not finite"),
        (text.replace(b'"version": 1', b'"version": 1, "version": 2'), "same key twice"),
        (text[:-10], "damaged Gossamer JSON"),
        (text + b"}", "damaged Gossamer JSON"),
        (text.replace(b"Column_0", b"Column_\xff"), "damaged Gossamer JSON"),
    ]:
        with pytest.raises(ModelFileError, match=words):
            formats.from_bytes(changed)
