"""Metrics for experiment trackers."""

from __future__ import annotations

from typing import Any

import pytest

import gossamer as gs

X = [[float(i)] for i in range(60)]
Y = [float(i % 7) for i in range(60)]


def test_every_round_is_reported() -> None:
    seen: list[tuple[str, float, int]] = []
    data = gs.Dataset(X, Y)
    history: dict[str, Any] = {}
    gs.train(
        {"metric": "l1,l2", "verbose": -1},
        data,
        5,
        [data],
        ["a b"],
        callbacks=[
            gs.report_metrics(lambda name, value, step: seen.append((name, value, step))),
            gs.record_evaluation(history),
        ],
    )
    assert [step for _, _, step in seen] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [value for name, value, _ in seen if name == "a b/l1"] == history["a b"]["l1"]


def test_now_and_then_and_in_the_end() -> None:
    steps: list[int] = []
    data = gs.Dataset(X, Y)
    log = gs.report_metrics(lambda name, value, step: steps.append(step), period=4)
    gs.train({"verbose": -1}, data, 10, [data], callbacks=[log])
    assert steps == [4, 8, 10]


@pytest.mark.parametrize(("log", "period"), [(None, 1), (print, 0), (print, True), (print, 1.5)])
def test_bad_input(log: Any, period: Any) -> None:
    with pytest.raises(gs.ParameterError, match=r"log cannot be called|period cannot be used"):
        gs.report_metrics(log, period)
