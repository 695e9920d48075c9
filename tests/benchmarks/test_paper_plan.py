from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper import launch
from benchmarks.paper.cases import CASES
from benchmarks.paper.launch import Amount, Limits, curve_rounds, plan_case, run_jobs
from benchmarks.paper.problem import Problem
from benchmarks.paper.variants import (
    VARIANTS,
    family_members,
    sampling_options,
    seed_options,
    select_variants,
)


def test_every_seed_is_run_and_repeats_are_timed() -> None:
    chosen = [VARIANTS[name] for name in ("gossamer_dense", "gossamer_efb", "xgboost_hist")]
    jobs = list(plan_case(CASES["allstate_250k"], chosen, Amount(4, 2, 100, 30)))
    seeds = {v.name: [j.seed for j in jobs if j.labels["variant"] == v.name] for v in chosen}
    assert seeds == {
        "gossamer_dense": [0, 0],
        "gossamer_efb": [0, 1, 2, 3],
        "xgboost_hist": [0, 0],
    }
    assert [job.labels["is_timed"] for job in jobs] == [True] * 6 + [False] * 2
    assert {job.rounds for job in jobs if job.labels["variant"] == "gossamer_dense"} == {30}
    assert jobs[0].labels["variant"] == "gossamer_dense"
    assert jobs[3].labels["variant"] == "gossamer_efb"  # the next round starts with another
    # The model after the rounds that both did can be compared.
    assert all(30 in job.digests for job in jobs)


def test_who_was_stopped_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones((2, 1), np.float32), np.arange(2.0)
    Problem("binary", x, y, x, y, n_classes=2).save(tmp_path)
    started = []

    def stop(command: list[str], **_: object) -> None:
        started.append(command)
        raise subprocess.TimeoutExpired(command, 7.0)

    monkeypatch.setattr(launch.subprocess, "run", stop)
    chosen = [VARIANTS["gossamer_efb"], VARIANTS["lightgbm_efb"]]
    jobs = plan_case(CASES["kdd_1m"], chosen, Amount(3, 1))
    errors = [run["error"] for run in run_jobs(jobs, tmp_path, Limits(timeout_s=7.0))]
    assert len(started) == 2
    assert errors == ["stopped after 7 s"] * 2 + ["stopped in an earlier run"] * 4


def test_a_case_leaves_out_what_cannot_be_run() -> None:
    chosen = [VARIANTS["gossamer_dense"], VARIANTS["gossamer_efb"]]
    jobs = plan_case(CASES["kdd_1m"], chosen, Amount(1, 1))
    assert {job.labels["variant"] for job in jobs} == {"gossamer_efb"}


def test_sampling_uses_the_share_of_the_case() -> None:
    case = CASES["allstate_1m"]
    goss = VARIANTS["gossamer_efb_goss"].options_for(case.top_rate, case.other_rate, 2)
    assert goss == {
        "data_sample_strategy": "goss",
        "top_rate": 0.05,
        "other_rate": 0.05,
        "bagging_seed": 5,
        "data_random_seed": 3,
    }
    assert sampling_options("sgb", 0.1, 0.2) == {"bagging_fraction": 0.3, "bagging_freq": 1}
    assert sampling_options("mvs", 0.1, 0.1)["bagging_fraction"] == 0.2
    assert sampling_options("goss_auto", 0.1, 0.1)["top_rate"] == "auto"
    assert sampling_options("", 0.1, 0.1) == {}
    assert seed_options("xgboost", 7) == {"seed": 7}
    with pytest.raises(ValueError, match="unknown sampling"):
        sampling_options("some", 0.1, 0.1)


def test_variants_by_name_or_library() -> None:
    names = [variant.name for variant in select_variants(["lightgbm"])[0]]
    assert "lightgbm_efb" in names
    assert "lightgbm_dense" not in names
    assert [v.name for v in select_variants(["lightgbm_dense"])[0]] == ["lightgbm_dense"]
    with pytest.raises(ValueError, match="unknown variant 'nobody'"):
        select_variants(["nobody"])


def test_layouts_are_one_family() -> None:
    assert family_members("lightgbm_efb") == [
        "lightgbm_efb",
        "lightgbm_efb_row",
        "lightgbm_efb_col",
    ]
    assert family_members("gossamer_efb") == ["gossamer_efb"]


def test_curve_rounds() -> None:
    assert curve_rounds(100, 4) == (25, 50, 75, 100)
    assert curve_rounds(3, 25) == (1, 2, 3)
