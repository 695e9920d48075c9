"""Names never control the terminal: control characters in messages are written out."""

from __future__ import annotations

import io
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli
from gossamer.cli.terminal import Style, printable
from gossamer.errors import escape_controls, message
from gossamer.logger import info, register_logger, show, warn

ESCAPE = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e"
SHOWN = r"\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e"
X = np.random.default_rng(0).normal(size=(100, 2))


def is_clean(text: str) -> bool:
    return all(letter.isprintable() or letter in "\n\t" for letter in text)


def test_log_lines_of_metrics(capsys: Any) -> None:
    data = gs.Dataset(X, X[:, 0], feature_name=[ESCAPE, "b"])

    def metric(_: Any, __: Any) -> Any:
        return f"loss{ESCAPE}", 1.0, False

    gs.train(
        {"verbose": 1, "metric": "None"},
        data,
        3,
        valid_sets=[data.create_valid(X, X[:, 0])],
        valid_names=[f"valid{ESCAPE}"],
        feval=metric,
        callbacks=[gs.log_evaluation(1), gs.early_stopping(1)],
    )
    out = capsys.readouterr().out
    assert f"valid{SHOWN}'s loss{SHOWN}" in out
    assert is_clean(out)


@pytest.mark.parametrize("way", ["printed", "logged", "registered"])
def test_every_way_to_a_reader(way: str, capsys: Any, caplog: Any) -> None:
    said: list[str] = []

    class Recorder:
        info = warning = staticmethod(said.append)

    if way == "registered":
        register_logger(Recorder())
    try:
        with (
            caplog.at_level(logging.INFO if way == "logged" else logging.ERROR, "gossamer"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            for say in (show, info, warn):
                say(f"column {ESCAPE}")
    finally:
        register_logger(None)
    said += [*capsys.readouterr().out.splitlines(), *caplog.messages]
    said += [str(warning.message) for warning in caught]
    assert len(said) >= 2
    assert set(said) == {f"column {SHOWN}"}


def test_errors_and_reprs() -> None:
    assert message(ESCAPE, got=ESCAPE, expected=ESCAPE, hint=ESCAPE).isprintable()
    data = gs.Dataset(X, X[:, 0], feature_name=[ESCAPE, "b"])
    booster = gs.train({"verbose": -1}, data, 2, valid_sets=[data], valid_names=[ESCAPE])
    assert repr(booster).isprintable() and SHOWN in repr(booster)
    assert repr(data).isprintable()
    with pytest.raises(gs.GossamerError) as error:
        booster.predict({"c": X[:, 0], "b": X[:, 1]})
    assert is_clean(str(error.value))


def test_halves_of_surrogates_and_marks_are_written_out(capfd: Any) -> None:
    """Python cannot print the former: a log line would end the training."""
    data = gs.Dataset(X, X[:, 0])
    names = ["half\ud800", "mark\ufeff\u061c"]
    gs.train(
        {"verbose": 1},
        data,
        1,
        valid_sets=[data.create_valid(X, X[:, 0]) for _ in names],
        valid_names=names,
        callbacks=[gs.log_evaluation(1)],
    )
    out = capfd.readouterr().out
    assert r"half\ud800's l2" in out and r"mark\ufeff\u061c's l2" in out


def test_text_that_is_fine_stays() -> None:
    text = "größer 数 → 1\n\ttab"
    assert escape_controls(text) == text


def test_the_command_line(tmp_path: Path) -> None:
    names = [f"a{ESCAPE.replace(chr(13), '')}", "b", "y"]
    lines = [",".join(names), *(f"{a},{b},{a > 0:d}" for a, b in X)]
    table, model = tmp_path / "rows.csv", tmp_path / "model.gsm"
    table.write_text("\n".join(lines))
    for arguments in (
        ["train", str(table), "--target", "y", "--out", str(model)],
        ["explain", str(model)],
        ["describe", str(table)],
        ["describe", str(model)],
        ["train", str(table), "--target", "nothing"],
    ):
        done = CliRunner().invoke(cli, arguments, prog_name="gossamer")
        register_logger(None)
        assert is_clean(done.output), arguments
        assert r"\x1b" in done.output or arguments[0] == "train", done.output
        assert done.exit_code == (1 if "nothing" in arguments else 0), done.output
    styled = Style(has_colour=True).bold(f"x{ESCAPE}")
    assert printable(styled, io.StringIO()) == f"\x1b[1mx{SHOWN}\x1b[0m"
