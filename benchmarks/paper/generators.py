"""Generated stand-ins for the paper's sparse data sets that cannot be had here.

Both make rows in chunks, each from its own key (seed, chunk), so that fewer rows are the first
ones of more rows. The function to learn is fixed; the seed varies the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.paper.problem import Problem
from benchmarks.split import Array
from benchmarks.synthetic import n_test_rows

CHUNK_ROWS = 16_384
_FIXED = 20171204  # key of everything that is part of the function, not of the rows

# ---- like Allstate: one-hot groups and a few numbers ----

N_NUMERIC = 15
# The first three are nested, as model lines, models and makes of cars are.
CARDINALITIES = (
    *(1500, 620, 75),
    *(969, 340, 190, 120, 80, 56, 44, 35, 27, 22, 18, 15, 12, 11, 10, 9, 8, 7, 6, 5, 5, 4, 4),
    *(3, 3, 3, 2, 2, 2, 2, 2, 2),
)
N_ALLSTATE_COLUMNS = 4_228
_N_NESTED = 3
assert N_NUMERIC + sum(CARDINALITIES) == N_ALLSTATE_COLUMNS


def allstate_groups() -> list[slice]:
    """The columns of each one-hot group; numbers stand before the first."""
    ends = N_NUMERIC + np.cumsum(CARDINALITIES)
    return [slice(end - size, end) for end, size in zip(ends, CARDINALITIES, strict=True)]


def allstate_like(n_rows: int, seed: int = 0) -> Problem:
    """An insurer's table: 35 categorical variables, one-hot, and 15 numbers; 4,228 columns.

    Categories have 2 to 1,500 values of Zipf-like frequencies, and some numbers are mostly zero.
    About 47 of a row's values are not zero. A quarter of the labels are 1.

    Args:
        n_rows: Training rows.
        seed: Seed of the rows.

    Returns:
        The problem, in CSR.
    """
    n_all = n_rows + n_test_rows(n_rows)
    width = N_NUMERIC + len(CARDINALITIES)
    make = partial(_allstate_chunk, _AllstateFunction(), seed)
    return _assemble(make, n_all, n_rows, N_ALLSTATE_COLUMNS, width)


class _AllstateFunction:
    """Frequencies of the categories and their effects on the label."""

    def __init__(self) -> None:
        rng = np.random.default_rng(_FIXED)
        self.cumulative = []  # by group: distribution of the popularity rank
        self.order = []  # by group: category of each rank
        self.effect = []  # by group and category
        for size in CARDINALITIES:
            share = np.arange(1, size + 1) ** -rng.uniform(0.7, 1.2)
            self.cumulative.append(np.cumsum(share / share.sum()))
            self.order.append(rng.permutation(size))
            # A third of the variables say nothing.
            weight = rng.uniform(0.1, 0.45) * (rng.random() > 0.33)
            self.effect.append(weight * rng.standard_normal(size))
        self.parent = [
            _surjection(rng, CARDINALITIES[i], CARDINALITIES[i + 1]) for i in range(_N_NESTED - 1)
        ]
        # Pairs of variables of which each pair of categories has an effect of its own.
        self.pairs = [(4, 10), (6, 16), (8, 22), (3, 27)]
        self.pair_effect = [
            0.35 * rng.standard_normal((CARDINALITIES[a], CARDINALITIES[b])) for a, b in self.pairs
        ]

    def draw_categories(self, rng: np.random.Generator, n_rows: int) -> Array:
        """Categories (n_rows, n_groups)."""
        codes = np.empty((n_rows, len(CARDINALITIES)), np.int32)
        for group in range(len(CARDINALITIES)):
            if 0 < group < _N_NESTED:
                codes[:, group] = self.parent[group - 1][codes[:, group - 1]]
                continue
            rank = np.searchsorted(self.cumulative[group], rng.random(n_rows))
            codes[:, group] = self.order[group][np.minimum(rank, CARDINALITIES[group] - 1)]
        return codes

    def logit(self, numbers: Array, codes: Array) -> Array:
        """Log-odds of label 1 for each row."""
        logit = np.full(len(codes), -2.6)
        for group, effect in enumerate(self.effect):
            logit += effect[codes[:, group]]
        for (a, b), effect in zip(self.pairs, self.pair_effect, strict=True):
            logit += effect[codes[:, a], codes[:, b]]
        logit += 0.35 * numbers[:, 0] + 0.3 * np.sin(2.0 * numbers[:, 1])
        logit += 0.3 * np.abs(numbers[:, 2]) * np.where(codes[:, 30] == 0, 1.0, -0.5)
        logit += 0.25 * np.log(numbers[:, 5]) * (numbers[:, 9] > 0.5)
        logit += 0.03 * (numbers[:, 10] - 15.0) + 0.4 * (numbers[:, 12] > 0)
        return logit + 0.2 * np.minimum(numbers[:, 13], 3.0)


def _surjection(rng: np.random.Generator, n_from: int, n_onto: int) -> Array:
    """A random mapping that leaves nothing out."""
    more = rng.integers(0, n_onto, n_from - n_onto)
    return rng.permutation(np.concatenate([np.arange(n_onto), more]))


def _allstate_chunk(
    function: _AllstateFunction, seed: int, chunk: int, n_rows: int
) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng([_FIXED, seed, chunk])
    numbers = np.empty((n_rows, N_NUMERIC), np.float32)
    numbers[:, :5] = rng.standard_normal((n_rows, 5), dtype=np.float32)
    numbers[:, 5:9] = np.exp(0.6 * rng.standard_normal((n_rows, 4), dtype=np.float32))
    numbers[:, 9] = rng.random(n_rows, dtype=np.float32)
    numbers[:, 10:12] = rng.integers(0, 30, (n_rows, 2))  # ages of cars and of policies
    amounts = np.exp(rng.standard_normal((n_rows, 3), dtype=np.float32))
    numbers[:, 12:15] = amounts * (rng.random((n_rows, 3)) < (0.25, 0.12, 0.05))
    codes = function.draw_categories(rng, n_rows)
    label = rng.random(n_rows) < _sigmoid(function.logit(numbers, codes))

    width = N_NUMERIC + len(CARDINALITIES)
    values = np.ones((n_rows, width), np.float32)
    values[:, :N_NUMERIC] = numbers
    columns = np.empty((n_rows, width), np.int32)
    columns[:, :N_NUMERIC] = np.arange(N_NUMERIC)
    columns[:, N_NUMERIC:] = codes
    columns[:, N_NUMERIC:] += np.array([group.start for group in allstate_groups()], np.int32)
    stored = values != 0.0
    return label, stored.sum(axis=1), columns[stored], values[stored]


# ---- like KDD10 and KDD12: millions of columns ----


def kdd_like(
    n_rows: int = 1_000_000, n_columns: int = 1_000_000, per_row: float = 30.0, seed: int = 0
) -> Problem:
    """A wide, very sparse table: popularity of columns by a power law, ones and small counts.

    The number of non-zeros in a row is random with mean `per_row`. The label depends on the sum
    of weights of a row's columns and on pairs of the most popular ones.

    Args:
        n_rows: Training rows.
        n_columns: Columns; many of the last ones may never occur.
        per_row: Mean number of non-zeros in a row.
        seed: Seed of the rows.

    Returns:
        The problem, in CSR.
    """
    n_all = n_rows + n_test_rows(n_rows)
    function = _KddFunction(n_columns, per_row)
    # The count of a row is about Poisson: six standard deviations are room enough on average.
    width = per_row + 6.0 * np.sqrt(per_row)
    return _assemble(partial(_kdd_chunk, function, seed), n_all, n_rows, n_columns, width)


class _KddFunction:
    """Popularity of the columns and their weights."""

    EXPONENT = 1.1
    SHIFT = 8.0  # flattens the head: the most popular column is in about every other row
    N_POPULAR = 24

    def __init__(self, n_columns: int, per_row: float) -> None:
        self.n_columns = n_columns
        rng = np.random.default_rng([_FIXED, n_columns])
        self.column_of_rank = rng.permutation(n_columns).astype(np.int64)
        self.rank_of_column = np.argsort(self.column_of_rank)
        power = 1.0 - self.EXPONENT
        self._low = self.SHIFT**power
        self._high = (n_columns + self.SHIFT) ** power
        edges = (np.arange(n_columns + 1) + self.SHIFT) ** power
        share = np.diff(edges) / (self._high - self._low)
        self.n_draws = _mean_draws(share, per_row)
        # Popular columns say little each; of the rare ones, a tenth say much.
        spread = np.where(np.arange(n_columns) < 1_000, 0.45, 0.8)
        says_something = rng.random(n_columns) < np.where(np.arange(n_columns) < 1_000, 0.6, 0.1)
        weight = spread * says_something * rng.standard_normal(n_columns)
        self.weight = weight[self.rank_of_column]
        pairs = rng.permutation(self.N_POPULAR).reshape(2, -1)
        self.pairs = pairs
        self.pair_effect = 0.8 * rng.standard_normal(pairs.shape[1])
        present = 1.0 - np.exp(-self.n_draws * share)
        both = present[pairs[0]] * present[pairs[1]]
        mean = float(present @ weight) + float(both @ self.pair_effect)
        self.start = -1.0 - mean

    def draw_columns(self, rng: np.random.Generator, n_rows: int) -> Array:
        """Sorted keys row * n_columns + column, each once."""
        counts = rng.poisson(self.n_draws, n_rows)
        uniform = rng.random(int(counts.sum()))
        rank = (self._low + uniform * (self._high - self._low)) ** (1.0 / (1.0 - self.EXPONENT))
        rank = np.clip((rank - self.SHIFT).astype(np.int64), 0, self.n_columns - 1)
        row = np.repeat(np.arange(n_rows, dtype=np.int64), counts)
        return np.unique(row * self.n_columns + self.column_of_rank[rank])

    def logit(self, row: Array, column: Array, n_rows: int) -> Array:
        """Log-odds of label 1 for each row."""
        logit = self.start + np.bincount(row, self.weight[column], n_rows)
        rank = self.rank_of_column[column]
        popular = rank < self.N_POPULAR
        present = np.zeros((n_rows, self.N_POPULAR), bool)
        present[row[popular], rank[popular]] = True
        both = present[:, self.pairs[0]] & present[:, self.pairs[1]]
        return np.asarray(logit + both @ self.pair_effect)


def _kdd_chunk(
    function: _KddFunction, seed: int, chunk: int, n_rows: int
) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng([_FIXED, seed, chunk])
    row, column = np.divmod(function.draw_columns(rng, n_rows), function.n_columns)
    values = np.ones(len(row), np.float32)
    is_count = rng.random(len(row)) < 0.1
    values[is_count] += np.minimum(rng.geometric(0.5, int(is_count.sum())), 8)
    label = rng.random(n_rows) < _sigmoid(function.logit(row, column, n_rows))
    return label, np.bincount(row, minlength=n_rows), column.astype(np.int32), values


def _mean_draws(share: Array, per_row: float) -> float:
    """Mean number of draws with which a row has per_row different columns on average."""
    low, high = per_row, 64.0 * per_row
    for _ in range(60):
        middle = (low + high) / 2.0
        found = float(-np.expm1(-middle * share).sum())
        low, high = (middle, high) if found < per_row else (low, middle)
    return low


# ---- both ----


def _assemble(
    make_chunk: Callable[[int, int], tuple[Array, Array, Array, Array]],
    n_all: int,
    n_rows: int,
    n_columns: int,
    width: float,
) -> Problem:
    """Puts chunks together; the first n_rows are for training.

    Args:
        make_chunk: Makes labels, stored values by row, columns and values from (chunk, rows).
        n_all: All rows.
        n_rows: Training rows.
        n_columns: Columns.
        width: Bound on the mean number of stored values in a row.
    """
    room = int(n_all * width)
    columns, values = np.empty(room, np.int32), np.empty(room, np.float32)
    row_begin = np.zeros(n_all + 1, np.int64)
    label = np.empty(n_all, np.float32)
    end = 0
    for chunk, start, size in _chunks(n_all):
        rows = slice(start, start + size)
        # Whole chunks are made, so that a row does not depend on how many follow.
        found, counts, chunk_columns, chunk_values = make_chunk(chunk, CHUNK_ROWS)
        label[rows] = found[:size]
        n_stored = int(counts[:size].sum())
        row_begin[start + 1 : start + size + 1] = end + np.cumsum(counts[:size])
        columns[end : end + n_stored] = chunk_columns[:n_stored]
        values[end : end + n_stored] = chunk_values[:n_stored]
        end += n_stored
    if end <= np.iinfo(np.int32).max:
        row_begin = row_begin.astype(np.int32)
    cut = int(row_begin[n_rows])
    return Problem(
        "binary",
        _csr(values[:cut], columns[:cut], row_begin[: n_rows + 1], n_columns),
        label[:n_rows],
        _csr(values[cut:end], columns[cut:end], row_begin[n_rows:] - cut, n_columns),
        label[n_rows:],
        n_classes=2,
    )


def _chunks(n_rows: int) -> Iterator[tuple[int, int, int]]:
    """Number, first row and size of each chunk."""
    for chunk, start in enumerate(range(0, n_rows, CHUNK_ROWS)):
        yield chunk, start, min(CHUNK_ROWS, n_rows - start)


def _csr(values: Array, columns: Array, row_begin: Array, n_columns: int) -> sp.csr_matrix:
    matrix = sp.csr_matrix((values, columns, row_begin), shape=(len(row_begin) - 1, n_columns))
    matrix.has_sorted_indices = True
    return matrix


def _sigmoid(logit: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))
