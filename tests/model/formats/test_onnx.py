"""Models written as ONNX predict the same in onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.errors import NotSupportedError, ParameterError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def data(n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with missing values and zeros, and two columns of categories."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 5))
    x[rng.random(x.shape) < 0.15] = np.nan
    x[rng.random(x.shape) < 0.15] = 0.0
    x[:, 3], x[:, 4] = rng.integers(0, 90, n_rows), rng.integers(0, 6, n_rows)
    x[::13, 3] = np.nan
    y = np.nan_to_num(x[:, 0]) + (x[:, 3] % 7 < 3) * 2 + (x[:, 4] == 2) + np.isnan(x[:, 1])
    return x, y + rng.normal(size=n_rows) * 0.1


def train(params: dict[str, Any], label: np.ndarray | None = None, rounds: int = 12) -> gs.Booster:
    x, y = data()
    params = {"num_threads": 1, "min_data_in_leaf": 5, "num_leaves": 12} | params
    params |= {"cat_target_statistics": "off"}
    kind = params.pop("categorical", [3, 4])
    return gs.train(
        params, gs.Dataset(x, y if label is None else label, categorical_feature=kind), rounds
    )


def rows(dtype: type = np.float64) -> np.ndarray:
    x, _ = data()
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-36, -1, 2.4, 2.5, 88.6, 1e10, 500])
    more = np.repeat(odd[:, np.newaxis], 5, axis=1)
    return np.vstack([x, more, np.random.default_rng(1).permuted(x, axis=0)]).astype(dtype)


def run(booster: gs.Booster, x: np.ndarray, **kwargs: Any) -> list[np.ndarray]:
    proto = booster.to_onnx(**kwargs)
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": x})


def check(booster: gs.Booster, rtol: float = 1e-12) -> None:
    x = rows()
    (found,) = run(booster, x)
    expected = booster.predict(x)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=rtol, atol=1e-13)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"categorical": []},
        {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1},
        {"boosting": "dart"},
        {"num_parallel_tree": 3, "bagging_fraction": 0.5, "bagging_freq": 1},
        {"boosting": "rf", "num_parallel_tree": 2, "bagging_fraction": 0.7, "bagging_freq": 1},
        {"boost_from_average": False},
    ],
)
def test_trees(params: dict[str, Any]) -> None:
    check(train(params))


@pytest.mark.parametrize(
    "objective",
    [
        "regression_l1",
        "poisson",
        "gamma",
        "tweedie",
        "squared_log_error",
        "huber",
        "cross_entropy",
        "cross_entropy_lambda",
        "hinge",
        "binary:logitraw",
    ],
)
def test_links(objective: str) -> None:
    _, y = data()
    label = (y > 1).astype(float)
    if objective in ("poisson", "gamma", "tweedie", "squared_log_error"):
        label = np.exp(y / 4)
    check(train({"objective": objective}, label))


def test_square_roots_quantiles_and_gaussians() -> None:
    _, y = data()
    check(train({"reg_sqrt": True}))
    check(train({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]}))
    check(train({"objective": "gaussian"}, y))
    survival = train({"objective": "cox"}, np.exp(y / 4))
    check(survival)


@pytest.mark.parametrize("params", [{}, {"sigmoid": 2.5}, {"objective": "focal"}])
def test_two_classes(params: dict[str, Any]) -> None:
    _, y = data()
    booster = train({"objective": "binary"} | params, (y > 1).astype(float))
    x = rows()
    label, probabilities = run(booster, x)
    expected = booster.predict(x)
    assert label.dtype == np.int64 and label.shape == (len(x),)
    np.testing.assert_array_equal(label, expected > 0.5)
    np.testing.assert_allclose(probabilities[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-15)
    (raw,) = run(booster, x, raw_score=True)
    np.testing.assert_allclose(raw[:, 0], booster.predict(x, raw_score=True), rtol=1e-12)


@pytest.mark.parametrize(
    "params",
    [
        {"objective": "multiclass"},
        {"objective": "multiclassova", "sigmoid": 0.7},
        {"objective": "multiclass", "multi_strategy": "multi_output_tree", "categorical": []},
    ],
)
def test_several_classes(params: dict[str, Any]) -> None:
    _, y = data()
    booster = train(params | {"num_class": 3}, np.digitize(y, [0, 1.5]))
    x = rows()
    label, probabilities = run(booster, x)
    expected = booster.predict(x)
    np.testing.assert_allclose(probabilities, expected, rtol=1e-12)
    np.testing.assert_array_equal(label, expected.argmax(axis=1))


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets(strategy: str) -> None:
    _, y = data()
    label = np.column_stack([y > 0, y > 1, y > 2]).astype(float)
    params = {"multi_strategy": strategy, "categorical": []}
    check(train(params, np.column_stack([y, -y * 3])))
    check(train(params | {"objective": "binary"}, label))


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_roots_are_clear(strategy: str) -> None:
    """Older versions of onnxruntime mistake a root whose children have the same number."""
    x, y = data()
    stump = (x[:, 0] > 1) * 5 + (x[:, 1] > 0) * (x[:, 0] <= 1)
    label = np.column_stack([stump, -stump, y])
    params = {"multi_strategy": strategy, "categorical": [], "num_leaves": 3}
    proto = train(params, label, 9).to_onnx()
    (node,) = (node for node in proto.graph.node if node.op_type == "TreeEnsemble")
    found = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert len(found["tree_roots"]) == 27
    mixed = 0
    for root in found["tree_roots"]:
        if found["nodes_trueleafs"][root] != found["nodes_falseleafs"][root]:
            assert found["nodes_truenodeids"][root] != found["nodes_falsenodeids"][root]
            mixed += 1
    assert mixed > 10
    check(train(params, label, 9))


def test_float32() -> None:
    booster = train({})
    x = rows(np.float32)
    (found,) = run(booster, x, dtype="float32")
    expected = booster.predict(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5, atol=1e-6)
    # Values at a threshold take the same way: thresholds here are not float32.
    forest = booster.model.forest
    threshold = forest.arrays["threshold"][forest.arrays["column"] < 3]
    assert not np.isin(threshold, threshold.astype(np.float32)).all()
    near = threshold.astype(np.float32)
    steps = [np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)]
    x = np.repeat(np.concatenate([near, *steps])[:, np.newaxis], 5, axis=1)
    (found,) = run(booster, x, dtype="float32")
    np.testing.assert_allclose(found[:, 0], booster.predict(x), rtol=1e-5, atol=1e-6)


def test_rounds_and_files(tmp_path: Path) -> None:
    booster = train({}, rounds=8)
    x = rows()
    (found,) = run(booster, x, start_iteration=2, num_iteration=3)
    expected = booster.predict(x, start_iteration=2, num_iteration=3)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12, atol=1e-13)
    path = tmp_path / "model.onnx"
    booster.save_model(path, num_iteration=5, format="onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"X": x})
    np.testing.assert_allclose(found[:, 0], booster.predict(x, num_iteration=5), rtol=1e-12)
    facts = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    assert facts["feature_names"] == '["Column_0", "Column_1", "Column_2", "Column_3", "Column_4"]'
    with pytest.raises(ParameterError, match="not text"):
        booster.model_to_string(format="onnx")


def test_models_without_trees_or_splits() -> None:
    x, _ = data()
    constant = gs.train({"num_threads": 1}, gs.Dataset(x, np.full(400, 2.5)), 2)
    check(constant)
    check(train({}, rounds=0))
    _, y = data()
    several = train({"num_class": 3, "objective": "multiclass"}, np.digitize(y, [0, 1.5]), 0)
    np.testing.assert_allclose(run(several, rows())[1], several.predict(rows()), rtol=1e-12)


def test_text_as_codes() -> None:
    table = np.array([["Rome", 1], ["Oslo", 2], ["Bern", 3]] * 40, dtype=object)
    label = np.tile([3.0, 1.0, 2.0], 40)
    params = {"min_data_in_leaf": 2, "num_threads": 1, "cat_target_statistics": "off"}
    booster = gs.train(params, gs.Dataset(table, label), 5)
    codes = np.column_stack([booster.levels.encode(0, table[:, 0]), table[:, 1].astype(float)])
    np.testing.assert_allclose(run(booster, codes)[0][:, 0], booster.predict(table), rtol=1e-12)
    facts = {entry.key: entry.value for entry in booster.to_onnx().metadata_props}
    assert facts["levels"] == '[[0, ["Bern", "Oslo", "Rome"]]]'


def test_what_onnx_has_not() -> None:
    x, y = data()
    linear = gs.train({"linear_tree": True, "num_threads": 1}, gs.Dataset(x[:, :3], y), 2)
    with pytest.raises(NotSupportedError, match=r"linear leaves.*linear_tree=False"):
        linear.to_onnx()
    params = {"cat_target_statistics": "on", "num_threads": 1}
    derived = gs.train(params, gs.Dataset(x, y, categorical_feature=[3]), 2)
    with pytest.raises(NotSupportedError, match=r"cat_target_statistics='off'"):
        derived.to_onnx()
    with pytest.raises(ParameterError, match="dtype is not known"):
        train({}, rounds=1).to_onnx(dtype="float16")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install \"gossamer\[onnx\]\""):
        train({}, rounds=1).to_onnx()
