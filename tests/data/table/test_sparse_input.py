"""scipy's sparse matrices as the native core reads them."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from gossamer import _native
from gossamer.data.table.matrix import Table, as_table, check_not_empty
from gossamer.data.table.sparse import by_row, read_sparse
from gossamer.errors import DataError

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
COMPRESSED = ["csr", "csc"]
NUMBERS = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 5, 0], [6, 7, 8, 9], [0] * 4])


def make(kind: str, values: Any = NUMBERS, **arguments: Any) -> Any:
    """A matrix ("csr_matrix") or an array ("csr_array"); a format alone means an array."""
    name = kind if "_" in kind else f"{kind}_array"
    return getattr(sparse, name)(values, **arguments)


def read(data: Any) -> _native.SparseMatrix:
    table = as_table(data)
    assert isinstance(table.values, _native.SparseMatrix)
    assert table.names is None
    assert (table.n_rows, table.n_columns) == data.shape
    assert table.values.is_canonical
    return table.values


def to_dense(matrix: _native.SparseMatrix) -> Any:
    """Entry by entry, so that nothing of scipy's is trusted."""
    dense = np.zeros((matrix.n_rows, matrix.n_columns), dtype=matrix.values.dtype)
    for s in range(matrix.n_rows if matrix.by_row else matrix.n_columns):
        for e in range(matrix.begin[s], matrix.begin[s + 1]):
            where = (s, matrix.indices[e])
            dense[where if matrix.by_row else where[::-1]] += matrix.values[e]
    return dense


class TestFormats:
    """Every format is read; compressed rows and columns are not copied."""

    @pytest.mark.parametrize("kind", ["matrix", "array"])
    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
    def test_all(self, form: str, kind: str, dtype: Any) -> None:
        values = NUMBERS.astype(dtype)
        matrix = read(make(f"{form}_{kind}", values))
        np.testing.assert_array_equal(to_dense(matrix), values)
        assert matrix.by_row == (form != "csc")
        assert matrix.n_entries == 9

    @pytest.mark.parametrize("form", COMPRESSED)
    @pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_compressed_ones_are_used_as_they_are(self, form: str, dtype: str, index: Any) -> None:
        data = make(form, NUMBERS.astype(dtype))
        data.indices, data.indptr = data.indices.astype(index), data.indptr.astype(index)
        matrix = read(data)
        assert matrix.values is data.data
        assert matrix.indices is data.indices
        assert not np.shares_memory(matrix.begin, data.indptr)  # what the core trusts is its own
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)

    @pytest.mark.parametrize("types", [(np.int32, np.int64), (np.int64, np.int32)])
    def test_indices_and_pointers_of_different_types(self, types: tuple[Any, Any]) -> None:
        data = make("csr", NUMBERS)
        data.indices, data.indptr = data.indices.astype(types[0]), data.indptr.astype(types[1])
        matrix = read(data)
        assert matrix.indices is data.indices
        assert matrix.begin.dtype == types[0]
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)

    def test_truth_values_are_read_as_bytes(self) -> None:
        data = make("csr", NUMBERS > 2)
        matrix = read(data)
        assert matrix.values.dtype == np.uint8
        assert np.shares_memory(matrix.values, data.data)

    @pytest.mark.parametrize(
        ("dtype", "becomes"),
        [("f2", "f4"), (np.longdouble, "f8"), (">f8", "f8"), (">i4", "i4")],
    )
    @pytest.mark.parametrize("form", COMPRESSED)
    def test_other_types_of_values(self, form: str, dtype: Any, becomes: str) -> None:
        data = make(form, NUMBERS.astype(np.float64))
        data.data = data.data.astype(dtype)  # scipy itself refuses to make such matrices
        matrix = read(data)
        assert matrix.values.dtype == np.dtype(becomes)
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)

    @pytest.mark.parametrize("dtype", ["i1", "i2", "u1", "u4", "u8", ">i4", ">i8"])
    def test_other_types_of_indices(self, dtype: str) -> None:
        data = make("csr")
        data.indices, data.indptr = data.indices.astype(dtype), data.indptr.astype(dtype)
        matrix = read(data)
        assert matrix.indices.dtype == np.int64
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)

    def test_arrays_with_gaps_are_copied(self) -> None:
        data = make("csr")
        for name in ("data", "indices", "indptr"):
            setattr(data, name, np.repeat(getattr(data, name), 2)[::2])
        np.testing.assert_array_equal(to_dense(read(data)), NUMBERS)

    def test_unaligned_arrays_are_copied(self) -> None:
        data = make("csr", NUMBERS.astype(np.float64))
        for name in ("data", "indices", "indptr"):
            array = getattr(data, name)
            shifted = np.frombuffer(b"x" + array.tobytes(), dtype=np.uint8)[1:]
            setattr(data, name, shifted.view(array.dtype))
        np.testing.assert_array_equal(to_dense(read(data)), NUMBERS)

    def test_unused_room_behind_the_entries(self) -> None:
        data = make("csr")
        data.data = np.append(data.data, [77, 88])
        data.indices = np.append(data.indices, [2, -5]).astype(np.int32)
        matrix = read(data)
        assert matrix.n_entries == 9
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
    @pytest.mark.parametrize("form", FORMATS)
    def test_nothing_in_it(self, form: str, shape: tuple[int, int]) -> None:
        if form == "bsr" and 0 in shape:
            data: Any = sparse.bsr_array(shape, blocksize=(1, 1))
        else:
            data = make(form, shape)
        assert read(data).n_entries == 0
        with pytest.raises(DataError, match=r"data has no (rows|columns): got shape \(\d, \d\)"):
            table = as_table(data)
            check_not_empty(table.n_rows, table.n_columns)

    def test_many_columns_few_entries(self) -> None:
        data = sparse.coo_array(([1.5], ([7], [999_999_999])), shape=(10, 2**31 - 1))
        matrix = read(data)
        assert (matrix.n_columns, matrix.n_entries) == (2**31 - 1, 1)
        with pytest.raises(DataError, match="cannot be read: too many columns"):
            as_table(sparse.csr_array((2, 2**31)))


