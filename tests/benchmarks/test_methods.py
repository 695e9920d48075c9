"""Benchmarks of the ways to find a split: figures of made-up runs, and tiny real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.methods import data
from benchmarks.methods.cli import FIGURE, main
from benchmarks.methods.figure import draw_figure, find_curve
from benchmarks.methods.plan import (
    EPSILONS,
    EXACT,
    accuracy_contenders,
    approx_name,
    plan_jobs,
    speed_contenders,
    speed_name,
)
from benchmarks.methods.report import BLOCKS, format_blocks, matching_local, shared_scores
from benchmarks.paper.store import new_document, read_document
from benchmarks.paper.summary import Results
from benchmarks.runners.base import Settings
from benchmarks.runners.gossamer import GossamerRunner

SETTINGS = {"threads": 1, "rounds": 4, "depth": 8, "scale": 1.0}


@pytest.fixture(autouse=True)
def _no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GOSSAMER_DATA", raising=False)


def run(case: str, variant: str, seed: int = 0, seconds: float = 1.0, **metrics: float) -> Any:
    (value,) = metrics.values()
    return {
        "case": case,
        "variant": variant,
        "library": variant.split("_")[0],
        "sampling": "",
        "repeat": 0,
        "is_timed": True,
        "seed": seed,
        "rounds": 4,
        "build_s": seconds,
        "train_s": 5 * seconds,
        "round_s": [9.0, seconds, seconds, seconds],  # the first does not count
        "peak_over_input_bytes": 3 * 2**20,
        "other_cpus": 0.0,
        "metrics": metrics,
        "curve": [{"round": k, "seconds": 1.0, **dict.fromkeys(metrics, value)} for k in (2, 4)],
        "digests": {},
    }


def document(kind: str, *runs: dict[str, Any]) -> dict[str, Any]:
    return new_document(kind, **SETTINGS) | {"runs": list(runs)}


def accuracy_document() -> dict[str, Any]:
    """Errors shrink with eps, and those of local proposals are a tenth as large."""
    runs = []
    for seed in (0, 1):
        runs.append(run("california_housing", EXACT, seed, rmse=0.5 + 0.1 * seed))
        for eps in EPSILONS:
            for proposal, factor in (("global", 1.0), ("local", 0.1)):
                value = 0.5 + 0.1 * seed + factor * eps
                runs.append(run("california_housing", approx_name(proposal, eps), seed, rmse=value))
    return document("accuracy", *runs)


def test_accuracy_is_paired_with_exact() -> None:
    blocks = format_blocks({"accuracy": accuracy_document()})
    (line,) = (row for row in blocks["accuracy"].splitlines() if "global, eps 0.1 " in row)
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["global, eps 0.1", "0.65000", "-18.18", "0.00"]  # 0.1 of 0.55, worse
    assert "hist" not in blocks["accuracy"]  # it was not run
    assert blocks["speed"] == "Not run."
    assert blocks["failed"] == "None."


def test_only_splits_that_all_have_finished_count() -> None:
    made = accuracy_document()
    last = approx_name("local", EPSILONS[-1])
    made["runs"] = [r for r in made["runs"] if (r["variant"], r["seed"]) != (last, 1)]
    results = Results(made)
    assert shared_scores(results, "california_housing", EXACT) == {0: 0.5}
    assert find_curve(results, "california_housing", EXACT) == [(2, 0.5), (4, 0.5)]
    assert "california_housing 1)" in format_blocks({"accuracy": made})["accuracy"]


def test_fewer_local_candidates_are_as_good() -> None:
    results = Results(accuracy_document())
    found = [matching_local(results, "california_housing", eps) for eps in EPSILONS]
    assert found == [0.3, 0.3, 0.3, 0.1]
    # Where more is better, too.
    worse = document(
        "accuracy",
        run("higgs_small", approx_name("global", 0.3), auc=0.8),
        run("higgs_small", approx_name("local", 0.3), auc=0.7),
        run("higgs_small", approx_name("local", 0.1), auc=0.8),
    )
    assert matching_local(Results(worse), "higgs_small", 0.3) == 0.1
    assert matching_local(Results(worse), "higgs_small", 0.1) is None


@pytest.mark.parametrize("theirs", [2.5, 1.5])
def test_speed_table(theirs: float) -> None:
    runs = [run("a9a_like", speed_name("gossamer", "exact"), logloss=0.5)]
    runs.append(run("a9a_like", speed_name("gossamer", "exact"), seconds=7.0, logloss=0.5))
    runs.append(run("a9a_like", speed_name("xgboost", "exact"), seconds=theirs, logloss=0.6))
    runs.append({**runs[0], "variant": "xgboost_hist", "error": "broken"})
    blocks = format_blocks({"speed": document("speed", *runs)})
    cells = [cell.strip() for cell in blocks["speed"].splitlines()[2].split("|")[1:-1]]
    ratio = f"{theirs:.2f}"
    assert cells[:5] == ["a9a_like", "exact", "1000.0", f"{1000 * theirs:.1f}", ratio]
    assert cells[5:] == ["1500.0", f"{1500 * theirs:.1f}", ratio, "3", "3", "0.50000", "0.60000"]
    assert blocks["failed"] == "- xgboost_hist on a9a_like: broken"


def test_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    made = accuracy_document()
    assert find_curve(Results(made), "california_housing", EXACT) == [(2, 0.55), (4, 0.55)]
    assert draw_figure(made, tmp_path / "new" / "figure.svg")
    text = (tmp_path / "new" / "figure.svg").read_text()
    assert "local, eps 0.3" in text and "california_housing" in text
    assert not draw_figure(document("accuracy"), tmp_path / "none.svg")


def test_generated_tables() -> None:
    sparse, dense = data.one_hot(2_000, 0), data.dense(2_000, 0)
    assert sparse.x_train.shape == (2_000, 123)
    assert dense.x_train.shape == (2_000, 50)
    assert sp.issparse(sparse.x_train) and sparse.x_train.has_canonical_format
    assert 13.5 < sparse.x_train.nnz / 2_000 < 14.0
    for problem in (sparse, dense):
        assert 0.1 < problem.y_train.mean() < 0.9
    again, other = data.one_hot(2_000, 0), data.one_hot(2_000, 1)
    np.testing.assert_array_equal(sparse.y_test, again.y_test)
    assert (sparse.y_test != other.y_test).any()


def test_parameters_mean_the_same() -> None:
    ours, theirs = speed_contenders(5)[:2]
    assert (ours.name, theirs.name) == ("gossamer_exact", "xgboost_exact")
    assert ours.options["max_bin"] is None  # exact takes none
    runner = GossamerRunner(Settings("binary", 2, 31, 4, 1), ours.options)
    assert not {"max_bin", "num_leaves"} & runner._params.keys()
    assert ours.options["min_sum_hessian_in_leaf"] == theirs.options["min_child_weight"]
    assert ours.options["lambda_l2"] == theirs.options["reg_lambda"]
    assert ours.options["max_depth"] == theirs.options["max_depth"] == 5
    sketches = {c.name: c.options for c in speed_contenders(8) if "approx" in c.name}
    assert sketches["gossamer_approx_1_of_256"]["sketch_eps"] == 1 / 256
    assert sketches["xgboost_approx_1_of_256"]["max_bin"] == 256
    names = [c.name for c in accuracy_contenders(8)]
    assert len(names) == len(set(names)) == 11


def test_every_turn_starts_with_another_contender() -> None:
    jobs = list(plan_jobs("a9a_like", speed_contenders(8), 5, repeats=2))
    assert len(jobs) == 16
    assert jobs[0].labels["variant"] == jobs[15].labels["variant"] == "gossamer_exact"
    assert jobs[8].labels["variant"] == "xgboost_exact"


def test_tiny_runs_and_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out")]
    tiny = ["--threads", "1", "--rounds", "3", "--scale", "0.002", "--libraries", "gossamer"]
    speed = ["speed", *tiny, *out, "--repeats", "1", "--data", "dense_200k", "a9a_like_10x"]
    assert main(speed) == 0
    assert main(["accuracy", *tiny, *out]) == 1
    assert "skipped higgs_small" in capsys.readouterr().err  # its data is not here
    found = read_document(tmp_path / "out" / "speed.json")
    assert found is not None
    assert len(found["runs"]) == 8
    assert all(0.0 < r["metrics"]["logloss"] < 1.0 for r in found["runs"])
    page = tmp_path / "page.md"
    places = (f"<!-- methods:{name} -->\n<!-- /methods:{name} -->\n" for name in BLOCKS)
    page.write_text("".join(places))
    assert main(["report", *out, "--page", str(page)]) == 0
    assert page.read_text().count("Not run.") == 2
    assert "| a9a_like_10x | approx, 1/256 |" in page.read_text()
    assert not (tmp_path / FIGURE).exists()


def test_accuracy_of_real_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up table in the place of a real one."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "data" / "higgs_small"
    folder.mkdir(parents=True)
    x = rng.normal(size=(1_200, 3)).astype(np.float32)
    np.savez(folder / "data.npz", X=x, y=(x[:, 0] + x[:, 1] > 0.0).astype(int))
    (folder / "meta.json").write_text('{"task": "binary", "target": "y"}')
    monkeypatch.setenv("GOSSAMER_DATA", str(tmp_path / "data"))
    command = ["accuracy", "--threads", "1", "--rounds", "4", "--libraries", "gossamer"]
    command += ["--data", "higgs_small", "--seeds", "1", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    found = read_document(tmp_path / "out" / "accuracy.json")
    assert found is not None
    assert {len(r["curve"]) for r in found["runs"]} == {4}
    assert all(r["curve"][0].keys() == {"round", "auc"} for r in found["runs"])  # no times
    auc = {r["variant"]: r["metrics"]["auc"] for r in found["runs"]}
    assert auc[EXACT] > auc[approx_name("global", 0.3)]


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no results"):
        main(["report", "--out", str(tmp_path)])
