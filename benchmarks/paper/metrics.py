"""Metrics of the paper on top of the ones that all benchmarks use."""

from __future__ import annotations

import numpy as np

from benchmarks import metrics
from benchmarks.split import Array, Task

HIGHER_IS_BETTER = metrics.HIGHER_IS_BETTER | {"ndcg10"}
AT = 10


def evaluate(task: Task, label: Array, prediction: Array, query: Array | None) -> dict[str, float]:
    """Computes the metrics that fit the task, and NDCG@10 where rows belong to queries."""
    found = metrics.evaluate(task, label, prediction)
    if query is not None:
        found = {"ndcg10": ndcg(label, prediction, query), **found}
    return found


def ndcg(label: Array, score: Array, query: Array, at: int = AT) -> float:
    """Normalised discounted cumulative gain, averaged over queries with a relevant row.

    The gain of a row is 2^label - 1. Rows of equal score share their places evenly, so that the
    order in the file does not count.

    Args:
        label: Relevance (n_rows,).
        score: Scores to rank by (n_rows,).
        query: Query of each row (n_rows,).
        at: Places that count.

    Returns:
        The mean, or NaN where no row is relevant.
    """
    query_idx = np.unique(query, return_inverse=True)[1]
    gain = np.exp2(label.astype(np.float64)) - 1.0
    ideal = _dcg(gain, gain, query_idx, at)
    found = _dcg(gain, score.astype(np.float64), query_idx, at)
    relevant = ideal > 0.0
    return float(np.mean(found[relevant] / ideal[relevant])) if relevant.any() else float("nan")


def _dcg(gain: Array, score: Array, query_idx: Array, at: int) -> Array:
    order = np.lexsort((-score, query_idx))
    queries, scores, gains = query_idx[order], score[order], gain[order]
    is_first = np.r_[True, queries[1:] != queries[:-1]]
    first_row = np.flatnonzero(is_first)
    place = np.arange(len(queries)) - np.repeat(first_row, np.diff(np.r_[first_row, len(queries)]))
    discount = np.where(place < at, 1.0 / np.log2(place + 2.0), 0.0)
    tie = np.cumsum(is_first | np.r_[True, scores[1:] != scores[:-1]]) - 1
    mean_gain = np.bincount(tie, gains) / np.bincount(tie)
    return np.bincount(queries, mean_gain[tie] * discount)
