"""`dump_model` and `trees_to_dataframe`: LightGBM's keys, and sums that are raw scores."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, train
from gossamer.errors import DataError, ParameterError
from gossamer.tree import Forest, Tree

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 4))
TABLE[:, 2] = RNG.integers(0, 9, 400)
TABLE[::6, 0] = np.nan
LABEL = np.nan_to_num(TABLE[:, 0]) + (TABLE[:, 2] % 3) + 0.3 * TABLE[:, 1]
SMALL = {"num_leaves": 6, "num_threads": 1, "verbosity": -1}
KINDS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "regression": ({}, LABEL, "auto"),
    "zero is missing": ({"zero_as_missing": True}, LABEL, "auto"),
    "nothing is missing": ({"use_missing": False}, LABEL, "auto"),
    "classes": ({"objective": "multiclass", "num_class": 3}, LABEL.astype(int) % 3, "auto"),
    "categories": ({"cat_target_statistics": "off"}, LABEL, [2]),
    "linear": ({"linear_tree": True}, np.sin(LABEL) + TABLE[:, 1], "auto"),
    "forest": ({"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}, LABEL, "auto"),
    "parallel": (
        {"num_parallel_tree": 2, "bagging_fraction": 0.5, "bagging_freq": 1},
        LABEL,
        "auto",
    ),
    "vectors": (
        {"multi_strategy": "multi_output_tree"},
        np.column_stack([LABEL, -LABEL]),
        "auto",
    ),
    "constant": ({}, np.ones(400), "auto"),
}


def make(kind: str, n_rounds: int = 4) -> Booster:
    params, label, categories = KINDS[kind]
    names = ["größe", "b", "c", "d"]
    data = Dataset(TABLE, label, feature_name=names, categorical_feature=categories)
    return train({**SMALL, **params}, data, n_rounds)


def goes_left(node: dict[str, Any], x: float) -> bool:
    """As LightGBM decides."""
    if node["decision_type"] == "==":
        if math.isnan(x) and node["missing_type"] != "NaN":
            x = 0.0
        whole = -1 if math.isnan(x) else math.ceil(x - 0.5)
        return str(whole) in node["threshold"].split("||")
    if math.isnan(x) and node["missing_type"] != "NaN":
        x = 0.0
    is_missing = math.isnan(x) or (node["missing_type"] == "Zero" and abs(x) <= 1e-35)
    return bool(node["default_left"]) if is_missing else x <= node["threshold"]


def value_of(tree: dict[str, Any], row: Any) -> Any:
    at = tree["tree_structure"]
    while "split_index" in at:
        at = at["left_child" if goes_left(at, row[at["split_feature"]]) else "right_child"]
    if not at.get("leaf_features"):
        return np.array(at["leaf_value"])
    value = at["leaf_const"] + sum(
        c * row[i] for c, i in zip(at["leaf_coeff"], at["leaf_features"], strict=True)
    )
    return (
        at["leaf_value"] if math.isnan(value) else np.clip(value, at["leaf_low"], at["leaf_high"])
    )


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_add_up_to_raw_scores(kind: str) -> None:
    booster = make(kind)
    found = json.loads(json.dumps(booster.dump_model()))
    k = found["num_class"]
    scores = np.zeros((50, k))
    for i, row in enumerate(TABLE[:50]):
        for t, tree in enumerate(found["tree_info"]):
            value = value_of(tree, row)
            place = slice(None) if np.ndim(value) else t % k
            scores[i, place] += value
    if found["average_output"]:
        scores /= booster.current_iteration()
    raw = booster.predict(TABLE[:50], raw_score=True).reshape(50, k)
    np.testing.assert_allclose(scores, raw, rtol=1e-10, atol=1e-10)


def test_rounds_importance_and_hooks() -> None:
    booster = make("regression")
    assert len(booster.dump_model(num_iteration=2)["tree_info"]) == 2
    later = booster.dump_model(start_iteration=1)
    assert len(later["tree_info"]) == 3
    assert later["tree_info"][0]["shrinkage"] == 0.1
    booster.best_iteration = 3
    assert len(booster.dump_model()["tree_info"]) == 3
    gains = booster.dump_model(importance_type="gain")["feature_importances"]
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    assert set(gains) <= set(booster.feature_name())
    with pytest.raises(ParameterError, match="importance_type"):
        booster.dump_model(importance_type="beauty")
    seen: list[dict[str, Any]] = []

    def hook(found: dict[str, Any]) -> dict[str, Any]:
        seen.append(found)
        found.pop("leaf_weight", None)
        return found

    dumped = booster.dump_model(object_hook=hook)
    assert "leaf_weight" not in json.dumps(dumped) and seen[-1] is dumped
    n_nodes = sum(2 * tree["num_leaves"] - 1 for tree in dumped["tree_info"])
    assert len(seen) == n_nodes + 3 + 3  # trees; infos, importances, all


def test_objectives_in_words() -> None:
    for params, words in [
        ({"objective": "binary", "sigmoid": 0.5}, "binary sigmoid:0.5"),
        ({"objective": "multiclassova", "num_class": 3}, "multiclassova num_class:3 sigmoid:1"),
        ({"objective": "l1", "reg_sqrt": True}, "regression_l1 sqrt"),
        ({"objective": "poisson"}, "poisson"),
    ]:
        booster = train({**SMALL, **params}, Dataset(TABLE, (LABEL > 1).astype(int)), 1)
        assert booster.dump_model()["objective"] == words


def test_monotone_constraints() -> None:
    params = {**SMALL, "monotone_constraints": {"d": 1, "b": -1}}
    booster = train(params, Dataset(TABLE, LABEL, feature_name=list("abcd")), 1)
    assert booster.dump_model()["monotone_constraints"] == [0, -1, 0, 1]
    assert make("regression").dump_model()["monotone_constraints"] == []


def test_levels_and_statistics() -> None:
    town = np.array(["Bern", "Oslo", "Rome"], object)[RNG.integers(0, 3, 400)]
    mixed = np.column_stack([TABLE.astype(object), town])
    params = {**SMALL, "cat_target_statistics": "on"}
    booster = train(params, Dataset(mixed, LABEL + 3 * (town == "Oslo")), 3)
    dumped = booster.dump_model()
    assert dumped["pandas_categorical"] == [["Bern", "Oslo", "Rome"]]
    assert dumped["feature_names"][5:] and dumped["feature_names"][5].endswith("of Column_4")
    assert dumped["max_feature_idx"] == len(dumped["feature_names"]) - 1
    used = [c for tree in dumped["tree_info"] for c in _columns(tree["tree_structure"])]
    assert max(used) > 4
    assert next(iter(dumped["feature_importances"])) in ("Column_0", "Column_4")


def _columns(at: dict[str, Any]) -> list[int]:
    if "split_index" not in at:
        return []
    return [at["split_feature"], *_columns(at["left_child"]), *_columns(at["right_child"])]


def test_a_model_without_trees_shows_its_start() -> None:
    booster = make("regression")
    start = float(booster.model.start[0])
    trees = booster[:0].dump_model()["tree_info"]
    assert [tree["tree_structure"]["leaf_value"] for tree in trees] == [start]
    assert booster[2:2].dump_model()["tree_info"] == []


def test_a_tree_of_depth_2000() -> None:
    """Neither the dump nor the table needs the stack of Python for it."""
    n = 2000
    left, right = np.arange(1, n + 1), ~np.arange(n)
    left[-1] = ~n
    tree = Tree(
        np.zeros(n, np.int32), np.arange(n, 0.0, -1), np.zeros(n, np.int8), np.zeros(n, np.int8),
        left.astype(np.int32), right.astype(np.int32), np.ones(n), np.zeros(n), np.ones(n),
        np.ones(n, np.int64), np.arange(n + 1.0), np.ones(n + 1), np.ones(n + 1, np.int64),
    )  # fmt: skip
    model = replace(make("regression").model, forest=Forest.from_trees([tree], 1, 4))
    booster = Booster.from_model(model)
    at = booster.dump_model()["tree_info"][0]["tree_structure"]
    for _ in range(n):
        at = at["left_child"]
    assert at["leaf_index"] == n
    pytest.importorskip("pandas")
    frame = booster.trees_to_dataframe()
    assert len(frame) == 2 * n + 1 and frame["node_depth"].max() == n + 1


# ---- the table ----


def test_the_table_of_nodes() -> None:
    pytest.importorskip("pandas")
    booster = make("categories")
    frame = booster.trees_to_dataframe()
    nodes = frame[frame["split_feature"].notna()]
    assert len(frame) == sum(2 * t["num_leaves"] - 1 for t in booster.dump_model()["tree_info"])
    assert set(nodes["split_feature"]) <= set(booster.feature_name())
    assert set(nodes["decision_type"]) == {"<=", "=="}
    assert (nodes[nodes["decision_type"] == "=="]["missing_direction"] == "right").all()
    counts = frame.set_index("node_index")["count"]
    for _, line in nodes.iterrows():
        assert counts[line["left_child"]] + counts[line["right_child"]] == line["count"]
    with pytest.raises(DataError, match="no trees"):
        booster[2:2].trees_to_dataframe()


def _pair(**changes: Any) -> tuple[Any, Any]:
    """A model of each library, whose trees are the same."""
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("pandas")
    # Few values, none of them zero (LightGBM has a bin for it): bins and thresholds agree.
    table = np.round(TABLE * 2) / 2 + 10
    params = {**SMALL, "min_data_in_leaf": 20, "deterministic": True, **changes}
    names = ["a", "b", "c", "d"]
    theirs = lightgbm.train(params, lightgbm.Dataset(table, LABEL, feature_name=names), 3)
    ours = train(params, Dataset(table, LABEL, feature_name=names), 3)
    return ours, theirs


# Ranges of the training data, which we do not keep; and where missing values go, which either may
# choose where a node had none. (That these are right is tested by scores.)
_OURS = {"feature_infos", "default_left", "missing_type", "missing_direction"}


def _same(ours: Any, theirs: Any, path: str = "") -> None:
    """The same keys in the same order, and the same values but for rounding."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), path
        for key, value in theirs.items():
            if key not in _OURS:
                _same(ours[key], value, f"{path}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), path
        for i, value in enumerate(theirs):
            _same(ours[i], value, f"{path}[{i}]")
    elif isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        assert ours == pytest.approx(theirs, rel=2e-5, abs=1e-7), path
    else:
        assert ours == theirs, path


@pytest.mark.parametrize("changes", [{}, {"lambda_l2": 5.0}, {"max_depth": 2}])
def test_lightgbm_dumps_the_same(changes: dict[str, Any]) -> None:
    ours, theirs = _pair(**changes)
    _same(ours.dump_model(), theirs.dump_model())
    for kind in ("split", "gain"):
        found, expected = (
            model.dump_model(importance_type=kind)["feature_importances"]
            for model in (ours, theirs)
        )
        assert found == pytest.approx(expected, abs=1)  # LightGBM cuts gains to whole numbers


def test_lightgbm_has_the_same_table() -> None:
    ours, theirs = (model.trees_to_dataframe() for model in _pair())
    assert list(ours) == list(theirs)
    for name in sorted(set(theirs) - _OURS):
        if theirs[name].dtype.kind in "if":
            np.testing.assert_allclose(
                ours[name].astype(float), theirs[name].astype(float), rtol=2e-5, atol=1e-7
            )
        else:
            assert ours[name].fillna("").tolist() == theirs[name].fillna("").tolist(), name
