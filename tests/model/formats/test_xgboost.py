"""XGBoost's models, read and written, against the package itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import gossamer as gs
from gossamer.data.categories.levels import Levels
from gossamer.errors import ModelFileError, NotSupportedError, ParameterError
from gossamer.model import formats
from gossamer.model.formats import ubjson, xgboost, xgboost_ubj
from gossamer.tree import Forest

xgb = pytest.importorskip("xgboost")

Floats = npt.NDArray[np.float64]
N_ROWS = 200


def make_rows() -> Floats:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N_ROWS, 4)).astype(np.float32).astype(np.float64)
    x[:, 3] = np.round(x[:, 3] * 2)
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


ROWS = make_rows()
SCORE = np.nan_to_num(ROWS[:, 0]) - np.nan_to_num(ROWS[:, 3]) + ROWS[:, 1] ** 2 / 3
SCORE = np.nan_to_num(SCORE)
LABELS: dict[str, Any] = {
    "number": SCORE,
    "zero_one": (SCORE > 0).astype(float),
    "class": np.digitize(SCORE, [-1, 1]).astype(float),
    "positive": np.exp(SCORE / 2),
    "event": np.exp(SCORE / 2) * np.where(SCORE > 1, -1, 1),
    "two": np.column_stack([SCORE, SCORE > 0]),
    "two_labels": np.column_stack([SCORE > 0, SCORE > 1]).astype(float),
}


def their_model(params: dict[str, Any], label: str, n_rounds: int = 6, **kwargs: Any) -> Any:
    data = xgb.DMatrix(ROWS, LABELS[label], **kwargs)
    objective = params.get("objective", "")
    if objective.startswith("rank"):
        data.set_group([N_ROWS // 2] * 2)
    if objective == "survival:aft":
        data.set_float_info("label_lower_bound", LABELS[label])
        data.set_float_info("label_upper_bound", LABELS[label] * 1.5)
    return xgb.train({"nthread": 1, "max_depth": 3, **params}, data, n_rounds)


def read(content: bytes) -> gs.Booster:
    return gs.Booster.from_model(formats.from_bytes(bytes(content)))


def load(model: gs.Booster, format: str) -> Any:
    """Let XGBoost read what we write."""
    return xgb.Booster({"nthread": 1}, model_file=bytearray(formats.to_bytes(model.model, format)))


def assert_same(theirs: Any, ours: gs.Booster, x: Any = ROWS, **kwargs: Any) -> None:
    data = xgb.DMatrix(x, **kwargs)
    margin = ours.predict(x, raw_score=True)
    most = 1e-6 * max(1, np.abs(margin).max())
    np.testing.assert_allclose(theirs.predict(data, output_margin=True), margin, rtol=0, atol=most)
    np.testing.assert_allclose(theirs.predict(data), ours.predict(x), rtol=2e-6, atol=2e-6)


THEIRS = [
    ({}, "number"),
    ({"objective": "reg:squaredlogerror"}, "positive"),
    ({"objective": "reg:logistic"}, "zero_one"),
    ({"objective": "reg:pseudohubererror"}, "number"),
    ({"objective": "reg:absoluteerror"}, "number"),
    ({"objective": "reg:quantileerror", "quantile_alpha": 0.3}, "number"),
    ({"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]}, "number"),
    ({"objective": "reg:gamma"}, "positive"),
    ({"objective": "reg:tweedie"}, "positive"),
    ({"objective": "count:poisson"}, "class"),
    ({"objective": "binary:logistic"}, "zero_one"),
    ({"objective": "binary:logistic", "base_score": 0.997}, "zero_one"),
    ({"objective": "binary:logitraw"}, "zero_one"),
    ({"objective": "binary:hinge"}, "zero_one"),
    ({"objective": "binary:logistic"}, "two_labels"),
    ({"objective": "multi:softmax", "num_class": 3}, "class"),
    ({"objective": "multi:softprob", "num_class": 3, "base_score": 0.5}, "class"),
    ({"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 3, "eta": 0.1}, "class"),
    ({"objective": "rank:ndcg"}, "class"),
    ({"objective": "rank:map"}, "zero_one"),
    ({"objective": "rank:pairwise"}, "class"),
    ({"objective": "survival:cox"}, "event"),
    ({"objective": "survival:aft", "aft_loss_distribution": "logistic"}, "positive"),
    ({"booster": "dart", "rate_drop": 0.5}, "number"),
    ({"booster": "dart", "rate_drop": 0.5, "num_class": 3, "objective": "multi:softmax"}, "class"),
    ({"tree_method": "exact", "gamma": 5}, "number"),
    ({"grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0}, "number"),
    ({"num_parallel_tree": 4, "subsample": 0.5}, "number"),
    ({}, "two"),
    ({"multi_strategy": "multi_output_tree"}, "two"),
    (
        {"multi_strategy": "multi_output_tree", "objective": "multi:softprob", "num_class": 3},
        "class",
    ),
]


@pytest.mark.parametrize(("params", "label"), THEIRS, ids=str)
def test_their_models_predict_the_same_here_and_back_there(
    params: dict[str, Any], label: str
) -> None:
    if "subsample" not in params and "num_parallel_tree" in params:
        params = {**params, "subsample": 0.5}
    theirs = their_model(params, label)
    ours = read(theirs.save_raw("json"))
    assert_same(theirs, ours)
    from_ubj = read(theirs.save_raw("ubj"))
    np.testing.assert_array_equal(from_ubj.predict(ROWS), ours.predict(ROWS))
    assert ours.current_iteration() == theirs.num_boosted_rounds() == 6
    assert ours.num_feature() == 4 and ours.num_trees() == len(theirs.get_dump())
    data = xgb.DMatrix(ROWS)
    for format in ("xgboost", "xgboost_ubj"):
        again = load(ours, format)
        np.testing.assert_allclose(again.predict(data), theirs.predict(data), rtol=2e-6, atol=1e-6)
        assert again.num_boosted_rounds() == 6


@pytest.mark.parametrize(
    "params", [{}, {"tree_method": "exact", "gamma": 5}, {"num_parallel_tree": 2, "subsample": 0.5}]
)
def test_leaves_are_the_same(params: dict[str, Any]) -> None:
    theirs = their_model({"objective": "multi:softprob", "num_class": 3, **params}, "class", 3)
    ours = read(theirs.save_raw()).predict(ROWS, pred_leaf=True)
    numbers = theirs.predict(xgb.DMatrix(ROWS), pred_leaf=True).astype(int)
    trees = json.loads(theirs.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
    # Ours has a tree of each class before the next one, theirs all trees of a class together.
    n_parallel = params.get("num_parallel_tree", 1)
    places = np.arange(len(trees)).reshape(3, 3, n_parallel).swapaxes(1, 2).ravel()
    for t, place in enumerate(places):
        lefts, rights = trees[place]["left_children"], trees[place]["right_children"]
        waiting, leaves = [0], []
        while waiting:
            node = waiting.pop()
            if lefts[node] == -1:
                leaves.append(node)
            else:
                waiting += [lefts[node], rights[node]]
        np.testing.assert_array_equal(np.sort(leaves)[ours[:, t]], numbers[:, place])


def test_doubles_at_thresholds_go_the_same_way() -> None:
    theirs = their_model({"max_depth": 6}, "number", 10)
    ours = read(theirs.save_raw())
    tree = json.loads(theirs.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
    cuts = [t for each in tree for t in each["split_conditions"]]
    near = np.float32(cuts)[:, None] + np.zeros(3, np.float32)
    near[:, 0] = np.nextafter(near[:, 0], np.float32(-np.inf))
    near[:, 2] = np.nextafter(near[:, 2], np.float32(np.inf))
    wide = near.astype(np.float64)
    middle = (wide[:, :2] + wide[:, 1:]) / 2
    x = np.concatenate([wide.ravel(), middle.ravel()])
    x = np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
    assert_same(theirs, ours, np.repeat(x[:, None], 4, axis=1))


def categories(n_levels: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    x = ROWS.copy()
    x[:, 0] = rng.integers(0, n_levels, N_ROWS)
    x[:, 2] = rng.integers(0, 5, N_ROWS)
    return x


TYPES = ["c", "float", "c", "float"]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("onehot", [1, 100])
def test_categories(missing: float, onehot: int) -> None:
    x = categories(40)
    label = x[:, 0] % 7 + SCORE + x[:, 2] % 3
    x[np.random.default_rng(2).random(x.shape) < missing] = np.nan
    kwargs = {"feature_types": TYPES, "enable_categorical": True}
    params = {"max_cat_to_onehot": onehot, "nthread": 1, "max_depth": 4}
    theirs = xgb.train(params, xgb.DMatrix(x, label, **kwargs), 10)
    ours = read(theirs.save_raw())
    new = categories(40, seed=3)  # all of them again, in other rows
    new[::9, 0] = np.nan
    assert_same(theirs, ours, x, **kwargs)
    assert_same(theirs, ours, new, **kwargs)
    arrays = ours.model.forest.arrays
    assert len(arrays["category"]) > 0
    assert not missing or set(arrays["default_left"].tolist()) == {0, 1}
    for format in ("xgboost", "xgboost_ubj"):
        again = load(ours, format)
        assert again.feature_types == TYPES
        data = xgb.DMatrix(new, **kwargs)
        np.testing.assert_allclose(again.predict(data), theirs.predict(data), rtol=1e-6, atol=1e-6)


def one_split(default_left: int, listed: list[int]) -> bytes:
    """A model that splits one categorical column."""
    tree = {
        "base_weights": [0.0, -1.0, 1.0],
        "categories": listed,
        "categories_nodes": [0],
        "categories_segments": [0],
        "categories_sizes": [len(listed)],
        "default_left": [default_left, 0, 0],
        "id": 0,
        "left_children": [1, -1, -1],
        "loss_changes": [1.0, 0.0, 0.0],
        "parents": [2147483647, 0, 0],
        "right_children": [2, -1, -1],
        "split_conditions": [0.0, -1.0, 1.0],
        "split_indices": [0, 0, 0],
        "split_type": [1, 0, 0],
        "sum_hessian": [2.0, 1.0, 1.0],
        "tree_param": {
            "num_deleted": "0",
            "num_feature": "1",
            "num_nodes": "3",
            "size_leaf_vector": "1",
        },
    }
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "1"},
        "tree_info": [0],
        "iteration_indptr": [0, 1],
        "trees": [tree],
    }
    learner = {
        "attributes": {},
        "feature_names": [],
        "feature_types": ["c"],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {"base_score": "0", "num_class": "0", "num_feature": "1"},
        "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    return json.dumps({"learner": learner, "version": [2, 1, 4]}).encode()


@pytest.mark.parametrize("default_left", [0, 1])
@pytest.mark.parametrize("listed", [[0], [1, 5], [*range(256)]])
def test_categories_that_were_not_seen(default_left: int, listed: list[int]) -> None:
    content = one_split(default_left, listed)
    theirs, ours = xgb.Booster(model_file=bytearray(content)), read(content)
    known = [np.nan, *map(float, range(256))]
    x = np.array([*known, 256.0, 1e6])[:, None]
    data = xgb.DMatrix(x, feature_types=["c"], enable_categorical=True)
    expected, found = theirs.predict(data), ours.predict(x)
    np.testing.assert_array_equal(found[: len(known)], expected[: len(known)])
    # Codes beyond the known ones: XGBoost sends them left, here they follow the missing values.
    assert found[-2:].tolist() == ([-1, -1] if default_left else [1, 1])
    assert expected[-2:].tolist() == [-1, -1]


def test_names_of_categories() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)

    def frame(levels: list[str], numbers: list[int], n_rows: int = 100) -> Any:
        return pd.DataFrame(
            {
                "town": pd.Categorical(rng.choice(levels, n_rows), categories=levels),
                "x": rng.normal(size=n_rows),
                "size": pd.Categorical(rng.choice(numbers, n_rows), categories=numbers),
            }
        )

    table = frame(["Rome", "Bern", "Oslo", "Lima"], [30, 10, 20])
    label = (table["town"] == "Bern") * 2 + (table["size"] == 10) + table["x"]
    data = xgb.DMatrix(table, label, enable_categorical=True)
    theirs = xgb.train({"nthread": 1, "max_cat_to_onehot": 1}, data, 5)
    ours = read(theirs.save_raw("json"))
    assert ours.feature_name() == ["town", "x", "size"]
    again = load(ours, "xgboost_ubj")
    for new in (table, frame(["Lima", "Rome", "Bern"], [10, 20, 30])):
        data = xgb.DMatrix(new, enable_categorical=True)
        np.testing.assert_allclose(ours.predict(new), theirs.predict(data), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(again.predict(data), theirs.predict(data), rtol=1e-6, atol=1e-6)


def test_cut_names_of_categories_warn(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(one_split(1, [1]))
    names = {"offsets": [0, 1, 2], "values": [-61, 98]}  # half an umlaut
    trees = document["learner"]["gradient_booster"]["model"]
    trees["cats"] = {"enc": [names], "feature_segments": [0, 2], "sorted_idx": [1, 0]}
    with pytest.warns(UserWarning, match="names of the categories of column 0"):
        model = read(json.dumps(document).encode())
    assert model.predict([[0.0], [1.0]]).tolist() == [-1, 1]


OURS = [
    ({}, "number"),
    ({"use_missing": False}, "number"),
    ({"objective": "binary"}, "zero_one"),
    ({"objective": "binary:logitraw"}, "zero_one"),
    ({"objective": "cross_entropy"}, "zero_one"),
    ({"objective": "focal"}, "zero_one"),
    ({"objective": "hinge"}, "zero_one"),
    ({"objective": "regression_l1"}, "number"),
    ({"objective": "huber"}, "number"),
    ({"objective": "quantile"}, "number"),
    ({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}, "number"),
    ({"objective": "poisson"}, "class"),
    ({"objective": "gamma"}, "positive"),
    ({"objective": "tweedie"}, "positive"),
    ({"objective": "cox"}, "event"),
    ({"objective": "aft"}, "positive"),
    ({"objective": "multiclass", "num_class": 3}, "class"),
    ({"objective": "multi:softmax", "num_class": 3}, "class"),
    ({"objective": "multiclassova", "num_class": 3}, "class"),
    ({"num_parallel_tree": 2, "bagging_fraction": 0.5, "bagging_freq": 1}, "two"),
    ({"multi_strategy": "multi_output_tree"}, "two"),
    ({"boosting": "dart"}, "number"),
    ({"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}, "number"),
]


def our_model(params: dict[str, Any], label: Any, x: Any = ROWS, **kwargs: Any) -> gs.Booster:
    given = {"verbose": -1, "num_threads": 1, "num_leaves": 6, "min_data_in_leaf": 3, **params}
    values = LABELS[label] if isinstance(label, str) else label
    return gs.train(given, gs.Dataset(x, values, **kwargs), params.get("num_iterations", 5))


@pytest.mark.parametrize(("params", "label"), OURS, ids=str)
def test_our_models_predict_the_same_there(params: dict[str, Any], label: str) -> None:
    ours = our_model(params, label)
    for format in ("xgboost", "xgboost_ubj"):
        assert_same(load(ours, format), ours)
        again = gs.Booster.from_model(formats.from_bytes(formats.to_bytes(ours.model, format)))
        np.testing.assert_allclose(again.predict(ROWS), ours.predict(ROWS), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("params", [{}, {"use_missing": False}, {"zero_as_missing": True}], ids=str)
def test_our_categories_predict_the_same_there(missing: float, params: dict[str, Any]) -> None:
    x = categories(30)
    label = x[:, 0] % 7 + SCORE
    x[np.random.default_rng(2).random(x.shape) < missing] = np.nan
    new = np.concatenate([x, categories(60)])
    if "zero_as_missing" in params:  # numbers would not go the same way
        x[:, [1, 3]] = new[:, [1, 3]] = 1
    own = {"min_data_per_group": 1, "cat_smooth": 1.0, "max_cat_to_onehot": 1, **params}
    ours = our_model(own, label, x, categorical_feature=[0, 2])
    assert len(ours.model.forest.arrays["category"]) > 0
    kwargs = {"feature_types": TYPES, "enable_categorical": True}
    assert_same(load(ours, "xgboost"), ours, new, **kwargs)


def test_what_scores_start_from_may_be_too_far_for_a_base_score() -> None:
    label = np.zeros(N_ROWS)
    label[0] = 1
    ours = our_model({"objective": "binary", "sigmoid": 2.5}, label)
    data = xgb.DMatrix(ROWS)
    found = load(ours, "xgboost").predict(data)
    np.testing.assert_allclose(found, ours.predict(ROWS), rtol=2e-6, atol=0)


@pytest.mark.parametrize("objective", ["binary", "regression", "poisson"])
def test_models_without_trees(objective: str) -> None:
    ours = our_model({"objective": objective, "num_iterations": 0}, "zero_one")
    np.testing.assert_allclose(
        load(ours, "xgboost").predict(xgb.DMatrix(ROWS)), ours.predict(ROWS), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"zero_as_missing": True}, "zero_as_missing"),
        ({"linear_tree": True}, "linear leaves"),
        ({"objective": "squared_log_error"}, "squared_log_error"),
        ({"objective": "gaussian"}, "gaussian"),
        ({"reg_sqrt": True}, "reg_sqrt"),
    ],
    ids=str,
)
def test_what_cannot_be_written(params: dict[str, Any], match: str) -> None:
    label = "positive" if "objective" in params else "number"
    ours = our_model(params, label, np.nan_to_num(ROWS))
    with pytest.raises(NotSupportedError, match=match):
        ours.model_to_string(format="xgboost")


def test_target_statistics_cannot_be_written() -> None:
    x = categories(30)
    own = {"cat_target_statistics": "on"}
    ours = our_model(own, x[:, 0] % 7 + SCORE, x, categorical_feature=[0])
    with pytest.raises(NotSupportedError, match="cat_target_statistics=off"):
        formats.to_bytes(ours.model, "xgboost")


def test_categories_beside_vector_leaves_cannot_be_written() -> None:
    one, two = read(one_split(1, [1])).model, our_model({}, "two").model
    tree = one.forest.tree(0)
    wide = replace(
        tree,
        node_value=np.repeat(tree.node_value, 2),
        leaf_value=np.repeat(tree.leaf_value, 2),
    )
    forest = Forest.from_trees([wide], 2, 4)
    with pytest.raises(NotSupportedError, match="categories together with vector leaves"):
        formats.to_bytes(replace(two, forest=forest), "xgboost")


def test_names_of_categories_that_are_no_text_cannot_be_written() -> None:
    model = replace(read(one_split(1, [1])).model, levels=Levels({0: (0.5, 1.5)}))
    with pytest.raises(NotSupportedError, match=r"got 0\.5, expected text"):
        formats.to_bytes(model, "xgboost")


def test_values_beyond_float32_cannot_be_written() -> None:
    ours = our_model({}, "number")
    ours.set_leaf_output(0, 0, 1e39)
    with pytest.raises(NotSupportedError, match="beyond float32"):
        formats.to_bytes(ours.model, "xgboost")


def test_files(tmp_path: Path) -> None:
    theirs = their_model({}, "number", feature_names=["a", 'b "', "c\\", "ü"])
    for ending in ("json", "ubj"):
        path = tmp_path / f"model.{ending}"
        theirs.save_model(path)
        ours = gs.Booster(model_file=path)
        assert ours.feature_name() == ["a", 'b "', "c\\", "ü"]
        np.testing.assert_allclose(
            ours.predict(ROWS), theirs.inplace_predict(ROWS, validate_features=False), rtol=1e-5
        )
    for format in ("xgboost", "xgboost_ubj"):
        path = tmp_path / ("ours.json" if format == "xgboost" else "ours.ubj")
        ours.save_model(path, format=format)
        again = xgb.Booster(model_file=path)
        assert again.feature_names == ["a", 'b "', "c\\", "ü"]
    text = ours.model_to_string(format="xgboost")
    assert json.loads(text)["version"] == [3, 2, 0]
    np.testing.assert_array_equal(gs.Booster(model_str=text).predict(ROWS), ours.predict(ROWS))
    with pytest.raises(ParameterError, match="not text"):
        ours.model_to_string(format="xgboost_ubj")


def test_shapley_values_are_theirs() -> None:
    params = {"objective": "multi:softprob", "num_class": 3}
    theirs = their_model(params, "class")
    ours = read(theirs.save_raw())
    expected = theirs.predict(xgb.DMatrix(ROWS), pred_contribs=True)
    np.testing.assert_allclose(ours.shap_values(ROWS), expected, rtol=0, atol=1e-5)
    expected = theirs.predict(xgb.DMatrix(ROWS), pred_interactions=True)
    np.testing.assert_allclose(ours.shap_interactions(ROWS), expected, rtol=0, atol=1e-5)


def test_boosters_in_memory() -> None:
    theirs = their_model({"objective": "binary:logistic"}, "zero_one")
    assert_same(theirs, gs.Booster.from_model(theirs))
    assert_same(theirs, read(theirs.__getstate__()["handle"]))  # with its parameters
    with pytest.raises(ParameterError, match="not a trained model of XGBoost"):
        gs.Booster.from_model(xgb.DMatrix(ROWS))
    pytest.importorskip("sklearn")
    model = xgb.XGBClassifier(n_estimators=30, n_jobs=1, early_stopping_rounds=2, max_depth=3)
    y = LABELS["zero_one"]
    model.fit(ROWS[:100], y[:100], eval_set=[(ROWS[100:], y[100:])], verbose=False)
    ours = gs.Booster.from_model(model)
    assert ours.current_iteration() == model.best_iteration + 1
    np.testing.assert_allclose(ours.predict(ROWS), model.predict_proba(ROWS)[:, 1], rtol=1e-5)


def test_linear_models_are_not_read() -> None:
    linear = xgb.train({"booster": "gblinear", "nthread": 1}, xgb.DMatrix(ROWS, SCORE), 2)
    for format in ("json", "ubj"):
        with pytest.raises(NotSupportedError, match="gblinear"):
            read(linear.save_raw(format))


def test_rounds_of_different_sizes_are_not_read() -> None:
    document = json.loads(
        their_model({"num_parallel_tree": 2, "subsample": 0.5}, "number", 2).save_raw("json")
    )
    document["learner"]["gradient_booster"]["model"]["iteration_indptr"] = [0, 1, 4]
    with pytest.raises(NotSupportedError, match="different numbers of trees"):
        read(json.dumps(document).encode())


def test_unknown_objectives_are_not_read() -> None:
    content = one_split(1, [1]).replace(b"reg:squarederror", b"reg:something")
    with pytest.raises(NotSupportedError, match="reg:something"):
        read(content)


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (b'{"learner":{}}', "xgboost"),
        (b' {\n "version" : [1, 7, 6], "learner" : {} }', "xgboost"),
        (ubjson.dumps({"learner": {}}), "xgboost_ubj"),
        (ubjson.dumps({"Config": {}, "Model": {}}), "xgboost_ubj"),
        (b'{"features_info":{},"oblivious_trees":[]}', None),
        (b"{}", None),
        (b"tree\nversion=v4\n", None),
        (b"", None),
    ],
)
def test_matches(content: bytes, format: str | None) -> None:
    assert xgboost.matches(content) == (format == "xgboost")
    assert xgboost_ubj.matches(content) == (format == "xgboost_ubj")


def change(content: bytes, *path: str | int, to: Any) -> bytes:
    document = found = json.loads(content)
    for key in path[:-1]:
        found = found[key]
    if to is KeyError:
        del found[path[-1]]
    else:
        found[path[-1]] = to
    return json.dumps(document).encode()


LEARNER = ("learner",)
MODEL = (*LEARNER, "gradient_booster", "model")
TREE = (*MODEL, "trees", 0)
PARAM = (*LEARNER, "learner_model_param")


@pytest.mark.parametrize(
    ("path", "to", "match"),
    [
        (LEARNER, KeyError, "learner"),
        (LEARNER, [], "list"),
        ((*TREE, "left_children"), [1, 0, -1], "a child is not a node"),
        ((*TREE, "left_children"), [1, 1, -1], "a child is not a node"),
        ((*TREE, "left_children"), [2, -1, -1], "child of several"),
        ((*TREE, "left_children"), [3, -1, -1], "a child is not a node"),
        ((*TREE, "left_children"), [-7, -1, -1], "a child is not a node"),
        ((*TREE, "left_children"), [1.5, -1, -1], "not an integer"),
        ((*TREE, "left_children"), [2**70, -1, -1], "left_children"),
        ((*TREE, "left_children"), ["a", -1, -1], "not an array of numbers"),
        ((*TREE, "left_children"), [[1], -1, -1], "tree 0"),
        ((*TREE, "left_children"), [], "number of nodes"),
        ((*TREE, "right_children"), [2, -1], "right_children has 2 values, not 3"),
        ((*TREE, "split_indices"), [1, 0, 0], "column that is not there"),
        ((*TREE, "split_indices"), KeyError, "split_indices"),
        ((*TREE, "split_conditions"), [0, 1e39, 0], "a leaf is not finite"),
        ((*TREE, "split_conditions"), [0, float("nan"), 0], "a leaf is not finite"),
        ((*TREE, "sum_hessian"), [float("inf"), 0, 0], "sum_hessian is not finite"),
        ((*TREE, "split_type"), [0, 0], "split_type"),
        ((*TREE, "categories"), [-1], "out of range"),
        ((*TREE, "categories"), [2**24], "out of range"),
        ((*TREE, "categories_nodes"), [3], "not there"),
        ((*TREE, "categories_sizes"), [2], "not there"),
        ((*TREE, "categories_segments"), [2**62], "not there"),
        ((*TREE, "categories_sizes"), [0], "lists no categories"),
        ((*TREE, "tree_param", "num_nodes"), "4", "number of nodes"),
        ((*TREE, "tree_param", "size_leaf_vector"), "3", "numbers of values"),
        (TREE, 7, "trees are not a list of objects"),
        ((*MODEL, "tree_info"), [1], "output that is not there"),
        ((*MODEL, "trees"), {}, "trees are not a list of objects"),
        ((*PARAM, "num_feature"), "99999999999", "num_feature"),
        ((*PARAM, "num_class"), "99999999999", "num_class"),
        ((*PARAM, "num_feature"), "a", "invalid literal"),
        ((*PARAM, "base_score"), "[1,2]", "base_score"),
        ((*PARAM, "base_score"), "nan", "base_score"),
        ((*LEARNER, "feature_names"), ["a", "b"], "2 feature_names of 1 columns"),
        ((*LEARNER, "feature_types"), [1], "feature_types"),
        ((*LEARNER, "attributes"), {"a": 1}, "attribute"),
        ((*LEARNER, "objective"), {}, "name"),
        ((*LEARNER, "objective", "name"), "multi:softmax", "classes"),
        ((*LEARNER, "objective", "name"), ["a"], "unhashable"),
    ],
    ids=str,
)
def test_damaged(path: tuple[str | int, ...], to: Any, match: str) -> None:
    content = change(one_split(1, [1]), *path, to=to)
    with pytest.raises(ModelFileError, match=match):
        xgboost.read(content, "it")


def test_many_categories_in_a_small_file() -> None:
    with pytest.raises(ModelFileError, match="too many categories for a file of this size"):
        read(one_split(0, [2**24 - 1]))
    assert read(one_split(1, [2**24 - 1])).predict([[2.0**24 - 1], [0.0]]).tolist() == [1, -1]


def test_a_chain_of_many_nodes() -> None:
    n = 100_001
    left = np.full(n, -1)
    left[:-2:2] = np.arange(1, n - 1, 2)
    document = json.loads(one_split(1, [1]))
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    numbers = ("split_conditions", "split_indices", "default_left", "sum_hessian", "loss_changes")
    tree |= {name: [0] * n for name in (*numbers, "split_type", "base_weights")}
    tree |= {
        "left_children": left.tolist(),
        "right_children": np.where(left < 0, -1, left + 1).tolist(),
        "tree_param": {},
    }
    assert read(json.dumps(document).encode()).predict([[1.0]]).tolist() == [0]


def test_deep_json() -> None:
    with pytest.raises(ModelFileError, match="deep"):
        xgboost.read(b'{"learner":{"a":' + b"[" * 200_000, "it")


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "ubj"])
def test_damaged_bytes(format: str) -> None:
    x = categories(10)
    kwargs = {"feature_types": TYPES, "enable_categorical": True}
    params = {"nthread": 1, "max_depth": 2, "objective": "multi:softprob", "num_class": 3}
    data = xgb.DMatrix(x, LABELS["class"], **kwargs)
    content = bytes(xgb.train(params, data, 2).save_raw(format))
    reader = xgboost if format == "json" else xgboost_ubj
    rng = np.random.default_rng(5)
    n_damaged = 0
    for i in range(2500):
        damaged = bytearray(content)
        if i % 5 == 0:
            del damaged[rng.integers(len(damaged)) :]
        else:
            for place in rng.integers(len(damaged), size=1 + i % 3):
                damaged[place] = rng.choice(DIGITS) if format == "json" else rng.integers(256)
        try:
            model = reader.read(bytes(damaged), "it")
        except (ModelFileError, NotSupportedError):
            n_damaged += 1
            continue
        assert np.isfinite(
            gs.Booster.from_model(model).predict(np.zeros((1, model.n_columns)))
        ).all()
    assert n_damaged > 1000


DIGITS = np.frombuffer(b'0123456789-.,[]{}":eE a', np.uint8)
