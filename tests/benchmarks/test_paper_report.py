from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.paper.checks import run_checks
from benchmarks.paper.figures import draw_figures
from benchmarks.paper.report import format_blocks, format_report, update_page
from benchmarks.paper.store import keep_others, new_document, read_document, write_document
from benchmarks.paper.summary import (
    NO_EFFECT,
    Results,
    compare_sampling,
    failed_runs,
    mean_gain,
    mean_of,
)
from benchmarks.paper.variants import VARIANTS

SETTINGS = {"threads": 2, "num_leaves": 63, "rounds": 20, "scale": 1.0, "slow_rounds": 10}
FACTS = {
    "task": "binary",
    "n_rows": 1000,
    "n_test_rows": 100,
    "n_columns": 50,
    "n_classes": 2,
    "is_sparse": True,
    "n_stored": 4500,
    "has_queries": False,
}


def _run(case: str, variant: str, seconds: float, auc: float = 0.8, **more: Any) -> dict[str, Any]:
    rounds = more.get("rounds", 20)
    return {
        "case": case,
        "variant": variant,
        "library": VARIANTS[variant].library,
        "sampling": VARIANTS[variant].sampling,
        "repeat": 0,
        "is_timed": True,
        "seed": 0,
        "rounds": rounds,
        "build_s": 2 * seconds,
        "train_s": rounds * seconds,
        "round_s": [9.0, *[seconds] * (rounds - 1)],  # the first does not count
        "peak_over_input_bytes": 100 * 2**20,
        "other_cpus": 0.0,
        "metrics": {"auc": auc},
        "curve": [],
        "digests": {"10": "ten"},
        **more,
    }


def _document(runs: list[dict[str, Any]]) -> dict[str, Any]:
    document = new_document("paper", **SETTINGS)
    document["runs"] = runs
    document["data"] = {run["case"]: FACTS for run in runs}
    return document


def _sampled(sampling: str, share: float, seed: int, value: float, digest: str) -> dict[str, Any]:
    return {
        "case": "mslr",
        "library": "gossamer",
        "sampling": sampling,
        "share": share,
        "seed": seed,
        "metric": "ndcg10",
        "rounds": 20,
        "metrics": {"ndcg10": value},
        "curve": [{"round": 10, "seconds": 1.0, "ndcg10": value + 0.25}],
        "digests": {"20": digest},
    }


def _sampling_document(goss_digest: str = "goss") -> dict[str, Any]:
    document = new_document("goss_vs_sgb", **SETTINGS, top_share=0.5)
    for seed in (0, 1, 2):
        document["runs"] += [
            _sampled("", 1.0, seed, 0.5, "all"),
            _sampled("sgb", 0.1, seed, 0.40 + 0.01 * seed, f"sgb{seed}"),
            _sampled("goss", 0.1, seed, 0.41 + 0.02 * seed, goss_digest),
        ]
    return document


def _held(document: dict[str, Any], sampling: dict[str, Any] | None = None) -> dict[str, Any]:
    shares = compare_sampling(sampling) if sampling else []
    return {check.name: check.holds for check in run_checks(Results(document), shares)}


def test_mean_and_paired_gain() -> None:
    found = mean_of([1.0, 2.0, 3.0])
    assert (found.value, found.deviation, found.n) == (2.0, 1.0, 3)
    assert found.error == pytest.approx(1.0 / math.sqrt(3.0))
    assert math.isnan(mean_of([1.0]).deviation)
    gain = mean_gain("auc", {0: 0.7, 1: 0.9, 5: 0.1}, {0: 0.6, 1: 0.7})
    assert gain is not None
    assert (gain.value, gain.n) == (pytest.approx(0.15), 2)
    lower = mean_gain("mlogloss", {0: 0.5}, {0: 0.7})
    assert lower is not None
    assert lower.value == pytest.approx(0.2)
    assert mean_gain("auc", {0: 1.0}, {1: 1.0}) is None


