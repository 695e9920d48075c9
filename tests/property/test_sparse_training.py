"""The model does not depend on how its table is kept: dense, sparse, in bundles, on any threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

from gossamer import Booster, Dataset, threads
from gossamer.data.storage import binned
from gossamer.model.files import model_file

Array = npt.NDArray[Any]
N_ROUNDS = 4


@dataclass(frozen=True)
class Shape:
    """What a random table is made of."""

    n_rows: int
    group_sizes: tuple[int, ...]  # columns of one-hot encodings
    n_values: int  # of a column, besides zero
    n_sparse: int  # other columns that are zero in most rows
    n_full: int
    is_negative: bool  # some values are
    missing: float  # share of the values
    seed: int

    def table(self, seed: int, conflicts: float = 0.0) -> Array:
        rng = np.random.default_rng((self.seed, seed))
        n_columns = sum(self.group_sizes) + self.n_sparse + self.n_full
        table = np.zeros((self.n_rows, n_columns))

        def values(n: int) -> Array:
            drawn = rng.integers(1, self.n_values + 1, n).astype(float)
            if self.is_negative:
                drawn *= rng.choice([-1.0, 1.0], n)
            drawn[rng.random(n) < self.missing] = np.nan
            return drawn

        first = 0
        for size in self.group_sizes:
            filled = np.flatnonzero(rng.random(self.n_rows) < 0.9)
            table[filled, first + rng.integers(0, size, len(filled))] = values(len(filled))
            first += size
        for column in range(first, first + self.n_sparse):
            filled = np.flatnonzero(rng.random(self.n_rows) < rng.uniform(0.0, 0.25))
            table[filled, column] = values(len(filled))
        if self.n_full:
            table[:, -self.n_full :] = rng.normal(size=(self.n_rows, self.n_full))
        meets = rng.random(table.shape) < conflicts
        table[meets] = values(int(meets.sum()))
        return table


@dataclass(frozen=True)
class Task:
    """A table, labels and parameters that the model does depend on."""

    shape: Shape
    is_weighted: bool
    params: dict[str, Any]

    def label(self, table: Array, seed: int) -> Array:
        rng = np.random.default_rng((self.shape.seed, seed, 1))
        weights = np.random.default_rng(self.shape.seed).normal(size=table.shape[1])
        signal = np.nan_to_num(table, nan=2.0) @ weights + 0.3 * rng.normal(size=len(table))
        match self.params["objective"]:
            case "binary":
                return (signal > np.median(signal)).astype(float)
            case "multiclass":
                return np.digitize(signal, np.quantile(signal, [0.3, 0.7])).astype(float)
            case _:
                return signal

    def weight(self) -> Array | None:
        rng = np.random.default_rng((self.shape.seed, 2))
        return rng.exponential(size=self.shape.n_rows) if self.is_weighted else None


@dataclass(frozen=True)
class Storage:
    """What the model must not depend on."""

    read: Callable[[Array], Any]
    enable_bundle: bool
    is_enable_sparse: bool
    num_threads: int
    bundle_order: str = "auto"
    shares_lanes: bool = False

    @property
    def params(self) -> dict[str, Any]:
        return {
            "enable_bundle": self.enable_bundle,
            "is_enable_sparse": self.is_enable_sparse,
            "bundle_order": self.bundle_order,
            "num_threads": self.num_threads,
        }


def dense(table: Array) -> Array:
    return table


def by_row(table: Array) -> csr_array:
    return csr_array(table)


def by_column(table: Array) -> csc_array:
    return csc_array(table)


def by_row_with_zeros(table: Array) -> csr_array:
    """Some of the zeros are stored, some as -0.0."""
    rng = np.random.default_rng(0)
    kept = (table != 0) | (rng.random(table.shape) < 0.1)
    matrix = csr_array(np.where(kept & (table == 0), 7.0, table))
    rows = np.repeat(np.arange(len(table)), np.diff(matrix.indptr))
    stored = table[rows, matrix.indices]
    matrix.data = np.where(stored == 0, -0.0, stored)
    return matrix


PLAIN = Storage(dense, False, False, 1)
STORAGES = [
    Storage(dense, True, True, 1),
    Storage(dense, True, False, 2, "count"),
    Storage(dense, False, True, 3),
    Storage(dense, True, True, 3, "degree", shares_lanes=True),
    Storage(by_row, False, False, 2),
    Storage(by_row, True, True, 3),
    Storage(by_row, False, True, 1),
    Storage(by_row, True, True, 1, "column", shares_lanes=True),
    Storage(by_row_with_zeros, True, True, 2, shares_lanes=True),
    Storage(by_column, False, False, 3),
    Storage(by_column, True, True, 1),
    Storage(by_column, True, False, 1, "degree"),
]

SHAPES = st.builds(
    Shape,
    n_rows=st.integers(20, 300),
    group_sizes=st.lists(st.integers(1, 12), max_size=3).map(tuple),
    n_values=st.sampled_from([1, 1, 2, 5]),
    n_sparse=st.sampled_from([0, 1, 5, 30, 60]),
    n_full=st.integers(0, 2),
    is_negative=st.booleans(),
    missing=st.sampled_from([0.0, 0.0, 0.02, 0.3]),
    seed=st.integers(0, 2**32 - 1),
).filter(lambda shape: shape.group_sizes or shape.n_sparse or shape.n_full)

SAMPLERS: list[dict[str, Any]] = [
    {},
    {},
    {"bagging_fraction": 0.6, "bagging_freq": 1},
    {"data_sample_strategy": "goss", "learning_rate": 1.0},
    {"data_sample_strategy": "mvs"},
]
OBJECTIVES: list[dict[str, Any]] = [
    {"objective": "regression"},
    {"objective": "binary"},
    {"objective": "multiclass", "num_class": 3},
]
TREES: list[dict[str, Any]] = [
    {},
    {},
    {"extra_trees": True},
    {"feature_fraction": 0.6},
    {"feature_fraction_bynode": 0.5},
    {"lambda_l1": 0.1, "lambda_l2": 1.0, "path_smooth": 1.0},
    {"grow_policy": "depthwise", "max_depth": 4},
    {"grow_policy": "symmetric", "max_depth": 4},
]
MISSING: list[dict[str, Any]] = [{}, {}, {"zero_as_missing": True}, {"use_missing": False}]


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    params = {
        "verbosity": -1,
        "num_leaves": draw(st.sampled_from([4, 31])),
        "min_data_in_leaf": draw(st.sampled_from([1, 5, 20])),
        "min_sum_hessian_in_leaf": draw(st.sampled_from([0.0, 1e-3])),
        "max_bin": draw(st.sampled_from([2, 4, 255, 300])),
        "min_data_in_bin": draw(st.sampled_from([1, 3])),
        "bin_construct_sample_cnt": draw(st.sampled_from([10, 200_000])),
    }
    for choices in (SAMPLERS, OBJECTIVES, TREES, MISSING):
        params |= draw(st.sampled_from(choices))
    return Task(draw(SHAPES), draw(st.booleans()), params)


@contextmanager
def as_asked(storage: Storage) -> Iterator[None]:
    """Threads are used and lanes shared, however small the data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "CELLS_PER_THREAD", 1)
        if storage.shares_lanes:
            patch.setattr(binned, "_MIN_ROWS_TO_SHARE", 0)
        yield


