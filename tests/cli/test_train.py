from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.flights import OTHERS, make_frame
from click.testing import Result

import gossamer as gs

FEATURES = ["hour", "rain", "carrier"]
COMMON = ("-n", "8", "--threads", "1")


def summary(run: Any, *arguments: Any) -> dict[str, Any]:
    result: Result = run("train", *arguments, *COMMON, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_two_classes(run: Any, flights: Path) -> None:
    result = run(
        *("train", "flights.parquet", "--target", "delayed", "--valid", "0.2"),
        *("--early-stopping", "5", "--ignore", OTHERS, "--threads", "1", "--out", "b.gsm"),
    )
    assert "Task: binary classification (the target 'delayed' has two values: no, yes)." in (
        result.stderr
    )
    assert "Predictions are probabilities of 'yes'." in result.stderr
    for text in ("240 to train, 60 to validate", "valid binary_logloss", "valid auc", "b.gsm ("):
        assert text in result.stdout
    model = gs.Booster(model_file="b.gsm")
    assert model.feature_name() == FEATURES
    assert model.class_names == ["no", "yes"]


def test_the_model_is_that_of_the_library(run: Any, flights: Path) -> None:
    run(
        *("train", "flights.csv", "-t", "minutes", "--ignore", OTHERS.replace("minutes", "delayed"))
    )
    frame = make_frame()
    data = gs.Dataset(frame[FEATURES], frame["minutes"])
    expected = gs.train({"verbosity": -1}, data, 100).predict(frame[FEATURES])
    found = gs.Booster(model_file="model.gsm").predict(frame[FEATURES])
    np.testing.assert_array_equal(found, expected)


def test_json_and_nothing_else(run: Any, flights: Path) -> None:
    found = summary(run, "flights.csv", "-t", "minutes", "--valid", "0.25")
    assert found["task"] == "regression" and "different numbers" in found["reason"]
    assert (found["rows"], found["valid_rows"], found["columns"]) == (225, 75, 8)
    assert found["rounds"] == 8 and found["best_round"] is None and not found["interrupted"]
    assert set(found["metrics"]["valid"]) == {"rmse", "l1"}
    assert found["model"] == "model.gsm" and found["model_bytes"] > 1000
    assert found["peak_memory_bytes"] > 1e6 and set(found["seconds"]) == {"read and bin", "train"}


def test_quiet(run: Any, flights: Path) -> None:
    result = run("train", "flights.csv", "-t", "grade", "--quiet", *COMMON)
    assert result.output == ""
    assert Path("model.gsm").exists()


def test_tasks(run: Any, flights: Path) -> None:
    assert summary(run, "flights.csv", "-t", "grade")["task"] == "multiclass"
    found = summary(run, "flights.csv", "-t", "carrier", "--valid", "0.2")
    assert found["classes"] == ["AA", "BB", "CC"]
    assert gs.Booster(model_file="model.gsm").class_names == ["AA", "BB", "CC"]
    found = summary(run, "flights.csv", "-t", "grade", "--task", "regression")
    assert found["task"] == "regression" and found["reason"] == "--task"
    found = summary(
        run, "flights.csv", "-t", "minutes", "--objective", "huber", "--metric", "l1,l2"
    )
    assert found["objective"] == "huber" and set(found["metrics"]["train"]) == {"l1", "l2"}


def test_ranking_keeps_queries_whole(run: Any, flights: Path) -> None:
    found = summary(run, "flights.csv", "-t", "grade", "--query", "session", "--valid", "0.2")
    assert found["task"] == "ranking" and found["valid_rows"] == 60
    assert "ndcg@1" in found["metrics"]["valid"]
    assert "session" not in gs.Booster(model_file="model.gsm").feature_name()


def test_weights_count(run: Any, flights: Path) -> None:
    run("train", "flights.csv", "-t", "minutes", *COMMON, "--weight", "importance", "-o", "a.gsm")
    run("train", "flights.csv", "-t", "minutes", *COMMON, "--ignore", "importance", "-o", "b.gsm")
    frame = make_frame()
    a, b = (gs.Booster(model_file=name) for name in ("a.gsm", "b.gsm"))
    assert a.feature_name() == b.feature_name()
    rows = frame[a.feature_name()]
    assert not np.array_equal(a.predict(rows), b.predict(rows))
    data = gs.Dataset(rows, frame["minutes"], weight=frame["importance"])
    expected = gs.train({"verbosity": -1}, data, 8).predict(rows)
    np.testing.assert_array_equal(a.predict(rows), expected)


def test_validation_file(run: Any, flights: Path) -> None:
    make_frame(100, seed=1).drop(columns=["id", "session"]).to_parquet("test.parquet")
    found = summary(
        *(run, "flights.csv", "-t", "delayed", "--valid", "test.parquet", "--ignore", OTHERS)
    )
    assert (found["rows"], found["valid_rows"]) == (300, 100)
    model, test = gs.Booster(model_file="model.gsm"), make_frame(100, seed=1)
    p = model.predict(test[FEATURES])
    truth = test["delayed"].to_numpy() == "yes"
    expected = -np.log(np.where(truth, p, 1 - p)).mean()
    assert found["metrics"]["valid"]["binary_logloss"] == pytest.approx(expected)


def test_last_rows_validate(run: Any, flights: Path) -> None:
    found = summary(
        run, "flights.csv", "-t", "minutes", "--valid-last", "0.1", "--ignore", "delayed"
    )
    frame = make_frame()
    model = gs.Booster(model_file="model.gsm")
    last = frame.iloc[270:]
    error = model.predict(last[model.feature_name()]) - last["minutes"]
    assert found["metrics"]["valid"]["rmse"] == pytest.approx(np.sqrt((error**2).mean()))


def test_seed_chooses_rows(run: Any, flights: Path) -> None:
    arguments = ("flights.csv", "-t", "delayed", "--valid", "0.2", "--ignore", OTHERS)
    first, again, other = (
        summary(run, *arguments, "--seed", seed)["metrics"]["valid"] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_parameters(run: Any, flights: Path) -> None:
    arguments = ("flights.csv", "-t", "minutes", "num_leaves=4", "--set", "eta=0.3")
    found = summary(run, *arguments)
    assert (
        found["parameters"]["num_leaves"] == "4" and found["parameters"]["learning_rate"] == "0.3"
    )
    model = gs.Booster(model_file="model.gsm")
    assert model.predict(make_frame()[model.feature_name()], pred_leaf=True).max() == 3


def test_values_themselves(run: Any, flights: Path) -> None:
    """Linear leaves need the values, not only their bins."""
    found = summary(
        *(run, "flights.csv", "-t", "minutes", "--valid", "0.2", "linear_tree=true"),
        *("--ignore", "delayed,carrier"),
    )
    assert found["rounds"] == 8
    assert gs.Booster(model_file="model.gsm").model.forest.linear is not None


def test_several_files_and_a_pattern(run: Any, flights: Path) -> None:
    make_frame(50, seed=1).to_parquet("more.parquet")
    arguments = ("-t", "minutes")
    assert summary(run, "flights.parquet", "more.parquet", *arguments)["rows"] == 350
    assert summary(run, "*.parquet", *arguments)["rows"] == 350


def test_numbers_that_are_categories(run: Any, flights: Path) -> None:
    summary(run, "flights.csv", "-t", "minutes", "--categorical", "hour", "--ignore", "delayed")
    model = gs.Booster(model_file="model.gsm")
    assert "category" in model.model.forest.arrays


def test_no_header(run: Any, folder: Path) -> None:
    pytest.importorskip("pyarrow")
    lines = [f"{i % 7 > 3:d},{i % 7},{i}" for i in range(200)]
    Path("plain.csv").write_text("\n".join(lines))
    found = summary(run, "plain.csv", "--target", "0")
    assert found["task"] == "binary" and found["columns"] == 2


def test_libsvm(run: Any, folder: Path) -> None:
    lines = [f"{3 if i % 5 > 2 else 7} 0:{i % 5} 2:{i}" for i in range(200)]
    Path("rows.svm").write_text("\n".join(lines))
    found = summary(run, "rows.svm", "--valid", "0.2")
    assert found["task"] == "binary" and found["classes"] == [3, 7]
    assert gs.Booster(model_file="model.gsm").class_names == [3, 7]
    rows = run("predict", "model.gsm", "rows.svm", "--labels").stdout.splitlines()
    assert rows[0] == "prediction,label" and len(rows) == 201
    assert [row.split(",")[1] for row in rows[1:6]] == ["7", "7", "7", "3", "3"]


def test_more_rounds_on_top(run: Any, flights: Path) -> None:
    arguments = ("flights.csv", "-t", "minutes")
    summary(run, *arguments, "--out", "first.gsm")
    found = summary(run, *arguments, "--init-model", "first.gsm")
    assert found["rounds"] == 16


def test_checkpoint(run: Any, flights: Path) -> None:
    arguments = ("flights.csv", "-t", "minutes", "--threads", "1")
    run("train", *arguments, "-n", 5, "--checkpoint", "run.checkpoint")
    assert not Path("run.checkpoint").exists(), "nothing yet: it takes a minute"
    what = "there is no checkpoint 'run.checkpoint'"
    assert what in run("train", *arguments, "--resume", "run.checkpoint", code=1).stderr


def test_advice(run: Any, flights: Path) -> None:
    result = run("train", "flights.csv", "-t", "minutes", *COMMON)
    assert "Use --valid 0.2 to see how good the model is" in result.stderr
    arguments = ("train", "flights.csv", "-t", "minutes", "--ignore", "delayed", "--valid", "0.2")
    result = run(*arguments, "-n", "3", "--early-stopping", "2", "--threads", "1")
    assert "more --rounds may help" in result.stderr


def test_bool_target(run: Any, folder: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.arange(100.0), "late": np.arange(100) > 40})
    frame.to_parquet("bool.parquet")
    found = summary(run, "bool.parquet", "-t", "late")
    assert found["task"] == "binary" and found["classes"] == [False, True]
    rows = run("predict", "model.gsm", "bool.parquet", "--labels").stdout.splitlines()
    assert rows[1].endswith(",false") and rows[-1].endswith(",true")


def test_the_ending_of_out_decides_the_format(flights: Path, run: Any) -> None:
    options = ("-t", "delayed", "--ignore", OTHERS, "-n", 3, "--threads", 1)
    run("train", "flights.csv", *options, "--out", "model.json")
    assert (flights / "model.json").read_text().lstrip().startswith("{")
    done = run("train", "flights.csv", *options, "--out", "model.txt")
    assert (flights / "model.txt").read_text().startswith("tree\n")
    assert "does not keep the names of classes" in done.output


def test_a_name_that_cannot_be_written_does_not_lose_the_training(flights: Path, run: Any) -> None:
    options = ("-t", "delayed", "--ignore", OTHERS, "-n", 3, "--threads", 1)
    done = run("train", "flights.csv", *options, "--out", "model.cbm", code=2)
    assert "got 'catboost'" in done.output and "The model is in 'model.gsm'." in done.output
    assert gs.Booster(model_file=flights / "model.gsm").current_iteration() == 3
