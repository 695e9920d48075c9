"""Folds: every row is evaluated once, classes and queries keep together."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.data.folds import (
    Fold,
    are_classes,
    read_folds,
    split_classes,
    split_groups,
    split_queries,
    split_rows,
    split_time,
)
from gossamer.errors import DataError


def check_partition(folds: list[Fold], n_rows: int) -> None:
    tests = np.concatenate([fold.test for fold in folds])
    assert sorted(tests.tolist()) == list(range(n_rows))
    for fold in folds:
        assert sorted([*fold.train.tolist(), *fold.test.tolist()]) == list(range(n_rows))
        assert len(fold.train) and len(fold.test)
        assert (np.diff(fold.train) > 0).all() and (np.diff(fold.test) > 0).all()


@settings(deadline=None)
@given(n_rows=st.integers(2, 60), n_folds=st.integers(2, 10), shuffle=st.booleans())
def test_rows(n_rows: int, n_folds: int, shuffle: bool) -> None:
    n_folds = min(n_folds, n_rows)
    folds = split_rows(n_rows, n_folds, shuffle, seed=n_rows)
    check_partition(folds, n_rows)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@settings(deadline=None)
@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=5),
    n_folds=st.integers(2, 6),
    shuffle=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_classes_are_those_of_scikit_learn(
    counts: list[int], n_folds: int, shuffle: bool, seed: int
) -> None:
    label = np.repeat(np.arange(len(counts)) * 3.0 - 1, counts).astype(np.float32)
    label = np.random.default_rng(seed).permutation(label)
    if len(label) < n_folds or max(counts) < n_folds:
        return
    folds = split_classes(label, n_folds, shuffle, seed)
    check_partition(folds, len(label))
    for value in np.unique(label):
        in_fold = [int((label[fold.test] == value).sum()) for fold in folds]
        assert max(in_fold) - min(in_fold) <= 1
    model_selection = pytest.importorskip("sklearn.model_selection")
    splitter = model_selection.StratifiedKFold(
        n_folds, shuffle=shuffle, random_state=seed if shuffle else None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        expected = list(splitter.split(np.zeros(len(label)), label))
    for fold, (train, test) in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(fold.train, train)
        np.testing.assert_array_equal(fold.test, test)


@settings(deadline=None)
@given(sizes=st.lists(st.integers(1, 20), min_size=2, max_size=30), n_folds=st.integers(2, 5))
def test_queries(sizes: list[int], n_folds: int) -> None:
    n_folds = min(n_folds, len(sizes))
    folds = split_queries(np.array(sizes), n_folds)
    check_partition(folds, sum(sizes))
    query_of = np.repeat(np.arange(len(sizes)), sizes)
    for fold in folds:
        assert not set(query_of[fold.train]) & set(query_of[fold.test])
    in_fold = [len(fold.test) for fold in folds]
    assert max(in_fold) - min(in_fold) <= max(sizes)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ([0, 1, 0, 1], True),
        ([0.5, 1, 1, 0], False),
        ([1, 2, 3, 4], False),  # every value once: nothing to stratify by
        ([-1, -1, 7, 8], True),
    ],
)
def test_what_classes_are(label: list[float], expected: bool) -> None:
    assert are_classes(np.array(label, dtype=np.float32), 2) is expected


def test_rows_may_be_trained_on_more_than_once() -> None:
    (fold,) = read_folds([([3, 3, 1], [0])], 4)
    assert fold.train.tolist() == [1, 3, 3]


def test_splitters_are_given_labels_and_queries() -> None:
    seen: list[Any] = []

    class Splitter:
        def split(self, x: Any, y: Any, groups: Any) -> Any:
            seen.append((len(x), y.tolist(), None if groups is None else groups.tolist()))
            yield [0, 1], [2]

    read_folds(Splitter(), 3, np.array([5, 6, 7]))
    read_folds(Splitter(), 3, np.array([5, 6, 7]), np.array([2, 1]))
    assert seen == [(3, [5, 6, 7], None), (3, [5, 6, 7], [0, 0, 1])]


def test_groups_and_times_stay_together() -> None:
    group = np.array([3, 1, 3, 2, 2, 1, 4, 4, 4])
    for seed in (None, 1, 2):
        folds = split_groups(group, 9, 3, seed)
        held = [set(group[fold.test].tolist()) for fold in folds]
        assert sorted(g for each in held for g in each) == [1, 2, 3, 4]
    day = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    folds = split_time(day, 10, 2)
    assert [fold.test.tolist() for fold in folds] == [[4, 5], [6, 7, 8, 9]]
    assert [fold.train.tolist() for fold in folds] == [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", None, 1, 2], "cannot be sorted"),
        ([Decimal("sNaN"), Decimal(1), Decimal(2), Decimal(3)], "cannot be sorted"),
        ([[1], [2, 3], [4], [5]], "cannot be made an array"),
        (range(3), "one value for each of the 4 rows"),
    ],
)
def test_groups_and_times_that_cannot_be_used(values: Any, words: str) -> None:
    with pytest.raises(DataError, match=f"groups {words}|groups .* {words}"):
        split_groups(values, 4, 2)
    with pytest.raises(DataError, match=f"time {words}|time .* {words}"):
        split_time(values, 4, 2)


@pytest.mark.parametrize("kind", ["float64", "datetime64[s]"])
def test_times_must_be_known(kind: str) -> None:
    time = np.arange(4).astype(kind)
    assert len(split_time(time, 4, 2)) == 2
    time[1] = np.array("NaT" if "date" in kind else "nan", kind)
    with pytest.raises(DataError, match="time of row 1 is missing"):
        split_time(time, 4, 2)


def test_queries_in_another_order() -> None:
    sizes = np.full(12, 2)
    one, other = split_queries(sizes, 3, seed=1), split_queries(sizes, 3, seed=2)
    assert [len(fold.test) for fold in one] == [8, 8, 8]
    assert any(not np.array_equal(a.test, b.test) for a, b in zip(one, other, strict=True))
