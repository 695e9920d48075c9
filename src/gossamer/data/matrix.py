"""The user's table as a NumPy matrix, without copying what the native core can read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError, message

# Kinds of NumPy types that are numbers: truth values, integers (signed or not), floats.
_NUMERIC_KINDS = "biuf"


@dataclass(frozen=True, eq=False)
class Table:
    """A matrix that the native core can read, and the names of its columns where it has any."""

    values: npt.NDArray[Any]
    names: list[str] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])


def as_table(data: object) -> Table:
    """Look at the user's data as a numeric matrix.

    NumPy arrays of floats, integers or truth values are used as they are, whatever their order
    and strides; half and extended precision, foreign byte order and unaligned memory are
    converted. Lists of rows and data frames with numeric columns become arrays.

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
    if _is_sparse(data):
        raise DataError(
            message(
                "data is a sparse matrix, which this version cannot read",
                got=type(data).__name__,
                expected="a dense array",
                hint="Convert it with .toarray() if memory allows.",
            )
        )
    if isinstance(data, np.ndarray):
        return Table(_readable(without_mask(data)))
    if _is_frame(data):
        return _from_frame(data)
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise DataError(
            message(f"data cannot be made an array ({error})", got=type(data).__name__)
        ) from None
    return Table(_readable(array))


def check_not_empty(table: Table) -> None:
    """Check that there is something to learn from.

    Raises:
        DataError: If there are no rows, or no columns.
    """
    if table.n_rows == 0 or table.n_columns == 0:
        what = "rows" if table.n_rows == 0 else "columns"
        raise DataError(
            message(f"data has no {what}: got shape {table.values.shape}, expected at least 1 x 1")
        )


def without_mask(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a plain array; what a masked array hides becomes NaN.

    Example:
        >>> without_mask(np.ma.masked_equal([1, 2, 3], 2))
        array([ 1., nan,  3.])
    """
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in _NUMERIC_KINDS:
        floats = array.astype(np.result_type(array.dtype, np.float32))
        return np.asarray(np.ma.filled(floats, np.nan))
    return np.asarray(array)


def _readable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Check the array; convert it only where the native core cannot read it."""
    if array.ndim != 2:
        hint = ""
        if array.ndim == 1:
            hint = "Use reshape(-1, 1) for a single column, reshape(1, -1) for a single row."
        raise DataError(
            message(
                f"data must be a table of rows and columns: got shape {array.shape}, "
                "expected 2 dimensions",
                hint=hint,
            )
        )
    dtype = array.dtype
    if dtype.kind not in _NUMERIC_KINDS:
        raise DataError(
            message(
                "data must be numeric",
                got=str(dtype),
                expected="floats, integers or truth values",
                hint="Encode text and categories as numbers first; convert object arrays with "
                ".astype(float)."
                if dtype.kind in "OUS"
                else "",
            )
        )
    if dtype.kind == "b":
        array = array.view(np.uint8)
    elif dtype.kind == "f" and dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if dtype.itemsize < 4 else np.float64)
    elif not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    if not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = array.copy()
    return array


def _is_sparse(data: object) -> bool:
    """Whether this is a scipy matrix; asks without importing scipy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


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
    if hasattr(frame, "iloc"):  # pandas: without a target type, mixed columns become objects
        is_plain = all(isinstance(dtype, np.dtype) for dtype in dtypes)
        if is_plain and dtypes:
            array = frame.to_numpy(dtype=np.result_type(*dtypes))
        else:
            array = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        array = frame.to_numpy()
    return Table(_readable(array), names)


def _is_numeric(dtype: Any) -> bool:
    """Whether a frame's column holds numbers; asks its type as pandas or as polars does."""
    if hasattr(dtype, "kind"):
        return dtype.kind in _NUMERIC_KINDS
    is_numeric = getattr(dtype, "is_numeric", None)
    return bool(is_numeric and is_numeric()) or str(dtype) == "Boolean"
