"""Every way to predict against a plain walk down the trees: bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import _native

ZERO = 1e-35
DTYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


class Trees:
    """Random trees, as arrays and as the native forest."""

    def __init__(
        self,
        rng: np.random.Generator,
        sizes: list[int],
        n_columns: int,
        *,
        n_outputs: int = 1,
        n_values: int = 1,
        kinds: tuple[int, ...] = (0, 1, 2),
        with_categories: bool = False,
        n_categories: int = 8,
        whole: bool = False,
    ) -> None:
        self.n_outputs, self.n_values = n_outputs, n_values
        left: list[int] = []
        right: list[int] = []
        for n_nodes in sizes:
            first = len(left)
            left += [0] * n_nodes
            right += [0] * n_nodes
            places: list[tuple[int, bool]] = []
            for n in range(n_nodes):
                if n:
                    parent, is_left = places.pop(rng.integers(len(places)))
                    (left if is_left else right)[first + parent] = n
                places += [(n, True), (n, False)]
            for leaf, (parent, is_left) in enumerate(places):
                (left if is_left else right)[first + parent] = ~leaf
        n = len(left)
        self.node_begin = np.cumsum([0, *sizes])
        self.leaf_begin = np.cumsum([0, *(size + 1 for size in sizes)])
        self.column = rng.integers(n_columns, size=n).astype(np.int32)
        self.threshold = rng.normal(size=n) * 3
        if whole:
            self.threshold = np.round(self.threshold)
        self.threshold[rng.random(n) < 0.05] = np.inf
        self.threshold[rng.random(n) < 0.05] = 1e300  # beyond float
        self.missing_kind = rng.choice(kinds, size=n).astype(np.int8)
        self.default_left = rng.integers(2, size=n).astype(np.int8)
        self.left, self.right = np.array(left, np.int32), np.array(right, np.int32)
        self.leaf_value = rng.normal(size=self.leaf_begin[-1] * n_values)
        self.sets: list[list[int]] = [[] for _ in range(n)]
        if with_categories:
            self.sets = [
                sorted({int(c) for c in rng.integers(n_categories, size=n_categories // 2)})
                if rng.random() < 0.3
                else []
                for _ in range(n)
            ]
        self.native = self.make_native()

    def spread_categories(self, factor: int) -> None:
        self.sets = [[c * factor for c in found] for found in self.sets]
        self.native = self.make_native()

    def make_native(self) -> _native.Forest:
        begin = np.cumsum([0, *map(len, self.sets)])
        category = np.array([c for found in self.sets for c in found], np.int32)
        return _native.Forest(
            self.n_outputs,
            self.n_values,
            self.n_columns,
            self.node_begin,
            self.leaf_begin,
            self.column,
            self.threshold,
            self.missing_kind,
            self.default_left,
            self.left,
            self.right,
            self.leaf_value,
            *((begin, category) if len(category) else ()),
        )

    @property
    def n_trees(self) -> int:
        return len(self.node_begin) - 1

    def leaf(self, tree: int, row: npt.NDArray[Any]) -> int:
        first = self.node_begin[tree]
        at = 0 if self.node_begin[tree + 1] > first else ~0
        while at >= 0:
            n = first + at
            x, kind = float(row[self.column[n]]), self.missing_kind[n]
            if kind == 2 and np.isnan(x):
                x = 0.0
            missing = np.isnan(x) or (kind == 1 and abs(x) <= ZERO)
            if self.sets[n]:
                # The node's own categories go where missing values do not; half goes down.
                is_own = not missing and -1 < x < 2**31 and np.trunc(x) in self.sets[n]
                goes_left = bool(self.default_left[n]) != bool(is_own)
            elif missing:
                goes_left = bool(self.default_left[n])
            else:
                goes_left = bool(x <= self.threshold[n])
            at = self.left[n] if goes_left else self.right[n]
        return int(~at)

    def walk(
        self, table: npt.NDArray[Any], first: int, last: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
        leaves = np.array(
            [[self.leaf(t, row) for t in range(first, last)] for row in table], np.int32
        ).reshape(len(table), last - first)
        score = np.full((len(table), self.n_outputs), 0.25)
        for i, t in enumerate(range(first, last)):
            values = self.leaf_value.reshape(-1, self.n_values)[self.leaf_begin[t] + leaves[:, i]]
            if self.n_values == 1:
                score[:, t % self.n_outputs] += values[:, 0]
            else:
                score += values
        return score, leaves

    def row_predictor(self, first: int, last: int) -> _native.RowPredictor:
        names = tuple(f"c{i}" for i in range(self.n_columns))
        start = [0.25] * self.n_outputs
        return _native.RowPredictor(
            self.native, first, last, start, 0, _native.RowLink.NONE, 1.0, names
        )

    @property
    def n_columns(self) -> int:
        return 5


def make_table(rng: np.random.Generator, trees: Trees, n_rows: int, dtype: str) -> npt.NDArray[Any]:
    """Values around the thresholds and on them, missing ones, zeros, the ends of the numbers."""
    shape = (n_rows, trees.n_columns)
    if np.dtype(dtype).kind in "iu":
        low = 0 if dtype.startswith("u") else -4
        return rng.integers(low, 9, size=shape).astype(dtype)
    table = rng.normal(size=shape) * 3
    if len(trees.threshold):
        on = rng.random(shape) < 0.3
        with np.errstate(over="ignore"):
            table[on] = rng.choice(trees.threshold, size=int(on.sum())).astype(dtype)
    for value in (np.nan, 0.0, -0.0, 1e-35, -1.1e-35, np.inf, -np.inf):
        table[rng.random(shape) < 0.05] = value
    with np.errstate(over="ignore"):
        return table.astype(dtype)


def odd_strides(table: npt.NDArray[Any], way: int) -> npt.NDArray[Any]:
    """Return the same table stored in another way."""
    if way == 0:
        return table
    if way == 1:
        return np.asfortranarray(table)
    if way == 2:
        return np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3]
    return table[::-1, ::-1].copy()[::-1, ::-1]  # from the last value to the first


def check(trees: Trees, table: npt.NDArray[Any], first: int, last: int, n_threads: int) -> None:
    score, leaves = trees.walk(table, first, last)
    found = np.full(score.size, 0.25)
    trees.native.predict(table, first, last, found, n_threads)
    np.testing.assert_array_equal(found.reshape(score.shape), score)
    found_leaves = np.empty(leaves.size, np.int32)
    trees.native.predict_leaves(table, first, last, found_leaves, n_threads)
    np.testing.assert_array_equal(found_leaves.reshape(leaves.shape), leaves)
    predict_row = trees.row_predictor(first, last)
    for row, expected in zip(table[:4], score, strict=False):
        np.testing.assert_array_equal(
            predict_row(row), expected if len(expected) > 1 else expected[0]
        )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.sampled_from([0, 1, 3, 30, 31, 60]), min_size=1, max_size=6),
    dtype=st.sampled_from(DTYPES),
    way=st.integers(0, 3),
    n_rows=st.sampled_from([1, 5, 6, 31, 64, 90]),
    outputs=st.sampled_from([(1, 1), (3, 1), (3, 3)]),
    kinds=st.sampled_from([(0,), (1,), (2,), (0, 1, 2)]),
    with_categories=st.booleans(),
    whole=st.booleans(),
)
def test_as_a_plain_walk(
    seed: int,
    sizes: list[int],
    dtype: str,
    way: int,
    n_rows: int,
    outputs: tuple[int, int],
    kinds: tuple[int, ...],
    with_categories: bool,
    whole: bool,
) -> None:
    rng = np.random.default_rng(seed)
    n_outputs, n_values = outputs
    if n_values == 1:
        sizes = sizes * n_outputs
    trees = Trees(
        rng,
        sizes,
        5,
        n_outputs=n_outputs,
        n_values=n_values,
        kinds=kinds,
        with_categories=with_categories,
        whole=whole,
    )
    table = odd_strides(make_table(rng, trees, n_rows, dtype), way)
    first = int(rng.integers(trees.n_trees + 1))
    last = int(rng.integers(first, trees.n_trees + 1))
    check(trees, table, 0, trees.n_trees, 1)
    check(trees, table, first, last, 2)


@pytest.mark.parametrize("level", _native.kernel_levels())
@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_levels_and_threads(level: str, n_threads: int) -> None:
    """Trees of one piece, of several, and such as are walked, in one forest; several blocks."""
    rng = np.random.default_rng(3)
    small = Trees(rng, [255, 0, 256, 254, 30, 255, 255, 300], 5)
    large = Trees(rng, [700, 2047, 0, 2048, 30], 5, n_outputs=5, n_values=5, whole=True)
    before = _native.kernel_level()
    try:
        assert _native.set_kernel_level(level)
        for trees, dtype in ((small, "f4"), (small, "f8"), (large, "f4")):
            check(trees, make_table(rng, trees, 300, dtype), 0, trees.n_trees, n_threads)
    finally:
        _native.set_kernel_level(before)


@pytest.mark.parametrize("n_categories", [2, 40, 255, 256, 300, 2_000])
@pytest.mark.parametrize("factor", [1, 1_000_003])
def test_many_categories(n_categories: int, factor: int) -> None:
    """Several blocks, trees with too many of them for one, and numbers too large for a table."""
    rng = np.random.default_rng(n_categories)
    trees = Trees(rng, [20] * 12, 5, with_categories=True, n_categories=n_categories)
    trees.spread_categories(factor)
    codes = rng.integers(-1, n_categories + 2, size=(200, 5)).astype(np.float64)
    table = np.where(rng.random(codes.shape) < 0.3, codes + 0.4, codes) if factor == 1 else codes
    table = table * factor
    table[rng.random(codes.shape) < 0.05] = np.nan
    table[rng.random(codes.shape) < 0.05] = np.inf
    before = _native.kernel_level()
    try:
        for level in _native.kernel_levels():
            assert _native.set_kernel_level(level)
            check(trees, table, 0, trees.n_trees, 2)
            check(trees, table.astype(np.int64 if np.isfinite(table).all() else "f4"), 3, 9, 1)
    finally:
        _native.set_kernel_level(before)


def test_trees_that_ask_nothing() -> None:
    trees = Trees(np.random.default_rng(0), [0, 0, 0], 5)
    check(trees, np.zeros((20, 5)), 0, 3, 1)
    check(trees, np.zeros((20, 5)), 1, 1, 1)


def test_what_does_not_fit_is_refused() -> None:
    trees = Trees(np.random.default_rng(0), [3, 3], 5)
    out = np.zeros(4)
    with pytest.raises(ValueError, match="every"):
        trees.native.predict_until_clear(np.zeros((4, 5)), 0, 2, 0, 1.0, out, 1)
    with pytest.raises(ValueError, match="tree range"):
        trees.native.predict_until_clear(np.zeros((4, 5)), 0, 3, 1, 1.0, out, 1)
    with pytest.raises(ValueError, match="out has length"):
        trees.native.predict_until_clear(np.zeros((5, 5)), 0, 2, 1, 1.0, out, 1)
    names = ("a", "b", "c", "d", "e")
    none = _native.RowLink.NONE
    with pytest.raises(ValueError, match="tree range"):
        _native.RowPredictor(trees.native, 0, 3, [0.0], 0, none, 1.0, names)
    with pytest.raises(ValueError, match="start"):
        _native.RowPredictor(trees.native, 0, 2, [0.0, 0.0], 0, none, 1.0, names)
    with pytest.raises(ValueError, match="names"):
        _native.RowPredictor(trees.native, 0, 2, [0.0], 0, none, 1.0, names[:4])
