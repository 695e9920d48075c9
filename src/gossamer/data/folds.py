"""Folds of cross-validation: which rows to train on, and which to evaluate on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list
from gossamer.data.labels.fields import one_per_row
from gossamer.errors import DataError, ParameterError

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on and rows to evaluate on, each increasing."""

    train: Rows
    test: Rows


def split_rows(n_rows: int, n_folds: int, shuffle: bool = True, seed: int = 0) -> list[Fold]:
    """Divide rows into folds of nearly equal size, as `lightgbm.cv(stratified=False)` does.

    Example:
        >>> [fold.test.tolist() for fold in split_rows(5, 2, shuffle=False)]
        [[0, 1, 2], [3, 4]]
    """
    _check_count(n_folds, n_rows, "rows")
    order = _random(seed).permutation(n_rows) if shuffle else np.arange(n_rows)
    fold_of = np.empty(n_rows, dtype=np.int64)
    for i, part in enumerate(np.array_split(order, n_folds)):
        fold_of[part] = i
    return _leave_out(fold_of, n_folds)


def are_classes(label: npt.NDArray[np.float32], n_folds: int) -> bool:
    """Whether rows can be stratified by these labels: whole numbers, some of them often.

    Example:
        >>> are_classes(np.array([0, 1, 1, 0], dtype=np.float32), 2)
        True
        >>> are_classes(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32), 2)
        False
    """
    if label.ndim != 1 or not np.array_equal(label, np.floor(label)):
        return False
    return int(np.unique(label, return_counts=True)[1].max()) >= n_folds


def split_classes(
    label: npt.NDArray[np.float32], n_folds: int, shuffle: bool = True, seed: int = 0
) -> list[Fold]:
    """Divide rows into folds in which classes have the same shares, nearly.

    With the same seed these are the folds of scikit-learn's `StratifiedKFold`, and so of
    `lightgbm.cv`.

    Example:
        >>> label = np.array([0, 0, 0, 0, 1, 1], dtype=np.float32)
        >>> [fold.test.tolist() for fold in split_classes(label, 2, shuffle=False)]
        [[0, 1, 4], [2, 3, 5]]
    """
    _check_count(n_folds, len(label), "rows")
    _, first, codes = np.unique(label, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes.reshape(-1)]  # by where a class first occurs
    random = _random(seed)
    fold_of = np.empty(len(label), dtype=np.int64)
    # Dealing the rows out one by one, class after class, tells how many of each a fold gets.
    dealt = np.sort(codes)
    for k in range(len(first)):
        begin, end = np.searchsorted(dealt, [k, k + 1])
        share = np.sort(np.arange(begin, end) % n_folds)
        if shuffle:
            random.shuffle(share)
        fold_of[codes == k] = share
    return _leave_out(fold_of, n_folds)


def split_queries(sizes: Rows, n_folds: int, seed: int | None = None) -> list[Fold]:
    """Divide whole queries into folds of nearly equal numbers of rows.

    The largest queries are placed first, each into the fold with the fewest rows so far.

    Args:
        sizes: Rows of each query.
        n_folds: How many folds there are.
        seed: Of the order of the queries, which are then not placed by size; None: by size.

    Example:
        >>> [fold.test.tolist() for fold in split_queries(np.array([1, 3, 2]), 2)]
        [[1, 2, 3], [0, 4, 5]]
    """
    _check_count(n_folds, len(sizes), "queries")
    return _leave_out(np.repeat(_place(sizes, n_folds, seed), sizes), n_folds)


def split_groups(groups: Any, n_rows: int, n_folds: int, seed: int | None = None) -> list[Fold]:
    """Divide rows into folds of nearly equal size; the rows of a group stay together.

    Args:
        groups: The group of each row: numbers, text or anything else that can be sorted.
        n_rows: Rows of the data.
        n_folds: How many folds there are.
        seed: Of the order in which groups are placed; None: the largest first.

    Raises:
        DataError: If there is not one group for each row.

    Example:
        >>> [fold.test.tolist() for fold in split_groups(["b", "a", "b", "b"], 4, 2)]
        [[0, 2, 3], [1]]
    """
    codes = _codes(groups, n_rows, "groups")
    sizes = np.bincount(codes)
    _check_count(n_folds, len(sizes), "groups")
    return _leave_out(_place(sizes, n_folds, seed)[codes], n_folds)


