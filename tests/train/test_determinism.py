"""The model's bytes do not depend on threads, kernels or repetition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from gossamer import CustomObjective, Dataset, _native, threads, train
from gossamer.model.files import model_file

N_ROWS = 20_000  # beyond what one packed cell holds; several blocks and batches
THREADS = (1, 2, 3, 4, 8)

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N_ROWS, 12)).astype(np.float32)
TABLE[:, 1] = np.round(TABLE[:, 1] * 3)  # few bins
TABLE[:, 2] = RNG.integers(0, 2, N_ROWS)  # two bins
SIGNAL = TABLE[:, 0] + TABLE[:, 3] * TABLE[:, 4] + 0.3 * TABLE[:, 1]
HOLES = TABLE.copy()
HOLES[RNG.random(TABLE.shape) < 0.15] = np.nan
REGRESSION = SIGNAL + RNG.normal(size=N_ROWS)
BINARY = REGRESSION > 0.5
CLASSES = np.digitize(REGRESSION, [-1.0, 0.2, 1.5])
HEAVY_TAIL = np.exp(4 * RNG.normal(size=N_ROWS)) * np.sign(SIGNAL)
WEIGHT = RNG.exponential(size=N_ROWS)
# Some rows weigh much more than the others: packed cells get more bits for gradients and hessians.
FEW_HEAVY = {
    most: np.where(np.random.default_rng(most).random(N_ROWS) < 0.01, most, 1.0)
    for most in (100, 400)
}
TARGETS = np.column_stack([REGRESSION, HEAVY_TAIL, -SIGNAL])
TIMES = np.round(np.exp(SIGNAL), 2) + 0.01  # ties
SURVIVAL = np.where(BINARY, TIMES, -TIMES)
INTERVALS = np.column_stack([TIMES * (CLASSES != 2), np.where(CLASSES == 1, np.inf, TIMES)])
INTERVALS[CLASSES == 3, 1] *= 1.5
# Queries of 1 to 9, then a few large ones.
GROUP = [1 + i % 9 for i in range(900)] + [300, 1200, 9000, 5000]
POSITION = np.arange(N_ROWS) % 7
assert sum(GROUP) == N_ROWS

# One-hot encodings of 3, 12 and 300 values, columns that are zero in most rows, and two full ones.
SPARSE = np.zeros((N_ROWS, 3 + 12 + 300 + 60 + 2), dtype=np.float32)
for _first, _size in ((0, 3), (3, 12), (15, 300)):
    SPARSE[np.arange(N_ROWS), _first + RNG.integers(0, _size, N_ROWS)] = 1
for _column in range(315, 375):
    _filled = RNG.random(N_ROWS) < 0.01 * (_column % 20)
    SPARSE[_filled, _column] = RNG.integers(-2, 5, _filled.sum())
SPARSE[:, 375:] = TABLE[:, :2]
SPARSE_SIGNAL = SPARSE @ RNG.normal(size=SPARSE.shape[1]).astype(np.float32)
SPARSE_HOLES = SPARSE.copy()
SPARSE_HOLES[RNG.random(SPARSE.shape) < 0.002] = np.nan
SPARSE_BINARY = SPARSE_SIGNAL + RNG.normal(size=N_ROWS) > 0


def logistic(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    probability = 1 / (1 + np.exp(-scores))
    return probability - data.get_label(), probability * (1 - probability)


def two_squares(scores: np.ndarray, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    label = data.get_label()
    return scores - np.column_stack([label, -label]), np.ones_like(scores)


BINARY_PARAMS = {"objective": "binary"}
GOSS = {"boosting": "goss", "learning_rate": 1.0}  # rows are sampled after the first round
VECTOR = {"multi_strategy": "multi_output_tree"}
CASES: dict[str, dict[str, Any]] = {
    "l2": {"label": REGRESSION},
    "l2 weighted": {"label": REGRESSION, "weight": WEIGHT},
    "l2 heavy tail": {"label": HEAVY_TAIL},
    "l2 missing, many leaves": {"table": HOLES, "label": REGRESSION, "num_leaves": 200},
    "binary": {"label": BINARY, **BINARY_PARAMS},
    "binary weighted unbalanced": {
        "label": BINARY,
        "weight": WEIGHT,
        "is_unbalance": True,
        **BINARY_PARAMS,
    },
    "binary bagging": {
        "label": BINARY,
        "bagging_fraction": 0.6,
        "bagging_freq": 2,
        **BINARY_PARAMS,
    },
    "binary bagging by class": {
        "table": HOLES,
        "label": BINARY,
        "pos_bagging_fraction": 0.8,
        "neg_bagging_fraction": 0.3,
        "bagging_freq": 1,
        **BINARY_PARAMS,
    },
    "binary goss": {"label": BINARY, **GOSS, **BINARY_PARAMS},
    "l2 goss": {"label": REGRESSION, **GOSS},
    "l2 heavy tail, automatic rates": {"label": HEAVY_TAIL, **GOSS, "top_rate": "auto"},
    "multiclass goss": {"label": CLASSES, "objective": "multiclass", "num_class": 4, **GOSS},
    "multiclass, automatic rates": {
        "label": CLASSES,
        "weight": WEIGHT,
        "objective": "multiclass",
        "num_class": 4,
        **GOSS,
        "top_rate": "auto",
    },
    "binary mvs": {"label": BINARY, "data_sample_strategy": "mvs", **BINARY_PARAMS},
    "l2 weighted mvs": {"label": REGRESSION, "weight": WEIGHT, "data_sample_strategy": "mvs"},
    "custom two outputs mvs": {
        "label": REGRESSION,
        "objective": two_squares,
        "num_class": 2,
        "data_sample_strategy": "mvs",
    },
    "multiclass": {"label": CLASSES, "objective": "multiclass", "num_class": 4},
    "multiclass sampled": {
        "table": HOLES,
        "label": CLASSES,
        "weight": WEIGHT,
        "objective": "multiclass",
        "num_class": 4,
        "feature_fraction": 0.7,
        "bagging_fraction": 0.5,
    },
    "cox": {"label": SURVIVAL, "objective": "cox"},
    "cox weighted bagging": {
        "label": SURVIVAL,
        "weight": WEIGHT,
        "objective": "cox",
        "bagging_fraction": 0.5,
    },
    "aft": {"label": INTERVALS, "objective": "aft"},
    "aft logistic weighted": {
        "label": INTERVALS,
        "weight": WEIGHT,
        "objective": "aft",
        "aft_loss_distribution": "logistic",
    },
    "aft extreme goss": {
        "label": INTERVALS,
        "objective": "aft",
        "aft_loss_distribution": "extreme",
        **GOSS,
    },
    "gaussian": {"label": REGRESSION, "objective": "gaussian"},
    "gaussian weighted mvs": {
        "label": HEAVY_TAIL,
        "weight": WEIGHT,
        "objective": "gaussian",
        "data_sample_strategy": "mvs",
    },
    "quantiles": {"label": REGRESSION, "objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]},
    "quantiles weighted bagging": {
        "table": HOLES,
        "label": HEAVY_TAIL,
        "weight": WEIGHT,
        "objective": "quantile",
        "quantile_alpha": [0.2, 0.8],
        "bagging_fraction": 0.5,
    },
    "lambdarank": {"label": CLASSES, "objective": "lambdarank", "group": GROUP},
    "lambdarank weighted, positions": {
        "label": CLASSES,
        "weight": WEIGHT,
        "objective": "lambdarank",
        "group": GROUP,
        "position": POSITION,
    },
    "lambdarank queries drawn": {
        "label": CLASSES,
        "objective": "lambdarank",
        "group": GROUP,
        "bagging_by_query": True,
        "bagging_fraction": 0.5,
    },
    "rank_xendcg": {"label": CLASSES, "objective": "rank_xendcg", "group": GROUP},
    "rank:ndcg": {"label": CLASSES, "objective": "rank:ndcg", "group": GROUP},
    "rank:map": {"label": BINARY, "objective": "rank:map", "group": GROUP},
    "rank:pairwise, pairs drawn": {
        "label": REGRESSION - REGRESSION.min(),
        "objective": "rank:pairwise",
        "lambdarank_pair_method": "mean",
        "lambdarank_num_pair_per_sample": 3,
        "group": GROUP,
    },
    "custom": {"label": BINARY, "objective": logistic},
    "custom two outputs": {"label": REGRESSION, "objective": two_squares, "num_class": 2},
    "custom with a link": {"label": BINARY, "objective": CustomObjective(logistic, link="sigmoid")},
    "targets": {"label": TARGETS},
    "targets weighted, sampled": {
        "table": HOLES,
        "label": TARGETS,
        "weight": WEIGHT,
        "feature_fraction": 0.7,
        "bagging_fraction": 0.5,
    },
    "targets goss": {"label": TARGETS, **GOSS},
    "labels": {"label": TARGETS > 0, **BINARY_PARAMS, "is_unbalance": True},
    "labels mvs": {"label": TARGETS > 0, **BINARY_PARAMS, "data_sample_strategy": "mvs"},
    "vector leaves": {"label": TARGETS, **VECTOR},
    "vector leaves, weighted, sampled": {
        "table": HOLES,
        "label": TARGETS,
        "weight": WEIGHT,
        "feature_fraction": 0.7,
        "feature_fraction_bynode": 0.7,
        "bagging_fraction": 0.5,
        **VECTOR,
    },
    "vector leaves, goss": {"label": TARGETS, **GOSS, **VECTOR},
    "vector leaves, classes": {
        "table": HOLES,
        "label": CLASSES,
        "objective": "multiclass",
        "num_class": 4,
        "num_leaves": 63,
        "histogram_pool_size": 0.2,
        **VECTOR,
    },
    "vector leaves, labels, mvs": {
        "label": TARGETS > 0,
        "data_sample_strategy": "mvs",
        "extra_trees": True,
        **BINARY_PARAMS,
        **VECTOR,
    },
    "vector leaves, custom, two-byte bins": {
        "label": REGRESSION,
        "objective": two_squares,
        "num_class": 2,
        "max_bin": 1000,
        "grow_policy": "depthwise",
        "lambda_l1": 3.0,
        **VECTOR,
    },
    "vector leaves, compressed rows": {
        "table": csr_array(SPARSE_HOLES),
        "label": np.column_stack([SPARSE_SIGNAL, -SPARSE_SIGNAL, SIGNAL]),
        **VECTOR,
    },
    "columns by tree, level and node": {
        "label": REGRESSION,
        "feature_fraction": 0.8,
        "feature_fraction_bylevel": 0.7,
        "feature_fraction_bynode": 0.6,
    },
    "extra trees": {"table": HOLES, "label": REGRESSION, "extra_trees": True},
    "depthwise": {"label": BINARY, "grow_policy": "depthwise", "max_depth": 6, **BINARY_PARAMS},
    "symmetric": {"table": HOLES, "label": BINARY, "grow_policy": "symmetric", **BINARY_PARAMS},
    "symmetric, heavy tail": {
        "label": HEAVY_TAIL,
        "grow_policy": "symmetric",
        "min_data_in_leaf": 1,
        "lambda_l2": 3.0,
        "feature_fraction_bynode": 0.6,
        "bagging_fraction": 0.7,
    },
    "symmetric, sparse, extra trees": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_SIGNAL,
        "grow_policy": "symmetric",
        "extra_trees": True,
    },
    "symmetric, categories": {
        "label": CLASSES,
        "objective": "multiclass",
        "num_class": 4,
        "grow_policy": "symmetric",
        "categorical_feature": [1, 2],
        "path_smooth": 2.0,
    },
    "pruned": {"label": REGRESSION, "prune": True, "gamma": 40.0, "num_leaves": 63},
    "pruned, depthwise, l1": {
        "table": HOLES,
        "label": HEAVY_TAIL,
        "objective": "regression_l1",
        "grow_policy": "depthwise",
        "max_depth": 6,
        "prune": True,
        "gamma": 20.0,
    },
    "parallel trees": {
        "label": CLASSES,
        "objective": "multiclass",
        "num_class": 4,
        "num_parallel_tree": 3,
        "bagging_fraction": 0.6,
        "bagging_freq": 2,
        "feature_fraction_bynode": 0.7,
    },
    "parallel trees, l1, gradients": {
        "label": REGRESSION,
        "objective": "regression_l1",
        "num_parallel_tree": 2,
        "sampling_method": "gradient_based",
        "subsample": 0.4,
    },
    "weighted bins": {"label": REGRESSION, "weight": WEIGHT, "weighted_bins": True, "max_bin": 63},
    "weighted bins, compressed columns": {
        "table": csc_array(SPARSE_HOLES),
        "label": SPARSE_SIGNAL,
        "weight": WEIGHT,
        "weighted_bins": True,
        "max_bin": 15,
    },
    "two-byte bins": {"label": REGRESSION, "max_bin": 1000},
    "two-byte bins, missing": {
        "table": HOLES,
        "label": BINARY,
        "max_bin": 1000,
        "min_data_in_bin": 1,
        **BINARY_PARAMS,
    },
    "regularised": {
        "label": BINARY,
        "lambda_l1": 1.5,
        "lambda_l2": 0.7,
        "max_delta_step": 0.4,
        "path_smooth": 5.0,
        "min_gain_to_split": 0.1,
        **BINARY_PARAMS,
    },
    "zero as missing": {"label": REGRESSION, "zero_as_missing": True},
    "nothing missing": {"table": HOLES, "label": REGRESSION, "use_missing": False},
    "small histogram pool": {"label": REGRESSION, "num_leaves": 63, "histogram_pool_size": 0.2},
    "sampled bins": {"label": REGRESSION, "bin_construct_sample_cnt": 3000},
    "float64, column-major": {
        "table": np.asfortranarray(HOLES, dtype=np.float64),
        "label": REGRESSION,
    },
    "bundles": {"table": SPARSE, "label": SPARSE_SIGNAL},
    "compressed rows": {"table": csr_array(SPARSE), "label": SPARSE_BINARY, **BINARY_PARAMS},
    "compressed columns, missing": {"table": csc_array(SPARSE_HOLES), "label": SPARSE_SIGNAL},
    "sparse columns alone": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_BINARY,
        "weight": WEIGHT,
        "enable_bundle": False,
        **BINARY_PARAMS,
    },
    "bundles alone": {
        "table": csr_array(SPARSE),
        "label": SPARSE_SIGNAL,
        "is_enable_sparse": False,
    },
    "bundles with conflicts": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_SIGNAL,
        "max_conflict_rate": 0.02,
    },
    "compressed rows, zero as missing": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_SIGNAL,
        "zero_as_missing": True,
        "extra_trees": True,
    },
    "compressed rows, sampled": {
        "table": csr_array(SPARSE_HOLES),
        "label": np.digitize(SPARSE_SIGNAL, [-1.0, 1.0]),
        "objective": "multiclass",
        "num_class": 3,
        "bagging_fraction": 0.5,
        "feature_fraction": 0.7,
        "feature_fraction_bynode": 0.7,
        "bin_construct_sample_cnt": 3000,
    },
    "compressed columns, goss": {
        "table": csc_array(SPARSE_HOLES),
        "label": SPARSE_BINARY,
        **GOSS,
        **BINARY_PARAMS,
    },
    "sparse heavy tail": {
        "table": csr_array(SPARSE),
        "label": np.exp(4 * RNG.normal(size=N_ROWS)) * np.sign(SPARSE_SIGNAL),
        "min_data_in_leaf": 1,
    },
    "cells of 4,095 rows": {"label": BINARY, "weight": FEW_HEAVY[100], **BINARY_PARAMS},
    "cells of 2,047 rows": {"label": BINARY, "weight": FEW_HEAVY[400], **BINARY_PARAMS},
    "cells of 4,095 rows, sparse": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_BINARY,
        "weight": FEW_HEAVY[100],
        **BINARY_PARAMS,
    },
    "cells of 2,047 rows, sparse": {
        "table": csr_array(SPARSE_HOLES),
        "label": SPARSE_BINARY,
        "weight": FEW_HEAVY[400],
        **BINARY_PARAMS,
    },
    "small histogram pool, sparse": {
        "table": csr_array(SPARSE),
        "label": SPARSE_SIGNAL,
        "num_leaves": 63,
        "histogram_pool_size": 0.05,
    },
}

COUNTS = np.floor(np.exp(np.clip(REGRESSION, -3, 3)))
SHARES = 1 / (1 + np.exp(-REGRESSION))
CASES |= {
    "l1": {"label": REGRESSION, "objective": "l1"},
    "l1 weighted, heavy tail": {"label": HEAVY_TAIL, "weight": WEIGHT, "objective": "l1"},
    "l1 goss": {"label": REGRESSION, "objective": "l1", **GOSS},
    "root of the label": {"label": REGRESSION, "reg_sqrt": True},
    "huber": {"label": HEAVY_TAIL, "objective": "huber"},
    "fair": {"label": REGRESSION, "objective": "fair", "bagging_fraction": 0.5},
    "poisson": {"label": COUNTS, "objective": "poisson"},
    "quantile": {"label": REGRESSION, "weight": WEIGHT, "objective": "quantile", "alpha": 0.3},
    "mape": {"label": REGRESSION, "objective": "mape"},
    "gamma": {"label": COUNTS + 0.5, "objective": "gamma"},
    "tweedie": {"label": COUNTS, "weight": WEIGHT, "objective": "tweedie"},
    "squared_log_error": {"label": COUNTS, "objective": "squared_log_error"},
    "pseudo_huber": {"label": REGRESSION, "objective": "pseudo_huber"},
    "log_cosh": {"label": REGRESSION, "objective": "log_cosh"},
    "expectile": {"label": REGRESSION, "objective": "expectile", "alpha": 0.8},
    "hinge": {"label": BINARY, "objective": "hinge"},
    "focal": {"label": BINARY, "weight": WEIGHT, "objective": "focal", "focal_alpha": 0.3},
    "cross_entropy": {"label": SHARES, "objective": "cross_entropy"},
    "cross_entropy_lambda": {
        "label": SHARES,
        "weight": WEIGHT + 1e-3,
        "objective": "cross_entropy_lambda",
    },
    "multiclassova": {"label": CLASSES, "objective": "multiclassova", "num_class": 4},
}


@pytest.fixture(autouse=True)
def every_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are used as asked for, however small the data."""
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)


