"""The benchmark of speed: cases run in processes of their own, and ratios are of the best runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.speed.cases import CASES, LIGHTGBM
from benchmarks.speed.run import best, format_table, main
from benchmarks.speed.worker import load_table, save_table


def test_a_case_is_run_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_CACHE", str(tmp_path))
    make = partial(CASES["small_500"].make.func, 200, 5)  # type: ignore[attr-defined]
    few = replace(CASES["small_500"], make=make, peers={}, rounds=2)
    monkeypatch.setitem(CASES, "small_500", few)
    words = ["--cases", "small_500", "--repeats", "1", "--out", str(tmp_path / "runs.jsonl")]
    assert main(words) == 0
    first = capsys.readouterr().out
    assert few.about in first
    assert main(["--report", str(tmp_path / "runs.jsonl")]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("name", ["small_500", "predict_20"])
def test_a_table_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    table = CASES[name].make()
    save_table(table, tmp_path)
    again = load_table(tmp_path)
    assert (again.x != table.x).sum() == 0
    assert (again.y == table.y).all()


def test_the_best_layout_and_repeat_count() -> None:
    shared = {"case": "higgs_31", "rounds": 11, "skipped": 1, "build_s": 2.0}
    runs = [
        {**shared, "contender": "gossamer", "seconds": 0.5, "peak_over_input_bytes": 2**20},
        {**shared, "contender": "gossamer", "seconds": 0.4, "peak_over_input_bytes": 2**21},
        *({**shared, "contender": name, "seconds": 1.0} for name in LIGHTGBM),
        {**shared, "contender": "lightgbm_col", "seconds": 0.8},
        {**shared, "contender": "xgboost", "error": "not installed"},
    ]
    assert best(runs, "higgs_31", "lightgbm", "seconds") == 0.8
    assert best(runs, "higgs_31", "xgboost", "seconds") is None
    line = format_table(runs).splitlines()[2]
    assert line == f"| {CASES['higgs_31'].about} | 40.00 | 2.00 |  |  |  | 1.00 | 1 /  |"
