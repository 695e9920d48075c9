"""`gossamer train --folds`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=300) > 0, "yes", "no")
    lines = [
        "a,b,c,y",
        *(f"{a:.6f},{b:.6f},{c:.6f},{t}" for (a, b, c), t in zip(x, y, strict=True)),
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(arguments))
    return result.exit_code, result.output


def test_the_average_is_written(table: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "model.gsm")
    args = ("train", str(table), "-t", "y", "--folds", "3", "--rounds", "20", "--out", out)
    result = CliRunner().invoke(cli, [*args, "--json"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    model = gs.Booster(model_file=out)
    assert len(model.fold_facts_) == 3
    assert summary["metrics"]["oof"] == model.oof_score_
    assert model.class_names == ["no", "yes"]
    assert max(facts["rounds"] for facts in model.fold_facts_) <= 20


def test_early_stopping_looks_at_the_folds(table: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "model.gsm")
    args = ("train", str(table), "-t", "y", "--folds", "3", "--early-stopping", "5", "-o", out)
    code, text = _run(*args)
    assert code == 0, text
    assert "binary_logloss on held-out rows" in text
    assert "in 3 members" in text


@pytest.mark.parametrize(
    "others", [("--valid", "0.2"), ("--valid-last", "0.2"), ("--checkpoint", "c.gsc")]
)
def test_what_cannot_be_combined(table: Path, others: tuple[str, ...]) -> None:
    code, text = _run("train", str(table), "-t", "y", "--folds", "3", *others)
    assert code == 2
    assert "cannot be combined" in text
    assert ("--folds holds rows out by itself" in text) == others[0].startswith("--valid")


def test_quality(table: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "model.gsm")
    args = ("train", str(table), "-t", "y", "--out", out)
    code, text = _run(*args, "--quality", "good")
    assert code == 0, text
    assert "binary_logloss on held-out rows" in text
    code, text = _run(*args, "--quality", "best", "--rounds", "5", "--calibration", "temperature")
    assert code == 0, text
    model = gs.Booster(model_file=out)
    assert len(model.fold_facts_) == 8
    assert model.model.objective.traits.link == "calibrated"
    code, text = _run(*args, "--rounds", "100000", "--time-limit", "0.2")
    assert code == 0, text
    assert gs.Booster(model_file=out).current_iteration() < 100_000


@pytest.mark.parametrize(
    "others", [("--calibration", "sigmoid"), ("--quality", "good", "--valid", "0.2")]
)
def test_what_needs_other_options(table: Path, others: tuple[str, ...]) -> None:
    code, _ = _run("train", str(table), "-t", "y", *others)
    assert code == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "training rows: expect worse"),
        (("--quality", "good"), "training rows: expect worse"),
        (("bagging_fraction=0.5",), "training rows: expect worse"),
        (("--folds", "3"), "judged by the models that were not trained on it"),
        (("--valid", "0.3"), None),
    ],
)
def test_a_report_says_what_its_rows_are(
    table: Path, tmp_path: Path, options: tuple[str, ...], told: str | None
) -> None:
    page = tmp_path / "page.html"
    args = ("train", str(table), "-t", "y", "--rounds", "20", "-o", str(tmp_path / "m.gsm"))
    code, text = _run(*args, "--report", str(page), *options)
    assert code == 0, text
    found = page.read_text(encoding="utf-8")
    assert told in found if told else "These are the training rows" not in found