@pytest.fixture
def any_level() -> Iterator[None]:
    before = _native.kernel_level()
    yield
    assert _native.set_kernel_level(before)


def train_bytes(case: dict[str, Any], num_threads: int, n_rounds: int = 3) -> bytes:
    case = dict(case)
    fields = {name: case.pop(name, None) for name in ("weight", "group", "position")}
    data = Dataset(case.pop("table", TABLE), case.pop("label"), **fields)
    booster = train({**case, "num_threads": num_threads, "verbosity": -1}, data, n_rounds)
    return model_file.to_bytes(booster.model)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("any_level")
def test_bytes_are_the_same_for_any_threads_and_kernels(name: str) -> None:
    case = CASES[name]
    expected = train_bytes(case, 1)
    for num_threads in THREADS:
        assert train_bytes(case, num_threads) == expected, f"{num_threads} threads"
    for i, level in enumerate(_native.kernel_levels()):
        assert _native.set_kernel_level(level)
        assert train_bytes(case, 1 + i) == expected, f"kernels {level}"


STORAGES: dict[str, dict[str, Any]] = {
    "bundles and sparse columns": {},
    "bundles": {"is_enable_sparse": False},
    "sparse columns": {"enable_bundle": False},
    "by degree": {"bundle_order": "degree"},
    "by count": {"bundle_order": "count"},
}


