"""Tables of figures on pages are what their code prints, and commands run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1].joinpath("docs", "imbalance.md")


@pytest.mark.slow
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


@pytest.mark.slow
def test_commands_of_the_start(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    gossamer = [sys.executable, "-m", "gossamer.cli"]
    offered = subprocess.run([*gossamer, "--help"], capture_output=True, text=True, check=True)
    if not re.search(r"^ *train\b", offered.stdout, re.MULTILINE):
        pytest.skip("there is no command for training")
    text = PAGE.with_name("quickstart.md").read_text(encoding="utf-8")
    table, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(table, "quickstart.md", "exec"), names)
    whole = names["table"].assign(comes_back=names["comes_back"])
    whole.to_csv(tmp_path / "passengers.csv", index=False)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in commands.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "gossamer"
        subprocess.run([*gossamer, *arguments], cwd=tmp_path, capture_output=True, check=True)
    predictions = (tmp_path / "predictions.csv").read_text().splitlines()
    assert len(predictions) == len(whole) + 1
