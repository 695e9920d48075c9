"""Row sampling by gradients, with sorts. Gradients and hessians are outputs x rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Sample(NamedTuple):
    """The rows inside (increasing), and what each row of the table counts."""

    inside: np.ndarray
    weight: np.ndarray


def random_bits(key: int, counter: np.ndarray) -> np.ndarray:
    """The splitmix64 sequence that starts at `key`."""
    with np.errstate(over="ignore"):
        step = np.uint64(0x9E3779B97F4A7C15)
        x = np.uint64(key) + counter.astype(np.uint64) * step + step
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def score_rows(gradient: np.ndarray, hessian: np.ndarray, reg: float) -> np.ndarray:
    """Length of the gradient, with a part of the hessian."""
    square = (gradient.astype(float) ** 2 + reg * hessian.astype(float) ** 2).sum(axis=0)
    return np.sqrt(square).astype(np.float32)


BLOCK = 8192


def goss(score: np.ndarray, n_top: int, n_other: int, key: int) -> Sample:
    """The largest scores; of the other rows of every block its share, by Floyd's algorithm."""
    rows = np.arange(len(score))
    order = np.lexsort((rows, -score))
    top, rest = order[:n_top], np.sort(order[n_top:])
    drawn: list[int] = []
    if n_other > 0:
        # Shares are exact fractions; where a row is divided, one random number says who gets it.
        (start,) = random_bits(key, np.array([2**64 - 1], dtype=np.uint64))
        start = (int(start) >> 32) * len(rest) >> 32
        for first in range(0, len(score), BLOCK):
            i, j = (int(k) for k in np.searchsorted(rest, [first, first + BLOCK]))
            begin, end = ((n_other * k + start) // len(rest) for k in (i, j))
            drawn += rest[i:j][_draw(j - i, end - begin, key, first)].tolist()
    assert len(drawn) == len(set(drawn)) == n_other
    weight = np.ones(len(score))
    weight[drawn] = len(rest) / max(n_other, 1)
    return Sample(np.sort(np.concatenate([top, np.array(drawn, dtype=top.dtype)])), weight)


def _draw(n: int, n_drawn: int, key: int, first: int) -> list[int]:
    """`n_drawn` of 0 ... n - 1; the random numbers are those of rows `first`, `first` + 1, ..."""
    counter = first + np.arange(n_drawn)
    half = np.where(counter % 2 == 0, np.uint64(0), np.uint64(32))
    random = (random_bits(key, counter // 2) >> half) & np.uint64(2**32 - 1)
    chosen: set[int] = set()
    for last, number in zip(range(n - n_drawn, n), random.tolist(), strict=True):
        place = number * (last + 1) >> 32
        chosen.add(last if place in chosen else place)
    return sorted(chosen)


def find_mu(score: np.ndarray, n_expected: float) -> float:
    """Where sum of min(1, score / mu) = n_expected; 0 where even that is too few."""
    down = np.sort(score.astype(float))[::-1]
    below = np.append(np.cumsum(down[::-1])[::-1], 0.0)
    for n_sure in range(len(down) + 1):
        largest = down[n_sure] if n_sure < len(down) else 0.0
        if n_sure >= n_expected:
            break
        mu = below[n_sure] / (n_expected - n_sure)
        if mu >= largest:
            return mu
    raise AssertionError


def mvs_chances(score: np.ndarray, n_expected: float) -> np.ndarray:
    """The probability of each row."""
    mu = find_mu(score, n_expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(score > 0, np.minimum(score.astype(float) / mu, 1.0), 0.0)
