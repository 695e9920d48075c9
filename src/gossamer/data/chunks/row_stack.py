"""`RowStack`: tables on top of each other, without a second copy of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.table.matrix import Values
from gossamer.data.table.sparse import read_sparse, to_scipy


class RowStack:
    """Collects tables of the same columns.

    Args:
        n_rows: Rows of all of them together.
        n_columns: Number of columns.

    Example:
        >>> stack = RowStack(3, 1)
        >>> stack.add(np.array([[1], [2]]))
        >>> stack.add(np.array([[0.5]]))
        >>> stack.finish().tolist()
        [[1.0], [2.0], [0.5]]
    """

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self._shape = (n_rows, n_columns)
        self._sparse: list[Any] = []
        self._dense: npt.NDArray[Any] | None = None
        self._n_rows = 0

    def add(self, values: Values) -> None:
        """Put a table below the others."""
        if isinstance(values, _native.SparseMatrix) or self._sparse:
            self._add_sparse(values)
            return
        end = self._n_rows + len(values)
        if self._dense is None:
            self._dense = np.empty(self._shape, values.dtype, order="F")
        wider = np.result_type(self._dense, values)
        if wider != self._dense.dtype:
            self._dense = self._dense.astype(wider)
        self._dense[self._n_rows : end] = values
        self._n_rows = end

    def _add_sparse(self, values: Values) -> None:
        from scipy.sparse import csr_array  # only those who have sparse rows wait for the import

        if self._dense is not None:
            self._sparse.append(csr_array(self._dense[: self._n_rows]))
            self._dense = None
        if isinstance(values, _native.SparseMatrix):
            self._sparse.append(to_scipy(values))
        else:
            self._sparse.append(csr_array(values))

    def finish(self) -> Values:
        """Return all rows as one table."""
        if self._sparse:
            from scipy.sparse import vstack

            return read_sparse(vstack(self._sparse, format="csr"))
        if self._dense is None:
            return np.empty((0, self._shape[1]))
        return self._dense[: self._n_rows]