@pytest.mark.parametrize("most", [None, 100, 400], ids=lambda most: f"weights up to {most}")
@pytest.mark.parametrize("table", [SPARSE, SPARSE_HOLES], ids=["complete", "missing"])
@pytest.mark.parametrize("storage", STORAGES)
def test_the_model_does_not_depend_on_the_storage(
    storage: str, table: np.ndarray, most: int | None
) -> None:
    """Nor on whether the table is dense; the parameters in the file differ, of course."""
    weight = None if most is None else FEW_HEAVY[most]

    def trees(data: Any, num_threads: int, params: dict[str, Any]) -> bytes:
        settings = {"num_threads": num_threads, "num_leaves": 63, "verbosity": -1, **params}
        booster = train(settings, Dataset(data, SPARSE_SIGNAL, weight=weight), 5)
        return model_file.to_bytes(replace(booster.model, params={}))

    expected = trees(table, 1, {"enable_bundle": False, "is_enable_sparse": False})
    for num_threads, read in enumerate((np.asarray, csr_array, csc_array), start=1):
        assert trees(read(table), num_threads, STORAGES[storage]) == expected, read.__name__


@pytest.mark.parametrize("storage", STORAGES)
def test_vector_leaves_do_not_depend_on_the_storage(storage: str) -> None:
    label = np.column_stack([SPARSE_SIGNAL, -SPARSE_SIGNAL, SIGNAL])

    def trees(data: Any, params: dict[str, Any]) -> bytes:
        settings = {**VECTOR, "num_threads": 2, "num_leaves": 40, "verbosity": -1, **params}
        booster = train(settings, Dataset(data, label), 3)
        return model_file.to_bytes(replace(booster.model, params={}))

    expected = trees(SPARSE_HOLES, {"enable_bundle": False, "is_enable_sparse": False})
    for read in (np.asarray, csr_array):
        assert trees(read(SPARSE_HOLES), STORAGES[storage]) == expected, read.__name__


