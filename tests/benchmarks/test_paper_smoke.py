"""The whole way, with tiny data: worker processes, results, tables, figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.paper.cases import CASES
from benchmarks.paper.cli import _command_line, _plan_sampling, main
from benchmarks.paper.store import RUNS_FILE, read_document
from benchmarks.paper.variants import VARIANTS, Variant

TINY = ["--scale", "0.004", "--threads", "1", "--num-leaves", "7"]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GOSSAMER_DATA", raising=False)


def test_run_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lightgbm")
    refused = Variant("broken", "lightgbm", "efb", options={"num_leaves": 1}, depends_on_seed=False)
    monkeypatch.setitem(VARIANTS, "broken", refused)
    out = tmp_path / "out"
    names = ["broken", "lightgbm_efb", "lightgbm_efb_goss"]
    command = ["run", *TINY, "--cases", "allstate_250k", "flights", "--variants", *names]
    status = main([*command, "--rounds", "14", "--seeds", "1", "--repeats", "1", "--out", str(out)])
    assert status == 1  # one variant failed, which did not stop the others
    assert "skipped case flights" in capsys.readouterr().err  # its data is not here
    document = read_document(out / RUNS_FILE)
    assert document is not None
    by_variant = {run["variant"]: run for run in document["runs"]}
    assert by_variant.keys() == set(names)
    assert "num_leaves" in by_variant["broken"]["error"]
    plain, goss = by_variant["lightgbm_efb"], by_variant["lightgbm_efb_goss"]
    assert len(plain["round_s"]) == 14
    assert plain["peak_over_input_bytes"] > 0
    assert 0.5 < plain["metrics"]["auc"] < 1.0
    assert plain["digests"]["14"] != goss["digests"]["14"]

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "paper.md").write_text("<!-- paper:table3 -->\n<!-- /paper:table3 -->\n")
    assert main(["report", "--out", str(out), "--docs", str(docs)]) == 1
    assert "lightgbm_efb_goss" in (docs / "paper.md").read_text()
    assert read_document(docs / "assets" / "paper" / RUNS_FILE) == document


def test_sampling_plan() -> None:
    command = ["goss-vs-sgb", "--shares", "0.1", "0.4", "--seeds", "2", "--top-share", "0.75"]
    args = _command_line().parser.parse_args([*command, "--methods", "sgb", "goss", "mvs"])
    jobs = list(_plan_sampling(CASES["mslr"], args))
    ways = [(job.library, job.labels["sampling"], job.labels["share"]) for job in jobs[:7]]
    assert ways[:2] == [("gossamer", "", 1.0), ("lightgbm", "", 1.0)]
    assert ways[2:] == [
        ("gossamer", "sgb", 0.1),
        ("gossamer", "goss", 0.1),
        ("gossamer", "mvs", 0.1),
        ("lightgbm", "sgb", 0.1),
        ("lightgbm", "goss", 0.1),
    ]
    assert len(jobs) == 2 * (2 + 2 * 5)
    goss = next(job for job in jobs if job.labels["sampling"] == "goss")
    assert (goss.options["top_rate"], goss.options["other_rate"]) == (0.075, 0.025)
    assert goss.curve[-1] == goss.digests[-1] == 100


def test_lists_and_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["run", "--list"]) == 0
    assert "allstate_1m" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="unknown variant"):
        main(["run", "--variants", "nobody"])
    with pytest.raises(SystemExit, match=r"no results\.json"):
        main(["report", "--out", str(tmp_path)])
