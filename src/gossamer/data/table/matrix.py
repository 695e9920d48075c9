"""The user's table as a matrix, without copying what the native core can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.categories.levels import Levels, levels_of, like_training
from gossamer.data.table.columns import Column, Level, LevelColumn, LevelKind, read_objects
from gossamer.data.table.dtypes import NUMERIC_KINDS, check_shape, readable
from gossamer.data.table.frames import (
    column_in_frame,
    frame_names,
    is_frame,
    is_numeric,
    is_pandas,
    read_column,
    read_frame,
)
from gossamer.data.table.names import check_names, match_names
from gossamer.data.table.sparse import is_sparse, read_sparse, to_scipy
from gossamer.data.table.table_kinds import as_known
from gossamer.data.table.time_columns import TimeKinds, find_times
from gossamer.data.table.times import TIME_KINDS, to_seconds
from gossamer.errors import DataError

# What the native core reads: an array, or the compressed rows or columns of a sparse matrix.
Values = npt.NDArray[Any] | _native.SparseMatrix


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix that the native core can read, and the names of its columns where it has any.

    Attributes:
        values: An array, or the compressed rows or columns of a sparse matrix.
        names: Names of the columns.
        levels: What the codes in some columns stand for; None: all columns are numbers.
        kinds: For training data: what kind of levels a column has.
        times: Columns that the user gave as dates and times, or as text; None: not known.
    """

    values: Values
    names: list[str] | None = None
    levels: Levels | None = None
    kinds: Mapping[int, LevelKind] = field(default_factory=dict)
    times: TimeKinds | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        values = self.values
        return values.n_rows if isinstance(values, _native.SparseMatrix) else values.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        values = self.values
        return values.n_columns if isinstance(values, _native.SparseMatrix) else values.shape[1]

    @property
    def matrix(self) -> Any:
        """The values as what a user can index: an array, or one of scipy's sparse arrays."""
        values = self.values
        return to_scipy(values) if isinstance(values, _native.SparseMatrix) else values

    def take_columns(self, order: Sequence[int], names: list[str] | None) -> Table:
        """Return a table of these columns in this order.

        Example:
            >>> as_table([[1, 2], [3, 4]]).take_columns([1, 0], None).values
            array([[2, 1],
                   [4, 3]])
        """
        place = {column: i for i, column in enumerate(order)}
        levels = self.levels and Levels(
            {place[c]: v for c, v in self.levels.by_column.items() if c in place}
        )
        kinds = {place[c]: kind for c, kind in self.kinds.items() if c in place}
        times = self.times and {place[c]: v for c, v in self.times.items() if c in place}
        return Table(as_table(self.matrix[:, order]).values, names, levels, kinds, times)

    def take_rows(self, rows: npt.NDArray[np.integer[Any]]) -> Table:
        """Return a table of these rows.

        Example:
            >>> as_table([["a", 1], ["b", 2]]).take_rows(np.array([1])).values
            array([[1., 2.]])
        """
        return replace(self, values=as_table(self.matrix[rows]).values)


def as_table(
    data: object,
    levels: Levels | None = None,
    names: Sequence[str] | None = None,
    what: str = "the data frame",
) -> Table:
    """Look at the user's data as a numeric matrix.

    NumPy arrays of floats, integers or booleans are used as they are, whatever their order
    and strides; half and extended precision, foreign byte order and unaligned memory are
    converted. Lists of rows and data frames with numeric columns become arrays.

    scipy's sparse matrices and arrays stay sparse, see `read_sparse`; so do data frames in which
    every column is sparse and leaves out zeros.

    Lazy frames, whatever speaks Arrow or DLPack, structured arrays, columns by name (a dict) and
    records (a list of dicts) are read as well; dates and times become seconds, see `to_seconds`.

    Columns of text (in frames, arrays of objects or of text, lists) and of categories become codes:
    positions in the column's list of levels. None and NaN are missing.

    Args:
        data: The table; a `Table` is returned as it is.
        levels: The training data's levels; None: this is training data, and they are found.
        names: Names of the columns of the training data: where a frame has them in another order,
            `levels` follow.
        what: What errors call a frame: a chunk of a file is one, too.

    Raises:
        DataError: If the data are no such table.

    Example:
        >>> as_table([[1, 2], [3, 4]]).values
        array([[1, 2],
               [3, 4]])
        >>> table = as_table([["Rome", 1.5], ["Bern", 2.5], [None, 3.5]])
        >>> table.values, table.levels
        (array([[1. , 1.5],
               [0. , 2.5],
               [nan, 3.5]]), Levels(by_column={0: ('Bern', 'Rome')}))
        >>> as_table(np.zeros(3))
        Traceback (most recent call last):
        ...
        gossamer.errors.DataError: data must be a table of rows and columns: got shape (3,), \
expected 2 dimensions. Use reshape(-1, 1) for a single column, reshape(1, -1) for a single row.
    """
    if isinstance(data, Table):
        return data
    if is_sparse(data):
        return _known_numbers(Table(read_sparse(data)), levels)
    data = as_known(data)
    if isinstance(data, Mapping):
        return replace(_from_mapping(data, levels, names), times=find_times(data))
    if is_frame(data):
        return replace(_from_frame(data, levels, names, what), times=find_times(data))
    array = without_mask(data) if isinstance(data, np.ndarray) else _from_list(data)
    times = find_times(array)
    if array.dtype.kind in TIME_KINDS:
        array = to_seconds(array)
    if array.dtype.kind not in "OUT":
        return replace(_known_numbers(Table(_dense(array)), levels), times=times)
    check_shape(array.shape)
    table = _from_columns(
        [read_objects(array[:, i], f"column {i}") for i in range(array.shape[1])],
        [f"column {i}" for i in range(array.shape[1])],
        len(array),
        levels,
    )
    return replace(table, times=times)