def test_predictions_are_the_same_for_any_threads() -> None:
    booster = train({"objective": "binary", "num_threads": 1}, Dataset(HOLES, BINARY), 5)
    expected = booster.predict(HOLES)
    for num_threads in THREADS:
        np.testing.assert_array_equal(booster.predict(HOLES, num_threads=num_threads), expected)


METRICS: list[tuple[dict[str, Any], np.ndarray]] = [
    ({"objective": "binary", "metric": "auc,logloss,error,l1,l2,rmse"}, BINARY),
    ({"objective": "multiclass", "num_class": 4, "metric": "mlogloss,merror"}, CLASSES),
    ({"objective": "cox", "metric": "cox-nloglik,c_index"}, SURVIVAL),
    ({"objective": "aft", "metric": "aft,interval-regression-accuracy,c_index"}, INTERVALS),
    ({"objective": "gaussian", "metric": "gaussian_nll,crps,l1,rmse"}, REGRESSION),
    ({"objective": "quantile", "quantile_alpha": [0.1, 0.9], "metric": "quantile"}, REGRESSION),
]


@pytest.mark.parametrize(
    ("params", "label"),
    METRICS,
    ids=["binary", "multiclass", "cox", "aft", "gaussian", "quantiles"],
)
@pytest.mark.usefixtures("any_level")
def test_metrics_are_the_same_for_any_threads_and_kernels(
    params: dict[str, Any], label: np.ndarray
) -> None:
    """Early stopping compares them, so the model depends on their last bits."""

    def scores(num_threads: int) -> Any:
        data = Dataset(HOLES, label, weight=WEIGHT)
        return train({**params, "num_threads": num_threads}, data, 2, [data]).best_score

    expected = scores(1)
    for num_threads in THREADS:
        assert scores(num_threads) == expected, f"{num_threads} threads"
    for level in _native.kernel_levels():
        assert _native.set_kernel_level(level)
        assert scores(2) == expected, f"kernels {level}"


