"""scipy's sparse matrices: compressed rows and columns without a copy, other formats converted.

scipy checks a matrix when it is made, not what is done to its arrays afterwards, and its own
conversions trust them. So everything is checked here before anything follows an index.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.table.dtypes import check_shape, readable
from gossamer.errors import DataError


def is_sparse(data: object) -> bool:
    """Whether this is one of scipy's sparse matrices or arrays; asks without importing scipy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def read_sparse(data: Any) -> _native.SparseMatrix:
    """Look at a sparse matrix of any format.

    Values and indices of compressed rows (csr) and columns (csc) are used as they are. Other
    formats become compressed rows. Where an index occurs twice its values are added up, as scipy
    does, in a copy: the user's matrix is never changed.

    Raises:
        DataError: If it is not a table of numbers, or its arrays do not fit each other.

    Example:
        >>> from scipy.sparse import csc_array
        >>> matrix = read_sparse(csc_array([[0, 7], [0, 0], [8, 9]]))
        >>> matrix.values, matrix.indices, matrix.begin, matrix.by_row
        (array([8, 7, 9]), array([2, 0, 2], dtype=int32), array([0, 1, 3], dtype=int32), False)
    """
    check_shape(data.shape)
    if data.format not in ("csr", "csc"):
        data = to_compressed_rows(data)
    values = np.asarray(data.data)
    view = _view(
        readable(values), data.indices, data.indptr, data.shape, by_row=data.format == "csr"
    )
    return view if view.is_canonical else _canonical(view, is_bool=values.dtype.kind == "b")


def to_compressed_rows(data: Any) -> Any:
    """Convert a matrix of any format to scipy's compressed rows, after a look at its parts.

    Raises:
        DataError: If they do not fit each other.
    """
    readable(np.empty(0, dtype=data.dtype))
    try:
        _check_parts(data)
        # scipy trusts the parts, and another thread may change the user's: a copy is converted.
        data = data.copy()
        _check_parts(data)
        return data.tocsr()
    except DataError:
        raise
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise _damaged(str(error)) from error


def to_scipy(matrix: _native.SparseMatrix) -> Any:
    """Make a scipy array that looks at the same values."""
    import scipy.sparse

    make = scipy.sparse.csr_array if matrix.by_row else scipy.sparse.csc_array
    parts = (matrix.values, matrix.indices, matrix.begin)
    return make(parts, shape=(matrix.n_rows, matrix.n_columns))


def to_dense(matrix: _native.SparseMatrix, rows: slice = slice(None)) -> npt.NDArray[Any]:
    """Copy rows of a matrix to a dense array.

    Example:
        >>> from scipy.sparse import csr_array
        >>> to_dense(read_sparse(csr_array([[0, 7], [0, 0], [8, 9]])), slice(1, 3))
        array([[0, 0],
               [8, 9]])
    """
    part = to_scipy(matrix)[rows]
    read_sparse(part)  # scipy trusts the indices: those it uses are those that were checked
    dense: npt.NDArray[Any] = part.toarray()
    return dense


def by_row(matrix: _native.SparseMatrix) -> _native.SparseMatrix:
    """Return the matrix as compressed rows."""
    if matrix.by_row:
        return matrix
    # scipy trusts the indices: those it uses are those that were checked.
    own = (matrix.values, matrix.indices.copy(), matrix.begin)
    shape = (matrix.n_rows, matrix.n_columns)
    return read_sparse(to_scipy(_view(*own, shape, by_row=False)).tocsr())


def _canonical(matrix: _native.SparseMatrix, *, is_bool: bool) -> _native.SparseMatrix:
    """Sort the indices and add up duplicates, in a copy."""
    copy = to_scipy(matrix).copy()
    if is_bool:  # to scipy, true twice is true
        copy.data = copy.data.view(np.bool_)
    # A new object: it knows nothing yet, and what the user's believes about itself may be wrong.
    copy.sum_duplicates()
    return read_sparse(copy)