class TestMeaning:
    """What an entry means."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_missing_values_stay(self, form: str) -> None:
        values = np.where(NUMBERS == 5, np.nan, NUMBERS)
        np.testing.assert_array_equal(to_dense(read(make(form, values))), values)

    @pytest.mark.parametrize("form", COMPRESSED)
    def test_explicit_zeros_are_zeros(self, form: str) -> None:
        data = make(form)
        data.data[[0, 3]] = 0
        matrix = read(data)
        assert matrix.values is data.data
        np.testing.assert_array_equal(to_dense(matrix), data.toarray())

    @pytest.mark.parametrize("form", COMPRESSED)
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_unsorted_indices(self, form: str, index: Any) -> None:
        data = make(form, NUMBERS.astype(np.float32))
        for s in range(len(data.indptr) - 1):
            part = slice(data.indptr[s], data.indptr[s + 1])
            data.indices[part], data.data[part] = data.indices[part][::-1], data.data[part][::-1]
        data.indices = data.indices.astype(index)
        before = copy.deepcopy(data)
        matrix = read(data)
        np.testing.assert_array_equal(to_dense(matrix), NUMBERS)
        assert not np.shares_memory(matrix.values, data.data)
        assert_same_parts(data, before)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    @pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u8", np.longdouble])
    def test_duplicates_add_up(self, form: str, dtype: Any) -> None:
        data = with_duplicates(form, dtype)
        before = copy.deepcopy(data)
        matrix = read(data)
        np.testing.assert_array_equal(to_dense(matrix), [[0, 6, 4], [5, 0, 0]])
        assert matrix.n_entries == 3
        assert_same_parts(data, before)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_twice_true_is_true(self, form: str) -> None:
        np.testing.assert_array_equal(
            to_dense(read(with_duplicates(form, bool))), [[0, 1, 1], [1, 0, 0]]
        )

    def test_half_precision_duplicates(self) -> None:
        data = with_duplicates("csr", np.float32)
        data.data = data.data.astype(np.float16)
        np.testing.assert_array_equal(to_dense(read(data)), [[0, 6, 4], [5, 0, 0]])

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_a_wrong_flag_is_not_believed(self, form: str) -> None:
        data = with_duplicates(form, np.float64)
        data.has_canonical_format = True
        np.testing.assert_array_equal(to_dense(read(data)), [[0, 6, 4], [5, 0, 0]])

    @pytest.mark.parametrize("form", FORMATS)
    def test_read_only_arrays(self, form: str) -> None:
        data = make(form, NUMBERS.astype(np.float64))
        freeze(data)
        np.testing.assert_array_equal(to_dense(read(data)), NUMBERS)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo"])
    def test_read_only_arrays_with_duplicates(self, form: str) -> None:
        data = with_duplicates(form, np.float64)
        freeze(data)
        np.testing.assert_array_equal(to_dense(read(data)), [[0, 6, 4], [5, 0, 0]])


class TestByRow:
    """Compressed columns become rows."""

    def test_rows_are_rows_already(self) -> None:
        matrix = read(make("csr"))
        assert by_row(matrix) is matrix

    @pytest.mark.parametrize("dtype", [np.float32, np.uint16, bool, np.longdouble])
    def test_columns(self, dtype: Any) -> None:
        values = NUMBERS.astype(dtype)
        matrix = by_row(read(make("csc", values)))
        assert matrix.by_row and matrix.is_canonical
        np.testing.assert_array_equal(to_dense(matrix), values)


class TestTable:
    """What a table can do with a sparse matrix."""

    @pytest.mark.parametrize("form", COMPRESSED)
    def test_matrix_looks_at_the_same_values(self, form: str) -> None:
        data = make(form)
        again = as_table(data).matrix
        assert again.format == form
        assert np.shares_memory(again.data, data.data)
        np.testing.assert_array_equal(again[[1, 4]].toarray(), NUMBERS[[1, 4]])

    @pytest.mark.parametrize("form", COMPRESSED)
    def test_columns_in_another_order(self, form: str) -> None:
        table = as_table(make(form)).take_columns([3, 0, 1, 2], list("dabc"))
        assert table.names == list("dabc")
        np.testing.assert_array_equal(table.matrix.toarray(), NUMBERS[:, [3, 0, 1, 2]])

    def test_of_an_array(self) -> None:
        table = Table(NUMBERS, list("abcd")).take_columns([1, 0, 2, 3], list("bacd"))
        assert table.names == list("bacd")
        np.testing.assert_array_equal(table.values, NUMBERS[:, [1, 0, 2, 3]])


class TestBroken:
    """Arrays that were changed after scipy had looked at them; nothing must follow them."""

    @pytest.mark.parametrize("form", COMPRESSED)
    @pytest.mark.parametrize(
        ("part", "at", "value", "words"),
        [
            ("indices", 0, -1, r"row 0 .*outside its shape: got -1, expected a column from 0 to 3"),
            ("indices", 4, 4, r"row 3 .*outside its shape: got 4, expected a column from 0 to 3"),
            ("indices", 8, 2**31 - 1, "row 4 .*got 2147483647"),
            ("indptr", 0, 1, "indptr does not start at 0"),
            ("indptr", 0, -1, "indptr does not start at 0"),
            ("indptr", 2, 7, "indptr decreases"),
            ("indptr", 2, -7, "indptr decreases"),
            ("indptr", -1, 10, "indptr ends beyond the entries"),
            ("indptr", -1, 2**31 - 1, "indptr ends beyond the entries"),
        ],
    )
    def test_one_number(self, form: str, part: str, at: int, value: int, words: str) -> None:
        data = make(form, NUMBERS if form == "csr" else NUMBERS.T)
        if form == "csc":
            words = words.replace("row", "ROW").replace("column", "row").replace("ROW", "column")
        getattr(data, part)[at] = value
        with pytest.raises(DataError, match=words):
            as_table(data)

    @pytest.mark.parametrize("form", COMPRESSED)
    @pytest.mark.parametrize(
        ("part", "change", "words"),
        [
            ("indptr", lambda a: a[:-1], r"indptr has length \d, expected \d"),
            ("indptr", lambda a: np.append(a, a[-1]), r"indptr has length \d, expected \d"),
            ("indptr", lambda a: a[:0], r"indptr has length 0, expected \d"),
            ("indices", lambda a: a[:-1], "indices has length 8, expected 9"),
            ("data", lambda a: a[:-1], "indices has length 9, expected 8"),
            ("data", lambda a: a[:0], "indices has length 9, expected 0"),
            ("data", lambda a: a.reshape(3, 3), "data has 2 dimensions, expected 1"),
            ("indices", lambda a: a.reshape(3, 3), "indices has 2 dimensions, expected 1"),
            ("indptr", lambda a: a[0], "indptr has 0 dimensions, expected 1"),
            ("indices", lambda a: a.astype(float), "indices has type float64, expected integers"),
            ("indptr", lambda a: a.astype(float), "indptr has type float64, expected integers"),
            ("indptr", lambda a: None, "indptr has 0 dimensions"),
            ("indices", lambda a: a.astype(np.uint64) + 2**63, "outside its shape"),
        ],
    )
    def test_whole_arrays(self, form: str, part: str, change: Any, words: str) -> None:
        data = make(form)
        setattr(data, part, change(getattr(data, part)))
        with pytest.raises(DataError, match=words):
            as_table(data)

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            (2**32 + 2, "indptr decreases"),  # 2, with 32 bits
            (2 - 2**32, "indptr decreases"),
        ],
    )
    def test_pointers_beyond_32_bits(self, value: int, words: str) -> None:
        data = make("csr")
        data.indices, data.indptr = data.indices.astype(np.int32), data.indptr.astype(np.int64)
        data.indptr[2] = value
        with pytest.raises(DataError, match=words):
            as_table(data)

    def test_no_index_fits(self) -> None:
        data = sparse.csr_array((2, 0))
        data.data, data.indices = np.ones(1), np.zeros(1, dtype=np.int32)
        data.indptr = np.array([0, 1, 1], dtype=np.int32)
        with pytest.raises(DataError, match="got 0, expected no column at all"):
            as_table(data)

    @pytest.mark.parametrize(("part", "limit"), [("row", 6), ("col", 4)])
    @pytest.mark.parametrize("value", [-1, 1_000_000])
    def test_coordinates(self, part: str, limit: int, value: int) -> None:
        data = make("coo")
        getattr(data, part)[3] = value
        words = (
            f"{part} of .*outside its shape: got {value}, expected numbers from 0 to {limit - 1}"
        )
        with pytest.raises(DataError, match=words):
            as_table(data)

    def test_coordinates_of_another_length(self) -> None:
        data = make("coo")
        data.data = data.data[:-1]
        with pytest.raises(DataError, match="row has length 9, expected 8"):
            as_table(data)

    @pytest.mark.parametrize(
        ("part", "change"),
        [
            ("indices", lambda a: a + 100),
            ("indices", lambda a: a - 100),
            ("indices", lambda a: a[:-1]),
            ("indptr", lambda a: a * 1000),
            ("indptr", lambda a: a[::-1].copy()),
            ("indptr", lambda a: a[:-1]),
            ("data", lambda a: a[:-1]),
            ("data", lambda a: a.reshape(-1)),
            ("data", lambda a: np.repeat(a, 4, axis=2)),
        ],
    )
    def test_blocks(self, part: str, change: Any) -> None:
        data = make("bsr", blocksize=(2, 2))
        setattr(data, part, change(getattr(data, part)))
        with pytest.raises(DataError, match="sparse matrix"):
            as_table(data)

    def test_diagonals(self) -> None:
        for part, value in (("offsets", np.arange(1000)), ("data", np.zeros((1, 4)))):
            data = make("dia")
            setattr(data, part, value)
            with pytest.raises(DataError, match="offsets has length"):
                as_table(data)
        data = make("dia")
        data.data = data.data.reshape(*data.data.shape, 1)
        with pytest.raises(DataError, match="data has 3 dimensions"):
            as_table(data)

    @pytest.mark.parametrize(
        ("part", "value", "words"),
        [
            ("rows", [1], "row 0 has 1 columns, but 2 values"),
            ("data", [1.0] * 5, "row 0 has 2 columns, but 5 values"),
            ("rows", None, "cannot be read"),
            ("rows", [-1, 2], "outside its shape: got -1"),
            ("rows", [1, 77], "outside its shape: got 77"),
        ],
    )
    def test_lists(self, part: str, value: Any, words: str) -> None:
        data = make("lil")
        getattr(data, part)[0] = value
        with pytest.raises(DataError, match=words):
            as_table(data)

    def test_lists_for_other_rows(self) -> None:
        data = make("lil")
        data.rows = data.rows[:3]
        with pytest.raises(DataError, match="rows is not one list per row"):
            as_table(data)


class TestRefused:
    """What is not a table of numbers."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_complex_numbers(self, form: str) -> None:
        with pytest.raises(DataError, match="data must be numeric: got 'complex128'"):
            as_table(make(form, NUMBERS * 1j))

    @pytest.mark.parametrize("form", COMPRESSED)
    def test_objects(self, form: str) -> None:
        data = make(form)
        data.data = data.data.astype(object)
        with pytest.raises(DataError, match=r"must be numeric: got 'object'.*astype"):
            as_table(data)

    @pytest.mark.parametrize("form", ["coo", "csr", "dok"])
    def test_one_dimension(self, form: str) -> None:
        try:
            data = make(form, np.array([0, 1, 0, 2]))
        except ValueError:
            pytest.skip("this scipy has no such arrays of one dimension")
        if len(data.shape) == 2:
            pytest.skip("this scipy has no such arrays of one dimension")
        with pytest.raises(DataError, match=r"shape \(4,\), expected 2 dimensions.*reshape"):
            as_table(data)


