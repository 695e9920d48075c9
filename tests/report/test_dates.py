"""Columns of dates: the model knows them as seconds, the page shows dates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from report.pages import QUIET, Page

import gossamer as gs
from gossamer.data.table.date_text import date_text, date_ticks


def test_the_page_shows_dates(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-03-01", periods=400, freq="D")
    frame = pandas.DataFrame({"number": np.arange(400.0) % 7, "day": days})
    label = 100 * (np.arange(400) > 200) + frame["number"]
    model = gs.train(QUIET, gs.Dataset(frame, label), 5)
    path = model.report(tmp_path / "report.html", frame, label)
    page = Page(path)
    words = " ".join(page.words)
    assert "2024-03-01 \u2026 2025-04-04" in words  # the table of columns
    assert "2024-07" in words  # the axis of its partial dependence
    assert "2024-09-18 12:00" in page.source.split('"nodes"')[1]  # a threshold
    seconds = str(int(days[0].timestamp()))
    assert seconds not in words


def test_without_data_and_from_an_array_there_are_numbers(tmp_path: Path) -> None:
    x = np.arange(1_700_000_000.0, 1_700_000_400.0).reshape(-1, 1)
    model = gs.train(QUIET, gs.Dataset(x, x[:, 0] % 2), 2)
    assert "numbers" in " ".join(Page(model.report(tmp_path / "a.html")).words)
    page = Page(model.report(tmp_path / "b.html", x, x[:, 0] % 2))
    assert "1700000000" in " ".join(page.words)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.0, 1.0),
        (0.0, 90.0),
        (-1e9, 1e9),
        (0.0, 3600.0),
        (1.7e9, 1.7e9 + 5 * 86400),
        (-6e10, 2e11),
        (1.7e9, 1.7e9 + 2e6),
    ],
)
def test_ticks_lie_between_the_ends(low: float, high: float) -> None:
    ticks, texts = date_ticks(low, high)
    assert 1 <= len(ticks) <= 60 and len(texts) == len(ticks)
    assert ticks == sorted(ticks) and low <= ticks[0] and ticks[-1] <= high


def test_moments_beyond_the_calendar_are_numbers() -> None:
    assert date_text(1e15) == "1e+15"
    assert date_text(float("inf")) == "inf"
