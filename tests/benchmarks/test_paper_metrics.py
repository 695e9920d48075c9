from __future__ import annotations

import numpy as np
import pytest

from benchmarks.paper.metrics import evaluate, ndcg


def _plain_ndcg(label: np.ndarray, score: np.ndarray, query: np.ndarray, at: int) -> float:
    found = []
    for each in np.unique(query):
        gain = 2.0 ** label[query == each] - 1.0
        discount = 1.0 / np.log2(np.arange(len(gain)) + 2.0)
        discount[at:] = 0.0
        ideal = float(np.sort(gain)[::-1] @ discount)
        if ideal > 0.0:
            order = np.argsort(-score[query == each])
            found.append(float(gain[order] @ discount) / ideal)
    return float(np.mean(found))


def test_ndcg_is_that_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    query = rng.integers(0, 9, 200)  # not in order, and some with more than ten rows
    label, score = rng.integers(0, 5, 200).astype(np.float32), rng.standard_normal(200)
    label[query == 3] = 0.0  # left out: nothing to find
    assert ndcg(label, score, query) == pytest.approx(_plain_ndcg(label, score, query, 10))
    assert ndcg(label, label, query) == pytest.approx(1.0)


def test_ndcg_of_ties_does_not_depend_on_the_order() -> None:
    label, query = np.array([2.0, 0.0, 0.0]), np.zeros(3, int)
    value = ndcg(label, np.zeros(3), query)
    assert value == pytest.approx(ndcg(label[::-1], np.zeros(3), query))
    assert value == pytest.approx(np.mean(1.0 / np.log2([2.0, 3.0, 4.0])))


def test_ndcg_without_relevant_rows() -> None:
    assert np.isnan(ndcg(np.zeros(3), np.arange(3.0), np.zeros(3, int)))


def test_queries_add_ndcg() -> None:
    label, query = np.array([0.0, 1.0]), np.array([0, 0])
    assert evaluate("regression", label, label, query)["ndcg10"] == 1.0
    assert "ndcg10" not in evaluate("regression", label, label, None)
