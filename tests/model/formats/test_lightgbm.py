"""Models of LightGBM predict the same here, and ours predict the same there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer as gs
from gossamer.errors import DataError, ModelFileError, NotSupportedError, ParameterError
from gossamer.model import formats
from gossamer.model.formats import lightgbm as format_of
from gossamer.model.formats.lightgbm_names import written_names
from gossamer.model.model import Model
from gossamer.tree import Forest, Tree

N = 500
RNG = np.random.default_rng(7)
Table = Any


def make_table() -> Table:
    """Two columns of categories (2, 3), many zeros in 4, missing values everywhere."""
    x = RNG.normal(size=(N, 6))
    x[:, 2], x[:, 3] = RNG.integers(0, 12, N), RNG.integers(0, 80, N)
    x[:, 4] = np.where(RNG.random(N) < 0.5, 0, x[:, 4])
    x[RNG.random((N, 6)) < 0.08] = np.nan
    return x


X = make_table()
FILLED = np.nan_to_num(X)
Y = FILLED[:, 0] * 2 + np.sin(FILLED[:, 1] * 2) + FILLED[:, 2] % 3 + FILLED[:, 3] % 7 / 3
CLASSES = np.digitize(Y, [1, 3])
# What a model may be asked beside its training rows.
ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-36, -1, 1e10, 500, 3, 5e9, -1e300, 2, 7]
PROBE = np.vstack([X, RNG.choice(ODD, size=(400, 6))])
CALM = np.where(np.isinf(PROBE) | (np.abs(PROBE) > 1e6), 5.0, PROBE)

TREES = {
    "num_threads": 1,
    "num_leaves": 13,
    "min_data_in_leaf": 5,
    "cat_smooth": 1,
    "min_data_per_group": 5,
}
RF = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
POSITIVE = np.abs(Y) + 0.1
SHARE = 1 / (1 + np.exp(-Y))
RANKS = RNG.integers(0, 4, N)

# Name: parameters, labels.
PEER_MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    "plain": ({}, Y),
    "zero_as_missing": ({"zero_as_missing": True}, Y),
    "no_missing": ({"use_missing": False}, Y),
    "binary": ({"objective": "binary", "sigmoid": 0.7}, Y > 2),
    "linear": ({"linear_tree": True}, Y),
    "linear_binary": ({"linear_tree": True, "objective": "binary"}, Y > 2),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, CLASSES),
    "ova": ({"objective": "multiclassova", "num_class": 3, "sigmoid": 1.3}, CLASSES),
    "rf": (RF, Y),
    "rf_multiclass": ({**RF, "objective": "multiclass", "num_class": 3}, CLASSES),
    "dart": ({"boosting": "dart", "drop_rate": 0.5}, Y),
    "goss": ({"data_sample_strategy": "goss"}, Y),
    "not_from_average": ({"boost_from_average": False}, Y),
    "constant": ({"min_gain_to_split": 1e9, "verbosity": -1}, Y),
    "monotone": ({"monotone_constraints": [1, 0, 0, 0, 0, 0]}, Y),
    **{
        name: ({"objective": name}, POSITIVE)
        for name in ("regression_l1", "huber", "fair", "quantile", "mape")
    },
    **{name: ({"objective": name}, POSITIVE) for name in ("poisson", "gamma", "tweedie")},
    **{
        f"{name}_sqrt": ({"objective": name, "reg_sqrt": True}, Y)
        for name in ("regression", "regression_l1", "fair", "quantile")
    },
    **{name: ({"objective": name}, SHARE) for name in ("cross_entropy", "cross_entropy_lambda")},
    **{name: ({"objective": name}, RANKS) for name in ("lambdarank", "rank_xendcg")},
}


def train_peer(params: dict[str, Any], label: Any, rounds: int = 8, **kwargs: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    group = [25] * (N // 25) if "rank" in str(params.get("objective")) else None
    data = lightgbm.Dataset(X, label, group=group, categorical_feature=[2, 3], free_raw_data=False)
    return lightgbm.train({**TREES, "verbose": -1, **params}, data, rounds, **kwargs)


def train_own(params: dict[str, Any], label: Any, rounds: int = 8, **kwargs: Any) -> gs.Booster:
    group = [25] * (N // 25) if "rank" in str(params.get("objective")) else None
    data = gs.Dataset(X, label, group=group, categorical_feature=[2, 3])
    return gs.train({**TREES, "cat_target_statistics": "off", **params}, data, rounds, **kwargs)


def load_peer(text: str) -> Any:
    """LightGBM's model of a text; it ends the process where `tree_sizes` are wrong."""
    return pytest.importorskip("lightgbm").Booster(model_str=text)


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-300)


