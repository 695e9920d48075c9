"""docs/objectives.md says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.objectives.registry import OBJECTIVES
from gossamer.params import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "objectives.md"
ROWS = re.findall(r"^\| `([^`]+)` \|.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
LINES = {
    name: line
    for name in ROWS
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith(f"| `{name}` |")
}


def test_objectives_are_listed_once() -> None:
    assert len(ROWS) == len(set(ROWS))
    assert set(ROWS) <= set(OBJECTIVES)


@pytest.mark.parametrize("name", LINES)
def test_metrics_and_parameters_are_named(name: str) -> None:
    names = re.findall(r"`([^`]+)`", LINES[name])
    metric = OBJECTIVES[name].default_metric
    assert metric in names[1:]
    assert all(other in TABLE for other in names[1:] if other != metric)
