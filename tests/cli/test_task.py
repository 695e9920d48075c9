from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import DataError, ParameterError
from gossamer.cli.split import split_rows
from gossamer.cli.task import Task, find_task

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("values", "name", "classes"),
    [
        (np.array(["b", "a"] * 9, dtype=object), "binary", ("a", "b")),
        (np.array(["b", "a", "c"] * 9, dtype=object), "multiclass", ("a", "b", "c")),
        (np.array([0, 1] * 9), "binary", (0, 1)),
        (np.array([-1.0, 1.0] * 9), "binary", (-1, 1)),
        (np.array([0.5, 1.5] * 9), "binary", (0.5, 1.5)),
        (np.array([True, False] * 9), "binary", (False, True)),
        (np.array([True, False] * 9, dtype=object), "binary", (False, True)),
        (np.array([3, 5, 9] * 9), "multiclass", (3, 5, 9)),
        (np.array([3.0, 5.0, 9.0] * 9), "multiclass", (3, 5, 9)),
        (np.array([3.5, 5.0, 9.0] * 9), "regression", None),
        (np.arange(21).repeat(9), "regression", None),
        (np.arange(20).repeat(9), "multiclass", tuple(range(20))),
        (np.array([1, 2, 3, 4, 5]), "regression", None),
        (RNG.normal(size=50), "regression", None),
    ],
)
def test_guess(values: Any, name: str, classes: Any) -> None:
    task = find_task(values, "the target")
    assert task.name == name and task.classes == classes
    encoded = task.encode(values, "the target")
    if classes is None:
        np.testing.assert_array_equal(encoded, values)
    else:
        assert [classes[int(code)] for code in encoded] == [
            value.item() if hasattr(value, "item") else value for value in values
        ]


def test_plain_numbers_need_no_names() -> None:
    assert find_task(np.array([0, 1, 2] * 9), "y").named_classes is None
    assert find_task(np.array([1, 2, 3] * 9), "y").named_classes == (1, 2, 3)
    assert find_task(np.array([True, False] * 9), "y").named_classes == (False, True)


def test_number_of_classes_that_is_given() -> None:
    values = np.array([0, 1, 3] * 9)
    task = find_task(values, "y", objective="multiclass", num_class=5)
    assert task.classes == (0, 1, 2, 3, 4)
    np.testing.assert_array_equal(task.encode(values, "y"), values)
    assert find_task(values, "y", objective="multiclass").classes == (0, 1, 3)


def test_the_same_class_in_other_types() -> None:
    task = Task("binary", "", (1, 2))
    for values in (np.array([1, 2]), np.array([1.0, 2.0]), np.array(["1", "2"], dtype=object)):
        assert task.encode(values, "y").tolist() == [0, 1]


@pytest.mark.parametrize("objective", ["cross_entropy", "poisson", "l1", "quantile", "tweedie"])
def test_objectives_of_numbers(objective: str) -> None:
    assert find_task(np.array([0, 1] * 9), "y", objective=objective).name == "regression"


def test_wrong_targets() -> None:
    with pytest.raises(DataError, match="dates or times"):
        find_task(np.array(["2020-01-01"], dtype="datetime64[s]"), "y")
    with pytest.raises(DataError, match="missing or infinite in 1 of 3 rows"):
        find_task(np.array([1, np.inf, 2]), "y")
    with pytest.raises(ParameterError, match="do not fit"):
        find_task(np.array([1, 2]), "y", "binary", "l2")
    with pytest.raises(DataError, match="nothing to learn"):
        find_task(np.array(["a", "a"], dtype=object), "y", "multiclass")


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("n_rows", [40, 1000])
def test_split(share: float, n_rows: int) -> None:
    classes = RNG.integers(0, 4, n_rows)
    for options in ({}, {"classes": classes}, {"is_last": True}):
        train, valid = split_rows(n_rows, share, seed=3, **options)  # type: ignore[arg-type]
        assert sorted([*train, *valid]) == list(range(n_rows))
        assert abs(len(valid) - share * n_rows) <= 2
    valid = split_rows(n_rows, share, classes=classes)[1]
    expected = np.bincount(classes) * share
    np.testing.assert_allclose(np.bincount(classes[valid]), expected, atol=0.5)
    assert split_rows(n_rows, share, is_last=True)[1].min() == n_rows - round(share * n_rows)


def test_split_of_queries() -> None:
    sizes = RNG.integers(1, 9, 50)
    query = np.repeat(np.arange(50), sizes)
    for is_last in (False, True):
        train, valid = split_rows(len(query), 0.2, query_sizes=sizes, is_last=is_last)
        assert set(query[train]) & set(query[valid]) == set()
        assert 0.2 <= len(valid) / len(query) < 0.25
    assert query[valid].min() > query[train].max(), "the last ones"


def test_split_of_too_few() -> None:
    for share, n_rows in ((0.01, 10), (0.99, 10)):
        with pytest.raises(DataError, match="too few"):
            split_rows(n_rows, share)
