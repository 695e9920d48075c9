"""Dumps of trees: the same text that XGBoost dumps after reading the model's file."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer.compat.xgboost as ours
from gossamer.errors import DataError, NotSupportedError, ParameterError

theirs = pytest.importorskip("xgboost")
Pair = tuple[Any, Any]


@pytest.fixture(params=["plain", "types", "classes", "forest", "stump"])
def pair(request: pytest.FixtureRequest, few_values: Any, tmp_path: Path) -> Pair:
    """One of our models, and the same model as XGBoost reads it."""
    x, y = few_values
    params: dict[str, Any] = {"max_depth": 4}
    data = ours.DMatrix(x, y)
    if request.param == "types":
        x = np.column_stack([x, np.arange(500) % 2])
        y = y + 5 * x[:, 4] + 9 * (x[:, 2] % 3)
        data = ours.DMatrix(
            x,
            y,
            feature_names=["a", "b", "c", "d", "e"],
            feature_types=["int", "float", "c", "q", "i"],
            enable_categorical=True,
        )
    elif request.param == "classes":
        data = ours.DMatrix(x, np.digitize(y, [10, 30]))
        params |= {"objective": "multi:softprob", "num_class": 3}
    elif request.param == "forest":
        params |= {"num_parallel_tree": 2, "subsample": 0.5}
    elif request.param == "stump":
        params |= {"gamma": 1e9, "base_score": 3.0}
    model = ours.train(params, data, 3)
    model.save_model(tmp_path / "model.json")
    return model, theirs.Booster(model_file=tmp_path / "model.json")


@pytest.mark.parametrize("with_stats", [False, True])
@pytest.mark.parametrize("dump_format", ["text", "json", "dot"])
def test_dumps_are_the_same(pair: Pair, dump_format: str, with_stats: bool) -> None:
    mine, other = (model.get_dump(with_stats=with_stats, dump_format=dump_format) for model in pair)
    assert mine == other


@pytest.mark.parametrize("dump_format", ["text", "json", "dot"])
def test_dumped_files_are_the_same(pair: Pair, dump_format: str, tmp_path: Path) -> None:
    for name, model in zip("ab", pair, strict=True):
        model.dump_model(tmp_path / name, with_stats=True, dump_format=dump_format)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    if dump_format == "json":
        assert len(json.loads((tmp_path / "a").read_text())) == len(pair[0].get_dump())


def test_frames_are_the_same(pair: Pair) -> None:
    pandas = pytest.importorskip("pandas")
    if pair[0].feature_types == ["int", "float", "c", "q", "i"]:  # XGBoost does not read its own
        for model in pair:
            model.feature_types = ["int", "float", "c", "q", "q"]
    pandas.testing.assert_frame_equal(*(model.trees_to_dataframe() for model in pair))


def test_feature_maps(pair: Pair, tmp_path: Path) -> None:
    n_columns = pair[0].num_features()
    path = tmp_path / "map.txt"
    types = pair[0].feature_types or ["q"] * n_columns
    path.write_text("".join(f"{i}\tname_{i}\t{kind}\n" for i, kind in enumerate(types)))
    mine, other = (model.get_dump(path) for model in pair)
    assert mine == other
    mine, other = (model.get_score(path) for model in pair)
    assert mine == other
    path.write_text("0 a q\n1 b\n")
    with pytest.raises(DataError, match="1 b"):
        pair[0].get_dump(path)
    path.write_text("0 a q\n")
    with pytest.raises(DataError, match="column 1"):
        pair[0].get_dump(path)


def test_dot_with_a_look(pair: Pair) -> None:
    look = {
        "condition_node_params": {"shape": "box", "style": "filled"},
        "leaf_node_params": {"shape": "oval"},
        "graph_attrs": {"size": "3", "rankdir": "LR"},
        "edge": {"yes_color": "#111111", "no_color": "#222222"},
    }
    form = f"dot:{json.dumps(look)}"
    mine, other = (model.get_dump(dump_format=form) for model in pair)
    assert mine == other


def test_vector_leaves(few_values: Any, tmp_path: Path) -> None:
    label = np.column_stack([few_values.y, -few_values.y])
    data = ours.DMatrix(few_values.x, label)
    model = ours.train({"multi_strategy": "multi_output_tree", "max_depth": 2}, data, 2)
    model.save_model(tmp_path / "model.json")
    other = theirs.Booster(model_file=tmp_path / "model.json")
    assert model.get_dump() == other.get_dump()
    with pytest.raises(NotSupportedError, match="vector leaves"):
        model.get_dump(with_stats=True)


def test_formats_that_do_not_exist(few_values: Any) -> None:
    model = ours.train({}, ours.DMatrix(*few_values), 1)
    with pytest.raises(ParameterError, match="dump_format"):
        model.get_dump(dump_format="yaml")


def test_gains_and_covers_are_those_of_the_importance(pair: Pair) -> None:
    frame = pair[0].trees_to_dataframe()
    splits = frame[frame.Feature != "Leaf"]
    for kind, column in itertools.product(("total_gain", "total_cover"), ("Gain", "Cover")):
        if kind.endswith(column.lower()):
            found = splits.groupby("Feature")[column].sum().to_dict()
            assert found == pytest.approx(pair[0].get_score(importance_type=kind), rel=1e-4)
