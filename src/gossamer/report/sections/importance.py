"""Importance of the columns, by gain and by number of splits."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.model.inspection.importance import feature_importance
from gossamer.report.charts import bar_chart
from gossamer.report.given import Floats, Given
from gossamer.report.html import grid, note
from gossamer.report.sections.shapley import mean_effects

_MOST: Final = 15


def importance(given: Given) -> str:
    """Return bars for each kind of importance."""
    model = given.model
    if not len(model.forest.arrays["column"]):
        return note("No tree has a split, so the model uses no column.")
    splits = feature_importance(model.forest, "split", model.derived).astype(np.float64)
    figures = [_bars(given, "Gain", given.gains, "sum of the gains of its splits")]
    figures.append(_bars(given, "Splits", splits, "number of splits"))
    effects = mean_effects(given)
    if effects is not None:
        figures.append(_bars(given, "Shapley values", effects, "mean effect on the raw score"))
    n_unused = int((splits == 0).sum())
    remark = ""
    if n_unused:
        remark = note(f"Columns without any split: {n_unused:,} of {model.n_columns:,}.")
    return grid(figures) + remark


def _bars(given: Given, title: str, values: Floats, unit: str) -> str:
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > 0][:_MOST]
    n_used = int((values > 0).sum())
    remark = f"The first {_MOST} of {n_used:,} columns." if n_used > _MOST else ""
    names = [given.model.names[c] for c in order]
    return bar_chart(title, names, values[order], unit, remark)
