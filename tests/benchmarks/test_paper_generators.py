from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.paper import generators
from benchmarks.paper.generators import allstate_groups, allstate_like, kdd_like
from benchmarks.paper.problem import (
    Problem,
    cached_folder,
    load_facts,
    load_queries,
    load_rows,
)
from benchmarks.paper.real import one_hot


@pytest.fixture(scope="module")
def allstate() -> Problem:
    return allstate_like(3_000)


@pytest.fixture(scope="module")
def kdd() -> Problem:
    return kdd_like(4_000, 5_000)


def _check_csr(x: sp.csr_matrix) -> None:
    assert isinstance(x, sp.csr_matrix)
    assert x.dtype == np.float32
    assert x.indices.dtype == np.int32
    assert x.indptr[0] == 0
    assert x.indptr[-1] == len(x.data)
    assert (x.data != 0).all()
    # has_sorted_indices was set by hand: look at the indices themselves.
    in_row = np.ones(max(len(x.indices) - 1, 0), bool)
    in_row[x.indptr[1:-1] - 1] = False
    assert (np.diff(x.indices)[in_row] > 0).all()


def test_allstate_shape(allstate: Problem) -> None:
    assert allstate.x_train.shape == (3_000, 4_228)
    assert allstate.x_test.shape == (1_000, 4_228)
    _check_csr(allstate.x_train)
    _check_csr(allstate.x_test)
    assert set(np.unique(allstate.y_train)) == {0.0, 1.0}
    assert 0.15 < allstate.y_train.mean() < 0.4


def test_allstate_groups_are_exclusive(allstate: Problem) -> None:
    groups = allstate_groups()
    assert groups[0].start == generators.N_NUMERIC
    assert groups[-1].stop == 4_228
    assert 30 <= len(groups) <= 40
    sizes = [group.stop - group.start for group in groups]
    assert (min(sizes), max(sizes)) == (2, 1_500)
    for group in groups:
        part = allstate.x_train[:, group]
        assert (part.getnnz(axis=1) == 1).all()
        assert (part.data == 1.0).all()


def test_allstate_density_and_frequencies(allstate: Problem) -> None:
    assert 45 < allstate.x_train.nnz / 3_000 < 50
    counts = np.sort(allstate.x_train[:, allstate_groups()[0]].getnnz(axis=0))[::-1]
    assert counts[0] > 20 * np.median(counts)  # Zipf: the first far above the middle


def test_nested_categories_leave_nothing_out() -> None:
    function = generators._AllstateFunction()
    for parent, size in zip(function.parent, generators.CARDINALITIES[1:], strict=False):
        assert set(parent) == set(range(size))


def test_kdd_shape_and_density(kdd: Problem) -> None:
    x = kdd.x_train
    assert x.shape == (4_000, 5_000)
    _check_csr(x)
    assert x.nnz / 4_000 == pytest.approx(30.0, rel=0.02)
    counts = np.sort(x.getnnz(axis=0))[::-1]
    assert 0.2 < counts[0] / 4_000 < 0.8
    assert counts[0] > 50 * np.median(counts)
    assert 0.85 < (x.data == 1.0).mean() < 0.95
    assert (x.data == np.round(x.data)).all()


@pytest.mark.parametrize("make", [allstate_like, lambda n, seed=0: kdd_like(n, 2_000, seed=seed)])
def test_rows_depend_on_the_seed_alone(  # type: ignore[no-untyped-def]
    make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generators, "CHUNK_ROWS", 1_024)
    first, again, other, longer = make(300), make(300), make(300, seed=1), make(500)
    np.testing.assert_array_equal(first.x_train.data, again.x_train.data)
    np.testing.assert_array_equal(first.x_train.indices, again.x_train.indices)
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert (first.x_train != other.x_train).nnz > 0
    assert (longer.x_train[:300] != first.x_train).nnz == 0  # fewer rows are the first of more
    np.testing.assert_array_equal(longer.y_train[:300], first.y_train)


def test_rows_do_not_depend_on_where_chunks_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "CHUNK_ROWS", 256)
    problem = allstate_like(700)
    assert problem.x_train.shape[0] + problem.x_test.shape[0] == 1_700
    _check_csr(problem.x_train)
    _check_csr(problem.x_test)
    for group in allstate_groups()[:5]:
        assert (problem.x_test[:, group].getnnz(axis=1) == 1).all()


def test_one_hot() -> None:
    x = one_hot([np.array([0, 2, 1]), np.array([1, 0, 1])], [np.array([0.5, 0.0, 7.0])])
    expected = [[1, 0, 0, 0, 1, 0.5], [0, 0, 1, 1, 0, 0], [0, 1, 0, 0, 1, 7]]
    np.testing.assert_array_equal(x.toarray(), np.array(expected, np.float32))
    assert x.nnz == 8


def test_cache_keeps_the_problem(tmp_path, monkeypatch: pytest.MonkeyPatch, kdd: Problem) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_CACHE", str(tmp_path))
    small = kdd.shrink(0.1)
    assert small.x_train.shape[0] == 400
    made = []

    def make() -> Problem:
        made.append(1)
        return small

    folder = cached_folder("small", make)
    assert cached_folder("small", make) == folder
    assert made == [1]
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    x, y = load_rows(folder, "train")
    assert (x != small.x_train).nnz == 0
    np.testing.assert_array_equal(y, small.y_train)
    assert load_queries(folder) is None
    assert load_facts(folder)["n_stored"] == small.x_train.nnz


def test_cache_keeps_dense_rows_and_queries(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_BENCH_CACHE", str(tmp_path))
    x, y, query = np.eye(4, dtype=np.float32), np.arange(4.0), np.array([1, 1, 2, 2])
    folder = cached_folder("dense", lambda: Problem("regression", x, y, x, y, query_test=query))
    np.testing.assert_array_equal(load_rows(folder, "test")[0], x)
    np.testing.assert_array_equal(load_queries(folder), query)
    assert not load_facts(folder)["is_sparse"]
