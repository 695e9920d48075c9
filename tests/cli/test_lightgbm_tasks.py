"""LightGBM's config files: its examples, written again for generated data."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import gossamer as gs
from gossamer.cli.key_values import is_config

RNG = np.random.default_rng(7)
N_ROWS = 400

BINARY = """
# task type, support train and predict
task = train
boosting_type = gbdt
objective = binary
metric = binary_logloss,auc
metric_freq = 1
is_training_metric = true
max_bin = 255
data = binary.train
valid_data = binary.test
num_trees = 8
learning_rate = 0.1
num_leaves = 15
tree_learner = serial
# num_threads = 8
feature_fraction = 0.8
bagging_freq = 5
bagging_fraction = 0.8
min_data_in_leaf = 20
min_sum_hessian_in_leaf = 5.0
is_enable_sparse = true
use_two_round_loading = false
is_save_binary_file = false
output_model = LightGBM_model.txt
num_machines = 1
local_listen_port = 12400
machine_list_file = mlist.txt
"""
# What the examples have besides, at the values that they have there.
REST = """
metric_freq = 1
is_training_metric = true
max_bin = 255
tree_learner = serial
is_enable_sparse = true
use_two_round_loading = false
is_save_binary_file = false
output_model = LightGBM_model.txt
num_machines = 1
local_listen_port = 12400
machine_list_file = mlist.txt
"""
LINEAR = BINARY.replace("objective = binary", "objective = binary\nlinear_tree = true")
REGRESSION = (
    """
task = train
boosting_type = gbdt
objective = regression
metric = l2
# column in data to use as label
label_column = 0
# forced bin thresholds
forcedbins_filename = forced_bins.json
data = regression.train
valid_data = regression.test
num_trees = 8
learning_rate = 0.05
num_leaves = 15
feature_fraction = 0.9
bagging_freq = 5
bagging_fraction = 0.8
min_data_in_leaf = 20
min_sum_hessian_in_leaf = 5.0
"""
    + REST
)
MULTICLASS = """
task = train
boosting_type = gbdt
objective = multiclass
metric = multi_logloss,auc_mu
auc_mu_weights = 0,1,2,3,0,4,5,6,0
num_class = 3
metric_freq = 1
is_training_metric = true
max_bin = 255
data = multiclass.train
valid_data = multiclass.test
early_stopping = 10
num_trees = 8
learning_rate = 0.05
num_leaves = 7
"""
RANKING = (
    """
