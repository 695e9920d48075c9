"""The examples of docs/ensembles.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ensembles.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["inside"].shape == (3000,)
    assert names["model"].oof_score_["auc"] > 0.75
    assert abs(names["inside_share"] - 0.9) < 0.03
    assert len(names["mixed"].fold_facts_) == 4