def _from_mapping(
    data: Mapping[Any, Any], levels: Levels | None, known: Sequence[str] | None
) -> Table:
    """Read columns by name."""
    names = check_names(list(data), len(data))
    where = [f"column {name!r}" for name in names]
    columns = [read_values(v, w) for v, w in zip(data.values(), where, strict=True)]
    sizes = [len(c.positions if isinstance(c, LevelColumn) else c) for c in columns]
    if len(set(sizes)) > 1:
        odd = next(i for i, size in enumerate(sizes) if size != sizes[0])
        raise DataError.because(
            f"{where[odd]} and {where[0]} differ in length",
            got=sizes[odd],
            expected=str(sizes[0]),
        )
    if levels and known is not None:
        order = match_names(known, names)
        levels = levels if order is None else levels.reorder(order)
    n_rows = sizes[0] if sizes else 0
    return replace(_from_columns(columns, where, n_rows, levels), names=names)


def read_values(values: Any, where: str) -> Column:
    """Read one column that is an array, a series or a list."""
    if hasattr(values, "to_frame"):  # a series knows its type better than an array of it
        frame = values.to_frame()
        return read_column(frame, 0, where)
    array = without_mask(values) if isinstance(values, np.ndarray) else _from_list(values)
    if array.ndim != 1:
        raise DataError.because(
            f"{where} is not one value for each row", found=f"shape {array.shape}"
        )
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)  # NumPy would turn numbers next to text into text
    if array.dtype.kind in "OUT":
        return read_objects(array, where)
    if array.dtype.kind in TIME_KINDS:
        return to_seconds(array)
    return readable(array)


def _from_list(data: object) -> npt.NDArray[Any]:
    try:
        array = np.asarray(data)
        # NumPy would turn the numbers next to text into text.
        is_text = array.dtype.kind in "US" and array.ndim == 2 and not hasattr(data, "dtype")
        return np.array(data, dtype=object) if is_text else array
    except (ValueError, TypeError) as error:
        raise DataError.because(
            f"data cannot be made an array ({error})", got=type(data).__name__
        ) from None


def stack_columns(left: Any, right: Any) -> Any:
    """Return two tables of one kind side by side; None: they are of different or other kinds.

    Example:
        >>> stack_columns(np.zeros((2, 1)), np.ones((2, 1)))
        array([[0., 1.],
               [0., 1.]])
    """
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.concatenate([without_mask(left), without_mask(right)], axis=1)
    if is_sparse(left) and is_sparse(right):
        from scipy.sparse import hstack  # only those who have such a matrix wait for the import

        return hstack([left, right], format="csr")
    return None


def check_not_empty(n_rows: int, n_columns: int) -> None:
    """Check that there is something to learn from.

    Raises:
        DataError: If there are no rows, or no columns.
    """
    if n_rows == 0 or n_columns == 0:
        what = "rows" if n_rows == 0 else "columns"
        raise DataError.because(
            f"data has no {what}: got shape {(n_rows, n_columns)}, expected at least 1 x 1"
        )


