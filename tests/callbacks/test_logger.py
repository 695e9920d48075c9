"""Who gets which message."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from gossamer.errors import ParameterError
from gossamer.logger import info, register_logger, show, warn


@dataclass
class Recorder:
    """A logger of the user's."""

    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Take a message."""
        self.said.append(f"say {text}")

    def shout(self, text: str) -> None:
        """Take a warning."""
        self.said.append(f"shout {text}")


def test_shown_is_printed_by_default(capsys: Any, caplog: Any) -> None:
    show("hello")
    assert capsys.readouterr().out == "hello\n"
    assert caplog.messages == []


def test_info_is_silent_by_default(capsys: Any) -> None:
    info("hello")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_shown_is_logged_where_logging_listens(capsys: Any, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, "gossamer"):
        show("hello")
    assert capsys.readouterr().out == ""
    assert caplog.messages == ["hello"]


def test_shown_is_printed_where_no_handler_takes_info(capsys: Any, caplog: Any) -> None:
    logger = logging.getLogger("gossamer")
    handler = logging.StreamHandler()
    handler.setLevel(logging.ERROR)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with caplog.at_level(logging.INFO, "gossamer"):
            show("hello")
    finally:
        logger.propagate = True
        logger.removeHandler(handler)
    assert capsys.readouterr().out == "hello\n"


def test_registered_logger_gets_everything(capsys: Any) -> None:
    recorder = Recorder()
    register_logger(recorder, "say", "shout")
    show("a")
    info("b")
    warn("c")
    assert recorder.said == ["say a", "say b", "shout c"]
    assert capsys.readouterr().out == ""


def test_warning_points_at_the_caller_of_the_function_that_warns() -> None:
    def train() -> None:
        warn("odd data")

    with pytest.warns(UserWarning, match="odd data") as caught:
        train()
    assert caught[0].filename == __file__


def test_logger_without_the_methods() -> None:
    with pytest.raises(ParameterError, match="'info' and 'warning'"):
        register_logger(Recorder())