def _view(
    values: npt.NDArray[Any], indices: Any, begin: Any, shape: tuple[int, int], *, by_row: bool
) -> _native.SparseMatrix:
    """Let the native core check the arrays; say what is wrong with them."""
    values = np.ascontiguousarray(_line(values, "data"))
    indices, begin = _integers(indices, "indices"), _integers(begin, "indptr")
    # As in scipy, both have the indices' type, if it can count the entries.
    if begin.dtype != indices.dtype and not _fits(begin, indices.dtype):
        indices = indices.astype(np.int64)
    # A copy: another thread may change the user's own. The core checks indices again as it follows
    # them, but trusts these.
    begin = np.array(begin, dtype=indices.dtype)
    try:
        return _native.SparseMatrix(values, indices, begin, *shape, by_row)
    except IndexError:
        limit = shape[1] if by_row else shape[0]
        used = indices[: begin[-1]]
        outside = np.flatnonzero((used < 0) | (used >= limit))
        if not len(outside):
            raise _damaged("its indices were changed while they were read") from None
        entry = int(outside[0])
        place = int(np.searchsorted(begin, entry, side="right")) - 1
        slices, across = ("row", "column") if by_row else ("column", "row")
        raise DataError.because(
            f"{slices} {place} of the sparse matrix has an index outside its shape",
            got=int(used[entry]),
            expected=f"a {across} from 0 to {limit - 1}" if limit else f"no {across} at all",
        ) from None
    except ValueError as error:
        raise _damaged(str(error)) from None


def _line(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if array.ndim != 1:
        raise _damaged(f"{name} has {array.ndim} dimensions, expected 1")
    return array


def _integers(array: Any, name: str) -> npt.NDArray[Any]:
    """Return indices in a type that the native core reads."""
    array = _line(np.asarray(array), name)
    if array.dtype.kind not in "iu":
        raise _damaged(f"{name} has type {array.dtype}, expected integers")
    keep = array.dtype in (np.int32, np.int64) and array.dtype.isnative
    return np.require(array, None if keep else np.int64, ["C", "A"])


def _fits(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> bool:
    limits = np.iinfo(dtype)
    return not len(array) or limits.min <= np.min(array) <= np.max(array) <= limits.max


def _check_parts(data: Any) -> None:
    """Check what scipy follows without a look when it converts a matrix to compressed rows."""
    n_rows, n_columns = data.shape
    if data.format == "coo":
        for name, index, limit in (("row", data.row, n_rows), ("col", data.col, n_columns)):
            _same_length(name, index, data.data)
            if len(index) and not 0 <= np.min(index) <= np.max(index) < limit:
                raise DataError.because(
                    f"{name} of the sparse matrix has an index outside its shape",
                    got=int(np.min(index) if np.min(index) < 0 else np.max(index)),
                    expected=f"numbers from 0 to {limit - 1}",
                )
    elif data.format == "bsr":
        n_blocks, height, width = data.data.shape
        blocks = (n_rows // height, n_columns // width)
        if (blocks[0] * height, blocks[1] * width) != data.shape:
            raise _damaged(f"blocks of {height} x {width} do not fill the shape {data.shape}")
        any_values = np.empty(n_blocks, dtype=np.uint8)
        _view(any_values, data.indices, data.indptr, blocks, by_row=True)
    elif data.format == "dia":
        _same_length("offsets", data.offsets, data.data)
        if data.data.ndim != 2:
            raise _damaged(f"data has {data.data.ndim} dimensions, expected 2")
    elif data.format == "lil":
        for name in ("rows", "data"):
            if np.shape(getattr(data, name)) != (n_rows,):
                raise _damaged(f"{name} is not one list per row")
        for row, (columns, values) in enumerate(zip(data.rows, data.data, strict=True)):
            if len(columns) != len(values):
                raise _damaged(f"row {row} has {len(columns)} columns, but {len(values)} values")


def _same_length(name: str, index: Any, values: Any) -> None:
    if len(index) != len(values):
        raise _damaged(f"{name} has length {len(index)}, expected {len(values)}")


def _damaged(what: str) -> DataError:
    return DataError.because(f"the sparse matrix cannot be read: {what}")