def test_best_run_and_shared_rounds_count() -> None:
    slow = _run("flights", "gossamer_dense", 4.0, rounds=10)
    fast = _run("flights", "gossamer_efb", 2.0)
    fast["round_s"] = [9.0, *[1.0] * 9, *[100.0] * 10]  # beyond the rounds that both did
    other = _run("flights", "gossamer_efb", 3.0)
    untimed = _run("flights", "gossamer_efb", 0.1, is_timed=False)
    results = Results(_document([slow, other, fast, untimed]))
    assert results.speed_up("flights", "gossamer_dense", "gossamer_efb") == pytest.approx(4.0)
    assert results.round_seconds("flights", "gossamer_efb") == pytest.approx(3.0)
    assert results.build_seconds("flights", "gossamer_efb") == 4.0
    assert results.round_seconds("flights", "xgboost_hist") is None
    assert results.speed_up("flights", "xgboost_hist", "gossamer_efb") is None


def test_accuracy_of_fewer_rounds_does_not_count() -> None:
    runs = [_run("flights", "gossamer_dense", 1.0, rounds=10), _run("flights", "gossamer_efb", 1.0)]
    results = Results(_document(runs))
    assert results.scores("flights", "gossamer_dense", "auc") == {}
    assert results.scores("flights", "gossamer_efb", "auc") == {0: 0.8}


def test_the_fastest_layout_of_lightgbm_counts() -> None:
    runs = [
        _run("flights", "lightgbm_efb", 3.0),
        _run("flights", "lightgbm_efb_col", 2.0, peak_over_input_bytes=300 * 2**20),
        _run("flights", "gossamer_efb", 1.0),
    ]
    document = _document(runs)
    assert Results(document).best_of("flights", "lightgbm_efb") == "lightgbm_efb_col"
    held = _held(document)
    assert held["flights: training, LightGBM's time / Gossamer's"] is True
    assert held["flights: peak memory, Gossamer's / LightGBM's"] is True
    runs[0]["peak_over_input_bytes"] = 1
    assert _held(document)["flights: peak memory, Gossamer's / LightGBM's"] is False


def test_checks_of_efb() -> None:
    dense = _run("allstate_250k", "gossamer_dense", 10.0, rounds=10)
    bundled = _run("allstate_250k", "gossamer_efb", 0.5)
    speed = "allstate_250k: EFB over dense, seconds a round"
    model = "allstate_250k: EFB and dense, model files"
    held = _held(_document([dense, bundled]))
    assert (held[speed], held[model]) == (True, True)
    held = _held(_document([dense, {**bundled, "digests": {"10": "other"}}]))
    assert (held[speed], held[model]) == (True, False)
    held = _held(_document([bundled]))
    assert (held[speed], held[model]) == (None, None)


def test_checks_of_goss() -> None:
    plain = [_run("higgs_1m", "gossamer_efb", 2.0, 0.8 + seed / 100, seed=seed) for seed in (0, 1)]
    goss = [
        _run(
            "higgs_1m", "gossamer_efb_goss", 1.0, 0.7995 + s / 100, seed=s, digests={"20": f"g{s}"}
        )
        for s in (0, 1)
    ]
    held = _held(_document(plain + goss))
    assert held["higgs_1m: GOSS over all rows, seconds a round"] is True
    assert held["higgs_1m: auc of GOSS - of all rows"] is True
    for run in goss:
        run["metrics"] = {"auc": 0.79}
    assert _held(_document(plain + goss))["higgs_1m: auc of GOSS - of all rows"] is False


def test_sampling_without_effect_is_a_failure() -> None:
    """A GOSS that is ignored would be as accurate as all rows."""
    plain = _run("higgs_1m", "gossamer_efb", 2.0, digests={"20": "same"})
    goss = _run("higgs_1m", "gossamer_efb_goss", 1.0, digests={"20": "same"})
    document = _document([plain, goss])
    assert failed_runs(document) == [(goss, NO_EFFECT)]
    assert _held(document)["higgs_1m: auc of GOSS - of all rows"] is None
    assert NO_EFFECT in format_blocks(document, None)["failed"]
    # Before the warm-up ends GOSS uses all rows by design; and other libraries' trees are others.
    plain["digests"] = goss["digests"] = {"10": "same"}
    assert failed_runs(document) == []
    plain["digests"] = goss["digests"] = {"20": "same"}
    plain["library"] = "lightgbm"
    assert failed_runs(document) == []


