"""The user's table as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer.data.table.matrix import as_table
from gossamer.errors import DataError

NUMBERS = np.arange(12).reshape(4, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_used_as_they_are(dtype: str, order: Any) -> None:
    array = np.array(NUMBERS, dtype=dtype, order=order)
    assert as_table(array).values is array


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[:, ::2], np.s_[::-1], np.s_[1:3, 1:]], ids=str)
def test_parts_of_arrays_are_not_copied(part: Any) -> None:
    array = NUMBERS.astype(np.float32)[part]
    table = as_table(array)
    assert np.shares_memory(table.values, array)
    np.testing.assert_array_equal(table.values, array)


def test_truth_values_are_read_as_bytes() -> None:
    array = NUMBERS > 5
    table = as_table(array)
    assert table.values.dtype == np.uint8
    assert np.shares_memory(table.values, array)
    assert as_table(array[:, ::2]).values.tolist() == array[:, ::2].tolist()


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [("f2", "f4"), (np.longdouble, "f8"), (">f8", "f8"), (">i4", "i4"), (">f4", "f4")],
)
def test_what_the_core_cannot_read_is_converted(dtype: Any, becomes: str) -> None:
    table = as_table(NUMBERS.astype(dtype))
    assert table.values.dtype == np.dtype(becomes)
    assert table.values.dtype.isnative
    np.testing.assert_array_equal(table.values, NUMBERS)


def test_odd_strides_and_alignment_are_converted() -> None:
    records = np.zeros(4, dtype=[("flag", "u1"), ("value", "f8")])
    records["value"] = [1, 2, 3, 4]
    column = records["value"].reshape(-1, 1)
    assert column.strides[0] == 9
    table = as_table(column)
    assert table.values.flags.aligned
    assert table.values.strides[0] % 8 == 0
    assert table.values.ravel().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(("dtype", "becomes"), [("f4", "f4"), ("f8", "f8"), ("i4", "f8")])
def test_masked_values_are_missing(dtype: str, becomes: str) -> None:
    table = as_table(np.ma.masked_greater(NUMBERS.astype(dtype), 9))
    assert type(table.values) is np.ndarray
    assert table.values.dtype == np.dtype(becomes)
    np.testing.assert_array_equal(table.values, np.where(NUMBERS > 9, np.nan, NUMBERS))


def test_matrices_are_plain_arrays() -> None:
    matrix = NUMBERS.view(np.matrix)
    table = as_table(matrix)
    assert type(table.values) is np.ndarray
    assert np.shares_memory(table.values, matrix)


def test_lists_of_rows() -> None:
    table = as_table([[1, 2.5], [3, 4]])
    assert table.names is None
    assert table.values.tolist() == [[1, 2.5], [3, 4]]
    assert (table.n_rows, table.n_columns) == (2, 2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.float64(3.0), r"shape \(\), expected 2 dimensions"),
        (np.zeros(3), r"shape \(3,\), expected 2 dimensions.*reshape"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\), expected 2 dimensions"),
        (np.zeros((2, 2), dtype=complex), "must be numeric: got 'complex128'"),
        (np.array([[b"a", b"b"]]), "must be numeric: got '|S1'.*Encode"),
        (np.zeros((2, 2), dtype=[("a", "f8")]), "column 'a' is not one value for each row"),
        ([[1, 2], [3]], "cannot be made an array"),
        ([["a", {}]], "column 1 holds values that are neither numbers nor text: got 'dict'"),
        (None, "expected 2 dimensions"),
        ("file.csv", "expected 2 dimensions"),
    ],
)
def test_what_is_no_numeric_table_is_refused(data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_table(data)


class TestFrames:
    """Data frames with numeric columns."""

    pandas = pytest.importorskip("pandas")

    def test_one_type_is_not_copied(self) -> None:
        array = NUMBERS.astype(np.float32)
        frame = self.pandas.DataFrame(array, columns=["a", "b", "c"], copy=False)
        table = as_table(frame)
        assert table.names == ["a", "b", "c"]
        assert np.shares_memory(table.values, array)

    def test_mixed_numeric_types(self) -> None:
        frame = self.pandas.DataFrame({"a": [1, 2], "b": [0.5, np.nan], 3: [True, False]})
        table = as_table(frame)
        assert table.names == ["a", "b", "3"]
        np.testing.assert_array_equal(table.values, [[1, 0.5, 1], [2, np.nan, 0]])

    def test_nullable_types(self) -> None:
        frame = self.pandas.DataFrame({"a": [1, None], "b": [True, None], "c": [1.5, 2.5]})
        frame = frame.astype({"a": "Int64", "b": "boolean"})
        table = as_table(frame)
        np.testing.assert_array_equal(table.values, [[1, 1, 1.5], [np.nan, np.nan, 2.5]])

    @pytest.mark.parametrize("dtype", ["complex128", "interval"])
    def test_other_columns_are_refused_by_name(self, dtype: str) -> None:
        bad: Any = self.pandas.interval_range(0, 2)
        frame = self.pandas.DataFrame({"fine": [1, 2], "bad one": bad})
        if dtype == "complex128":
            frame["bad one"] = [1j, 2j]
        with pytest.raises(DataError, match=r"column 'bad one'.*not numeric.*Split the column"):
            as_table(frame)

    def test_a_frame_without_columns(self) -> None:
        assert as_table(self.pandas.DataFrame(index=[1, 2, 3])).values.shape == (3, 0)
