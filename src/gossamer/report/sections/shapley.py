"""Shapley values of a sample of rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.model.inspection.changed_columns import values_of
from gossamer.report.charts import swarm_chart
from gossamer.report.given import Floats, Given
from gossamer.report.html import many, note, text

_COLUMNS: Final = 12
_ROWS: Final = 400  # dots in a line
_OUTPUTS: Final = 4


def shapley(given: Given) -> str:
    """Return a chart of the effects of the strongest columns, for each of the first outputs."""
    if given.table is None:
        return note("Shapley values need rows to explain: pass <code>data</code>.")
    found = given.effects
    if isinstance(found, str):
        return note(f"Shapley values are left out: {text(found, 400)}")
    n_rows = len(given.explained_rows)
    by_output = [_strengths(part) for part in found]
    remark = (
        f"{many(min(n_rows, _ROWS), 'dot')} in each line, one for each row: how much the "
        "column moves its raw score, up or down. Missing values are small grey dots; categories, "
        "which are neither low nor high, are grey."
    )
    figures = []
    for k, part in enumerate(found[:_OUTPUTS]):
        order = np.argsort(-by_output[k], kind="stable")
        order = order[by_output[k][order] > 0][:_COLUMNS]
        if not len(order):
            continue
        effects = _dense(part[:_ROWS], order)
        shades = np.column_stack([_shades(given, c) for c in order.tolist()])
        title = "Effects of the columns"
        if len(found) > 1:
            title += f" on {given.output_name(k)}"
        names = [given.model.names[c] for c in order]
        figures.append(swarm_chart(title, names, effects, shades, remark))
        remark = ""
    if not figures:
        return note("No column has an effect on these rows.")
    if len(found) > _OUTPUTS:
        figures.append(note(f"The first {_OUTPUTS} of {len(found):,} outputs are drawn."))
    return "".join(figures)


def mean_effects(given: Given) -> Floats | None:
    """Return the mean size of the Shapley values of each column, over all outputs; None: none."""
    found = None if given.table is None else given.effects
    if found is None or isinstance(found, str):
        return None
    return np.asarray(sum(_strengths(part) for part in found), dtype=np.float64)


def _strengths(part: Any) -> Floats:
    return np.asarray(abs(part).mean(axis=0), dtype=np.float64).ravel()


def _dense(part: Any, columns: npt.NDArray[Any]) -> Floats:
    chosen = part[:, columns]
    return np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray())


def _shades(given: Given, column: int) -> Floats:
    ranks = _ranks(values_of(given.explained.matrix, column)[:_ROWS])
    return np.where(np.isnan(ranks), np.nan, 0.5) if given.is_categorical(column) else ranks


def _ranks(values: npt.NDArray[Any]) -> Floats:
    """Where each value stands among all of them, from 0 to 1; NaN stays."""
    values = values.astype(np.float64)
    there = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    distinct, place = np.unique(values[there], return_inverse=True)
    if len(distinct) < 2:
        ranks[there] = 0.5
        return ranks
    ordered = np.sort(values[there])
    middle = (np.searchsorted(ordered, distinct) + np.searchsorted(ordered, distinct, "right")) / 2
    middle = (middle - middle[0]) / (middle[-1] - middle[0])
    ranks[there] = middle[place.reshape(-1)]
    return ranks
