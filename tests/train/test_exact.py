"""`tree_method="exact"` against a plain search over all thresholds."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gossamer import Dataset, ParameterError, train
from gossamer.tree import Tree

Floats = npt.NDArray[np.float64]
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
PLAIN: dict[str, Any] = {
    "tree_method": "exact",
    "boost_from_average": False,
    "learning_rate": 1.0,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 0.0,
    "num_threads": 1,
    "verbosity": -1,
}


# ---- the plain search ----


@dataclass(frozen=True)
class Rules:
    """What a split must keep to."""

    l2: float = 0.0
    min_data: int = 1
    min_hessian: float = 0.0

    def params(self) -> dict[str, Any]:
        return {
            "lambda_l2": self.l2,
            "min_data_in_leaf": self.min_data,
            "min_sum_hessian_in_leaf": self.min_hessian,
        }


def as_seen(values: Any, params: dict[str, Any]) -> Floats:
    """The table as training sees it: NaN is what is missing."""
    seen = np.array(values, dtype=np.float64)
    if not params.get("use_missing", True):
        return np.where(np.isnan(seen), 0.0, seen)
    if params.get("zero_as_missing", False):
        seen[np.abs(seen) <= 1e-35] = np.nan
    return seen


def gain_of(
    gradient: Floats, hessian: Floats, is_left: npt.NDArray[np.bool_], rules: Rules
) -> float:
    """Gain of a split; -inf where it is not allowed."""
    parts = []
    for part in (is_left, ~is_left):
        g, h = gradient[part].sum(), hessian[part].sum()
        if part.sum() < max(rules.min_data, 1) or h < rules.min_hessian or h + rules.l2 <= 0:
            return -np.inf
        parts.append(g * g / (h + rules.l2))
    return float(sum(parts) - gradient.sum() ** 2 / (hessian.sum() + rules.l2))


def best_gain(seen: Floats, gradient: Floats, hessian: Floats, rules: Rules) -> float:
    best = -np.inf
    for column in seen.T:
        missing = np.isnan(column)
        for value in np.unique(column[~missing]):
            for missing_left in {bool(side) for side in (False, missing.any())}:
                is_left = np.where(missing, missing_left, column <= value)
                best = max(best, gain_of(gradient, hessian, is_left, rules))
    return best


def sides(tree: Tree, node: int, seen: Floats) -> npt.NDArray[np.bool_]:
    column = seen[:, tree.column[node]]
    is_left: npt.NDArray[np.bool_] = np.where(
        np.isnan(column), tree.default_left[node] != 0, column <= tree.threshold[node]
    )
    return is_left


def check_node(tree: Tree, node: int, rows: Any, seen: Floats, case: Any, rules: Rules) -> None:
    """A node has the best of all splits, and a threshold in the middle of its own values."""
    gradient, hessian = case
    own = seen[rows]
    is_left = sides(tree, node, own)
    found = gain_of(gradient[rows], hessian[rows], is_left, rules)
    best = best_gain(own, gradient[rows], hessian[rows], rules)
    assert found > 0
    np.testing.assert_allclose(found, best, rtol=1e-6)
    np.testing.assert_allclose(tree.gain[node], best, rtol=1e-5)
    assert tree.node_count[node] == len(rows)
    column = own[:, tree.column[node]]
    low = np.max(column[is_left & ~np.isnan(column)])
    above = column[~is_left & ~np.isnan(column)]
    threshold = tree.threshold[node]
    if len(above) == 0:
        assert threshold == np.inf
        return
    high = np.min(above)
    assert low <= threshold < high
    with np.errstate(over="ignore", invalid="ignore"):
        middle = low / 2 + high / 2
    if np.isfinite(middle) and low < middle < high and abs(middle) > 1e-300:
        np.testing.assert_allclose(threshold, middle, rtol=1e-15)


def check_tree(tree: Tree, seen: Floats, case: Any, rules: Rules, depth: int) -> None:
    """All nodes, and all leaves: what could be split has been."""
    waiting = [(0 if tree.n_leaves > 1 else -1, np.arange(len(seen)), 0)]
    while waiting:
        node, rows, level = waiting.pop()
        if node >= 0:
            check_node(tree, node, rows, seen, case, rules)
            is_left = sides(tree, node, seen[rows])
            waiting.append((int(tree.left[node]), rows[is_left], level + 1))
            waiting.append((int(tree.right[node]), rows[~is_left], level + 1))
            continue
        gradient, hessian = (values[rows] for values in case)
        assert tree.leaf_count[~node] == len(rows)
        if tree.n_leaves > 1:
            value = -gradient.sum() / (hessian.sum() + rules.l2)
            np.testing.assert_allclose(tree.leaf_value[~node], value, rtol=1e-5, atol=1e-6)
        if level < depth:
            scale = (gradient**2 / hessian).sum()
            assert best_gain(seen[rows], gradient, hessian, rules) <= 1e-6 * scale + 1e-9


def check_training(
    table: Any,
    values: Any,
    label: Floats,
    weight: Floats | None = None,
    rules: Rules | None = None,
    params: dict[str, Any] | None = None,
    depth: int = 2,
    *,
    few_bins: bool = False,
) -> Tree:
    """Train one tree of `table`, whose values are `values`, and check all of it."""
    rules, params = rules or Rules(), params or {}
    hessian = np.ones(len(label)) if weight is None else weight
    case = (-label * hessian, hessian)
    settings = {**PLAIN, **rules.params(), **params, "max_depth": depth, "num_leaves": 2**depth}
    data = Dataset(table, label, weight=weight)
    if few_bins:
        # Where bins hold one value each, histograms are searched. Raw values are kept here, but
        # the bins are those of another training: they do not.
        data.params = {**params, "linear_tree": True, "max_bin": 2, "min_data_in_bin": 1}
        data.construct()
    booster = train(settings, data, 1, data, keep_training_booster=True)
    assert booster.training is not None
    score = booster.training.train.score
    np.testing.assert_array_equal(booster.predict(table, raw_score=True), score)
    seen = as_seen(values, params)
    tree = booster.model.forest.tree(0)
    if tree.n_leaves == 1:
        scale = (case[0] ** 2 / hessian).sum()
        assert best_gain(seen, *case, rules) <= 1e-6 * scale + 1e-9
        return Tree.constant(0.0)
    check_tree(tree, seen, case, rules, depth)
    return tree


# ---- values of all kinds ----

TINY = float(np.nextafter(0, 1))
ODD = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.nan,
    np.inf,
    -np.inf,
    TINY,
    -TINY,
    1e-36,
    -1e-36,
    2e-308,
    1.7e308,
    -1.7e308,
    1.0 + 2**-40,
    1.0 + 2**-52,
    16777217.0,
    16777216.0,
]
MODES = ({}, {"use_missing": False}, {"zero_as_missing": True})


@st.composite
def tables(draw: st.DrawFn, elements: st.SearchStrategy[float], dtype: str) -> Any:
    n_rows, n_columns = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    columns = []
    for _ in range(n_columns):
        kind = draw(st.sampled_from(("any", "any", "any", "constant", "few")))
        if kind == "constant":
            columns.append([draw(elements)] * n_rows)
        else:
            size = 3 if kind == "few" else 100
            pool = draw(st.lists(elements, min_size=1, max_size=size))
            picked = st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows)
            columns.append(draw(picked))
    return np.array(columns, dtype=dtype).T


def halves(draw: st.DrawFn, n_rows: int) -> Floats:
    """Labels that float32 and all sums hold exactly."""
    numbers = st.lists(st.integers(-8, 8), min_size=n_rows, max_size=n_rows)
    return np.array(draw(numbers), dtype=np.float64) / 2


RULES = st.builds(
    Rules,
    l2=st.sampled_from((0.0, 1.0, 2.5)),
    min_data=st.integers(1, 4),
    min_hessian=st.sampled_from((0.0, 0.0, 2.0)),
)


def formats(values: Any) -> list[Any]:
    """The same table as dense and sparse ones; zeros are values in all of them."""
    return [
        values,
        np.asfortranarray(values),
        sparse.csr_array(values),
        sparse.csc_array(values),
    ]


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data())
def test_floats_of_all_kinds(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(("float64", "float32")))
    normal = st.floats(width=32, min_value=-100, max_value=100)
    elements = st.one_of(st.sampled_from(ODD), normal)
    with np.errstate(over="ignore"):
        values = data.draw(tables(elements, dtype))
    label = halves(data.draw, len(values))
    weight = data.draw(
        st.none()
        | st.lists(st.sampled_from((0.5, 1.0, 3.0)), min_size=len(label), max_size=len(label))
    )
    weights = None if weight is None else np.array(weight)
    params, rules = data.draw(st.sampled_from(MODES)), data.draw(RULES)
    table = data.draw(st.sampled_from(range(4)).map(lambda i: formats(values)[i]))
    few_bins = data.draw(st.booleans())
    check_training(table, values, label, weights, rules, params, few_bins=few_bins)


@settings(max_examples=80)
@given(data=st.data())
def test_integers_of_all_types(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(INTEGERS))
    info = np.iinfo(dtype)
    low, high = max(info.min, -(2**53)), min(info.max, 2**53)
    elements = st.integers(low, high) | st.integers(max(low, -3), 3)
    values = data.draw(tables(elements, dtype))
    label = halves(data.draw, len(values))
    params, rules = data.draw(st.sampled_from(MODES)), data.draw(RULES)
    table = data.draw(st.sampled_from(range(4)).map(lambda i: formats(values)[i]))
    few_bins = data.draw(st.booleans())
    check_training(table, values, label, None, rules, params, few_bins=few_bins)


# ---- many values ----


@pytest.mark.parametrize("params", MODES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_more_values_than_bins(params: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(400, 2))
    values[rng.random(values.shape) < 0.3] = 0.0
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:, 1] = np.round(values[:, 1] * 4)  # whose bins tell all
    label = np.round(4 * np.sin(2 * np.nan_to_num(values).sum(axis=1)))
    weight = rng.choice([0.5, 1.0, 2.0], 400)
    for table in formats(values):
        check_training(table, values, label, weight, Rules(1.0, 5, 3.0), params, depth=3)


def test_sums_go_on_from_piece_to_piece() -> None:
    """Entries are searched in pieces of 512: the best threshold may be anywhere."""
    rng = np.random.default_rng(5)
    for place in (3, 511, 512, 513, 1024, 1490):
        values = np.sort(rng.normal(size=1500))[:, None]
        label = np.where(np.arange(1500) < place, 1.0, 0.0)
        tree = check_training(values, values, label, depth=1)
        assert tree.leaf_count.tolist() == [place, 1500 - place]


def test_equal_gains_are_settled_alike_in_all_tables() -> None:
    """Outer quarters are alike, and missing rows like both: either may be split off with them."""
    values = np.append(np.arange(600) - 299.5, np.full(40, np.nan))[:, None]
    label = np.where(np.abs(values[:, 0]) < 150, 0.0, 1.0)
    trees = [check_training(table, values, label, depth=1) for table in formats(values)]
    assert [tree.threshold.tolist() for tree in trees] == [[150.0]] * 4
    assert [tree.default_left.tolist() for tree in trees] == [[0]] * 4


# ---- bad input ----


@pytest.mark.parametrize(
    "params",
    [
        {"max_bin": 63},
        {"max_bin_by_feature": [9, 9]},
        {"min_data_in_bin": 3},
        {"forced_bins": {0: [0.5]}},
        {"bin_construct_sample_cnt": 10},
    ],
    ids=str,
)
def test_there_are_no_bins(params: dict[str, Any]) -> None:
    name = next(iter(params)).replace("forced_bins", "forcedbins_filename")
    words = f"(?s)tree_method=exact has no bins, {name} says how.*tree_method=approx or hist"
    with pytest.raises(ParameterError, match=words):
        train({**PLAIN, **params}, Dataset(np.arange(40.0).reshape(20, 2), np.arange(20.0)), 1)


@pytest.mark.parametrize("where", ["data", "params"])
def test_categories_are_not_taken(where: str) -> None:
    table, label = np.arange(40.0).reshape(20, 2) % 5, np.arange(20.0)
    data = Dataset(table, label, categorical_feature=[1] if where == "data" else "auto")
    params = {} if where == "data" else {"categorical_feature": [1]}
    words = r"(?s)exact does not take categorical columns.*Column_1.*hist or approx"
    with pytest.raises(ParameterError, match=words):
        train({**PLAIN, **params}, data, 1)


def test_parameters_of_approx_have_no_meaning() -> None:
    """They are checked all the same."""
    with pytest.raises(ParameterError, match="sketch_eps"):
        train({**PLAIN, "sketch_eps": 2}, Dataset(np.eye(3), np.arange(3.0)), 1)


OUT_OF_BOUNDS = """
import numpy as np, gossamer as gs
rng = np.random.default_rng(0)
x = rng.normal(size=(200_000, 3))
y = x[:, 0] + rng.normal(size=len(x))
for params in ({"tree_method": "exact"}, {"tree_method": "approx", "proposal": "local"}):
    gs.train({**params, "num_leaves": 8, "verbosity": -1}, gs.Dataset(x, y), 2)
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator is glibc's")
def test_nothing_is_read_outside_of_the_bounds_of_bins() -> None:
    """Every array has pages of its own here: a read past its end is a crash."""
    tunables = "glibc.malloc.mmap_threshold=1024:glibc.malloc.mmap_max=1000000"
    done = subprocess.run(
        [sys.executable, "-c", OUT_OF_BOUNDS],
        env={**os.environ, "GLIBC_TUNABLES": tunables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
