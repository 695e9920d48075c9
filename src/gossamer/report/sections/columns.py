"""The columns: of the data that was given, or as far as the model knows them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.table.date_text import date_text
from gossamer.model.inspection.changed_columns import values_of
from gossamer.report.charts import sparkline
from gossamer.report.given import Floats, Given
from gossamer.report.html import (
    clean,
    name,
    note,
    number,
    percent,
    plain_number,
    table,
    text,
)

_MOST: Final = 60
_LEVELS: Final = 6
_BARS: Final = 18


def columns(given: Given) -> str:
    """Return a table of the columns, the most important first."""
    chosen = given.by_gain[:_MOST]
    parts = []
    if len(given.by_gain) > _MOST:
        parts.append(
            note(f"The {_MOST} most important of {len(given.by_gain):,} columns, by gain.")
        )
    if given.table is None:
        parts.append(
            note(
                "Without data, this page shows only what is stored in the model. "
                "Pass <code>data</code> for more."
            )
        )
        known = [_of_model(given, c) for c in chosen]
        short = ("column", "kind", "splits", "thresholds or levels")
        parts.append(table(short, known, kinds="ttnw"))
        return "".join(parts)
    if given.is_sample:
        parts.append(
            note(
                f"Numbers describe {len(given.rows):,} of {given.n_rows:,} rows, chosen at "
                "random (the same ones each time)."
            )
        )
    matrix = given.table.matrix
    rows = [_of_data(given, c, values_of(matrix, c).astype(np.float64)) for c in chosen]
    head = ("column", "kind", "missing", "distinct", "range or levels", "mean", "distribution")
    parts.append(table(head, rows, kinds="ttnnwnt"))
    return "".join(parts)


def _listed(levels: list[Any], n_all: int) -> str:
    shown = ", ".join(clean(level, 24) for level in levels[:_LEVELS])
    more = f", \u2026 {n_all - _LEVELS:,} more" if n_all > _LEVELS else ""
    return text(shown + more, 400)


def _of_data(given: Given, column: int, values: Floats) -> tuple[str, ...]:
    title = name(given.model.names[column])
    there = values[~np.isnan(values)]
    missing = percent(1 - len(there) / len(values))
    distinct, counts = np.unique(there, return_counts=True)
    n_distinct = f"{len(distinct):,}"
    if not len(there):
        return (title, "empty", missing, "0", "\u2013", "\u2013", "")
    if given.is_categorical(column):
        order = np.argsort(-counts, kind="stable")
        levels = given.levels_of(column)
        words = [_level(levels, distinct[i]) for i in order[:_LEVELS]]
        bars = sparkline(counts[order][:_BARS])
        listed = _listed(words, len(distinct))
        return (title, "categorical", missing, n_distinct, listed, "\u2013", bars)
    finite = there[np.isfinite(there)]
    kind = "whole numbers" if np.array_equal(finite, np.round(finite)) else "numbers"
    if np.isin(distinct, (0.0, 1.0)).all():
        kind = "0 and 1"
    span = f"{plain_number(there.min())} \u2026 {plain_number(there.max())}"
    mean = number(finite.mean()) if len(finite) else "\u2013"
    if column in given.date_columns and len(finite):
        kind, mean = "dates", date_text(float(finite.mean()))[:10]
        span = f"{date_text(finite.min())} \u2026 {date_text(finite.max())}"
    return (title, kind, missing, n_distinct, span, mean, sparkline(_counts(finite)))


def _level(levels: tuple[Any, ...] | None, code: float) -> Any:
    return levels[int(code)] if levels is not None else f"{code:g}"


def _counts(finite: Floats) -> npt.NDArray[Any]:
    if len(finite) == 0 or finite.min() == finite.max():
        return np.array([len(finite)])
    # Between quantiles: a single outlier would hide all others. Halves: ranges may overflow.
    low, high = np.quantile(finite / 2, [0.01, 0.99])
    if not low < high:
        low, high = finite.min() / 2, finite.max() / 2
    counts: npt.NDArray[Any] = np.histogram(np.clip(finite / 2, low, high), _BARS, (low, high))[0]
    return counts


def _of_model(given: Given, column: int) -> tuple[str, ...]:
    arrays = given.model.forest.arrays
    is_own = arrays["column"] == column
    n_splits = f"{int(is_own.sum()):,}"
    title = name(given.model.names[column])
    levels = given.levels_of(column)
    if levels is not None:
        return (title, "categorical", n_splits, _listed(list(levels), len(levels)))
    if given.is_categorical(column):
        return (title, "categorical", n_splits, "codes")
    thresholds = arrays["threshold"][is_own]
    if not len(thresholds):
        return (title, "numbers", n_splits, "\u2013")
    span = f"split from {plain_number(thresholds.min())} to {plain_number(thresholds.max())}"
    return (title, "numbers", n_splits, span)
