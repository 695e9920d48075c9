"""docs/objectives.md says what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer.objectives.registry import OBJECTIVES
from gossamer.params import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "objectives.md"
TEXT = PAGE.read_text(encoding="utf-8")
NAMES = re.findall(r"^\| `([^`]+)` \|", TEXT, re.MULTILINE)
LINES = {
    line.split("`")[1]: [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in TEXT.splitlines()
    if line.startswith("| `")
}
OBJECTIVE = TABLE["objective"]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_objective_is_listed_once() -> None:
    assert OBJECTIVE.choices is not None
    assert len(NAMES) == len(set(NAMES))
    assert set(NAMES) == set(OBJECTIVE.choices) - {"custom"}


@pytest.mark.parametrize("name", LINES)
def test_names_of_the_peers_lead_to_it(name: str) -> None:
    assert OBJECTIVE.choices is not None
    _, lightgbms, xgboosts, *_ = LINES[name]
    for other in quoted(lightgbms) + quoted(xgboosts):
        assert other == name or other in OBJECTIVE.choices[name]
    assert all(":" in other for other in quoted(xgboosts))
    assert not any(":" in other for other in quoted(lightgbms))


@pytest.mark.parametrize("name", LINES)
def test_metric_parameters_and_leaf_values(name: str) -> None:
    *_, metric, parameters, leaf_values = LINES[name]
    objective = OBJECTIVES[name]
    assert quoted(metric) == [objective.default_metric]
    assert all(other in TABLE or other in NAMES for other in quoted(parameters))
    if name in ("gaussian", "cox", "aft") or name.startswith(("rank", "lambdarank")):
        return
    assert (objective().leaf_refit is not None) == leaf_values.startswith("refitted")
    damped = re.search(r"damped from (\d+)", leaf_values)
    if leaf_values != "as `binary`":
        assert objective().damp_from == (float(damped.group(1)) if damped else 0.0)


def test_code_runs() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(block, names)
    assert (np.diff(names["quantiles"], axis=1) >= 0).all()
    assert (names["upper"] > names["mean"]).all()
    assert (names["months"].predict(names["x"]) > 0).all()
