"""The commands of docs/command_line.md run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.flights import make_frame

from gossamer.cli.commands import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_page(run: Any, flights: Path) -> None:
    make_frame(100, seed=1).to_csv("test.csv", index=False)
    make_frame(100, seed=2).drop(columns="delayed").to_csv("new_flights.csv", index=False)
    for kind in ("toml", "ini"):
        (text,) = blocks(kind)
        Path(text.splitlines()[0].removeprefix("# ")).write_text(text)
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 27
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "gossamer"
        assert run(*words[1:]).stdout
    written = ("predictions.parquet", "why.csv", "hour.png", "report.html", "model.c", "rank.gsm")
    for name in written:
        assert Path(name).stat().st_size > 100


def test_every_command_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"| `{command}` | " in text


def test_completion() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("shells differ")
    script = "import sys; from gossamer.cli import main; sys.exit(main())"

    def complete(words: str, position: int) -> list[str]:
        environment = {
            **os.environ,
            "_GOSSAMER_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(position),
        }
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert complete("gossamer pre", 1) == ["predict"]
    assert complete("gossamer train --valid", 2) == ["--valid", "--valid-last"]
