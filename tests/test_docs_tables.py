"""Tables of figures on pages are what the code before them prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1].joinpath("docs", "imbalance.md")


def test_imbalance(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)[:2]:
        exec(compile(block, PAGE.name, "exec"), names)
    printed = capsys.readouterr().out.splitlines()[1:]
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)[0].splitlines()[1:]
    for line, expected in zip(printed, shown, strict=True):
        got, want = ([float(n) for n in re.findall(r"\d\.\d+", row)] for row in (line, expected))
        assert line.split()[0] == expected.split()[0]
        assert got == pytest.approx(want, abs=2e-3)
