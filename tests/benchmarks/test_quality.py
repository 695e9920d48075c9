"""The benchmark of presets and intervals runs, on tables that are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.cli import main
from benchmarks.quality.jobs import Job, run_all, run_job
from benchmarks.quality.summary import format_intervals, format_quality
from benchmarks.quality.tables import load, pack


def test_accuracy_in_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["accuracy", "--tables", "made_rings", "--rows", "300", "--splits", "1"]
    words += ["--contenders", "gossamer_fast", "--threads", "1", "--out", str(tmp_path)]
    assert main([*words, "--seconds", "0"]) == 1
    assert "1 of 1 jobs are left" in capsys.readouterr().out
    assert main(words) == 0
    assert "mean rank" in capsys.readouterr().out
    path = tmp_path / "quality_accuracy.json"
    (run,) = json.loads(path.read_text())["runs"]
    assert run["loss"] > 0 and run["cpu_seconds"] > 0
    assert main([*words, "--seconds", "0"]) == 0  # nothing is left to do
    assert "left" not in capsys.readouterr().out
    assert json.loads(path.read_text())["runs"] == [run]


def test_a_job_that_fails_is_reported(tmp_path: Path) -> None:
    runs: list[dict[str, Any]] = []
    run_all([Job("no_table", 0, "gossamer_fast", 300, 1)], 1, 60.0, runs.extend)
    (run,) = runs
    assert run["table"] == "no_table" and "CaseUnavailableError" in run["error"]


def test_intervals() -> None:
    runs = run_job(Job("made_noisy", 0, "gossamer_cv_plus", 300, 1))
    assert [run["wanted"] for run in runs] == [0.8, 0.9, 0.95]
    assert "inside, %" in format_intervals(runs)


def test_intervals_are_those_of_mapie() -> None:
    pytest.importorskip("mapie")
    own, peer, tight = (
        run_job(Job("made_noisy", 0, name, 300, 1))
        for name in ("gossamer_cv_plus", "mapie_cv_plus", "gossamer_tight")
    )
    assert [run["width"] for run in own] == pytest.approx([run["width"] for run in peer], rel=1e-6)
    assert [run["coverage"] for run in own] == [run["coverage"] for run in peer]
    assert all(run["width"] < other["width"] for run, other in zip(tight, peer, strict=True))


def test_packed_tables_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    folder = tmp_path / "whole" / "adult"
    folder.mkdir(parents=True)
    table = pd.DataFrame({"age": range(100), "job": ["a", "b", None, "c"] * 25})
    table.assign(target=[0, 1] * 50).to_parquet(folder / "data.parquet")
    (folder / "meta.json").write_text(json.dumps({"target": "target", "task": "binary"}))
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "whole"))
    before = load("adult", 0, 50)
    assert pack("adult", tmp_path / "packed", 1000) > 0
    assert pack("adult", tmp_path / "few", 40) > 0
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "packed"))
    after = load("adult", 0, 50)
    pd.testing.assert_frame_equal(before.x, after.x)
    assert (before.y_test == after.y_test).all()
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "few"))
    few = load("adult", 0, 50)
    assert len(few.y) + len(few.y_test) == 40 and few.x["age"].is_monotonic_increasing


def test_ranks() -> None:
    times = {"seconds": 1.5, "cpu_seconds": 2.0}
    runs = [
        {"table": "a", "seed": 0, "contender": "x", "loss": 1.0, **times},
        {"table": "a", "seed": 1, "contender": "x", "loss": 9.0, **times},  # alone: does not count
        {"table": "a", "seed": 0, "contender": "catboost", "loss": 1.1, **times},
        {"table": "a", "seed": 0, "contender": "z", "error": "broken"},
    ]
    text = format_quality(runs)
    assert text.count("1 of 1") == 2
    assert "1.50" in text and "2.00" in text
    assert "FAILED a z: broken" in text
