"""The table of a `DMatrix`: what is missing in it, its rows, its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.compat.xgboost.categories import Categories
from gossamer.data import Table, as_table
from gossamer.data.table.frames import frame_names, is_frame, is_numeric, is_pandas, take_rows_of
from gossamer.data.table.names import check_names
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError, NotSupportedError

# XGBoost keeps categories as float32: so many are told apart.
_MOST_CATEGORIES: Final = 2**24


def read_table(data: Any, missing: Any) -> Any:
    """Return the user's table, with NaN where it has `missing`.

    Nothing is copied unless some value is to be replaced, or the data is a list. Absent entries
    of sparse tables are missing anyway.

    Example:
        >>> read_table(np.array([[1, -9], [3, 4]]), -9)
        array([[ 1., nan],
               [ 3.,  4.]])
    """
    if data is None or isinstance(data, bytes):
        raise NotSupportedError.because(
            "a DMatrix needs a table",
            got=type(data).__name__,
            expected="an array, a sparse matrix, a data frame, or a list of rows",
        )
    if isinstance(data, Table):  # an estimator's, which has seen to missing values
        return data
    if not (is_sparse(data) or is_frame(data) or isinstance(data, np.ndarray)):
        data = as_table(data).matrix
    if is_sparse(data) and data.format not in ("csr", "csc", "coo"):
        data = data.tocsr()
    value = _number(missing)
    return data if math.isnan(value) else _replace(data, value)


def _number(missing: Any) -> float:
    if missing is None:
        return math.nan
    try:
        return float(missing)
    except (TypeError, ValueError, OverflowError):
        raise DataError.because(
            "missing cannot be used", got=missing, expected="a number, or NaN"
        ) from None


def _replace(data: Any, missing: float) -> Any:
    if is_sparse(data):
        if missing == 0 or not (data.data == missing).any():
            return data
        data = data.astype(_floats(data.dtype))
        data.data[data.data == missing] = np.nan
        return data
    if is_pandas(data) and is_frame(data):
        return data.mask(data == missing)
    if is_frame(data):
        table = as_table(data)
        if table.levels:
            raise NotSupportedError.because(
                "missing cannot be combined with categories of such a frame",
                got=type(data).__name__,
                hint="Put null where a value is missing.",
            )
        data = table.matrix
    where = data == missing
    if not where.any():
        return data
    return np.where(where, np.nan, data).astype(_floats(data.dtype), copy=False)


def _floats(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype == np.float32 else np.float64


def shape_of(data: Any) -> tuple[int, int]:
    """Return rows and columns of a table.

    Raises:
        DataError: If it has not two dimensions.

    Example:
        >>> shape_of(np.zeros((3, 2)))
        (3, 2)
    """
    if isinstance(data, Table):
        return data.n_rows, data.n_columns
    shape = data.shape
    if len(shape) != 2:
        raise DataError.because(
            "the table must have two dimensions", got=shape, expected="rows x columns"
        )
    return int(shape[0]), int(shape[1])


def names_of(data: Any) -> list[str] | None:
    """Return the names of a frame's columns; None: it is not a frame.

    Example:
        >>> names_of(np.zeros((3, 2))) is None
        True
    """
    if not is_frame(data):
        return None
    if is_pandas(data) and data.columns.nlevels > 1:
        return [" ".join(map(str, name)) for name in data.columns]
    return frame_names(data)


def check_feature_names(names: Sequence[str], n_columns: int) -> list[str]:
    """Return names of columns as text.

    Raises:
        DataError: If there is not one for each column, or two are the same; or one has a character
            that XGBoost refuses, because its dumps could not hold it.

    Example:
        >>> check_feature_names(["a", "b"], 2)
        ['a', 'b']
    """
    found = check_names(names, n_columns)
    wrong = next((name for name in found if set(name) & set("[]<")), None)
    if wrong is not None:
        raise DataError.because(
            "a name of feature_names cannot be used", got=wrong, expected="no [, ] or <"
        )
    return found


def types_of(data: Any) -> list[str] | None:
    """Return XGBoost's names of the types of a frame's columns; None: it is not a frame.

    Example:
        >>> import pandas
        >>> frame = pandas.DataFrame({"a": ["x"], "b": [True], "c": [0.5]})
        >>> types_of(frame.astype({"a": "category"}))
        ['c', 'i', 'float']
    """
    if not is_frame(data) or not hasattr(data, "dtypes"):
        return None
    return [_type_of(str(dtype).lower()) for dtype in data.dtypes]


def _type_of(dtype: str) -> str:
    kinds = {"cat": "c", "bool": "i", "int": "int", "float": "float", "double": "float"}
    return next((kind for name, kind in kinds.items() if name in dtype), "c")


def choose_types(given: Any, table: Any) -> Any:
    """Return the types of the columns that were given, or a frame's own."""
    is_own = given is None or isinstance(given, Categories)
    return types_of(table) if is_own else given


