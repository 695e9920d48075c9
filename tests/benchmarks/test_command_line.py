"""The command line that all benchmarks share."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from benchmarks.cli import GROUPS, main
from benchmarks.command_line import CommandLine, add_options

FOLDER = Path(__file__).parents[2] / "benchmarks"


def test_every_group_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(GROUPS) == {path.parent.name for path in FOLDER.glob("*/__main__.py")}
    for name in GROUPS:
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"])
        assert stopped.value.code == 0
        assert f"python -m benchmarks.{name}" in capsys.readouterr().out


def test_options_come_from_one_table() -> None:
    parser = argparse.ArgumentParser()
    add_options(parser, threads=None, seeds=7, libraries=("a", "b"))
    args = parser.parse_args(["--libraries", "b"])
    assert (args.threads, args.seeds, args.libraries) == (2, 7, ["b"])
    with pytest.raises(SystemExit):
        parser.parse_args(["--libraries", "c"])
    with pytest.raises(KeyError, match="thread"):
        add_options(parser, thread=1)


def test_commands_share_options_and_lists_come_first() -> None:
    line = CommandLine("benchmarks.x", "About.", rounds=3, list=None)
    line.add("run", lambda args: args.rounds, "runs", repeats=None)
    line.add_report(lambda args: 9, "reports")
    shown: list[int] = []
    assert line.run(["run"]) == 3
    assert line.run(["run", "--rounds", "4"], lambda: shown.append(1)) == 4
    assert line.run(["report"], lambda: shown.append(1)) == 9
    assert line.run(["run", "--list"], lambda: shown.append(1)) == 0
    assert shown == [1]
