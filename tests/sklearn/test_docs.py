"""The pages on estimators, sparse tables, targets and objectives of one's own say what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import GossamerClassifier

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "estimators.md"


@pytest.mark.filterwarnings("ignore:no split is possible:UserWarning")
def test_code_runs(binary_rows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x, y = binary_rows
    names = {"x": x[:200], "y": y[:200], "x_valid": x[200:], "y_valid": y[200:], "x_new": x[:3]}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert Path("model.gsm").exists()
    assert names["pipeline"][-1].feature_name_ == ["rooms", "city"]
    assert names["pipeline"][-1].booster_.levels.by_column == {1: ("Bern", "Oslo", "Rome")}


def test_named_attributes_exist(binary_rows: Any) -> None:
    model = GossamerClassifier().fit(*binary_rows)
    table = PAGE.read_text(encoding="utf-8").partition("| attribute |")[2]
    named = re.findall(r"`(\w+_)`", table.partition("\n\n")[0])
    assert len(named) > 5
    for name in named:
        assert np.ndim(getattr(model, name)) >= 0


def test_code_for_sparse_tables_runs() -> None:
    page = (DOCS / "sparse.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert names["prediction"].std() > 0


def test_code_for_ranking_runs() -> None:
    page = (DOCS / "ranking.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 1
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    assert names["scores"].shape == (len(names["x_new"]),)
    assert names["model"].best_score_["valid_0"]["ndcg@10"] > 0.75


@pytest.mark.parametrize(("page", "n_blocks"), [("several_targets", 4), ("custom_objectives", 4)])
def test_code_of_other_pages_runs(
    page: str, n_blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == n_blocks
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    x = names["x"]
    if page == "several_targets":
        assert names["model"].predict(x).shape == (500, 3)
        assert names["classifier"].predict_proba(x).shape == (500, 3)
        assert names["shared"].predict(x).shape == (500, 20)
        assert names["shared"].num_trees() == 50
        assert names["shared"].get_leaf_output(0, 0).shape == (20,)
    else:
        np.testing.assert_array_equal(names["again"].predict(x), names["model"].predict(x))
        assert names["classifier"].predict_proba(x).shape == (500, 2)
