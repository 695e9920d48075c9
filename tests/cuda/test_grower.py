"""A tree that is grown on a device is the tree of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, _native
from gossamer.cuda import bin_records, predict_records, records
from gossamer.cuda.device import Buffer
from gossamer.cuda.grower import DeviceGrower
from gossamer.cuda.sampler import SAMPLE_ARGS
from gossamer.cuda.table import DeviceTable
from gossamer.data.dataset import built_data
from gossamer.params import resolve
from gossamer.tree import make_grow_params

RNG = np.random.default_rng(3)
N_ROWS = 2000
ARRAYS = (
    *("column", "threshold", "threshold_bin", "default_left", "left", "right", "gain"),
    *("node_value", "node_weight", "node_count", "category", "category_begin"),
    *("leaf_value", "leaf_weight", "leaf_count"),
)


def numbers(n: int) -> np.ndarray:
    table = RNG.normal(size=(n, 5))
    table[RNG.random(table.shape) < 0.1] = np.nan
    table[:, 3] = RNG.integers(0, 3, n)
    return table


def categories(n: int) -> np.ndarray:
    table = numbers(n)
    table[:, 1] = RNG.integers(0, 30, n)
    table[:, 2] = RNG.integers(0, 3, n)
    return table


def sparse(n: int) -> np.ndarray:
    return np.where(RNG.random((n, 40)) < 0.05, RNG.integers(1, 4, (n, 40)), 0).astype(np.float64)


def skewed(n: int) -> np.ndarray:
    """A column of one value in nearly all rows, a constant, one of missing values alone."""
    table = np.zeros((n, 5))
    table[:, 0] = RNG.random(n) < 0.01
    table[:, 1] = 7
    table[:, 2] = np.nan
    table[:, 3] = np.where(RNG.random(n) < 0.8, 0, RNG.normal(size=n))
    table[:, 4] = RNG.integers(0, 2, n)
    return table


def plain(n: int) -> np.ndarray:
    return RNG.normal(size=n)


def larger(factor: float) -> Callable[[int], np.ndarray]:
    """Some gradients are larger than the others: packed cells have fewer bits for the count."""
    return lambda n: RNG.uniform(0.5, 1, n) * np.where(np.arange(n) % 100 == 7, factor, -1.0)


def outliers(n: int) -> np.ndarray:
    """The largest gradient dwarfs the others: cells of 128 bits."""
    return RNG.normal(size=n) ** 9 * np.where(RNG.random(n) < 0.002, 1e9, 1)


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "hessians all 1": {"has_hessian": False},
    "a sample of the rows": {"n_sampled": 700},
    "depth first": {"grow_policy": "depthwise"},
    "few levels": {"max_depth": 3},
    "penalties": {"lambda_l1": 2.0, "lambda_l2": 1.0},
    "limits of values": {"path_smooth": 5.0, "max_delta_step": 0.3},
    "gains without the penalty": {"lambda_l1": 2.0, "max_delta_step": 0.3, "l1_in_gain": False},
    "random thresholds": {"extra_trees": True},
    "some features": {"feature_fraction": 0.5},
    "categories": {"table": categories},
    "categories, random": {"table": categories, "extra_trees": True},
    "categories, small groups": {
        "table": categories,
        "cat_l2": 1.0,
        "cat_smooth": 1.0,
        "min_data_per_group": 5,
        "max_cat_to_onehot": 1,
        "lambda_l1": 0.5,
    },
    "bins of two bytes": {"max_bin": 1000, "min_data_in_bin": 1},
    "sparse columns": {"table": sparse},
    "skewed columns": {"table": skewed},
    "cells of 4,095 rows": {"gradient": larger(400.0), "n_rows": 9000},
    "cells of 2,047 rows": {"gradient": larger(800.0), "n_rows": 9000},
    "wide cells": {"gradient": outliers},
    "wide cells, hessians all 1": {"gradient": outliers, "has_hessian": False},
    "wide cells, two bytes": {"gradient": outliers, "max_bin": 1000, "min_data_in_bin": 1},
    "few rows": {"n_rows": 30},
    "one row": {"n_rows": 1},
    "two leaves": {"num_leaves": 2},
    "pruned": {"prune": True, "min_gain_to_split": 5.0},
    "gains too small": {"min_gain_to_split": 1e9},
    "many leaves of noise": {"num_leaves": 120, "min_data_in_leaf": 1, "n_rows": 900},
    "levels of noise": {
        "num_leaves": 50,
        "min_data_in_leaf": 1,
        "n_rows": 900,
        "grow_policy": "depthwise",
    },
}


def test_records_have_the_size_of_the_native_ones() -> None:
    names = {
        "DeviceFeature": records.FEATURE,
        "LaneGroup": records.GROUP,
        "Node": records.NODE,
        "NodeLimits": records.NODE_LIMITS,
        "Job": records.JOB,
        "Best": records.BEST,
        "State": records.STATE,
        "Args": records.ARGS,
        "TreeNode": records.TREE_NODE,
        "ScoreArgs": records.SCORE_ARGS,
        "GradientArgs": records.GRADIENT_ARGS,
        "DeviceMatrix": predict_records.MATRIX,
        "PlainNode": predict_records.PLAIN_NODE,
        "PlainTree": predict_records.PLAIN_TREE,
        "PackedColumn": predict_records.PACKED_COLUMN,
        "PackedTree": predict_records.PACKED_TREE,
        "PredictArgs": predict_records.PREDICT_ARGS,
        "FinishArgs": predict_records.FINISH_ARGS,
        "BinnedFeature": bin_records.BINNED_FEATURE,
        "BinArgs": bin_records.BIN_ARGS,
        "GatherArgs": bin_records.GATHER_ARGS,
        "SampleArgs": SAMPLE_ARGS,
    }
    assert _native.record_sizes() == {name: kind.itemsize for name, kind in names.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_tree_is_that_of_the_cpu(name: str, device: Any) -> None:
    case = dict(CASES[name])
    n, has_hessian = case.pop("n_rows", N_ROWS), case.pop("has_hessian", True)
    make, gradients = case.pop("table", numbers), case.pop("gradient", plain)
    n_sampled = case.pop("n_sampled", None)
    about_bins = {k: case.pop(k) for k in ("max_bin", "min_data_in_bin") if k in case}
    columns = [1, 2] if make is categories else "auto"
    data = Dataset(
        make(n), np.zeros(n), params={**about_bins, "verbosity": -1}, categorical_feature=columns
    )
    bins = built_data(data).table.bins
    settings = make_grow_params(resolve({"num_leaves": 15, "min_data_in_leaf": 5, **case}))
    settings.column_key, settings.extra_key = 12345, 999
    gradient = gradients(n).astype(np.float32)
    hessian = RNG.random(n).astype(np.float32) if has_hessian else None
    rows = None
    if n_sampled is not None:
        rows = np.sort(RNG.choice(n, n_sampled, replace=False)).astype(np.uint32)
    scores = np.zeros(n)
    arguments = (gradient, hessian, rows, [settings], None, scores, 1, None)
    (expected,) = _native.Grower(bins).grow(*arguments)

    table = DeviceTable(device, bins, 1)
    grower = DeviceGrower(device, table, bins, settings)
    grower.use_rows(rows)
    on_device = [None if x is None else Buffer.holding(device, x) for x in (gradient, hessian)]
    assert on_device[0] is not None
    for _ in range(2):  # the second tree knows what to expect
        (tree,) = grower.grow(on_device[0], on_device[1], [settings])
        for array in ARRAYS:
            np.testing.assert_array_equal(getattr(tree, array), getattr(expected, array), array)
    if tree.n_leaves > 1 and rows is None:
        buffer, found = Buffer.zeros(device, scores.nbytes), np.empty_like(scores)
        grower.add_scores(tree, buffer.address)
        buffer.read(found)
        np.testing.assert_array_equal(found, scores)
