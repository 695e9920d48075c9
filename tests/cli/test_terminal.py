from __future__ import annotations

import io

import pytest

from gossamer.cli.terminal import Style, format_size, format_time


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str, is_terminal: bool = True) -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_what_a_stream_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Style.of(Terminal("utf-8")) == Style(True, "█")
    assert Style.of(Terminal("ascii")) == Style(True, "#")
    assert Style.of(Terminal("utf-8", is_terminal=False)) == Style(False, "█")
    assert not Style.of(io.StringIO()).has_colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Style.of(Terminal("utf-8")).has_colour
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not Style.of(Terminal("utf-8")).has_colour


def test_text() -> None:
    plain, coloured = Style(), Style(has_colour=True)
    for name in ("bold", "dim", "good"):
        assert getattr(plain, name)("text") == "text"
        assert getattr(coloured, name)("text").endswith("mtext\x1b[0m")
    assert plain.draw_bar(0.0, 4) == "    "
    assert plain.draw_bar(1e-9, 4) == "#   "
    assert plain.draw_bar(1.0, 4) == "####"
    assert format_size(0) == "0 B"
    assert format_time(0.5) == "500.0 ms"