@pytest.mark.parametrize("name", PEER_MODELS)
def test_models_of_lightgbm(name: str) -> None:
    params, label = PEER_MODELS[name]
    peer = train_peer(params, label)
    model = gs.Booster.from_model(peer)
    # Where a column is infinite a line of LightGBM's is as well; here it is the plain value.
    table = CALM if "linear" in name else PROBE
    if "rf" not in name:  # whose raw scores there are sums
        expected = peer.predict(table, raw_score=True)
        np.testing.assert_array_equal(model.predict(table, raw_score=True), expected)
    assert_close(model.predict(table), peer.predict(table))
    if name != "constant":  # of a single round
        assert_close(
            model.predict(table, start_iteration=2, num_iteration=3),
            peer.predict(table, start_iteration=2, num_iteration=3),
        )
    leaves = peer.predict(table, pred_leaf=True).reshape(len(table), -1)
    np.testing.assert_array_equal(model.predict(table, pred_leaf=True), leaves)
    np.testing.assert_array_equal(model.feature_importance(), peer.feature_importance())
    np.testing.assert_allclose(
        model.feature_importance("gain"), peer.feature_importance("gain"), rtol=1e-5
    )
    if "linear" not in name and "rf" not in name:
        found = model.predict(X, pred_contrib=True).reshape(N, -1)
        np.testing.assert_allclose(found, peer.predict(X, pred_contrib=True), atol=1e-12)

    again = load_peer(model.model_to_string(format="lightgbm"))
    np.testing.assert_array_equal(
        again.predict(table, raw_score=True), peer.predict(table, raw_score=True)
    )
    np.testing.assert_array_equal(again.predict(table), peer.predict(table))


def test_raw_scores_of_forests_are_means_here() -> None:
    peer = train_peer(RF, Y)
    expected = peer.predict(PROBE, raw_score=True) / peer.current_iteration()
    found = gs.Booster.from_model(peer).predict(PROBE, raw_score=True)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["own_function", "continued", "early_stopped"])
def test_other_ways_to_train(name: str) -> None:
    if name == "own_function":
        peer = train_peer(
            {"objective": lambda p, d: (p - d.get_label(), np.ones_like(p)), "num_class": 1}, Y
        )
    elif name == "continued":
        peer = train_peer({}, Y, init_model=train_peer({}, Y))
        assert peer.num_trees() == 16
    else:
        lightgbm = pytest.importorskip("lightgbm")
        data = lightgbm.Dataset(X, RNG.normal(size=N), categorical_feature=[2, 3])
        valid = lightgbm.Dataset(X[:100], RNG.normal(size=100), reference=data)
        stop = lightgbm.early_stopping(2, verbose=False)
        peer = lightgbm.train(
            {**TREES, "verbose": -1},
            *(data, 50, [valid]),
            callbacks=[stop],
            keep_training_booster=True,
        )
        assert 0 < peer.best_iteration < peer.num_trees()
    model = gs.Booster.from_model(peer)
    np.testing.assert_array_equal(model.predict(PROBE), peer.predict(PROBE))


def test_estimators() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    estimator = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    with pytest.raises(ParameterError, match="not fitted: got 'LGBMClassifier'"):
        gs.Booster.from_model(estimator)
    estimator.fit(X, CLASSES)
    model = gs.Booster.from_model(estimator)
    assert_close(model.predict(X), estimator.predict_proba(X))
    with pytest.raises(ParameterError, match=r"not a LightGBM model: got 'Dataset'"):
        gs.Booster.from_model(lightgbm.Dataset(X))
    with pytest.raises(ParameterError, match=r"got 'CVBooster', .* pass one of its boosters"):
        gs.Booster.from_model(lightgbm.CVBooster())


OWN_MODELS: dict[str, tuple[dict[str, Any], Any]] = {
    **{name: found for name, found in PEER_MODELS.items() if not name.startswith("quantile_s")},
    "parallel": ({"num_parallel_tree": 3, "bagging_fraction": 0.6, "bagging_freq": 1}, Y),
    "rf_parallel": ({**RF, "num_parallel_tree": 3}, Y),
    "rf_linear": ({**RF, "linear_tree": True, "linear_extrapolation": 1e9}, Y),
    "targets": ({}, np.stack([Y, Y**2], axis=1)),
    "binary_targets": ({"objective": "binary"}, np.stack([Y > 0, Y > 2], axis=1)),
    "focal": ({"objective": "focal"}, Y > 2),
    "logitraw": ({"objective": "binary:logitraw"}, Y > 2),
    **{name: ({"objective": name}, POSITIVE) for name in ("cox", "aft", "log_cosh", "expectile")},
    "rank:ndcg": ({"objective": "rank:ndcg"}, RANKS),
    **{
        f"link_{link}": (
            {
                "objective": gs.CustomObjective(
                    lambda p, d: (p - d.get_label(), np.ones_like(p)), link=link
                )
            },
            Y,
        )
        for link in ("exp", "sigmoid", "softplus")
    },
}