def test_goss_and_sgb_are_paired_by_seed() -> None:
    document = _sampling_document()
    shares = {share.share: share for share in compare_sampling(document, "final")}
    gain = shares[0.1].gain
    assert gain is not None
    assert gain.value == pytest.approx(0.02)
    assert gain.error == pytest.approx(0.01 / math.sqrt(3.0))
    assert shares[1.0].scores["all"].value == pytest.approx(0.5)
    best = compare_sampling(document, "best")[0]
    assert best.scores["sgb"].value == pytest.approx(0.66)
    held = _held(_document([]), document)
    assert held["mslr: ndcg10 of GOSS - of SGB, at every share"] is True


def test_ignored_goss_does_not_beat_sgb() -> None:
    document = _sampling_document(goss_digest="all")
    assert len(failed_runs(document)) == 3
    held = _held(_document([]), document)
    assert held["mslr: ndcg10 of GOSS - of SGB, at every share"] is None


def test_report_and_page(tmp_path: Path) -> None:
    runs = [
        _run("flights", "gossamer_efb", 1.0),
        _run("flights", "gossamer_efb", 1.0, 0.82, seed=1, repeat=1),
        _run("flights", "lightgbm_efb", 3.0),
        _run("flights", "gossamer_exact", 7.0, rounds=10),
    ]
    failed = {key: runs[0][key] for key in ("case", "library", "sampling", "seed", "rounds")}
    runs.append({**failed, "variant": "gossamer_efb_mvs", "error": "exit 1: no such thing"})
    blocks = format_blocks(_document(runs), _sampling_document())
    assert "| flights  |   Flight Delay |" in blocks["table1"]
    assert "0.81000 ± 1e-2" in blocks["table3"]
    assert "3.00 |" in blocks["table2"]
    assert "7.00 |" in blocks["table2"]  # exact / EFB
    assert "+0.02000 | ± 6e-3 |" in blocks["table4"]
    assert blocks["failed"] == "- gossamer_efb_mvs on flights: exit 1: no such thing"
    text = format_report(blocks)
    assert "## Table 4" in text

    page = tmp_path / "paper.md"
    page.write_text("before\n<!-- paper:must -->\nold\n<!-- /paper:must -->\nafter\n")
    homeless = update_page(page, {"must": "a | b", "table9": "x"})
    assert homeless == ["table9"]
    expected = "before\n<!-- paper:must -->\n\na | b\n\n<!-- /paper:must -->\nafter\n"
    assert page.read_text() == expected
    update_page(page, {"must": "a | b"})
    assert page.read_text() == expected


def test_documents(tmp_path: Path) -> None:
    document = _document([_run("flights", "gossamer_efb", 1.0)])
    path = tmp_path / "deep" / "results.json"
    assert read_document(path) is None
    write_document(path, document)
    assert read_document(path) == document
    empty = _document([])
    write_document(path, empty)
    assert read_document(path) == empty

    again = _document([_run("flights", "gossamer_efb", 5.0), _run("flights", "xgboost_hist", 5.0)])
    keys = ("case", "variant", "repeat")
    keep_others(again, document, keys)
    assert [run["train_s"] for run in again["runs"]] == [100.0, 100.0]
    later = _document([])
    keep_others(later, document, keys)
    assert later["runs"] == document["runs"]
    other = new_document("paper", **{**SETTINGS, "threads": 1})
    with pytest.raises(ValueError, match="differ in settings"):
        keep_others(other, document, keys)


def test_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curve = [{"round": 5, "seconds": 0.5, "auc": 0.7}, {"round": 10, "seconds": 1.0, "auc": 0.8}]
    runs = [
        _run("flights", "gossamer_efb", 1.0, curve=curve),
        _run("flights", "lightgbm_efb", 1.0, curve=curve),
    ]
    drawn = draw_figures(_document(runs), tmp_path)
    assert [path.name for path in drawn] == ["figure1.svg"]
    first = drawn[0].read_bytes()
    assert b"seconds of training" in first
    assert draw_figures(_document(runs), tmp_path)[0].read_bytes() == first
    assert draw_figures(_document([]), tmp_path) == []
