"""The progress bar."""

from __future__ import annotations

import functools
import io
import sys
from types import SimpleNamespace
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


class TestAutomaticBar:
    """The bar that shows itself."""

    @pytest.fixture(autouse=True)
    def _needs_tqdm(self) -> None:
        pytest.importorskip("tqdm")

    @pytest.fixture
    def terminal(self, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        out = Terminal()
        # sys.stderr itself is changed again by pytest before the test begins.
        monkeypatch.setattr(
            "gossamer.callbacks.progress.sys", SimpleNamespace(stderr=out, modules={})
        )
        return out

    def fit(self, *callbacks: Any, **params: Any) -> None:
        import gossamer as gs

        x = [[float(i)] for i in range(60)]
        data = gs.Dataset(x, [row[0] % 7 for row in x])
        gs.train(params, data, 30, [data], callbacks=list(callbacks))

    def test_a_short_training_has_none(self, terminal: io.StringIO) -> None:
        self.fit()
        assert terminal.getvalue() == ""

    def test_a_longer_one_has_one(
        self, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import tqdm

        monkeypatch.setattr("gossamer.callbacks.progress._A_MOMENT", 0.0)
        monkeypatch.setattr(
            "gossamer.callbacks.progress._import_tqdm",
            lambda: functools.partial(tqdm.tqdm, file=terminal, mininterval=0),
        )
        self.fit()
        assert "29/30" in terminal.getvalue() and "training l2" in terminal.getvalue()
        assert "best" in terminal.getvalue()

    def test_where_nobody_looks_or_others_write_there_is_none(
        self, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        from gossamer.callbacks import log_evaluation

        monkeypatch.setattr("gossamer.callbacks.progress._A_MOMENT", 0.0)
        monkeypatch.setattr("gossamer.callbacks.progress._import_tqdm", lambda: 1 / 0)
        self.fit(verbosity=-1)
        self.fit(log_evaluation(30))
        nobody = SimpleNamespace(stderr=None, modules={})
        with monkeypatch.context() as context:
            context.setattr("gossamer.callbacks.progress.sys", nobody)
            self.fit()
        monkeypatch.setattr("gossamer.callbacks.progress.find_spec", lambda name: None)
        self.fit()
        assert terminal.getvalue() == ""

    def test_higher_is_better(self, terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
        from gossamer.callbacks.progress import _AutomaticBar

        monkeypatch.setattr("gossamer.callbacks.progress._A_MOMENT", 0.0)
        bar = _AutomaticBar()
        for i, value in enumerate((0.5, 0.75, 0.25)):
            result = EvalResult("valid", "auc", value, True)
            text = bar._look_at(CallbackEnv(None, {}, i, 0, 3, [result]))
        assert text == "valid auc 0.25, best 0.75 at 2"
        assert bar._look_at(CallbackEnv(None, {}, 0, 0, 3, [])) == ""