@pytest.mark.filterwarnings("ignore:Linear leaves of LightGBM", "ignore:LightGBM sends missing")
@pytest.mark.parametrize("name", OWN_MODELS)
def test_own_models(name: str) -> None:
    params, label = OWN_MODELS[name]
    model = train_own(params, label)
    text = model.model_to_string(format="lightgbm")
    peer, again = load_peer(text), gs.Booster(model_str=text)
    # Beyond their bounds lines go on there; category 0 is not what is missing there.
    table = X if "linear" in name else PROBE
    if name == "no_missing":
        table = np.where(np.isnan(PROBE) & np.isin(np.arange(6), [2, 3]), 1e5, PROBE)
    if "linear" in name or "rf" in name:  # sums in another order
        expected = model.predict(table)
        atol = 4e-15 * np.abs(expected).max()
        for found in (peer, again):
            np.testing.assert_allclose(found.predict(table), expected, rtol=1e-15, atol=atol)
    else:
        expected = model.predict(table, raw_score=True)
        np.testing.assert_array_equal(peer.predict(table, raw_score=True), expected)
        np.testing.assert_array_equal(again.predict(table, raw_score=True), expected)
        assert_close(peer.predict(table), model.predict(table))
        assert_close(again.predict(table), model.predict(table))
    if name != "constant":  # without a tree there is one, for the start
        leaves = peer.predict(table, pred_leaf=True).reshape(len(table), -1)
        np.testing.assert_array_equal(model.predict(table, pred_leaf=True), leaves)
        assert len(peer.trees_to_dataframe()) == sum(
            2 * tree["num_leaves"] - 1 for tree in peer.dump_model()["tree_info"]
        )
    np.testing.assert_array_equal(peer.feature_importance(), model.feature_importance())
    np.testing.assert_allclose(
        peer.feature_importance("gain"), model.feature_importance("gain"), rtol=1e-6
    )
    if "linear" not in name and "rf" not in name:
        found = peer.predict(table, pred_contrib=True)
        expected = model.predict(table, pred_contrib=True).reshape(found.shape)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def test_vector_leaves_become_a_tree_for_each_output() -> None:
    data = gs.Dataset(FILLED, np.stack([Y, Y**2, -Y], axis=1))
    model = gs.train({**TREES, "multi_strategy": "multi_output_tree"}, data, 5)
    text = model.model_to_string(format="lightgbm")
    peer, again = load_peer(text), gs.Booster(model_str=text)
    assert again.num_trees() == 15
    for found in (peer, again):
        np.testing.assert_array_equal(found.predict(FILLED), model.predict(FILLED))


@pytest.mark.parametrize(
    ("params", "label", "words"),
    [
        ({"cat_target_statistics": "on"}, Y, "cannot hold target statistics"),
        ({"objective": "hinge"}, Y > 2, "got 'hinge'"),
        ({"objective": "gaussian"}, Y, "got 'gaussian'"),
        ({"objective": "multi:softmax", "num_class": 3}, CLASSES, "got 'multi:softmax'"),
        ({"objective": "squared_log_error"}, POSITIVE, "got 'squared_log_error'"),
        ({"objective": "poisson"}, np.stack([POSITIVE] * 2, axis=1), "several targets"),
    ],
)
def test_what_lightgbm_cannot_hold(params: dict[str, Any], label: Any, words: str) -> None:
    model = train_own(params, label, 2)
    with pytest.raises(NotSupportedError, match=words):
        model.model_to_string(format="lightgbm")


def test_bounds_of_lines_are_warned_of() -> None:
    model = train_own({"linear_tree": True}, Y)
    with pytest.warns(UserWarning, match="Linear leaves of LightGBM have no bounds"):
        model.model_to_string(format="lightgbm")


def with_kind(text: str, kind: int) -> Model:
    """The model of a text with another kind of missing value in its second node."""
    model = gs.Booster(model_str=text).model
    kinds = model.forest.arrays["missing_kind"].copy()
    kinds[1] = kind
    arrays = {**model.forest.arrays, "missing_kind": kinds}
    return replace(model, forest=replace(model.forest, arrays=arrays))


def test_category_zero_that_stands_for_missing_values_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="apart from category 0"):
        format_of.write(with_kind(PLAIN, 2))
    without = PLAIN.replace("cat_threshold=3 256", "cat_threshold=2 256")
    model = with_kind(without, 2)
    peer = load_peer(format_of.write(model).decode())  # and not of this one
    rows = np.array([[0.5, c] for c in (0, 1, 2, 40, np.nan)])
    np.testing.assert_array_equal(peer.predict(rows), gs.Booster.from_model(model).predict(rows))


@pytest.mark.parametrize("words", ["3 256", "1 0"])
def test_category_zero_that_is_missing(words: str) -> None:
    model = with_kind(PLAIN.replace("cat_threshold=3 256", f"cat_threshold={words}"), 1)
    peer = load_peer(format_of.write(model).decode())
    rows = np.array([[0.5, c] for c in (0, 1, 2, 40, np.nan)])
    expected = gs.Booster.from_model(model).predict(rows)
    assert expected[0] == 3  # where all else goes
    np.testing.assert_array_equal(peer.predict(rows), expected)


