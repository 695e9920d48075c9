"""Plots of date columns show dates, not seconds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer.cli.commands import cli
from gossamer.errors import ParameterError

pd = pytest.importorskip("pandas")
figure = pytest.importorskip("matplotlib.figure")

DAYS = pd.date_range("2024-03-01", periods=400)
FRAME = pd.DataFrame({"number": np.arange(400.0) % 7, "day": DAYS})
LABEL = 100.0 * (np.arange(400) > 200) + FRAME["number"] + np.arange(400) / 100
MODEL = gs.train({"verbose": -1, "num_leaves": 7}, gs.Dataset(FRAME, LABEL), 5)
MONTH = re.compile(r"202[45]-\d\d")


def _axes() -> Any:
    return figure.Figure(figsize=(6, 4)).add_subplot()


def _ticks(ax: Any) -> list[str]:
    ax.figure.canvas.draw()
    return [label.get_text() for label in ax.get_xticklabels()]


@pytest.mark.parametrize("kind", ["average", "both"])
def test_partial_dependence(kind: Any) -> None:
    ax = gs.plot_partial_dependence(MODEL, FRAME, "day", kind=kind, ax=_axes())
    assert sum(bool(MONTH.match(text)) for text in _ticks(ax)) >= 3
    both = gs.plot_partial_dependence(MODEL, FRAME, ["day", "number"], ax=_axes())
    assert sum(bool(MONTH.match(text)) for text in _ticks(both)) >= 3


def test_the_grid_is_dates() -> None:
    found = MODEL.partial_dependence(FRAME, "day", grid_resolution=5)
    assert found.grid[0].dtype.kind == "M"
    assert found.grid[0][0] >= np.datetime64("2024-03-01")
    given = MODEL.partial_dependence(FRAME, "day", grid=["2024-04-01", "2025-01-01"])
    again = MODEL.partial_dependence(FRAME, "day", grid=given.grid[0])
    assert given.values[0] < given.values[1]
    assert np.array_equal(given.values, again.values)
    with pytest.raises(ParameterError, match=r"grid of 'day' .*expected a list of dates"):
        MODEL.partial_dependence(FRAME, "day", grid=["soon"])
    with pytest.raises(ParameterError, match=r"grid of 'day' .*expected a list of dates"):
        MODEL.partial_dependence(FRAME, "day", grid=[1.5])


def test_shapley_values_and_splits() -> None:
    holes = FRAME.assign(day=FRAME["day"].where(np.arange(400) % 9 > 0))
    for table in (FRAME, holes):
        ax = gs.plot_shap_dependence(MODEL, table, "day", ax=_axes())
        assert sum(bool(MONTH.match(text)) for text in _ticks(ax)) >= 3
    gs.plot_shap_dependence(MODEL, FRAME, "number", color_by="day", ax=_axes())
    splits = gs.plot_split_value_histogram(MODEL, "day", ax=_axes())
    assert any(text.startswith("2024") for text in _ticks(splits))
    row = gs.plot_shap_waterfall(MODEL, FRAME, row=1, ax=_axes())
    assert "day = 2024-03-02" in [text.get_text() for text in row.get_yticklabels()]


def test_trees() -> None:
    graph = gs.create_tree_digraph(MODEL, 0).source
    assert "2024-09-1" in graph


def test_command_line(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "m.gsm"
    FRAME.to_csv(rows, index=False)
    MODEL.save_model(model)
    result = CliRunner().invoke(cli, ["explain", str(model), str(rows), "--pdp", "day"])
    assert "2024-03-20 22:48" in result.output, result.output