def train(task: Task, storage: Storage) -> tuple[Booster, list[Any]]:
    """A booster with two validation sets, and what it said of them after each round."""
    table = task.shape.table(0)
    params = {**task.params, **storage.params}
    with as_asked(storage):
        data = Dataset(storage.read(table), task.label(table, 0), weight=task.weight())
        booster = Booster(params, data)
        for seed, conflicts in ((1, 0.0), (2, 0.1)):
            other = task.shape.table(seed, conflicts)
            valid = data.create_valid(storage.read(other), task.label(other, seed))
            booster.add_valid(valid, f"{conflicts}")
        results = []
        for _ in range(N_ROUNDS):
            booster.update()
            results.append(booster.eval_train() + booster.eval_valid())
    return booster, results


def model_bytes(booster: Booster) -> bytes:
    """The model without the parameters, which tell how the table was kept."""
    return model_file.to_bytes(replace(booster.model, params={}))


@settings(max_examples=40, deadline=None)
@given(tasks())
def test_the_model_does_not_depend_on_the_storage(task: Task) -> None:
    booster, results = train(task, PLAIN)
    expected = model_bytes(booster)
    for storage in STORAGES:
        other, other_results = train(task, storage)
        assert model_bytes(other) == expected, storage
        assert other_results == results, storage


@settings(max_examples=20, deadline=None)
@given(tasks(), st.sampled_from([PLAIN, *STORAGES]))
def test_scores_are_those_of_the_model(task: Task, storage: Storage) -> None:
    """Of the training rows and of others, which hold what training never saw."""
    booster, _ = train(task, storage)
    assert booster.training is not None
    tables = [task.shape.table(0), task.shape.table(1), task.shape.table(2, 0.1)]
    scored = [booster.training.train, *booster.training.valid]
    for table, own in zip(tables, scored, strict=True):
        predicted = booster.predict(table, raw_score=True)
        np.testing.assert_array_equal(predicted.ravel(order="F"), own.score)
