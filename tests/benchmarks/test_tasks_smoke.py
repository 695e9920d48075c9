"""The whole way, with tiny data: worker processes, results, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.paper.store import read_document
from benchmarks.tasks import cli, launch, plan
from benchmarks.tasks.cli import main
from benchmarks.tasks.problem import Part, Problem, divide
from benchmarks.tasks.report import BLOCKS

TINY = ["--quick", "--threads", "1", "--libraries", "gossamer"]


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOSSAMER_DATA", raising=False)


def read_runs(path: Path) -> list[dict[str, Any]]:
    document = read_document(path)
    assert document is not None
    runs: list[dict[str, Any]] = document["runs"]
    return runs


def test_accuracy_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path)]
    assert main(["accuracy", *TINY, *out, "--seeds", "2", "--objectives", "cox", "fair"]) == 0
    assert "skipped fair on california_housing" in capsys.readouterr().err
    assert main(["accuracy", *TINY, *out, "--seeds", "1", "--objectives", "aft", "--keep"]) == 0
    runs = read_runs(tmp_path / "accuracy.json")
    assert [(run["objective"], run["seed"]) for run in runs] == [("cox", 0), ("cox", 1), ("aft", 0)]
    assert all(np.isfinite(run["loss"]) and run["n_rounds"] == 5 for run in runs)
    with pytest.raises(SystemExit, match="differ in settings"):
        main(["accuracy", *out, "--keep", "--libraries", "gossamer", "--objectives", "cox"])

    page = tmp_path / "tasks.md"
    page.write_text("".join(f"<!-- tasks:{name} -->\n<!-- /tasks:{name} -->\n" for name in BLOCKS))
    assert main(["report", *out, "--page", str(page)]) == 0
    text = page.read_text()
    assert "right_censored" in text and "no peer" in text
    assert text.count("Not run.") == len(BLOCKS) - 2  # accuracy and failures are there


def test_vector_leaves_stop_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4)).astype(np.float32)
    y = x[:, :1] * np.arange(1.0, 4.0) + 3.0 * rng.normal(size=(400, 3))
    outer = divide(Part(x, y), 0)
    problem = Problem(outer.train, outer.test, outer.test)
    contenders = {"gossamer": {"objective": "regression", "learning_rate": 0.5}}
    contenders["gossamer_vector"] = {
        **contenders["gossamer"],
        "multi_strategy": "multi_output_tree",
    }
    case = plan.Case(
        "vector", "made_up", lambda: problem, contenders, "squared", patience=3, max_rounds=60
    )
    monkeypatch.setattr(cli, "plan_speed", lambda names: iter([case]))
    command = ["speed", "--threads", "1", "--repeats", "2", "--out", str(tmp_path)]
    assert main(command) == 0
    runs = read_runs(tmp_path / "speed.json")
    order = [(run["contender"], run["repeat"]) for run in runs]
    assert order == [
        ("gossamer", 0),
        ("gossamer_vector", 0),
        ("gossamer_vector", 1),  # the second repeat starts with another
        ("gossamer", 1),
    ]
    for run in runs:
        assert run["n_best"] == run["n_rounds"] - 3 < 57  # noise: it stops long before the limit
        assert 0.0 < run["best_s"] < run["train_s"]
    assert runs[0]["loss"] == runs[3]["loss"] != runs[1]["loss"]


def test_metric_is_timed_and_weights_and_queries_count(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)).astype(np.float32)
    y = (x[:, 0] > 0.0).astype(float)
    part = Part(x, y, np.ones(300), np.arange(300) // 30)
    problem = Problem(part, part)
    binary = {"gossamer": {"objective": "binary", "metric": "auc"}}
    limits = launch.Limits(threads=1, rounds=3, is_timed=True)
    case = plan.Case("auc", "made_up", lambda: problem, binary, "cross_entropy", metric=True)
    (run,) = launch.run_case(case, limits)
    assert 0.0 < run["metric_s"] < 1.0
    ranks = {"gossamer": {"objective": "lambdarank"}}
    unweighted = Problem(Part(x, y, query=part.query), Part(x, y, query=part.query))
    case = plan.Case("rank", "made_up", lambda: unweighted, ranks, "one_minus_ndcg10", is_raw=True)
    (run,) = launch.run_case(case, limits)
    assert run["loss"] < 0.05


def test_failures_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = Part(np.zeros((30, 1), np.float32), np.zeros(30))
    broken = {"gossamer": {"objective": "nobody"}}
    case = plan.Case("bad", "made_up", lambda: Problem(part, part), broken, "squared")
    monkeypatch.setattr(cli, "plan_accuracy", lambda names, seeds: iter([case]))
    assert main(["accuracy", *TINY, "--out", str(tmp_path)]) == 1
    (run,) = read_runs(tmp_path / "accuracy.json")
    assert "nobody" in run["error"]


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no results"):
        main(["report", "--out", str(tmp_path)])
    assert main(["speed", *TINY, "--cases", "lambdarank", "--out", str(tmp_path)]) == 1


def test_peers_learn_the_same_problem(tmp_path: Path) -> None:
    """Fisher's objective, one model for each quantile, bounds of times."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    command = ["accuracy", "--threads", "1", "--rounds", "20", "--scale", "0.1", "--seeds", "1"]
    names = ["gaussian", "quantiles", "aft", "cox"]
    assert main([*command, "--objectives", *names, "--out", str(tmp_path)]) == 0
    losses: dict[str, list[float]] = {}
    for run in read_runs(tmp_path / "accuracy.json"):
        losses.setdefault(run["objective"], []).append(run["loss"])
    assert [len(losses[name]) for name in names] == [2, 3, 2, 2]
    for values in losses.values():
        assert max(values) == pytest.approx(min(values), rel=0.1)
