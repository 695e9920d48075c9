"""Prose is plain: none of the phrases that `tools/check_words.py` knows."""

from __future__ import annotations

import pytest

from tools import check_words


def test_prose_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_words.main([]) == 0, capsys.readouterr().out
