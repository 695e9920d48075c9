"""Learning curves: each metric, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gossamer.report.charts import Chart
from gossamer.report.charts.chart import N_COLOURS
from gossamer.report.charts.scale import span_of, with_room
from gossamer.report.given import Floats, Given
from gossamer.report.html import grid, note, number, table, text

_N_METRICS: Final = 12
_N_POINTS: Final = 400  # of a line; with more rounds some are passed over


def learning(given: Given) -> str:
    """Return a chart for each metric, or the scores that are known."""
    by_metric: dict[str, dict[str, Sequence[float]]] = {}
    for data_name, metrics in given.history.items():
        for metric, values in metrics.items():
            if len(values) and not str(metric).endswith("-stdv"):
                by_metric.setdefault(str(metric), {})[str(data_name)] = values
    if not by_metric:
        return _best_scores(given)
    figures = [_draw(given, metric, curves) for metric, curves in by_metric.items()]
    remark = ""
    if len(figures) > _N_METRICS:
        remark = note(f"The first {_N_METRICS} of {len(figures)} metrics are drawn.")
    return grid(figures[:_N_METRICS]) + remark


def _draw(given: Given, metric: str, curves: dict[str, Sequence[float]]) -> str:
    lines = {name: np.asarray(values, np.float64) for name, values in curves.items()}
    n_rounds = max(map(len, lines.values()))
    told = "; ".join(
        f"{name}: from {number(line[0])} to {number(line[-1])}" for name, line in lines.items()
    )
    ends = (1.0, float(n_rounds)) if n_rounds > 1 else (0.0, 2.0)
    chart = Chart(metric, ends, with_room(span_of(*lines.values())), "round", metric, told)
    for i, (name, line) in enumerate(lines.items()):
        step = -(-len(line) // _N_POINTS)
        kept = np.unique(np.append(np.arange(0, len(line), step), len(line) - 1))
        colour = i % N_COLOURS + 1
        spread = _spread(given, name, metric, len(line))
        if spread is not None:
            chart.band(kept + 1, (line - spread)[kept], (line + spread)[kept], colour)
        chart.line(kept + 1, line[kept], colour, name=name)
        if len(line) == 1:
            chart.points([1], line, colour, "big dots")
    best = given.booster.best_iteration
    if 0 < best <= n_rounds and n_rounds > 1:
        chart.rule_at(float(best))
        return chart.figure(f"The line marks the best round, {best:,}.")
    return chart.figure()


def _spread(given: Given, data_name: str, metric: str, n_rounds: int) -> Floats | None:
    """The standard deviation over the folds of `cv`; None: there is none."""
    if not metric.endswith("-mean"):
        return None
    found = given.history[data_name].get(f"{metric.removesuffix('-mean')}-stdv")
    return None if found is None or len(found) != n_rounds else np.asarray(found, np.float64)


def _best_scores(given: Given) -> str:
    hint = note(
        "Metrics of each round are not part of a model. Record them with "
        "<code>record_evaluation(history)</code> and pass <code>evals_result=history</code>."
    )
    rows = [
        (text(data_name), text(metric), number(value, 6))
        for data_name, metrics in given.booster.best_score.items()
        for metric, value in metrics.items()
    ]
    if not rows:
        return hint
    return table(("data set", "metric", "value at the end"), rows, kinds="ttn") + hint
