"""Benchmarks of prediction: tables of made-up runs, and tiny real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.paper.store import new_document, read_document
from benchmarks.predict.cases import CASES, make_table, make_training_data
from benchmarks.predict.cli import main
from benchmarks.predict.contenders import CONTENDERS, Lleaves
from benchmarks.predict.report import BLOCKS, best_seconds, format_blocks

TINY = ["--threads", "1", "--rows", "300", "--train-rows", "300", "--trees", "3"]
TINY += ["--repeats", "2", "--seconds", "0"]


def run(contender: str, best_s: float, **more: Any) -> dict[str, Any]:
    head = {"case": "large_trees", "contender": contender, "repeat": 0}
    return {**head, "best_s": best_s, "n_rows": 1_000_000, "other_cpus": 0.0, **more}


def document(*runs: dict[str, Any]) -> dict[str, Any]:
    return new_document("predict", threads=2, rows=0, trees=0) | {"runs": list(runs)}


def test_the_fastest_call_counts() -> None:
    runs = [run("gossamer", 2.0), run("gossamer", 1.0), run("lightgbm", 9.0)]
    assert best_seconds(runs) == {"large_trees": {"gossamer": 1.0, "lightgbm": 9.0}}


def test_tables_compare() -> None:
    lightgbm, lleaves = run("lightgbm", 8.0), run("lleaves", 3.0)
    block = format_blocks(document(run("gossamer", 1.0), lightgbm, lleaves))["large_trees"]
    assert "3.0 times the fastest other (lleaves)" in block
    assert "8.0 times lightgbm." in block
    slow = format_blocks(document(run("gossamer", 1.01), lightgbm))["large_trees"]
    assert "7.9 times lightgbm." in slow
    alone = format_blocks(document(run("gossamer", 1.0)))["large_trees"]
    assert "Nobody to compare with." in alone


def test_failures_are_shown() -> None:
    failed = {"case": "sparse", "contender": "xgboost", "repeat": -1, "error": "exit 1: broken"}
    blocks = format_blocks(document(failed))
    assert "sparse, xgboost: exit 1: broken" in blocks["failed"]
    assert blocks["sparse"] == "Not run."


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_tables_are_the_same_every_time(case: Any) -> None:
    first, second = (make_table(case, 50, seed=3) for _ in range(2))
    assert first.shape == (50, case.n_columns)
    assert (first != second).sum() == 0
    x, y = make_training_data(case, 40)
    assert x.shape == (40, case.n_columns)
    assert np.isfinite(y).all()
    assert y.std() > 0


def test_a_tiny_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--out", str(tmp_path / "out"), "--models", str(tmp_path / "models")]
    ours = ["--contenders", "gossamer", "gossamer_predictor"]
    cases = ["--cases", "many_trees", "one_row"]
    assert main(["run", *cases, *ours, *TINY, *folders]) == 0
    assert "gossamer_predictor" in capsys.readouterr().out
    found = read_document(tmp_path / "out" / "predict.json")
    assert found is not None
    assert len(found["runs"]) == 6
    assert all(run["n_calls"] == 3 for run in found["runs"])
    page = tmp_path / "page.md"
    page.write_text(
        "".join(f"<!-- predict:{name} -->\n<!-- /predict:{name} -->\n" for name in BLOCKS)
    )
    assert main(["report", "--out", str(tmp_path / "out"), "--page", str(page)]) == 0
    assert "| gossamer" in page.read_text()


def test_who_is_not_there_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Lleaves, "packages", ("no_such_package",))
    folders = ["--out", str(tmp_path), "--models", str(tmp_path)]
    arguments = ["--cases", "many_trees", "--contenders", "lleaves", *TINY, *folders]
    assert not CONTENDERS["lleaves"].is_installed()
    assert main(["run", *arguments]) == 1
    assert "skipped lleaves: no_such_package not installed" in capsys.readouterr().err
