"""The benchmark of data that is larger than memory runs, and its figures make sense."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from benchmarks.out_of_core import make, run
from gossamer.data.storage.budget import Budget


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "GROUP", 30_000)
    options = ["--gb", "0.001", "--columns", "6", "--max-memory", "56MB", "--rounds", "2"]
    options += ["--folder", str(tmp_path), "--no-group", "--out", str(tmp_path / "out")]
    contenders = ["gossamer", "gossamer_depthwise", "gossamer_bagging", "gossamer_in_memory"]
    assert run.main([*options, "--contenders", *contenders]) == 0
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["rows"] % 30_000 == 0
    for name in contenders:
        figures = document["runs"][name]
        assert len(figures["round_s"]) == len(figures["round_cpu_s"]) == 2
        assert figures["peak_mb"] > 0
    assert document["runs"]["gossamer_in_memory"]["passes"] == [0, 0]
    assert "(limit 56MB)" in (tmp_path / "out" / "results.md").read_text()
    assert "| gossamer_bagging |" in (tmp_path / "out" / "results.md").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_validation_set_and_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "GROUP", 30_000)
    options = ["--gb", "0.001", "--columns", "6", "--max-memory", "70MB", "--rounds", "2"]
    options += ["--folder", str(tmp_path), "--no-group", "--out", str(tmp_path / "out")]
    contenders = ["gossamer_valid", "xgboost_lossguide"]
    assert run.main([*options, "--text", "9", "--contenders", *contenders]) == 0
    figures = json.loads((tmp_path / "out" / "results.json").read_text())["runs"]
    assert 0 < figures["gossamer_valid"]["peak_mb"] <= 1.1 * 70
    assert figures["gossamer_valid"]["predict_s"] > 0
    assert len(figures["xgboost_lossguide"]["round_s"]) == 2


def test_a_limit_just_below_what_memory_takes() -> None:
    limit = run.just_too_little(5_000_000, 28)
    assert not Budget(limit).holds_table(5_000_000, 32)
    assert Budget(limit * 21 // 20).holds_table(5_000_000, 32)


def test_a_contender_that_fails_has_a_reason() -> None:
    found = run.call({"contender": "gossamer"}, 60.0)
    assert "KeyError" in found["error"]
    document = {"runs": {"gossamer": found}, "file_mb": 1.0, "options": {"max_memory": "1GB"}}
    text = run.format_table(document)
    assert "KeyError" in text


def test_a_disk_that_is_too_small(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="GB left"):
        make.check_disk(tmp_path, 10**18)
