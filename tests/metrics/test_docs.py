"""docs/metrics.md says what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gossamer.metrics.registry import METRICS
from gossamer.params import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
TEXT = PAGE.read_text(encoding="utf-8")
NAMES = re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE)
LINES = {
    line.split("`")[1]: [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("| `")
}
CHOICES = TABLE["metric"].choices or {}


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_metric_is_listed_once() -> None:
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) == set(METRICS)


@pytest.mark.parametrize("name", LINES)
def test_names_and_values(name: str) -> None:
    _, lightgbms, xgboosts, value = LINES[name]
    for other in quoted(lightgbms) + quoted(xgboosts):
        assert other == name or other in CHOICES[name]
    metric = METRICS[name]
    assert value.startswith("↑") == metric.maximize
    for other in quoted(value):
        base, at, _ = other.partition("@")
        assert (base == name and metric.takes_argument) if at else other in TABLE


def test_code_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    said = re.search(r'list\(history\["training"\]\)  # (\[.*\])', blocks[0])
    assert said is not None
    assert str(list(names["history"]["training"])) == said.group(1)