class TestFrames:
    """pandas' sparse columns."""

    pandas = pytest.importorskip("pandas")

    def frame(self, *types: str, fill: Any = 0) -> Any:
        """A column of each type; the names are the types."""
        columns = {
            f"{i} {name}": self.pandas.arrays.SparseArray(
                NUMBERS[:, i].astype(name), fill_value=np.dtype(name).type(fill)
            )
            for i, name in enumerate(types)
        }
        return self.pandas.DataFrame(columns)

    @pytest.mark.parametrize(
        ("types", "becomes"),
        [
            (["float64"] * 4, "f8"),
            (["float32"] * 4, "f4"),
            (["int8", "int16"], "i2"),
            (["bool", "bool", "bool"], "u1"),
            (["bool", "float32", "int8"], "f4"),
            (["float16", "float16"], "f4"),
        ],
        ids=str,
    )
    def test_zeros_left_out_stay_out(self, types: list[str], becomes: str) -> None:
        frame = self.frame(*types)
        table = as_table(frame)
        assert table.names == list(frame.columns)
        assert isinstance(table.values, _native.SparseMatrix)
        assert table.values.values.dtype == np.dtype(becomes)
        expected = np.column_stack([NUMBERS[:, i].astype(t) for i, t in enumerate(types)])
        np.testing.assert_array_equal(table.matrix.toarray(), expected)
        assert table.values.n_entries == np.count_nonzero(expected)

    def test_missing_values(self) -> None:
        values = self.pandas.arrays.SparseArray([0.0, np.nan, 2.0], fill_value=0.0)
        table = as_table(self.pandas.DataFrame({"a": values, "b": values}))
        np.testing.assert_array_equal(table.matrix.toarray()[:, 1], [0, np.nan, 2])

    def test_anything_else_left_out_is_read_dense(self) -> None:
        ones = as_table(self.frame("int64", "int64", fill=1))
        np.testing.assert_array_equal(ones.values, NUMBERS[:, :2])
        gaps = self.pandas.DataFrame({"a": self.pandas.arrays.SparseArray([np.nan, 1.0, 0.0])})
        np.testing.assert_array_equal(as_table(gaps).values, [[np.nan], [1], [0]])
        mixed = self.frame("float64", "float64").assign(dense=np.arange(6))
        np.testing.assert_array_equal(
            as_table(mixed).values, np.column_stack([NUMBERS[:, :2], np.arange(6)])
        )

    def test_text_beside_sparse_columns(self) -> None:
        frame = self.frame("float64").assign(text=self.pandas.array(["a"] * 6))
        table = as_table(frame)
        np.testing.assert_array_equal(table.values, np.column_stack([NUMBERS[:, 0], np.zeros(6)]))
        assert table.levels is not None and table.levels.columns == [1]

    def test_no_rows(self) -> None:
        table = as_table(self.frame("float64", "float32")[:0])
        assert (table.n_rows, table.n_columns) == (0, 2)


