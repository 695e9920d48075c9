"""Lines shown while training."""

from __future__ import annotations

from typing import Any

from gossamer.callbacks import EvalResult, log_evaluation

ROUND = [EvalResult("valid", "l2", 0.123456789, False), EvalResult("test", "auc", 0.5, True)]
FOLDS = [EvalResult("valid", "l2", 0.25, False, 0.01)]


def test_every_round(train: Any, capsys: Any) -> None:
    train(log_evaluation(), [ROUND, ROUND])
    line = "valid's l2: 0.123457\ttest's auc: 0.5\n"
    assert capsys.readouterr().out == f"[1]\t{line}[2]\t{line}"


def test_period(train: Any, capsys: Any) -> None:
    train(log_evaluation(period=2), [FOLDS] * 5)
    assert [line[:3] for line in capsys.readouterr().out.splitlines()] == ["[2]", "[4]"]


def test_period_zero_is_silent(train: Any, capsys: Any) -> None:
    train(log_evaluation(period=0), [ROUND])
    assert capsys.readouterr().out == ""


def test_nothing_to_show(train: Any, capsys: Any) -> None:
    train(log_evaluation(), [None, []])
    assert capsys.readouterr().out == ""


def test_standard_deviation(train: Any, capsys: Any) -> None:
    train(log_evaluation(), [FOLDS])
    train(log_evaluation(show_stdv=False), [FOLDS])
    assert capsys.readouterr().out == "[1]\tvalid's l2: 0.25 + 0.01\n[1]\tvalid's l2: 0.25\n"


def test_place_among_callbacks() -> None:
    assert (log_evaluation().order, log_evaluation().before_iteration) == (10, False)
