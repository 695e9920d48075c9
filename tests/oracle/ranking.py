"""Gradients of ranking from their definitions: every pair, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Array = np.ndarray
Pair = tuple[int, int]
# Change of the metric if the rows at two ranks swap places: (labels by rank, two ranks) -> number.
Delta = Callable[[Array, int, int], float]


def ndcg_delta(gain: Callable[[float], float], n_best: int) -> Delta:
    def dcg(labels: Sequence[float], n: int) -> float:
        return sum(gain(y) / math.log2(2 + r) for r, y in enumerate(labels[:n]))

    def delta(labels: Array, i: int, j: int) -> float:
        swapped = labels.copy()
        swapped[[i, j]] = labels[[j, i]]
        best = dcg(sorted(labels, reverse=True), n_best)
        if best <= 0:
            return 0.0
        # Signed: positive where the row of larger label loses.
        sign = 1 if labels[i] > labels[j] else -1
        return sign * (dcg(labels, len(labels)) - dcg(swapped, len(labels))) / best

    return delta


def map_delta(labels: Array, i: int, j: int) -> float:
    def average_precision(y: Array) -> float:
        hits = np.cumsum(y > 0)
        return float((hits / np.arange(1, len(y) + 1))[y > 0].sum() / max(hits[-1], 1))

    swapped = labels.copy()
    swapped[[i, j]] = labels[[j, i]]
    return abs(average_precision(labels) - average_precision(swapped))


def query_gradients(
    score: Array,
    label: Array,
    delta: Delta,
    pairs: Callable[[int], list[Pair]],
    *,
    sigmoid: float = 1.0,
    divide: bool = True,
    norm: str = "gradients",
    hessian_factor: float = 1.0,
) -> tuple[Array, Array]:
    """Gradients and hessians of one query."""
    order = np.argsort(-score, kind="stable")
    s, y = score[order], label[order].astype(float)
    g, h, total = np.zeros(len(s)), np.zeros(len(s)), 0.0
    for i, j in pairs(len(s)):
        if y[i] == y[j]:
            continue
        high, low = (i, j) if y[i] > y[j] else (j, i)
        weight = delta(y, i, j)
        if divide and s[0] != s[-1]:
            weight /= 0.01 + abs(s[i] - s[j])
        p = 1 / (1 + math.exp(sigmoid * (s[high] - s[low])))
        lam = sigmoid * p * weight
        g[high] -= lam
        g[low] += lam
        h[[i, j]] += hessian_factor * sigmoid**2 * p * (1 - p) * weight
        total += 2 * lam
    if norm == "gradients" and total > 0:
        g, h = (v * math.log2(1 + total) / total for v in (g, h))
    out = np.zeros((2, len(s)))
    out[:, order] = g, h
    return out[0], out[1]


def top_pairs(n_top: int) -> Callable[[int], list[Pair]]:
    return lambda n: [(i, j) for i in range(min(n, n_top)) for j in range(i + 1, n)]


def xendcg(score: Array, label: Array, random: Array) -> tuple[Array, Array]:
    """LightGBM's approximation of three terms for one query."""
    if len(score) == 1:
        return np.zeros(1), np.zeros(1)
    rho = np.exp(score - score.max())
    rho /= rho.sum()
    phi = 2.0**label - random
    first = rho - phi / phi.sum()
    a = first / (1 - rho)
    second = rho * (a.sum() - a)
    b = second / (1 - rho)
    return first + second + rho * (b.sum() - b), rho * (1 - rho)