def without_mask(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a plain array; what a masked array hides becomes NaN, in text None.

    Example:
        >>> without_mask(np.ma.masked_equal([1, 2, 3], 2))
        array([ 1., nan,  3.])
    """
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "OU":
        plain = np.array(array.data, dtype=object)
        plain[np.ma.getmaskarray(array)] = None
        return plain
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in NUMERIC_KINDS:
        floats = array.astype(np.result_type(array.dtype, np.float32))
        return np.asarray(np.ma.filled(floats, np.nan))
    return np.asarray(array)


def _dense(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    check_shape(array.shape)
    return readable(array)


def _from_frame(frame: Any, levels: Levels | None, known: Sequence[str] | None, what: str) -> Table:
    names = frame_names(frame)
    if levels and known is not None:
        order = match_names(known, names)
        levels = levels if order is None else levels.reorder(order)
    dtypes = list(frame.dtypes) if hasattr(frame, "dtypes") else [None]
    if levels or not all(is_numeric(dtype) for dtype in dtypes):
        where = [column_in_frame(name, what) for name in names]
        return replace(
            _from_columns(read_frame(frame, what), where, len(frame), levels), names=names
        )
    if dtypes and all(_leaves_out_zeros(dtype) for dtype in dtypes):
        return Table(read_sparse(_to_coo(frame, dtypes)), names)
    if is_pandas(frame):  # without a target type, mixed columns become objects
        is_plain = all(isinstance(dtype, np.dtype) for dtype in dtypes)
        if is_plain and dtypes:
            array = frame.to_numpy(dtype=np.result_type(*dtypes))
        else:
            array = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        array = frame.to_numpy()
        if array.dtype.kind == "O":  # booleans, some of them missing
            return replace(_from_columns(read_frame(frame), names, len(frame), levels), names=names)
    return Table(_dense(array), names)


def _from_columns(
    columns: Sequence[Column], where: Sequence[str], n_rows: int, levels: Levels | None
) -> Table:
    """Put columns side by side, levels as codes; without `levels` (training data) find them.

    The type is the smallest that holds all of them, so that codes do not widen the numbers.
    """
    kinds: dict[int, LevelKind] = {}
    if levels is None:
        with_levels = {i: c for i, c in enumerate(columns) if isinstance(c, LevelColumn)}
        kinds = {i: column.kind for i, column in with_levels.items()}
        levels = Levels({i: levels_of(column, where[i]) for i, column in with_levels.items()})
    types = [_type_of(column, levels.by_column.get(i)) for i, column in enumerate(columns)]
    # Column by column in memory: each is written in one go.
    values = np.empty((n_rows, len(columns)), np.result_type(np.uint8, *types), order="F")
    for i, column in enumerate(columns):
        values[:, i] = like_training(column, levels, i, where[i])
    return Table(_dense(values), None, levels or None, kinds)


def _type_of(column: Column, levels: Sequence[Level] | None) -> np.dtype[Any]:
    """Return the smallest type that holds all numbers of a column, or all codes."""
    if levels is not None:
        return np.dtype(np.float32 if len(levels) <= 2**24 else np.float64)
    if isinstance(column, LevelColumn):
        return np.dtype(np.float64)
    return readable(column[:0]).dtype


def _known_numbers(table: Table, levels: Levels | None) -> Table:
    """Look up numbers among the levels of the training data, where these are numbers."""
    if not levels:
        return table
    if isinstance(table.values, _native.SparseMatrix):
        raise DataError.because(
            "a sparse matrix cannot hold the levels of the training data",
            expected=f"a frame or an array with levels in column {levels.columns[0]}",
        )
    places = range(table.n_columns)
    columns = [table.values[:, i] for i in places]
    return _from_columns(columns, [f"column {i}" for i in places], table.n_rows, levels)


def _leaves_out_zeros(dtype: Any) -> bool:
    """Whether this is one of pandas' sparse types, and what is not there is zero."""
    return hasattr(dtype, "subtype") and bool(getattr(dtype, "fill_value", None) == 0)


def _to_coo(frame: Any, dtypes: list[Any]) -> Any:
    """Convert a frame of sparse columns; pandas itself would mix types to objects."""
    common = np.result_type(*(dtype.subtype for dtype in dtypes))
    if common.kind == "f" and common.itemsize < 4:  # scipy has no half precision
        common = np.dtype(np.float32)
    if any(dtype.subtype != common for dtype in dtypes):
        frame = frame.astype(type(dtypes[0])(common, common.type(0)))
    return frame.sparse.to_coo()