def test_asking_does_not_import_scipy_sparse() -> None:
    script = (
        "import sys, numpy, gossamer\n"
        "from gossamer.data import as_table\n"
        "as_table(numpy.eye(2))\n"
        "sys.exit('scipy.sparse' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_errors_say_what_to_expect() -> None:
    data = make("csr")
    data.indices[8] = 17
    with pytest.raises(DataError) as error:
        read_sparse(data)
    assert str(error.value) == (
        "row 4 of the sparse matrix has an index outside its shape: got 17, "
        "expected a column from 0 to 3."
    )


def with_duplicates(form: str, dtype: Any) -> Any:
    """[[0, 1 + 2 + 3, 4], [5, 0, 0]]; in columns the places are another way round."""
    values, rows, columns = [1, 4, 2, 5, 3], [0, 0, 0, 1, 0], [1, 2, 1, 0, 1]
    values = np.array(values, dtype=dtype)
    if form == "coo":
        return sparse.coo_array((values, (rows, columns)), shape=(2, 3))
    if form == "csr":
        order, indices, begin = [0, 1, 2, 4, 3], [1, 2, 1, 1, 0], [0, 4, 5]
    else:
        order, indices, begin = [3, 0, 2, 4, 1], [1, 0, 0, 0, 0], [0, 1, 4, 5]
    return make(form, (values[order], indices, begin), shape=(2, 3))


def parts_of(data: Any) -> list[Any]:
    names = ("row", "col", "data") if data.format == "coo" else ("data", "indices", "indptr")
    return [getattr(data, name) for name in names]


def assert_same_parts(data: Any, before: Any) -> None:
    for found, expected in zip(parts_of(data), parts_of(before), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def freeze(data: Any) -> None:
    for name in ("data", "indices", "indptr", "row", "col", "offsets"):
        array = getattr(data, name, None)
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