def split_time(time: Any, n_rows: int, n_folds: int) -> list[Fold]:
    """Divide rows into folds that are evaluated on what comes after their training rows.

    Every fold trains on at least the first half of the rows; the second half is divided into
    `n_folds` stretches, each evaluated by the fold that trains on everything before it.

    Args:
        time: The time of each row; rows of the same time stay together. True: rows are in the order
            of time.
        n_rows: Rows of the data.
        n_folds: How many folds there are.

    Raises:
        DataError: If there is not one time for each row, or too few different ones.

    Example:
        >>> [(fold.train.tolist(), fold.test.tolist()) for fold in split_time(True, 4, 2)]
        [([0, 1], [2]), ([0, 1, 2], [3])]
    """
    codes = np.arange(n_rows) if time is True else _codes(time, n_rows, "time")
    if time is not True:
        _check_times(np.asarray(time))
    _check_count(n_folds, n_rows - n_rows // 2, "rows in the second half")
    ordered = np.sort(codes)
    # A stretch begins with the first row of a time.
    bounds = [n_rows // 2 + (n_rows - n_rows // 2) * i // n_folds for i in range(n_folds)]
    begins = [int(ordered[bound]) for bound in bounds] + [int(ordered[-1]) + 1]
    folds = [
        Fold(np.flatnonzero(codes < begin), np.flatnonzero((codes >= begin) & (codes < end)))
        for begin, end in pairwise(begins)
    ]
    if any(len(fold.train) == 0 or len(fold.test) == 0 for fold in folds):
        raise DataError.because(
            f"there are not enough different times for nfold={n_folds}",
            got=len(np.unique(codes)),
            expected="several in each stretch of rows",
        )
    return folds


def _place(sizes: Rows, n_folds: int, seed: int | None) -> Rows:
    """Return the fold of each of some things of different sizes."""
    fold_of = np.empty(len(sizes), dtype=np.int64)
    n_rows = np.zeros(n_folds, dtype=np.int64)
    order = np.argsort(-sizes, kind="stable") if seed is None else _shuffled(sizes, seed)
    for thing in order:
        fold = int(np.argmin(n_rows))
        fold_of[thing] = fold
        n_rows[fold] += sizes[thing]
    return fold_of


def _shuffled(sizes: Rows, seed: int) -> Rows:
    return _random(seed).permutation(len(sizes))


def _codes(values: Any, n_rows: int, name: str) -> Rows:
    """Return a number for each value, in the order of the values."""
    found = one_per_row(values, n_rows, name)
    try:
        return np.unique(found, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except (TypeError, ValueError, ArithmeticError):  # text and None; arrays; Decimal("sNaN")
        raise DataError.because(
            f"{name} cannot be sorted", expected="values of one type, none missing"
        ) from None


def _check_times(time: npt.NDArray[Any]) -> None:
    """Refuse missing times: in order of time, they would come last."""
    missing = np.flatnonzero(time != time)  # NaN and NaT; others cannot be sorted
    if missing.size:
        raise DataError.because(f"time of row {missing[0]} is missing", got=time[missing[0]])


def read_folds(
    folds: Any,
    n_rows: int,
    label: npt.NDArray[Any] | None = None,
    sizes: Rows | None = None,
    groups: Any = None,
) -> list[Fold]:
    """Read the folds a user gives: pairs of (train, test), or a splitter that makes them.

    Args:
        folds: Pairs of row numbers, as a list or a generator; or an object with scikit-learn's
            `split(X, y, groups)`.
        n_rows: Rows of the data.
        label: For a splitter: the labels.
        sizes: For a splitter: rows of each query, whose numbers become `groups`.
        groups: For a splitter: the group of each row; None: its query.

    Raises:
        ParameterError: If it is something else.
        DataError: If a fold is empty, trains on what it evaluates on, or names rows that are not
            there.

    Example:
        >>> [(fold.train, fold.test) for fold in read_folds([([3, 0], [1, 2])], 4)]
        [(array([0, 3]), array([1, 2]))]
    """
    if hasattr(folds, "split") and not isinstance(folds, str | bytes):
        if groups is None and sizes is not None:
            groups = np.repeat(np.arange(len(sizes)), sizes)
        folds = folds.split(np.zeros((n_rows, 1)), label, groups)
    if not isinstance(folds, Iterable) or isinstance(folds, str | bytes | dict):
        raise ParameterError.because(
            "folds cannot be used",
            got=folds,
            expected="pairs of (training rows, test rows), or a splitter with split()",
        )
    pairs = as_list("folds", folds)
    found = [_read_fold(i, pair, n_rows) for i, pair in enumerate(pairs)]
    if not found:
        raise DataError.because("folds are empty", expected="at least one (train, test)")
    return found


def _read_fold(i: int, pair: Any, n_rows: int) -> Fold:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ParameterError.because(
            f"fold {i} is not a pair", got=pair, expected="(training rows, test rows)"
        ) from None
    fold = Fold(
        _read_rows(f"training rows of fold {i}", train, n_rows),
        _read_rows(f"test rows of fold {i}", test, n_rows),
    )
    is_trained_on = np.zeros(n_rows, dtype=bool)
    is_trained_on[fold.train] = True
    both = fold.test[is_trained_on[fold.test]]
    if len(both):
        raise DataError.because(
            f"fold {i} trains on rows that it evaluates on",
            got=both.tolist(),
            expected="training and test rows that differ",
        )
    return fold


def _read_rows(what: str, rows: Any, n_rows: int) -> Rows:
    try:
        found = np.asarray(rows)
    except (TypeError, ValueError) as error:
        raise DataError.because(f"{what} cannot be made an array ({error})") from None
    if found.ndim != 1 or len(found) == 0:
        raise DataError.because(
            f"{what} cannot be used", got=rows, expected="a list of at least one row"
        )
    if found.dtype.kind not in "iu":
        is_mask = found.dtype == np.bool_
        hint = "np.flatnonzero(mask) gives the rows of a mask." if is_mask else ""
        raise DataError.because(
            f"{what} cannot be used",
            got=str(found.dtype),
            expected="numbers of rows, from 0",
            hint=hint,
        )
    is_outside = (found < 0) | (found >= n_rows)
    if is_outside.any():
        raise DataError.because(
            f"{what} are not all in the data",
            got=int(found[np.argmax(is_outside)]),
            expected=f"numbers from 0 to {n_rows - 1}",
        )
    return np.sort(found.astype(np.int64))


def _leave_out(fold_of: Rows, n_folds: int) -> list[Fold]:
    """Each fold is evaluated on once, and trained on by all the others."""
    return [
        Fold(np.flatnonzero(fold_of != i), np.flatnonzero(fold_of == i)) for i in range(n_folds)
    ]


def check_nfold(n_folds: Any) -> None:
    """Refuse what is not a number of folds.

    Raises:
        ParameterError: If it is not a whole number, or less than 2.
    """
    is_integer = isinstance(n_folds, Integral) and not isinstance(n_folds, bool)
    if not is_integer or n_folds < 2:
        raise ParameterError.because(
            "nfold cannot be used",
            got=n_folds,
            expected="an integer >= 2",
            hint="A single split can be given as folds=[(train, test)].",
        )


def _check_count(n_folds: Any, n_things: int, things: str) -> None:
    check_nfold(n_folds)
    if n_folds > n_things:
        raise ParameterError.because(
            f"there are not enough {things} for nfold={n_folds}", got=n_things
        )


def _random(seed: Any) -> np.random.RandomState:
    """NumPy's old generator: its numbers never change, and LightGBM's folds come from it."""
    is_integer = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not is_integer or not 0 <= seed < 2**32:
        raise ParameterError.because(
            "seed cannot be used", got=seed, expected="an integer from 0 to 4294967295"
        )
    return np.random.RandomState(int(seed))
