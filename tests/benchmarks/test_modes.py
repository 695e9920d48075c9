"""Benchmarks of categories, constraints and modes: figures of made-up runs, and tiny real ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.modes.catboost import make_any_library
from benchmarks.modes.cli import main
from benchmarks.modes.data import stratified_folds
from benchmarks.modes.launch import Limits, _find_cached
from benchmarks.modes.plan import plan_boosters, plan_cardinality, plan_monotone
from benchmarks.modes.report import BLOCKS, format_blocks
from benchmarks.modes.summary import loss_of, summarise
from benchmarks.modes.worker import count_violations
from benchmarks.paper.runners import RoundClock
from benchmarks.paper.store import new_document, read_document
from benchmarks.runners.base import Settings
from benchmarks.tasks.problem import Part

TINY = ["--threads", "1", "--rounds", "3", "--rows", "400", "--libraries", "gossamer"]


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOSSAMER_DATA", raising=False)


def run(contender: str, loss: float = 1.0, seed: int = 0, **more: Any) -> dict[str, Any]:
    head = {"mode": "dart", "data": "made_up", "contender": contender, "seed": seed, "fold": 0}
    figures = {"build_s": 1.0, "train_s": 1.0, "peak_over_input_bytes": 0, "n_rows": 10}
    metrics = {"auc": loss, "rmse": loss}
    more = {"violations": 0, "other_cpus": 0.0, **more}
    return {**head, "repeat": 0, "loss": loss, "metrics": metrics, **figures, **more}


def test_layouts_are_one_library_and_pairs_are_by_seed() -> None:
    runs = [run("gossamer", 1.1, train_s=2.0), run("gossamer", 2.0, 1, train_s=1.0)]
    runs += [run("lightgbm_col", 1.0, train_s=4.0), run("lightgbm_row", 2.0, 1, train_s=3.0)]
    runs += [run("gossamer", 9.0, 2), run("lightgbm_col", 1.0, 2) | {"error": "broken"}]
    (line,) = summarise(runs)
    assert line.time_ratio("lightgbm", "train_s") == pytest.approx(3.0)
    assert line.places() == [(0, 0), (1, 0)]
    mean, error = line.difference("lightgbm", loss_of)
    assert (mean, error) == (pytest.approx(5.0), pytest.approx(5.0))
    assert math.isnan(line.difference("catboost", loss_of)[0])


def test_tables() -> None:
    def block(kind: str, *runs: dict[str, Any]) -> str:
        document = new_document(kind, threads=2, rounds=100, rows=0) | {"runs": list(runs)}
        return format_blocks({kind: document})[kind]

    slow = run("lightgbm", 0.9, train_s=1.9)
    assert "|         1.90 |" in block("categories", run("gossamer", 0.9), slow)
    worse = block("categories", run("gossamer", 0.81), run("lightgbm", 0.9, train_s=2.0))
    assert "|       -10.000 |" in worse and "|         2.00 |" in worse
    boosters = block("boosters", run("gossamer", 1.006), run("lightgbm", train_s=0.9))
    assert "|         +0.60 |" in boosters and "|         0.90 |" in boosters
    assert "**7**" in block("monotone", run("gossamer", violations=7), run("lightgbm"))
    assert "2.50" in block("cv", run("gossamer"), run("lightgbm_row", train_s=2.5))
    amazon = {"mode": "cardinality", "data": "amazon_access"}
    ours, best = run("gossamer", 0.896, **amazon), run("catboost", 0.9, **amazon)
    block_of_one = block("cardinality", ours, best, run("lightgbm", 0.95, **amazon))
    assert "| catboost |         -0.44 |" in block_of_one
    adult = {"mode": "cardinality", "data": "adult"}
    ours, best = run("gossamer", 0.896, **adult), run("catboost", 0.89, **adult)
    block_of_one = block("cardinality", ours, best, run("lightgbm", 0.9, **adult))
    assert "| lightgbm |         -0.44 |" in block_of_one
    assert set(format_blocks({}).values()) == {"Not run.", "None."}


def test_violations_are_counted() -> None:
    x = np.random.default_rng(0).uniform(size=(50, 2))
    assert count_violations(lambda rows: rows[:, 0] - rows[:, 1], x, [1, -1]) == 0
    assert count_violations(lambda rows: rows[:, 0] - rows[:, 1], x, [0, 0]) == 0
    assert count_violations(lambda rows: rows[:, 1], x, [0, -1], n_rows=3) == 300


def test_folds_have_the_same_share_of_every_class() -> None:
    label = np.repeat([0.0, 1.0], [80, 20])
    folds = stratified_folds(label)
    assert all(label[folds == fold].sum() == 4.0 for fold in range(5))


def test_plans() -> None:
    seeds = [case.seed for case in plan_boosters(["dart", "rf"], ["higgs_like"], 2)]
    assert seeds == [0, 1, 2, 3, 0, 1]  # dart is noisy
    names = [sorted(case.contenders) for case in plan_monotone(["generator"], ["basic"], 2)]
    assert names == [["gossamer", "lightgbm_col"], ["gossamer", "lightgbm_row"]]
    assert [case.fold for case in plan_cardinality(["adult"])] == [0, 1, 2, 3, 4]


def test_only_runs_of_catboost_on_the_same_rows_are_taken_again() -> None:
    earlier = run("catboost", n_rounds=1000)
    head = {key: earlier[key] for key in ("mode", "data", "contender", "seed", "fold", "repeat")}
    limits = Limits(cached=[earlier, run("gossamer")])
    assert _find_cached(head, 10, limits) is earlier
    assert _find_cached(head, 11, limits) is None
    assert _find_cached(head, 10, Limits(cached=[earlier], catboost_rounds=5)) is None
    assert _find_cached({**head, "contender": "gossamer"}, 10, limits) is None


def test_tiny_runs_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path)]
    monotone = ["monotone", *TINY, *out, "--seeds", "1", "--methods", "advanced"]
    assert main(monotone) == 0
    assert "skipped advanced on california_housing" in capsys.readouterr().err
    assert main(["boosters", *TINY, *out, "--seeds", "1", "--data", "higgs_like"]) == 0
    assert main(["cv", *TINY, *out, "--repeats", "1"]) == 0
    assert main(["categories", *TINY, *out]) == main(["cardinality", *TINY, *out]) == 1
    document = read_document(tmp_path / "monotone.json")
    assert document is not None
    assert [(r["contender"], r["violations"]) for r in document["runs"]] == [("gossamer", 0)]
    page = tmp_path / "modes.md"
    page.write_text("".join(f"<!-- modes:{name} -->\n<!-- /modes:{name} -->\n" for name in BLOCKS))
    assert main(["report", *out, "--page", str(page)]) == 0
    assert page.read_text().count("Not run.") == 2


@pytest.mark.parametrize("name", ["gossamer", "lightgbm"])
def test_categories_reach_the_library(name: str) -> None:
    """Codes whose order says nothing: one set splits them, one threshold cannot."""
    pytest.importorskip(name)
    codes = np.arange(2_000) % 10
    part = Part(codes[:, None].astype(np.float32), (codes % 2).astype(float))
    settings = Settings("binary", 2, 2, 1, 1, learning_rate=1.0)
    spreads = []
    for options in ({}, {"categorical_feature": [0]}):
        library = make_any_library(name, settings, options)
        fitted = library.train(library.build(part, None), RoundClock(), 0)
        spreads.append(np.ptp(library.predict(fitted, part.x, False)))
    assert spreads[1] > 1.5 * spreads[0]


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no results"):
        main(["report", "--out", str(tmp_path)])