@pytest.mark.parametrize(
    "params",
    [
        {"bagging_fraction": 0.5, "bagging_seed": 7},
        {"boosting": "goss", "learning_rate": 2.0, "bagging_seed": 7},
        {"data_sample_strategy": "mvs", "bagging_seed": 7},
        {"feature_fraction": 0.5, "feature_fraction_seed": 7},
        {"extra_trees": True, "extra_seed": 7},
        {"bin_construct_sample_cnt": 500, "data_random_seed": 7},
        {"bagging_fraction": 0.5, "seed": 7},
    ],
    ids=str,
)
def test_seeds_change_the_model(params: dict[str, Any]) -> None:
    *_, seed_name = params
    case = {"label": REGRESSION, **params}
    first = train_bytes(case, 1, 1)
    assert train_bytes(case, 1, 1) == first
    booster_of = {}
    for seed in (7, 8):
        data = Dataset(TABLE, REGRESSION)
        booster_of[seed] = train({**params, seed_name: seed}, data, 1)
    assert not np.array_equal(booster_of[7].predict(TABLE), booster_of[8].predict(TABLE))


def test_more_rounds_begin_with_the_same_rounds() -> None:
    params = {"bagging_fraction": 0.5, "feature_fraction": 0.5, "extra_trees": True}
    short, long = (train(params, Dataset(TABLE, REGRESSION), n) for n in (3, 6))
    np.testing.assert_array_equal(short.predict(TABLE), long.predict(TABLE, num_iteration=3))