# ---- names and levels ----


def test_names() -> None:
    names = ["a b", "a_b", "größe=1", 'say "x"', "", "tab\t", "a,b"]
    with pytest.warns(UserWarning, match="5 are written with underscores, e.g. 'a_b_2' for 'a b'"):
        written = written_names(names)
    assert written == ["a_b_2", "a_b", "größe=1", "say__x_", "_", "tab_", "a_b_3"]
    data = gs.Dataset(RNG.normal(size=(N, 7)), Y, feature_name=names)
    model = gs.train(TREES, data, 1)
    with pytest.warns(UserWarning, match="underscores"):
        text = model.model_to_string(format="lightgbm")
    peer = load_peer(text)
    assert peer.feature_name() == written == gs.Booster(model_str=text).feature_name()
    assert peer.dump_model()["feature_names"] == written
    with pytest.raises(NotSupportedError, match="UTF-8"):
        written_names(["\ud800"])


def frame_of(pandas: Any) -> Any:
    return pandas.DataFrame(
        {
            "x": X[:, 0],
            "city": pandas.Categorical(RNG.choice(["Rome", "Bern", "Zürich"], N)),
            "size": pandas.Categorical(RNG.integers(3, 7, N)),
        }
    )


def frame_label(frame: Any) -> Any:
    return FILLED[:, 0] + 3.0 * frame["city"].cat.codes + 2.0 * (frame["size"].cat.codes % 2)


def test_levels_of_lightgbm() -> None:
    pandas = pytest.importorskip("pandas")
    lightgbm = pytest.importorskip("lightgbm")
    frame = frame_of(pandas)
    data = lightgbm.Dataset(frame, frame_label(frame))
    peer = lightgbm.train({**TREES, "verbose": -1}, data, 5)
    model = gs.Booster.from_model(peer)
    assert model.levels is not None
    assert model.levels.by_column == {1: ("Bern", "Rome", "Zürich"), 2: (3, 4, 5, 6)}
    other = frame.assign(
        city=pandas.Categorical(np.where(X[:, 1] > 0, "Oslo", frame["city"].astype(str)))
    )
    for table in (frame, other):
        np.testing.assert_array_equal(model.predict(table), peer.predict(table))


def test_own_levels() -> None:
    pandas = pytest.importorskip("pandas")
    frame = frame_of(pandas)
    params = {**TREES, "cat_target_statistics": "off"}
    model = gs.train(params, gs.Dataset(frame, frame_label(frame)), 5)
    text = model.model_to_string(format="lightgbm")
    peer, again = load_peer(text), gs.Booster(model_str=text)
    assert peer.pandas_categorical == [["Bern", "Rome", "Zürich"], [3, 4, 5, 6]]
    assert again.levels == model.levels
    for found in (peer, again):
        np.testing.assert_array_equal(found.predict(frame), model.predict(frame))


def test_ordered_categories_leave_it_open_whose_levels_there_are() -> None:
    pandas = pytest.importorskip("pandas")
    lightgbm = pytest.importorskip("lightgbm")
    frame = frame_of(pandas)
    frame["size"] = pandas.Categorical(frame["size"], ordered=True)
    data = lightgbm.Dataset(frame, frame_label(frame))
    peer = lightgbm.train({**TREES, "verbose": -1}, data, 5)
    with pytest.warns(UserWarning, match="does not say which columns they are of"):
        model = gs.Booster.from_model(peer)
    with pytest.raises(DataError, match="'city'"):
        model.predict(frame)
    codes = np.stack([frame["x"], frame["city"].cat.codes, frame["size"].cat.codes], axis=1)
    np.testing.assert_array_equal(model.predict(codes), peer.predict(frame))


# ---- files, and what they hold ----


def test_files(tmp_path: Path) -> None:
    peer = train_peer({"num_leaves": 7}, Y)
    peer.save_model(tmp_path / "peer.txt")
    model = gs.Booster(model_file=tmp_path / "peer.txt")
    np.testing.assert_array_equal(model.predict(PROBE), peer.predict(PROBE))
    assert model.params["num_leaves"] == 7 and model.params["objective"] == "regression"
    assert "max_bin" not in model.params  # at its default
    model.save_model(tmp_path / "own.txt", format="lightgbm")
    again = pytest.importorskip("lightgbm").Booster(model_file=tmp_path / "own.txt")
    np.testing.assert_array_equal(again.predict(PROBE), peer.predict(PROBE))
    assert again.params["num_leaves"] == 7
    model.save_model(tmp_path / "own.gsm")
    own = gs.Booster(model_file=tmp_path / "own.gsm")
    np.testing.assert_array_equal(own.predict(PROBE), peer.predict(PROBE))


