"""The progress bar."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from gossamer.callbacks import CallbackEnv, EvalResult, progress_bar

ROUND = [EvalResult("valid", "l2", 0.25, False)]


def test_bar_reaches_its_end(train: Any) -> None:
    pytest.importorskip("tqdm")
    out = io.StringIO()
    bar = progress_bar("fitting", file=out, mininterval=0)
    for begin in (0, 10):
        train(bar, [ROUND] * 3, begin=begin)
    ends = [line for line in out.getvalue().split("\n") if line]
    assert len(ends) == 2  # a closed bar ends its line
    for end in ends:
        last = end.split("\r")[-1]
        assert last.startswith("fitting: 100%")
        assert "3/3" in last
        assert "valid l2=0.25" in last


def test_unfinished_bar_can_be_closed(train: Any) -> None:
    pytest.importorskip("tqdm")
    bar = progress_bar(disable=True, show_metrics=False)
    train(lambda env: bar(env._replace(end_iteration=9)), [ROUND])
    bar.close()
    bar.close()


def test_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r'pip install "gossamer\[progress\]"'):
        progress_bar()


def test_a_training_that_goes_on() -> None:
    pytest.importorskip("tqdm")
    out = io.StringIO()
    bar = progress_bar(file=out, mininterval=0)
    for i in (6, 7, 8, 9):  # from a checkpoint after 4 of 8 rounds
        bar(CallbackEnv(None, {}, i, 2, 10, ROUND))
    assert "4/8" in out.getvalue().split("\r")[1]
    assert "8/8" in out.getvalue().split("\r")[-1]