task = train
boosting_type = gbdt
objective = {objective}
metric = ndcg
ndcg_eval_at = 1,3,5
data = rank.train
valid_data = rank.test
num_trees = 8
learning_rate = 0.1
num_leaves = 7
feature_fraction = 1.0
bagging_freq = 1
bagging_fraction = 0.9
min_data_in_leaf = 5
min_sum_hessian_in_leaf = 0.5
"""
    + REST
)
PREDICT = """
task = predict
data = {data}
input_model = LightGBM_model.txt
"""


def _write(name: str, label: np.ndarray, x: np.ndarray) -> None:
    np.savetxt(name, np.column_stack([label, x]), fmt="%.9g", delimiter="\t")


def _write_svm(name: str, label: np.ndarray, x: np.ndarray) -> None:
    lines = [
        " ".join([f"{y:g}", *(f"{c}:{value:.9g}" for c, value in enumerate(row) if value)])
        for y, row in zip(label, x, strict=True)
    ]
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.fixture
def data(folder: Path) -> dict[str, np.ndarray]:
    """Files like those of LightGBM's examples, and the tables to predict."""
    pytest.importorskip("pyarrow")
    tables = {}
    bounds = [{"feature": 0, "bin_upper_bound": [0.3, 0.35, 0.4]}]
    Path("forced_bins.json").write_text(json.dumps(bounds))
    for part in ("train", "test"):
        x = RNG.normal(size=(N_ROWS, 5)).round(3)
        score = x[:, 0] + x[:, 1] ** 2
        _write(f"binary.{part}", (score > 1).astype(float), x)
        Path(f"binary.{part}.weight").write_text("\n".join(["1", "2"] * (N_ROWS // 2)) + "\n")
        _write(f"regression.{part}", score, x)
        Path(f"regression.{part}.init").write_text("\n".join(["0.5"] * N_ROWS) + "\n")
        _write(f"multiclass.{part}", np.digitize(score, [0.0, 2.0]).astype(float), x)
        sparse = np.where(np.abs(x) > 0.7, x, 0.0)
        _write_svm(f"rank.{part}", np.digitize(score, [0.0, 2.0]).astype(float), sparse)
        Path(f"rank.{part}.query").write_text("\n".join(["20"] * (N_ROWS // 20)) + "\n")
        tables[part], tables[f"rank.{part}"] = x, sparse
    return tables


def _train(run: Any, conf: str, *more: str) -> str:
    Path("train.conf").write_text(conf)
    output: str = run("config=train.conf", "num_threads=1", *more).output
    return output


def _predict(run: Any, data: str, *more: str) -> np.ndarray:
    Path("predict.conf").write_text(PREDICT.format(data=data))
    run("config=predict.conf", *more)
    return np.loadtxt("LightGBM_predict_result.txt", ndmin=2)


@pytest.mark.parametrize(
    ("conf", "name", "table"),
    [
        (BINARY, "binary", "test"),
        (LINEAR, "binary", "test"),
        (REGRESSION, "regression", "test"),
        (MULTICLASS, "multiclass", "test"),
        (RANKING.format(objective="lambdarank"), "rank", "rank.test"),
        (RANKING.format(objective="rank_xendcg"), "rank", "rank.test"),
    ],
    ids=["binary", "linear", "regression", "multiclass", "lambdarank", "xendcg"],
)
def test_the_examples(run: Any, data: Any, conf: str, name: str, table: str) -> None:
    output = _train(run, conf)
    assert output.count("valid_1's") >= 8
    theirs = lightgbm.Booster(model_file="LightGBM_model.txt")
    assert theirs.current_iteration() == 8
    found = _predict(run, f"{name}.test")
    expected = theirs.predict(data[table]).reshape(N_ROWS, -1)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_files_next_to_the_data_count(run: Any, data: Any) -> None:
    params = {"objective": "binary", "num_leaves": 15, "num_threads": 1, "verbosity": -1}
    x, label = data["train"], np.loadtxt("binary.train")[:, 0]
    weight = np.tile([1.0, 2.0], N_ROWS // 2)
    expected = gs.train(params, gs.Dataset(x, label, weight=weight), 3)
    conf = "data=binary.train\nobjective=binary\nnum_leaves=15\nverbosity=-1\n"
    assert _train(run, conf, "num_trees=3") == ""
    np.testing.assert_array_equal(
        _predict(run, "binary.test")[:, 0], expected.predict(data["test"])
    )


def test_the_command_line_wins_and_names_of_commands_are_heard(run: Any, data: Any) -> None:
    Path("train.conf").write_text(REGRESSION)
    run("train", "config=train.conf", "num_iterations=3", "output_model=other.txt")
    assert gs.Booster(model_file="other.txt").num_trees() == 3
    Path("predict.conf").write_text(PREDICT.format(data="regression.test"))
    run("predict", "config=predict.conf", "input_model=other.txt", "output_result=found.txt")
    assert np.loadtxt("found.txt").shape == (N_ROWS,)


def test_regression_is_the_default(run: Any, data: Any) -> None:
    run("task=train", "data=binary.train", "num_trees=2", "verbosity=-1")
    assert "objective=regression" in Path("LightGBM_model.txt").read_text()


def test_label_by_place(run: Any, data: Any) -> None:
    rows = np.loadtxt("regression.train")
    np.savetxt("last.train", rows[:, [1, 2, 0, 3, 4, 5]], delimiter=",", fmt="%.9g")
    # Other columns are counted without the label: this one is the fourth of the file.
    more = ("label_column=2", "ignore_column=2", "verbosity=-1")
    run("task=train", "data=last.train", "num_trees=5", *more)
    model = gs.Booster(model_file="LightGBM_model.txt")
    assert model.num_feature() == 4
    run("task=predict", "data=last.train", *more)
    found = np.loadtxt("LightGBM_predict_result.txt")
    np.testing.assert_array_equal(found, model.predict(rows[:, [1, 2, 4, 5]]))


def test_label_by_name(run: Any, data: Any) -> None:
    rows = np.loadtxt("regression.train")
    np.savetxt("named.csv", rows, delimiter=",", fmt="%.9g", header="y,a,b,c,d,e", comments="")
    more = ("header=true", "label_column=name:y", "ignore_column=name:b,d", "verbosity=-1")
    run("task=train", "data=named.csv", "num_trees=5", *more)
    model = gs.Booster(model_file="LightGBM_model.txt")
    assert model.feature_name() == ["a", "c", "e"]
    run("task=predict", "data=named.csv", *more)
    found = np.loadtxt("LightGBM_predict_result.txt")
    np.testing.assert_array_equal(found, model.predict(rows[:, [1, 3, 5]]))


@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("predict_raw_score", {"raw_score": True}),
        ("predict_leaf_index", {"pred_leaf": True}),
        ("predict_contrib", {"pred_contrib": True}),
    ],
)
def test_kinds_of_predictions(run: Any, data: Any, option: str, arguments: Any) -> None:
    _train(run, BINARY)
    found = _predict(run, "binary.test", f"{option}=true", "num_iteration_predict=4")
    model = gs.Booster(model_file="LightGBM_model.txt")
    expected = model.predict(data["test"], num_iteration=4, **arguments).reshape(N_ROWS, -1)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_contributions_of_sparse_rows(run: Any, data: Any) -> None:
    _train(run, RANKING.format(objective="lambdarank"))
    found = _predict(run, "rank.test", "predict_contrib=true")
    model = gs.Booster(model_file="LightGBM_model.txt")
    np.testing.assert_allclose(found, model.predict(data["rank.test"], pred_contrib=True))


def test_snapshots(run: Any, data: Any) -> None:
    _train(run, REGRESSION, "snapshot_freq=3")
    snapshots = sorted(path.name for path in Path().glob("*.snapshot_iter_*"))
    names = [f"LightGBM_model.txt.snapshot_iter_{n}" for n in (3, 6)]
    assert snapshots == names
    assert lightgbm.Booster(model_file=names[1]).num_trees() == 6


def test_importance_in_the_model(run: Any, data: Any) -> None:
    _train(run, REGRESSION, "saved_feature_importance_type=1")
    model = gs.Booster(model_file="LightGBM_model.txt")
    lines = Path("LightGBM_model.txt").read_text().partition("feature_importances:\n")[2]
    found = dict(line.split("=") for line in lines.partition("\n\n")[0].splitlines())
    gain = dict(zip(model.feature_name(), model.feature_importance("gain"), strict=True))
    assert {name: int(value) for name, value in found.items()} == {
        name: int(gain[name]) for name in found
    }
    assert {"Column_1", "Column_2"} <= found.keys()
    text = model.model_to_string(format="lightgbm", importance_type="split")
    assert f"{model.feature_name()[0]}={model.feature_importance()[0]}\n" in text
    wrong = run("config=train.conf", "saved_feature_importance_type=2", code=2)
    assert "expected an integer >= 0 and <= 1" in wrong.output


def test_training_goes_on(run: Any, data: Any) -> None:
    _train(run, REGRESSION, "output_model=first.txt")
    _train(run, REGRESSION, "input_model=first.txt")
    assert gs.Booster(model_file="LightGBM_model.txt").num_trees() == 16


def test_refit(run: Any, data: Any) -> None:
    _train(run, BINARY)
    before = gs.Booster(model_file="LightGBM_model.txt")
    run("task=refit", "data=binary.test", "input_model=LightGBM_model.txt",
        "output_model=refitted.txt", "refit_decay_rate=0.5")  # fmt: skip
    label, weight = np.loadtxt("binary.test")[:, 0], np.tile([1.0, 2.0], N_ROWS // 2)
    expected = before.refit(data["test"], label, 0.5, weight=weight)
    found = gs.Booster(model_file="refitted.txt")
    np.testing.assert_allclose(found.predict(data["test"]), expected.predict(data["test"]))


def test_convert_model(run: Any, data: Any) -> None:
    _train(run, REGRESSION)
    run("task=convert_model", "input_model=LightGBM_model.txt", "convert_model_language=cpp")
    subprocess.run(["g++", "-fsyntax-only", "gbdt_prediction.cpp"], check=True)
    failed = run("task=convert_model", "convert_model_language=java", code=1)
    assert "expected cpp or c" in failed.output


def test_save_binary(run: Any, data: Any) -> None:
    run("task=save_binary", "data=regression.train", "valid=regression.test")
    assert gs.Dataset("regression.train.bin").construct().num_data() == N_ROWS
    assert Path("regression.test.bin").exists()
    Path("regression.train.bin").unlink()
    _train(run, REGRESSION, "is_save_binary_file=true")
    _train(run, REGRESSION, "data=regression.train.bin", "output_model=again.txt")
    first, again = (Path(name).read_text() for name in ("LightGBM_model.txt", "again.txt"))
    assert first.partition("parameters:")[0] == again.partition("parameters:")[0]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("task=train",), "task=train needs data"),
        (("task=fly", "data=a.csv"), "fly"),
        (("task=train", "num_leafs=7"), "Did you mean num_leaf"),
        (("config=train.conf", "num_leaves"), "There is no command"),
    ],
)
def test_what_is_wrong(run: Any, data: Any, arguments: Any, what: str) -> None:
    Path("train.conf").write_text(REGRESSION)
    assert what in run(*arguments, code=2).output


def test_other_columns_than_the_model(run: Any, data: Any) -> None:
    _train(run, REGRESSION)
    np.savetxt("wide.csv", RNG.normal(size=(5, 9)), delimiter=",")
    failed = run("task=predict", "data=wide.csv", code=1)
    assert "got 8 besides the label, expected 5" in failed.output


def test_which_command_lines_are_lightgbms() -> None:
    assert is_config(["config=a.conf", "num_trees=5"]) and is_config(["task=predict", "data=a"])
    assert not is_config(["train", "config=a.conf", "--json"]) and not is_config(["predict"])
    assert not is_config(["train", "data=a.csv", "task=train"]) and not is_config([])