def check_finite(data: Any, missing: float | None) -> None:
    """Refuse numbers that are infinite as float32.

    Raises:
        DataError: If there are any, and they do not mean missing values.
    """
    if missing is not None and math.isinf(missing):
        return
    if is_sparse(data):
        parts = [data.data]
    elif isinstance(data, np.ndarray):
        parts = [data]
    elif is_pandas(data) and is_frame(data):
        floats = data.select_dtypes(["float32", "float64"])
        parts = [floats[name].to_numpy() for name in floats.columns]
    else:
        return
    most = np.finfo(np.float32).max
    for part in parts:
        if part.dtype.kind == "f" and part.size:
            low, high = (f.reduce(part, axis=None) for f in (np.fmin, np.fmax))
            if high > most or low < -most:
                raise DataError.because(
                    "Input data contains `inf` or a value too large for float32",
                    got=float(high if high > most else low),
                    hint="Pass missing=np.inf if it means a missing value.",
                )


def check_numeric(data: Any) -> None:
    """Refuse text and categories.

    Raises:
        DataError: If a frame has such columns.
    """
    if not is_frame(data) or not hasattr(data, "dtypes"):
        return
    for name, dtype in zip(frame_names(data), data.dtypes, strict=True):
        if not is_numeric(dtype):
            raise DataError.because(
                f"column {name!r} of the data frame is not numeric",
                got=str(dtype),
                expected="numbers or booleans",
                hint="Pass enable_categorical=True.",
            )


def check_array(data: Any) -> None:
    """Refuse arrays of text, complex numbers and the like; objects may be numbers.

    Raises:
        DataError: If this is such an array.
    """
    if not isinstance(data, np.ndarray) or data.dtype.kind in "biuf":
        return
    try:
        if data.dtype.kind == "O":
            data.astype(np.float32)
            return
    except (TypeError, ValueError):
        pass
    raise DataError.because(
        "the array contains values that are not numbers",
        got=str(data.dtype),
        expected="numbers or booleans",
        hint="Pass a data frame and enable_categorical=True for text.",
    )


def categorical_columns(types: Sequence[str] | None, table: Any) -> list[int] | Literal["auto"]:
    """Return the columns whose type is "c"; "auto": there are none.

    Raises:
        DataError: If a code in one of them is negative, or too large for XGBoost.

    Example:
        >>> categorical_columns(["c", "q"], np.array([[3, 0.5], [1, -2.0]]))
        [0]
    """
    columns = [i for i, kind in enumerate(types or ()) if kind == "c"]
    if not columns:
        return "auto"
    by_column = table.tocsc() if is_sparse(table) else table
    for column in columns if is_sparse(table) or isinstance(table, np.ndarray) else ():
        found = by_column[:, [column]]
        codes = found.data if is_sparse(table) else found.astype(np.float64)
        is_bad = (codes < 0) | (codes >= _MOST_CATEGORIES)
        if is_bad.any():
            raise DataError.because(
                f"column {column} has a code that is not a category",
                got=codes[is_bad][0],
                expected=f"numbers from 0 to {_MOST_CATEGORIES - 1}",
            )
    return columns


def take_rows(data: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return some rows of a table.

    Example:
        >>> take_rows(np.arange(6).reshape(3, 2), np.array([2, 0]))
        array([[4, 5],
               [0, 1]])
    """
    if isinstance(data, Table):
        return data.take_rows(rows)
    if is_frame(data):
        return take_rows_of(data, rows)
    return data.tocsr()[rows] if is_sparse(data) else data[rows]


def to_csr(data: Any) -> Any:
    """Return the values of a table that are not missing, as compressed rows of float32.

    Example:
        >>> to_csr(np.array([[np.nan, 0.0, 2.0]])).data
        array([0., 2.], dtype=float32)
    """
    from scipy.sparse import csr_matrix

    rows: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    if is_sparse(data):
        found = csr_matrix(data, dtype=np.float32, copy=True)
        is_there = ~np.isnan(found.data)
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))[is_there]
        values, columns = found.data[is_there], found.indices[is_there]
    else:
        matrix = as_table(data).matrix if not isinstance(data, Table) else data.matrix
        rows, columns = np.nonzero(~np.isnan(np.asarray(matrix, dtype=np.float64)))
        values = np.asarray(matrix)[rows, columns].astype(np.float32)
    n_rows, n_columns = shape_of(data)
    begin = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
    return csr_matrix((values, columns.astype(np.int32), begin), shape=(n_rows, n_columns))


def to_dense(data: Any) -> npt.NDArray[Any]:
    """Return a sparse table as an array, with NaN for absent entries; stored zeros are values.

    Example:
        >>> from scipy.sparse import csr_matrix
        >>> to_dense(csr_matrix(([1.0, 0.0], [0, 2], [0, 2]), shape=(1, 3)))
        array([[ 1., nan,  0.]])
    """
    entries = data.tocoo(copy=True)
    entries.sum_duplicates()
    dense: npt.NDArray[Any] = np.full(data.shape, np.nan, dtype=_floats(data.dtype))
    dense[entries.row, entries.col] = entries.data
    return dense
