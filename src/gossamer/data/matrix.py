"""The user's table as a matrix, without copying what the native core can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.dtypes import NUMERIC_KINDS, check_shape, readable
from gossamer.data.sparse import is_sparse, read_sparse, to_scipy
from gossamer.errors import DataError, message

# What the native core reads: an array, or the compressed rows or columns of a sparse matrix.
Values = npt.NDArray[Any] | _native.SparseMatrix


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix that the native core can read, and the names of its columns where it has any.

    Attributes:
        values: An array, or the compressed rows or columns of a sparse matrix.
        names: Names of the columns.
    """

    values: Values
    names: list[str] | None = None

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

    def take_rows(self, rows: npt.NDArray[np.int64]) -> Table:
        """Return a table of some of the rows."""
        return Table(as_table(self.matrix[rows]).values, self.names)

    def take_columns(self, order: Sequence[int], names: list[str] | None) -> Table:
        """Return a table of these columns in this order.

        Example:
            >>> as_table([[1, 2], [3, 4]]).take_columns([1, 0], None).values
            array([[2, 1],
                   [4, 3]])
        """
        return Table(as_table(self.matrix[:, order]).values, names)


def as_table(data: object) -> Table:
    """Look at the user's data as a numeric matrix.

    NumPy arrays of floats, integers or truth values are used as they are, whatever their order
    and strides; half and extended precision, foreign byte order and unaligned memory are
    converted. Lists of rows and data frames with numeric columns become arrays.

    scipy's sparse matrices and arrays stay sparse, see `read_sparse`; so do data frames in which
    every column is sparse and leaves out zeros.

    Raises:
        DataError: If the data are no such table.

    Example:
        >>> as_table([[1, 2], [3, 4]]).values
        array([[1, 2],
               [3, 4]])
        >>> as_table(np.zeros(3))
        Traceback (most recent call last):
        ...
        gossamer.errors.DataError: data must be a table of rows and columns: got shape (3,), \
expected 2 dimensions. Use reshape(-1, 1) for a single column, reshape(1, -1) for a single row.
    """
    if is_sparse(data):
        return Table(read_sparse(data))
    if isinstance(data, np.ndarray):
        return Table(_dense(without_mask(data)))
    if _is_frame(data):
        return _from_frame(data)
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise DataError(
            message(f"data cannot be made an array ({error})", got=type(data).__name__)
        ) from None
    return Table(_dense(array))


def check_not_empty(table: Table) -> None:
    """Check that there is something to learn from.

    Raises:
        DataError: If there are no rows, or no columns.
    """
    if table.n_rows == 0 or table.n_columns == 0:
        what = "rows" if table.n_rows == 0 else "columns"
        raise DataError(
            message(
                f"data has no {what}: got shape {(table.n_rows, table.n_columns)}, "
                "expected at least 1 x 1"
            )
        )


def without_mask(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a plain array; what a masked array hides becomes NaN.

    Example:
        >>> without_mask(np.ma.masked_equal([1, 2, 3], 2))
        array([ 1., nan,  3.])
    """
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in NUMERIC_KINDS:
        floats = array.astype(np.result_type(array.dtype, np.float32))
        return np.asarray(np.ma.filled(floats, np.nan))
    return np.asarray(array)


def _dense(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    check_shape(array.shape)
    return readable(array)


def _is_frame(data: object) -> bool:
    """Whether this looks like a data frame (pandas, polars)."""
    return all(hasattr(data, name) for name in ("columns", "dtypes", "to_numpy"))


def _from_frame(frame: Any) -> Table:
    names = [str(name) for name in frame.columns]
    dtypes = list(frame.dtypes)
    for name, dtype in zip(names, dtypes, strict=True):
        if not _is_numeric(dtype):
            raise DataError(
                message(
                    f"column {name!r} of the data frame is not numeric",
                    got=str(dtype),
                    expected="floats, integers or truth values",
                    hint="This version reads numeric columns only: encode text, dates and "
                    "categories as numbers first.",
                )
            )
    if dtypes and all(_leaves_out_zeros(dtype) for dtype in dtypes):
        return Table(read_sparse(_to_coo(frame, dtypes)), names)
    if hasattr(frame, "iloc"):  # pandas: without a target type, mixed columns become objects
        is_plain = all(isinstance(dtype, np.dtype) for dtype in dtypes)
        if is_plain and dtypes:
            array = frame.to_numpy(dtype=np.result_type(*dtypes))
        else:
            array = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        array = frame.to_numpy()
    return Table(_dense(array), names)


def _is_numeric(dtype: Any) -> bool:
    """Whether a frame's column holds numbers; asks its type as pandas or as polars does."""
    if hasattr(dtype, "kind"):
        return dtype.kind in NUMERIC_KINDS
    is_numeric = getattr(dtype, "is_numeric", None)
    return bool(is_numeric and is_numeric()) or str(dtype) == "Boolean"


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
