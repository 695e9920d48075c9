"""Queries: how well their rows are ordered."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data import Targets
from gossamer.report.charts import Chart, histogram
from gossamer.report.charts.scale import span_of
from gossamer.report.given import Floats, Given
from gossamer.report.html import grid, note, number

_DEEPEST: Final = 20
_SHOWN: Final = 10


def ranking(given: Given, targets: Targets, score: Floats) -> str:
    """Return NDCG at each place, its distribution over the queries, and scores by label."""
    assert targets.queries is not None
    gain = _gains(given, targets.label)
    values = ndcg_by_query(score, gain, targets.queries, _DEEPEST)
    sizes = np.diff(targets.queries)
    has_none = np.array([not gain[a:b].any() for a, b in _pairs(targets)])
    places = np.arange(1, _DEEPEST + 1)
    mean = values.mean(axis=0)
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    told = f"{number(mean[0])} at 1, {number(mean[_SHOWN - 1])} at {_SHOWN}"
    ends = span_of(low, high, mean, include=(1.0,))
    chart = Chart("NDCG by place", (1.0, float(_DEEPEST)), ends, "first k rows", "NDCG@k", told)
    chart.band(places, low, high)
    chart.line(places, mean)
    label = targets.label
    grades = np.unique(label)[:6]
    groups = [(f"label {number(grade)}", score[label == grade]) for grade in grades]
    figures = [
        chart.figure(f"Mean of {len(sizes):,} queries: {told}. The band holds half of them."),
        histogram(
            f"NDCG@{_SHOWN} of the queries",
            [("all", values[:, _SHOWN - 1])],
            f"NDCG@{_SHOWN}",
            span=(0.0, 1.0),
            n_bins=20,
            counted="queries",
        ),
        histogram("Scores by label", groups, "raw score"),
        histogram(
            "Sizes of the queries", [("all", sizes.astype(np.float64))], "rows", counted="queries"
        ),
    ]
    remark = ""
    if has_none.any():
        remark = note(
            f"{int(has_none.sum()):,} of {len(sizes):,} queries have no row of any gain; their "
            "NDCG is taken as 1, as in training."
        )
    return grid(figures) + remark


def _pairs(targets: Targets) -> list[tuple[int, int]]:
    assert targets.queries is not None
    return list(pairwise(targets.queries.tolist()))


def _gains(given: Given, label: npt.NDArray[Any]) -> Floats:
    """What a row of each label is worth, as in training."""
    params = given.params
    whole = label.astype(np.float64)
    if params.label_gain:
        return np.array(params.label_gain)[label.astype(np.int64)]
    return whole if not params.ndcg_exp_gain else np.exp2(whole) - 1


def ndcg_by_query(
    score: Floats, gain: Floats, queries: npt.NDArray[np.int64], deepest: int
) -> Floats:
    """Return NDCG at 1, 2, ... of each query: queries x `deepest`.

    Example:
        >>> score, gain = np.array([2.0, 1.0, 3.0]), np.array([1.0, 0.0, 0.0])
        >>> ndcg_by_query(score, gain, np.array([0, 3]), 2).round(3)
        array([[0.   , 0.631]])
    """
    discount = 1 / np.log2(np.arange(deepest) + 2)
    found = np.ones((len(queries) - 1, deepest))
    for q, (begin, end) in enumerate(pairwise(queries.tolist())):
        own = gain[begin:end]
        best = np.sort(own)[::-1][:deepest]
        if not best[0] > 0:
            continue
        got = own[np.argsort(-score[begin:end], kind="stable")][:deepest]
        n = len(best)
        ideal = np.cumsum(best * discount[:n])
        found[q, :n] = np.cumsum(got * discount[:n]) / ideal
        found[q, n:] = found[q, n - 1]
    return found
