"""Queries and positions of a data set."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gossamer import DataError, Dataset
from gossamer.data.dataset import built_data

TABLE = np.arange(20.0).reshape(10, 2)
LABEL = np.arange(10) % 3
GROUP = [3, 2, 5]
QUERY = ["a"] * 3 + ["c"] * 2 + ["b"] * 5


class TestGroup:
    """Sizes, ids, and what they become."""

    def test_sizes_and_ids_are_the_same(self) -> None:
        for data in (
            Dataset(TABLE, LABEL, group=GROUP),
            Dataset(TABLE, LABEL, query=QUERY),
            Dataset(TABLE, LABEL).set_group(np.array(GROUP, dtype=np.float64)),
            Dataset(TABLE, LABEL).set_query(np.repeat([7, -1, 3], GROUP)),
            Dataset(TABLE, LABEL).construct().set_query(QUERY),
            Dataset(TABLE, LABEL).construct().set_field("query", QUERY),
            Dataset(TABLE, LABEL, group=[10]).construct().set_group(GROUP),
            Dataset(TABLE, LABEL, query=[0] * 10).set_group(GROUP),
        ):
            data.construct()
            np.testing.assert_array_equal(data.get_group(), GROUP)
            np.testing.assert_array_equal(data.get_field("group"), [0, 3, 5, 10])
            np.testing.assert_array_equal(built_data(data).targets.queries, [0, 3, 5, 10])
            assert built_data(data).targets.queries.dtype == np.int64

    def test_none(self) -> None:
        data = Dataset(TABLE, LABEL, group=GROUP).construct()
        assert data.set_group(None).get_group() is None
        assert built_data(data).targets.queries is None
        assert data.get_field("group") is None

    def test_ids_before_construction(self) -> None:
        np.testing.assert_array_equal(Dataset(TABLE, query=QUERY).get_group(), GROUP)

    def test_series(self) -> None:
        pandas = pytest.importorskip("pandas")
        for name, values in (("group", GROUP), ("query", QUERY)):
            data = Dataset(TABLE, LABEL, **{name: pandas.Series(values)})
            np.testing.assert_array_equal(data.construct().get_group(), GROUP)
        frame = pandas.DataFrame({"group": GROUP})
        np.testing.assert_array_equal(Dataset(TABLE, group=frame).construct().get_group(), GROUP)

    @pytest.mark.parametrize(
        ("group", "match"),
        [
            ([3, 2, 4], "do not add up to the rows of the data: got 9, expected 10"),
            ([3, 0, 7], "size of query 1 in group cannot be used: got 0"),
            ([3, -1, 8], "size of query 1 in group cannot be used: got -1"),
            ([3.5, 6.5], "size of query 0 in group cannot be used: got 3.5"),
            ([np.nan, 10], "size of query 0 .* got nan"),
            ([], "group cannot be used"),
            ([[3, 7], [1, 2]], "group has shape"),
            (["a", "b"], "group cannot be used.* as query"),
            (np.repeat([5, 6], 5), "do not add up.* ids of queries, one per row, pass them as q"),
            (
                np.repeat([0, 1], 5),
                "size of query 0 .* ids of queries, one per row, pass th",
            ),
            ([2**63, 2**63, 10], "do not add up"),
        ],
        ids=str,
    )
    def test_bad_sizes(self, group: Any, match: str) -> None:
        with pytest.raises(DataError, match=match):
            Dataset(TABLE, LABEL, group=group).construct()
        with pytest.raises(DataError, match=match):
            Dataset(TABLE, LABEL).construct().set_group(group)

    @pytest.mark.parametrize(
        ("query", "match"),
        [
            ([0] * 9, "query and data differ in length: got 9, expected 10.* as group"),
            ([0, 1] * 5, "rows of query 0 are not next to each other: .*from 0 and again from 2"),
            ([0.0] * 9 + [np.nan], "query of row 9 is missing"),
            ([None] + ["a"] * 9, "query of row 0 is missing"),
        ],
        ids=str,
    )
    def test_bad_ids(self, query: Any, match: str) -> None:
        with pytest.raises(DataError, match=match):
            Dataset(TABLE, LABEL, query=query).construct()

    def test_both(self) -> None:
        with pytest.raises(DataError, match="queries are given twice"):
            Dataset(TABLE, LABEL, group=GROUP, query=QUERY).construct()


class TestPosition:
    """Where rows were shown."""

    def test_numbers_and_names(self) -> None:
        targets = built_data(Dataset(TABLE, LABEL, position=[9, 1, 4, 1, 9, 4, 4, 1, 1, 9])).targets
        np.testing.assert_array_equal(targets.position, [2, 0, 1, 0, 2, 1, 1, 0, 0, 2])
        assert targets.positions == (1, 4, 9)
        data = Dataset(TABLE, LABEL).set_position(["top"] * 5 + ["side"] * 5)
        assert built_data(data).targets.positions == ("side", "top")
        assert list(data.get_position())[:1] == ["top"]
        assert built_data(data.set_position(None)).targets.position is None

    def test_bad_ones(self) -> None:
        with pytest.raises(DataError, match="position and data differ in length: got 9"):
            Dataset(TABLE, LABEL, position=range(9)).construct()
        with pytest.raises(DataError, match="position of row 2 is missing"):
            Dataset(TABLE, LABEL).construct().set_position([0, 0, np.nan] + [1] * 7)

    @pytest.mark.parametrize(
        ("position", "words"),
        [
            (pd.array([True, None] * 5, dtype="boolean"), "position of row 1 is missing"),
            ([Decimal(1), Decimal("sNaN")] * 5, "position of row 1 is missing"),
            (pa.array([[1.0, 2.0]] * 10), "position is not made of numbers or names"),
            (np.zeros(10, "V4"), "position is not made of numbers or names"),
            (pl.Series([2**100] * 10, dtype=pl.Int128), "position cannot be made an array"),
        ],
    )
    def test_odd_kinds(self, position: Any, words: str) -> None:
        with pytest.raises(DataError, match=words):
            Dataset(TABLE, LABEL, position=position).construct()


@pytest.mark.parametrize(
    "query",
    [
        pa.array([[1.0, 2.0]] * 10),
        pa.array([[1.0], [1.0, 2.0]] * 5),
        np.array([None, *[([1],)] * 10], dtype=object)[1:],
    ],
)
def test_ids_that_cannot_be_compared(query: Any) -> None:
    with pytest.raises(DataError, match="query cannot be used"):
        Dataset(TABLE, LABEL, query=query).construct()


class TestRelatedData:
    """Validation data, subsets, files."""

    def test_create_valid(self) -> None:
        train = Dataset(TABLE, LABEL, group=GROUP)
        valid = train.create_valid(TABLE, LABEL, group=[10], position=range(10))
        np.testing.assert_array_equal(valid.construct().get_group(), [10])
        np.testing.assert_array_equal(valid.get_position(), range(10))
        valid = train.create_valid(TABLE, LABEL, query=QUERY).construct()
        np.testing.assert_array_equal(valid.get_group(), GROUP)

    def test_subset_of_whole_queries(self) -> None:
        data = Dataset(TABLE, LABEL, query=QUERY, position=range(10))
        subset = data.subset([9, 8, 7, 6, 5, 0, 1, 2]).construct()
        np.testing.assert_array_equal(subset.get_group(), [3, 5])
        np.testing.assert_array_equal(subset.get_position(), [0, 1, 2, 5, 6, 7, 8, 9])

    def test_subset_that_cuts_a_query(self) -> None:
        data = Dataset(TABLE, LABEL, group=GROUP)
        with pytest.warns(UserWarning, match="the first of which is query 1: 1 of its 2 rows"):
            subset = data.subset([0, 1, 2, 4]).construct()
        np.testing.assert_array_equal(subset.get_group(), [3, 1])

    @pytest.mark.parametrize("position", [None, list("aabbccddee"), range(10)], ids=str)
    def test_file(self, tmp_path: Path, position: Any) -> None:
        path = tmp_path / "rows.bin"
        Dataset(TABLE, LABEL, group=GROUP, position=position).save_binary(path)
        again = Dataset(path).construct()
        np.testing.assert_array_equal(again.get_group(), GROUP)
        if position is None:
            assert again.get_position() is None
        else:
            np.testing.assert_array_equal(again.get_position(), list(position))
        np.testing.assert_array_equal(Dataset(path, query=[1] * 10).construct().get_group(), [10])
