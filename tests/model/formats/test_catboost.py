"""CatBoost's models predict the same here; damaged files are refused."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import DataError, ModelFileError, NotSupportedError

# Two symmetric trees over a number, a number whose missing values are a yes, and a category.
SYMMETRIC: dict[str, Any] = {
    "features_info": {
        "float_features": [
            {
                "borders": [0.5],
                "feature_id": "size",
                "feature_index": 0,
                "flat_feature_index": 0,
                "nan_value_treatment": "AsFalse",
            },
            {
                "borders": [-1.5],
                "feature_id": "age",
                "feature_index": 1,
                "flat_feature_index": 2,
                "nan_value_treatment": "AsTrue",
            },
        ],
        "categorical_features": [
            {
                "feature_id": "city",
                "feature_index": 0,
                "flat_feature_index": 1,
                "values": [1982436109, -1],
            }
        ],
        "cat_features_hash": [
            {"hash": 1982436109, "value": "Rome"},
            {"hash": 4294967295, "value": "Oslo"},
        ],
    },
    "model_info": {"params": {"loss_function": {"type": "Logloss", "params": {}}}},
    "oblivious_trees": [
        {
            "splits": [
                {"split_type": "FloatFeature", "float_feature_index": 0, "border": 0.5},
                {"split_type": "OneHotFeature", "cat_feature_index": 0, "value": 1982436109},
            ],
            "leaf_values": [1, 2, 4, 8],
            "leaf_weights": [10, 0, 5, 5],
        },
        {
            "splits": [{"split_type": "FloatFeature", "float_feature_index": 1, "border": -1.5}],
            "leaf_values": [0.25, -0.25],
            "leaf_weights": [12, 8],
        },
    ],
    "scale_and_bias": [2, [100]],
}
ROWS = np.array(
    [
        [0.5, "Rome", -2.0],
        [0.5 + 2**-26, "Rome", -1.5],  # rounded to float32: 0.5
        [0.6, "Oslo", None],
        [None, "Graz", 0.0],
        [7.0, "Rome", -9.0],
    ],
    dtype=object,
)
RAW = [108.5, 108.5, 103.5, 101.5, 116.5]

# One tree of two outputs that is not symmetric, without names or weights.
BRANCHES: dict[str, Any] = {
    "features_info": {
        "float_features": [
            {"borders": [0], "feature_index": 0, "flat_feature_index": 0},
            {"borders": [3], "feature_index": 1, "flat_feature_index": 1},
        ]
    },
    "model_info": {"params": json.dumps({"loss_function": {"type": "MultiRMSE"}})},
    "trees": [
        {
            "split": {"split_type": "FloatFeature", "float_feature_index": 1, "border": 3},
            "left": {"value": [1, 10]},
            "right": {
                "split": {"split_type": "FloatFeature", "float_feature_index": 0, "border": 0},
                "left": {"value": [2, 20]},
                "right": {"value": [3, 30]},
            },
        }
    ],
    "scale_and_bias": [1, [0.5, 0]],
}


def load(facts: Any) -> gs.Booster:
    return gs.Booster(model_str=json.dumps(facts))


def change(facts: Any, path: list[Any], value: Any) -> Any:
    facts = copy.deepcopy(facts)
    at = facts
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return facts


def test_a_symmetric_tree_by_hand() -> None:
    booster = load(SYMMETRIC)
    assert booster.feature_name() == ["size", "city", "age"]
    np.testing.assert_array_equal(booster.predict(ROWS, raw_score=True), RAW)
    np.testing.assert_allclose(booster.predict(ROWS), 1 / (1 + np.exp(-np.array(RAW))))
    assert booster.params == {"objective": "binary"}


def test_a_tree_of_branches_by_hand() -> None:
    rows = [[0.0, 3.0], [0.0, 3.1], [0.1, 3.1], [np.nan, 4.0], [1.0, np.nan]]
    expected = [[1.5, 10], [2.5, 20], [3.5, 30], [2.5, 20], [1.5, 10]]
    np.testing.assert_array_equal(load(BRANCHES).predict(rows), expected)


def test_files_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(SYMMETRIC, indent=2))
    np.testing.assert_array_equal(gs.Booster(model_file=path).predict(ROWS, raw_score=True), RAW)
    path.write_bytes(b"CBM1\x00\x00")
    with pytest.raises(ModelFileError, match=r"binary CatBoost file.*format='json'"):
        gs.Booster(model_file=path)


def test_categories_that_are_whole_numbers() -> None:
    pairs = [{"hash": 1982436109, "value": "7"}, {"hash": 4294967295, "value": "-2"}]
    booster = load(change(SYMMETRIC, ["features_info", "cat_features_hash"], pairs))
    rows = [[0.0, 7, -2.0], [0.0, -2, -2.0], [0.0, 8, -2.0]]
    np.testing.assert_array_equal(booster.predict(rows, raw_score=True), [108.5, 102.5, 102.5])
    for odd in ("007", "--5", "-0", "1" * 30, "\u0662"):
        pairs = [{"hash": 1982436109, "value": odd}, {"hash": 4294967295, "value": "-2"}]
        booster = load(change(SYMMETRIC, ["features_info", "cat_features_hash"], pairs))
        assert booster.levels.by_column == {1: (odd, "-2")}


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (["features_info", "float_features", 0, "flat_feature_index"], 10**12, "not numbered"),
        (["features_info", "float_features", 0, "flat_feature_index"], 2, "two features"),
        (["features_info", "float_features", 0, "feature_id"], "age", "the same name twice"),
        (["features_info", "float_features", 0, "nan_value_treatment"], "X", "treatment is 'X'"),
        (["features_info", "float_features"], 3, "not iterable"),
        (["features_info", "cat_features_hash", 0, "value"], "Oslo", "the same level twice"),
        (["oblivious_trees", 0, "splits", 0, "border"], float("nan"), "nan is not a finite"),
        (["oblivious_trees", 0, "splits", 0, "float_feature_index"], 9, "9 is absent"),
        (["oblivious_trees", 0, "splits", 0, "border"], None, "'border' is absent"),
        (["oblivious_trees", 0, "splits", 1, "value"], 4, "4 is absent"),
        (["oblivious_trees", 0, "splits"], [{}] * 3, "'split_type' is absent"),
        (["oblivious_trees", 0, "leaf_values"], [1, 2, 3], "2 levels has 3 leaf values"),
        (["oblivious_trees", 0, "leaf_values"], [], "2 levels has 0 leaf values"),
        (["oblivious_trees", 0, "leaf_values", 2], 1e308, "out of range"),
        (["oblivious_trees", 0, "leaf_values", 2], "4", "'4' is not a finite number"),
        (["oblivious_trees", 0, "leaf_values", 2], True, "True is not a finite number"),
        (["oblivious_trees", 0, "leaf_values"], list(range(8)), "differ in the number of values"),
        (["oblivious_trees", 0, "leaf_weights", 0], -1, "out of range"),
        (["oblivious_trees", 0, "leaf_weights"], [1], "4 leaves has 1 leaf weights"),
        (["oblivious_trees"], {"a": 1}, "the trees are not a list"),
        (["scale_and_bias"], [1], "not enough values"),
        (["scale_and_bias"], [1, [1, 2]], "the bias does not fit"),
        (["scale_and_bias", 0], float("inf"), "inf is not a finite number"),
        (["model_info", "params", "loss_function", "type"], "MultiClass", None),
    ],
)
def test_damage(path: list[Any], value: Any, reason: str | None) -> None:
    facts = change(SYMMETRIC, path, value)
    if reason is None:  # a softmax over a single score
        np.testing.assert_array_equal(load(facts).predict(ROWS), np.ones((5, 1)))
        return
    with pytest.raises(ModelFileError, match=rf"damaged CatBoost model \(.*{reason}"):
        load(facts)


def test_damaged_branches() -> None:
    for path, value, reason in [
        (["trees", 0, "left"], None, "'left' is absent"),
        (["trees", 0, "left"], {"value": 1}, "differ in their values"),
        (["trees", 0, "left", "value"], [], "differ in their values"),
        (["trees", 0, "left"], 3, "not iterable"),
    ]:
        with pytest.raises(ModelFileError, match=reason):
            load(change(BRANCHES, path, value))
    deep = '{"left":' * 200_000
    with pytest.raises(ModelFileError, match="nested too deeply"):
        gs.Booster(model_str='{"features_info": {}, "trees": [' + deep)
    with pytest.raises(ModelFileError, match="has 30 levels"):
        split = BRANCHES["trees"][0]["split"]
        facts = {"oblivious_trees": [{"splits": [split] * 30, "leaf_values": [0]}]}
        load({"features_info": BRANCHES["features_info"], **facts})


def test_altered_files_are_refused_or_read() -> None:
    rng = random.Random(0)
    for facts in (SYMMETRIC, BRANCHES):
        text = json.dumps(facts)
        for _ in range(1500):
            at, n = rng.randrange(1, len(text)), rng.choice([0, 1, 1, 5])
            put = rng.choice(["", "9", "-", "}", "[", "null", "1e400", '"a"', "NaN", '"split":{}'])
            try:
                booster = gs.Booster(model_str=text[:at] + put + text[at + n :])
            except (ModelFileError, NotSupportedError):
                continue
            assert booster.num_trees() in (1, 2)


def test_what_trees_here_do_not_have() -> None:
    ctr = {"split_type": "OnlineCtr", "border": 1, "split_index": 0}
    with pytest.raises(NotSupportedError, match=r"\(CTR\).*one_hot_max_size"):
        load(change(SYMMETRIC, ["oblivious_trees", 0, "splits", 0], ctr))
    with pytest.raises(NotSupportedError, match="got 'text_features'"):
        load(change(SYMMETRIC, ["features_info", "text_features"], [{"a": 1}]))
    with pytest.raises(NotSupportedError, match=r"does not say of which text.*pool="):
        load(change(SYMMETRIC, ["features_info", "cat_features_hash"], None))


# ---- against the package ----


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, 0]) + 2 * np.isnan(x[:, 1]) + rng.normal(size=300) * 0.1
    return x, y


def train(x: Any, y: Any, **params: Any) -> Any:
    catboost = pytest.importorskip("catboost")
    params = {"iterations": 12, "depth": 4, "thread_count": 1, "random_seed": 0} | params
    params |= {"verbose": 0, "allow_writing_files": False}
    return catboost.CatBoost(params).fit(x, y)


def close_rows(model: Any, x: np.ndarray) -> np.ndarray:
    """Rows at the borders of the model, and next to them."""
    rows = [x]
    for column, borders in model.get_borders().items():
        for step in (-1e-7, -3e-8, 0, 3e-8, 1e-7):
            new = np.zeros((len(borders), x.shape[1]))
            new[:, int(column)] = np.array(borders) * (1 + step)
            rows.append(new)
    return np.vstack(rows)


LOSSES: dict[str, str] = {
    "RMSE": "RawFormulaVal",
    "MAE": "RawFormulaVal",
    "Quantile:alpha=0.3": "RawFormulaVal",
    "Poisson": "Exponent",
    "Tweedie:variance_power=1.5": "Exponent",
    "Expectile:alpha=0.7": "RawFormulaVal",
    "Huber:delta=1": "RawFormulaVal",
    "LogCosh": "RawFormulaVal",
    "MAPE": "RawFormulaVal",
    "RMSEWithUncertainty": "RawFormulaVal",
    "MultiQuantile:alpha=0.2,0.8": "RawFormulaVal",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss: str) -> None:
    x, y = numbers()
    model = train(x, np.exp(y / 3), loss_function=loss)
    booster = gs.Booster.from_model(model)
    rows = close_rows(model, x)
    expected = model.predict(rows, prediction_type=LOSSES[loss])
    np.testing.assert_allclose(booster.predict(rows), expected, rtol=1e-12, atol=1e-13)
    assert booster.current_iteration() == 12


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide", "Depthwise"])
@pytest.mark.parametrize("loss", ["Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"])
def test_classes(loss: str, policy: str) -> None:
    x, y = numbers()
    label = np.digitize(y, [0, 1.5]) if loss.startswith("Multi") else y > 0
    params = {"nan_mode": "Max"} if policy == "Depthwise" else {}
    model = train(x, label.astype(int), loss_function=loss, grow_policy=policy, **params)
    booster = gs.Booster.from_model(model)
    rows = close_rows(model, x)
    raw = booster.predict(rows, raw_score=True)
    np.testing.assert_allclose(raw, model.predict(rows), rtol=1e-12, atol=1e-13)
    expected = model.predict(rows, prediction_type="Probability")
    if loss == "CrossEntropy" or loss == "Logloss":
        expected = expected[:, 1]
    np.testing.assert_allclose(booster.predict(rows), expected, rtol=1e-12)


def test_several_targets_and_ranking() -> None:
    x, y = numbers()
    model = train(x, np.column_stack([y, -y, y * y]), loss_function="MultiRMSE")
    np.testing.assert_allclose(gs.Booster.from_model(model).predict(x), model.predict(x), 1e-12)
    model = train(x, np.column_stack([y > 0, y > 1]).astype(int), loss_function="MultiLogloss")
    expected = model.predict(x, prediction_type="Probability")
    np.testing.assert_allclose(gs.Booster.from_model(model).predict(x), expected, 1e-12)
    catboost = pytest.importorskip("catboost")
    pool = catboost.Pool(x, np.digitize(y, [0, 1]), group_id=np.arange(300) // 10)
    model = train(pool, None, loss_function="YetiRank")
    scores = gs.Booster.from_model(model).predict(x)
    np.testing.assert_allclose(scores, model.predict(x), rtol=1e-12, atol=1e-13)


def test_categories(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(1)
    city, room = rng.choice(["Rome", "Oslo", "Bern"], 300), rng.integers(0, 4, 300)
    frame = pandas.DataFrame({"city": city, "size": rng.normal(size=300), "room": room})
    y = (city == "Rome") * 2 + (room == 3) + frame["size"].to_numpy()
    pool = catboost.Pool(frame, y, cat_features=["city", "room"])
    model = train(pool, None, one_hot_max_size=10)
    with pytest.raises(NotSupportedError, match="pool="):
        gs.Booster.from_model(model)
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json", pool=pool)
    booster = gs.Booster(model_file=path)
    new = pandas.DataFrame({"city": ["Ulm", "Oslo"], "size": [0.1, 0.2], "room": [9, 3]})
    for rows in (frame, new):
        np.testing.assert_allclose(booster.predict(rows), model.predict(rows), rtol=1e-12)
    with pytest.raises(NotSupportedError, match="CTR"):
        gs.Booster.from_model(train(pool, None, one_hot_max_size=2))


def test_missing_and_infinite_values_that_training_did_not_see() -> None:
    x, y = numbers()
    model = train(np.nan_to_num(x), y)
    x[::50], x[1::50] = np.inf, -np.inf
    x[2::50, 1] = 1e300
    expected = model.predict(x)
    np.testing.assert_allclose(gs.Booster.from_model(model).predict(x), expected, rtol=1e-12)


def test_an_untrained_object() -> None:
    catboost = pytest.importorskip("catboost")
    with pytest.raises(DataError, match="not a trained CatBoost model"):
        gs.Booster.from_model(catboost.CatBoostRegressor())
    with pytest.raises(DataError, match="not a trained CatBoost model"):
        gs.Booster.from_model(catboost.Pool([[1.0]]))