def test_nothing_in_a_written_file_is_unknown_to_lightgbm(
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("lightgbm")
    params = {"num_leaves": 7, "eval_at": [1, 2], "extra_trees": True, "alpha": 0.3}
    params |= {"objective": "quantile", "monotone_constraints": [1, 0, 0, 0, 0, 0]}
    text = train_own({**params, "num_parallel_tree": 2}, Y, 1).model_to_string(format="lightgbm")
    peer = load_peer(text)
    assert "Warning" not in "".join(capfd.readouterr())
    assert peer.params["alpha"] == 0.3 and peer.params["extra_trees"]
    assert gs.Booster(model_str=text).params["alpha"] == 0.3


@pytest.mark.parametrize("params", [{}, {"learning_rate": 0.3}, {"boost_from_average": False}])
def test_lightgbm_refits_a_written_file_as_its_own(params: dict[str, Any]) -> None:
    few = {"verbosity": -1, "num_leaves": 5, "max_bin": 63, "min_data_in_bin": 1, **params}
    table = np.round(FILLED[:, :2], 1)
    model = gs.train(few, gs.Dataset(table, table[:, 0]), 8)
    peer = pytest.importorskip("lightgbm")
    other = peer.train(few, peer.Dataset(table, table[:, 0]), 8)
    np.testing.assert_allclose(model.predict(table), other.predict(table), rtol=1e-5)
    label = table[:, 0] + 3
    found = load_peer(model.model_to_string(format="lightgbm")).refit(table, label).predict(table)
    np.testing.assert_allclose(found, other.refit(table, label).predict(table), rtol=1e-4)


def test_training_goes_on_from_a_model_of_lightgbm(tmp_path: Path) -> None:
    peer = train_peer({"objective": "binary"}, Y > 2)
    peer.save_model(tmp_path / "peer.txt")
    data = gs.Dataset(X, Y > 2, categorical_feature=[2, 3])
    params = {**TREES, "objective": "binary", "cat_target_statistics": "off"}
    model = gs.train(params, data, 4, init_model=tmp_path / "peer.txt")
    assert model.num_trees() == 12
    assert_close(model.predict(PROBE, num_iteration=8), peer.predict(PROBE))

    def loss(found: Any) -> float:
        return float(-np.log(np.where(Y > 2, found, 1 - found)).mean())

    assert loss(model.predict(X)) < loss(peer.predict(X))
    with pytest.raises(ParameterError, match="objective whose scores mean something else"):
        gs.train({**params, "objective": "poisson"}, data, 1, init_model=tmp_path / "peer.txt")
    text = model.model_to_string(format="lightgbm")
    assert_close(load_peer(text).predict(PROBE), model.predict(PROBE))


def test_a_model_of_no_tree_keeps_its_start() -> None:
    model = train_own({}, Y, 3).model_to_string(num_iteration=1, format="lightgbm")
    assert gs.Booster(model_str=model).num_trees() == 1
    none = replace(gs.Booster(model_str=model).model, start=np.array([2.5]))
    none = replace(none, forest=Forest.from_trees([], 1, 6))
    text = format_of.write(none).decode()
    np.testing.assert_array_equal(gs.Booster(model_str=text).predict(X), np.full(N, 2.5))
    np.testing.assert_array_equal(load_peer(text).predict(X), np.full(N, 2.5))


def test_counts_are_made_up_where_there_are_none() -> None:
    model = train_own({}, Y, 3).model
    zeros = {
        name: np.zeros_like(model.forest.arrays[name]) for name in ("node_count", "leaf_count")
    }
    bare = replace(model, forest=replace(model.forest, arrays={**model.forest.arrays, **zeros}))
    found = load_peer(format_of.write(bare).decode()).predict(X, pred_contrib=True)
    expected = gs.Booster.from_model(model).predict(X, raw_score=True)
    np.testing.assert_allclose(found.sum(axis=1), expected)


def test_large_codes_are_refused() -> None:
    tree = Tree(
        column=np.zeros(1, np.int32),
        threshold=np.zeros(1),
        missing_kind=np.zeros(1, np.int8),
        default_left=np.zeros(1, np.int8),
        left=np.array([-1], np.int32),
        right=np.array([-2], np.int32),
        gain=np.ones(1),
        node_value=np.zeros(1),
        node_weight=np.ones(1),
        node_count=np.ones(1, np.int64),
        leaf_value=np.array([1.0, 2.0]),
        leaf_weight=np.ones(2),
        leaf_count=np.ones(2, np.int64),
        category_begin=np.array([0, 1], np.int64),
        category=np.array([2**31 - 1], np.int32),
    )
    model = Model(gs.Booster(model_str=PLAIN).model.objective, ["a"], np.zeros(1), None, {})  # type: ignore[arg-type]
    model = replace(model, forest=Forest.from_trees([tree], 1, 1))
    with pytest.raises(NotSupportedError, match="got 2147483647, expected smaller codes"):
        format_of.write(model)


# ---- files by hand ----

PLAIN = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=1
objective=regression
feature_names=a b
feature_infos=[0:1] 0:1:40
tree_sizes=1

Tree=0
num_leaves=4
num_cat=1
split_feature=0 1 0
split_gain=3 2 1
threshold=0.5 0 0.25
decision_type=10 1 4
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=1 2 3 4
leaf_weight=1 1 1 1
leaf_count=1 1 1 1
internal_value=0 0 0
internal_weight=4 2 2
internal_count=4 2 2
cat_boundaries=0 2
cat_threshold=3 256
is_linear=0
shrinkage=1


end of trees

feature_importances:
a=2

parameters:
[boosting: gbdt]
[num_leaves: 4]
end of parameters

pandas_categorical:null
"""


def predict(text: str, *rows: Any) -> list[float]:
    return list(gs.Booster(model_str=text).predict(np.array(rows, dtype=float)))


def test_a_file_by_hand() -> None:
    # 0.5 to the left, missing as well; then categories 0, 1 and 40 to the left.
    rows = [[0.5, 0], [0.5, 40], [0.5, 2], [np.nan, 1], [0.5, np.nan], [0.5, -1], [0.5, 1e10]]
    assert predict(PLAIN, *rows) == [1, 1, 3, 1, 3, 3, 3]
    # zero is missing in the last node, but nothing of it comes here
    assert predict(PLAIN, [0.6, 0], [np.inf, 0]) == [4, 4]


def test_old_files() -> None:
    old = PLAIN.replace("version=v4", "version=v2").replace("end of trees\n\n", "")
    for line in ("leaf_weight", "internal_weight", "is_linear", "internal_value"):
        old = re.sub(rf"{line}=.*\n", "", old)
    assert predict(old, [0.5, 40], [0.5, 2]) == [1, 3]
    assert predict(PLAIN.replace("\n", "\r\n"), [0.5, 40], [0.5, 2]) == [1, 3]
    with pytest.raises(ModelFileError, match="cut off"):
        gs.Booster(model_str=old[: old.index("shrinkage")])


def test_nodes_in_any_order() -> None:
    moved = PLAIN.replace("split_feature=0 1 0", "split_feature=0 0 1")
    moved = moved.replace("threshold=0.5 0 0.25", "threshold=0.5 0.25 0")
    moved = moved.replace("decision_type=10 1 4", "decision_type=10 4 1")
    moved = moved.replace("left_child=1 -1 -2", "left_child=2 -2 -1")
    moved = moved.replace("right_child=2 -3 -4", "right_child=1 -4 -3")
    rows = [[0.5, 0], [0.5, 2], [0.6, 0], [np.nan, 40]]
    assert predict(moved, *rows) == predict(PLAIN, *rows)
    # A chain whose nodes stand upside down: root 0 -> 2 -> 1.
    chain = moved.replace("left_child=2 -2 -1", "left_child=2 -1 1")
    chain = chain.replace("right_child=1 -4 -3", "right_child=-2 -4 -3")
    chain = chain.replace("decision_type=10 4 1", "decision_type=10 8 1")
    chain = chain.replace("threshold=0.5 0.25 0", "threshold=0.5 0.25 0")
    assert predict(chain, [0.2, 40], [0.3, 40], [0.2, 2], [0.6, 40]) == [1, 4, 3, 2]


def test_an_empty_set_sends_everything_right() -> None:
    empty = PLAIN.replace("cat_threshold=3 256", "cat_threshold=0 0")
    assert predict(empty, [0.5, 0], [0.5, np.nan], [0.5, 1e9]) == [3, 3, 3]


def test_linear_leaves_without_terms_have_their_constant() -> None:
    lines = "is_linear=1\nleaf_const=10 20 30 40\nnum_features=0 0 1 0\nleaf_features=  0 \n"
    linear = PLAIN.replace("is_linear=0\n", lines + "leaf_coeff=  2 \n")
    assert predict(linear, [0.5, 0], [0.5, 2], [np.nan, 2], [0.6, 0]) == [10, 31, 3, 40]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("version=v4", "version=v5", "its version is not one of"),
        ("version=v4\n", "", "its version is not one of"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=1000000000000", "out of range"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2", "the last round"),
        ("max_feature_idx=1", "max_feature_idx=2", "2 names of 3 columns"),
        ("feature_names=a b", "feature_names=a a", "the same name twice"),
        ("objective=regression", "objective=nonsense", "'nonsense' is unknown"),
        ("objective=regression", "objective=binary sigmoid:x", "could not convert"),
        ("objective=regression", "objective=binary sigmoid:-1", "sigmoid is out of range"),
        ("objective=regression", "objective=multiclass num_class:3", "objective's classes"),
        ("tree_sizes=1", "tree_sizes=1 2", "not as many as tree_sizes"),
        ("num_leaves=4", "num_leaves=1000000000000", "num_leaves is out of range"),
        ("num_leaves=4", "num_leaves=2000000000", "4 numbers of leaf_value, not 2000000000"),
        ("num_leaves=4", "num_leaves=0", "num_leaves is out of range"),
        ("num_leaves=4", "num_leaves=x", "not a whole number: 'x'"),
        ("num_leaves=4\n", "", "num_leaves is missing"),
        ("num_cat=1", "num_cat=2000000000", "numbers of cat_boundaries"),
        ("num_cat=1", "num_cat=0", "2 numbers of cat_boundaries, not 0"),
        ("split_feature=0 1 0", "split_feature=0 2 0", "column that is not there"),
        ("split_feature=0 1 0", "split_feature=0 1", "2 numbers of split_feature, not 3"),
        ("threshold=0.5 0 0.25", "threshold=nan 0 0.25", "threshold is NaN"),
        ("threshold=0.5 0 0.25", "threshold=0.5 1 0.25", "categories that are not there"),
        ("threshold=0.5 0 0.25", "threshold=0.5 nan 0.25", "categories that are not there"),
        ("decision_type=10 1 4", "decision_type=10 1 16", "bits that mean nothing"),
        ("decision_type=10 1 4", "decision_type=10 1 1", "two nodes share|not there"),
        ("left_child=1 -1 -2", "left_child=0 -1 -2", "form no tree"),
        ("left_child=1 -1 -2", "left_child=2 -1 -2", "bad child node"),
        ("left_child=1 -1 -2", "left_child=1 -1 -1", "bad leaf"),
        ("left_child=1 -1 -2", "left_child=1 0 -2", "form no tree"),
        ("left_child=1 -1 -2", "left_child=1 -1 99999999999", "left_child has a node"),
        ("left_child=1 -1 -2", "left_child=1 -1 -5", "left_child has a node"),
        (
            "left_child=1 -1 -2",
            f"left_child=1 -1 {'9' * 30}",
            "left_child is not a list of numbers",
        ),
        ("leaf_value=1 2 3 4", "leaf_value=1 2 3 inf", "leaf value is not finite"),
        ("leaf_value=1 2 3 4", "leaf_value=1 2 3 x", "leaf_value is not a list of numbers"),
        ("leaf_count=1 1 1 1", "leaf_count=1 1 1", "3 numbers of leaf_count"),
        ("internal_count=4 2 2", "internal_count=-4 2 2", "below 0"),
        ("cat_boundaries=0 2", "cat_boundaries=1 2", "do not begin at 0"),
        ("cat_boundaries=0 2", "cat_boundaries=0 99999999", "numbers of cat_threshold"),
        ("cat_boundaries=0 2", "cat_boundaries=0 -2", "2 numbers of cat_threshold, not -2"),
        ("cat_threshold=3 256", "cat_threshold=3 4294967296", "more than 32 bits"),
        ("cat_threshold=3 256", "cat_threshold=-3 256", "more than 32 bits"),
        ("is_linear=0", "is_linear=2", "is_linear is out of range"),
        ("is_linear=0", "is_linear=1", "0 numbers of leaf_const, not 4"),
        (
            "is_linear=0",
            "is_linear=1\nleaf_const=1 1 1 1\nnum_features=0 0 1 99999999999",
            "num_features",
        ),
        (
            "is_linear=0",
            "is_linear=1\nleaf_const=1 1 1 1\nnum_features=0 0 0 1\nleaf_features=7\nleaf_coeff=1",
            "leaf_features has a column",
        ),
        (
            "is_linear=0",
            "is_linear=1\nleaf_const=1 1 1 1\nnum_features=0 0 0 1\n"
            "leaf_features=0\nleaf_coeff=inf",
            "a term is not finite",
        ),
        ("shrinkage=1", "num_leaves=4", "tree 0 has 'num_leaves' twice"),
        ("shrinkage=1", "nonsense", "cut off"),
        ("end of trees", "", "cut off"),
        ("pandas_categorical:null", "pandas_categorical:[[", "not JSON"),
        ("pandas_categorical:null", "pandas_categorical:" + "[" * 100_000, "not JSON"),
    ],
)
def test_damage(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in PLAIN
    path = tmp_path / "model.txt"
    path.write_text(PLAIN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ModelFileError, match=words) as caught:
        gs.Booster(model_file=path)
    assert "is a damaged LightGBM model (" in str(caught.value)


def test_errors_are_short() -> None:
    with pytest.raises(ModelFileError) as caught:
        gs.Booster(model_str=PLAIN.replace("leaf_value=1", f"leaf_value={'x' * 10**6}"))
    assert len(str(caught.value)) < 300


def test_a_file_without_trees() -> None:
    empty = PLAIN[: PLAIN.index("Tree=0")] + PLAIN[PLAIN.index("end of trees") :]
    assert predict(empty.replace("tree_sizes=1", "tree_sizes="), [0.5, 0]) == [0]


def test_a_set_of_categories_belongs_to_one_node() -> None:
    shared = PLAIN.replace("decision_type=10 1 4", "decision_type=10 1 1")
    shared = shared.replace("threshold=0.5 0 0.25", "threshold=0.5 0 0")
    with pytest.raises(ModelFileError, match="two nodes share a set"):
        gs.Booster(model_str=shared)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ModelFileError, match="utf-8"):
        formats.from_bytes(b"tree\nversion=\xff\n")
    with pytest.raises(ModelFileError, match="utf-8"):
        gs.Booster(model_str="tree\nversion=\ud800\n")


@pytest.mark.filterwarnings("ignore:The pandas categories")
@pytest.mark.parametrize(
    "levels", ['[["x"]]', '{"a": 1}', '"text"', "[1]", '[["x", 1, "y", "z"]]', '[["x"], ["y"]]']
)
def test_levels_that_do_not_fit_are_left_out(levels: str) -> None:
    told = PLAIN.replace("num_leaves: 4", "categorical_feature: 1")
    model = gs.Booster(model_str=told.replace("_categorical:null", f"_categorical:{levels}"))
    assert model.levels is None


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with a few places cut out, doubled, or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        a = draw(st.integers(0, len(text)))
        b = min(a + draw(st.integers(0, 40)), len(text))
        words = ["", text[a:b] * 2, "0", "-1", "9" * 12, "nan", "inf", " ", "\n", "=", "1e308", "x"]
        text = text[:a] + draw(st.sampled_from(words)) + text[b:]
    return text


def _rich_text() -> str:
    """A small file with categories, lines and levels, that needs no peer."""
    lines = "is_linear=1\nleaf_const=1 2 3 4\nnum_features=0 0 2 0\nleaf_features=  0 1  \n"
    linear = PLAIN.replace("is_linear=0\n", lines + "leaf_coeff=  2 3  \n")
    trees = linear[linear.index("Tree=0") : linear.index("end of trees")]
    text = linear.replace(trees, trees + PLAIN[PLAIN.index("Tree=0") : PLAIN.index("end of")])
    levels = json.dumps([[f"level {i}" for i in range(41)]])
    text = text.replace("tree_sizes=1", "tree_sizes=1 1")
    text = text.replace("[boosting: gbdt]", "[categorical_feature: 1]")
    return text.replace("_categorical:null", f"_categorical:{levels}")


RICH = _rich_text()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The pandas categories")
@settings(max_examples=2000)
@given(damaged(RICH))
def test_damaged_text_is_read_or_refused(text: str) -> None:
    try:
        model = gs.Booster(model_str=text)
    except ModelFileError:
        return
    missing = np.full((2, model.num_feature()), np.nan)
    found = model.predict(missing, raw_score=True)
    assert len(found) == 2 and (model.predict(missing, pred_leaf=True) >= 0).all()


def test_the_rich_text_is_whole() -> None:
    model = gs.Booster(model_str=RICH)
    assert model.num_trees() == 2 and model.levels is not None and len(model.levels.columns) == 1


def test_slopes_of_columns_that_vary_in_their_last_bits() -> None:
    """0.3 and 0.1 + 0.2: a slope of 1e13 would be lost in the line's constant."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=400), rng.choice([0.0, 0.3, 0.1 + 0.2], 400)])
    label = table[:, 0] + 3 * (table[:, 1] > 0) + (table[:, 1] > 0.3)
    params = {"linear_tree": True, "num_leaves": 3, "verbosity": -1}
    model = gs.train(params, gs.Dataset(table, label), 10)
    with pytest.warns(UserWarning, match="no bounds"):
        text = model.model_to_string(format="lightgbm")
    found = gs.Booster(model_str=text).predict(table)
    np.testing.assert_allclose(found, model.predict(table), rtol=0, atol=1e-12)


def test_columns_far_from_zero_are_warned_of() -> None:
    """A column of times keeps its slope here; LightGBM's lines round it, and that is said."""
    rng = np.random.default_rng(0)
    table = 1.7e9 + 0.05 * rng.normal(size=(400, 1))
    label = 20 * (table[:, 0] - 1.7e9)
    model = gs.train({"linear_tree": True, "verbosity": -1}, gs.Dataset(table, label), 10)
    with (
        pytest.warns(UserWarning, match="no bounds"),
        pytest.warns(UserWarning, match="by up to (.*) in a tree") as caught,
    ):
        text = model.model_to_string(format="lightgbm")
    largest = float(str(caught[0].message).split("by up to ")[1].split()[0])
    error = gs.Booster(model_str=text).predict(table) - model.predict(table)
    assert 1e-9 < np.abs(error).max() < 20 * largest
