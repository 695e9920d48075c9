"""Tiny files, and a way to run commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.flights import OTHERS, make_frame
from click.testing import CliRunner, Result

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process; it must end with the exit code."""
    from gossamer.cli.commands import cli
    from gossamer.logger import register_logger

    def run(*arguments: Any, code: int = 0, input: bytes | None = None) -> Result:
        given = [str(each) for each in arguments]
        result = CliRunner().invoke(cli, given, input=input, prog_name="gossamer")
        register_logger(None)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        if code:
            assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def flights(folder: Path) -> Path:
    """The folder, in which there are flights.csv and flights.parquet."""
    pytest.importorskip("pyarrow")
    frame = make_frame()
    frame.to_csv(folder / "flights.csv", index=False)
    frame.to_parquet(folder / "flights.parquet")
    return folder


@pytest.fixture
def model(flights: Path, run: Run) -> Path:
    """A model of two classes that have names, trained on the flights."""
    run("train", "flights.csv", "-t", "delayed", "--ignore", OTHERS, "-n", 10, "--threads", 1)
    return flights / "model.gsm"
