"""The benchmark of presets and intervals runs, on tables that are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.cli import main
from benchmarks.quality.summary import format_quality


def test_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["accuracy", "--tables", "made_rings", "made_levels", "--rows", "300", "--splits", "1"]
    words += ["--contenders", "gossamer_fast", "gossamer_good", "--threads", "1"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    assert "mean rank" in capsys.readouterr().out
    assert (tmp_path / "quality_accuracy.json").is_file()


def test_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["intervals", "--tables", "made_noisy", "--rows", "300", "--splits", "1"]
    assert main([*words, "--threads", "1", "--out", str(tmp_path)]) == 0
    assert "inside, %" in capsys.readouterr().out


def test_ranks() -> None:
    runs = [
        {"table": "a", "contender": "x", "loss": 1.0, "seconds": 2.0},
        {"table": "a", "contender": "catboost", "loss": 1.1, "seconds": 4.0},
        {"table": "a", "contender": "z", "error": "broken"},
    ]
    text = format_quality(runs)
    assert "1 of 1" in text
    assert "FAILED a z: broken" in text
