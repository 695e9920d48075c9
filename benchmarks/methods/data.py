"""The problems: generated tables for the times, real ones for the accuracy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.paper.problem import Problem
from benchmarks.real import load_real
from benchmarks.split import Array
from benchmarks.synthetic import n_test_rows

N_DENSE_COLUMNS = 50
# One-hot groups: a row has one value of each, as those of a9a, whose numbers are cut into ranges.
GROUPS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
N_SPARSE_COLUMNS = 123
assert sum(GROUPS) == N_SPARSE_COLUMNS
_ABSENT_SHARE = 0.01  # of a group's values
_FIXED = 20160809  # key of the function to learn, which is the same for every seed
LEAST_ROWS = 200

Make = Callable[[int, float], Problem]  # from a seed and a factor on the rows


def dense(n_rows: int, seed: int, scale: float = 1.0) -> Problem:
    """50 normal columns, no two values equal but by chance; a fifth of them say something."""
    n_rows = _scaled(n_rows, scale)
    rng = np.random.default_rng([seed, 1])
    n_all = n_rows + n_test_rows(n_rows)
    x = rng.standard_normal((n_all, N_DENSE_COLUMNS), dtype=np.float32)
    logit = x[:, 0] + x[:, 1] + x[:, 0] * x[:, 1] + np.sin(3.0 * x[:, 2]) + np.abs(x[:, 3]) - 0.8
    logit += np.where(x[:, 4] > 0.3, x[:, 5], -x[:, 6]) + 0.5 * x[:, 7] * x[:, 8] + 0.3 * x[:, 9]
    return _cut(x, _draw_labels(rng, logit), n_rows)


def one_hot(n_rows: int, seed: int, scale: float = 1.0) -> Problem:
    """14 categories in 123 columns of 0 and 1, in CSR; nearly 14 ones in a row."""
    n_rows = _scaled(n_rows, scale)
    fixed, rng = np.random.default_rng(_FIXED), np.random.default_rng([seed, 2])
    n_all = n_rows + n_test_rows(n_rows)
    codes = np.empty((n_all, len(GROUPS)), np.int32)
    logit = np.full(n_all, -1.4)
    for group, size in enumerate(GROUPS):
        share = np.arange(1, size + 1) ** -fixed.uniform(0.5, 1.2)
        codes[:, group] = rng.choice(size, n_all, p=share / share.sum())
        logit += fixed.normal(0.0, 0.5, size)[codes[:, group]]
    for a, b in ((0, 3), (1, 6), (5, 13)):  # pairs whose combinations count
        logit += fixed.normal(0.0, 0.5, (GROUPS[a], GROUPS[b]))[codes[:, a], codes[:, b]]
    y = _draw_labels(rng, logit)
    is_there = rng.random(codes.shape) >= _ABSENT_SHARE
    columns = (codes + np.r_[0, np.cumsum(GROUPS)[:-1]].astype(np.int32))[is_there]
    row_begin = np.r_[0, np.cumsum(is_there.sum(axis=1))].astype(np.int32)
    ones = np.ones(len(columns), np.float32)
    x = sp.csr_matrix((ones, columns, row_begin), shape=(n_all, N_SPARSE_COLUMNS))
    return _cut(x, y, n_rows)


def real(name: str, seed: int, scale: float = 1.0) -> Problem:
    """A real data set; a quarter is held out, another one for each seed."""
    return Problem.from_split(load_real(name, seed, scale))


SPEED: dict[str, Make] = {
    "dense_200k": partial(dense, 200_000),
    "a9a_like": partial(one_hot, 32_561),
    "a9a_like_10x": partial(one_hot, 325_610),
}
# Data set to its metric and the number of splits: the fewer rows, the more of them.
ACCURACY = {
    "higgs_small": ("auc", 10),
    "california_housing": ("rmse", 5),
    "covertype_93k": ("mlogloss", 2),
}


def _scaled(n_rows: int, scale: float) -> int:
    return max(LEAST_ROWS, round(n_rows * scale))


def _draw_labels(rng: np.random.Generator, logit: Array) -> Array:
    return (rng.random(len(logit)) < 1.0 / (1.0 + np.exp(-logit))).astype(np.float32)


def _cut(x: Array | sp.csr_matrix, y: Array, n_rows: int) -> Problem:
    return Problem("binary", x[:n_rows], y[:n_rows], x[n_rows:], y[n_rows:], n_classes=2)
