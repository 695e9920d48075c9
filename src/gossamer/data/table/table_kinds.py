"""Rarer kinds of tables, turned into those that are read: arrays, frames, columns by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from gossamer.cuda.arrays import find_device_array, to_host
from gossamer.errors import DataError


def as_known(data: Any) -> Any:
    """Return a table as one that `as_table` reads; most already are.

    Lazy frames are collected, streams are read to their end, what speaks Arrow becomes a table of
    pyarrow, tensors in memory (by DLPack) become arrays, structured arrays and records become
    columns by name. Nothing is copied where the other library need not; arrays on a GPU are copied.

    Raises:
        DataError: If it is on another device, needs a package that is not there, or is a stream
            without rows.

    Example:
        >>> as_known([{"a": 1, "b": "x"}, {"a": 2}])
        {'a': [1, 2], 'b': ['x', None]}
        >>> points = np.array([(1, 0.5)], dtype=[("a", "i4"), ("b", "f8")])
        >>> as_known(points)
        {'a': array([1], dtype=int32), 'b': array([0.5])}
    """
    if isinstance(data, np.ndarray):
        names = data.dtype.names
        return data if names is None else {name: data[name] for name in names}
    if isinstance(data, list):
        return _from_records(data) if data and isinstance(data[0], Mapping) else data
    if isinstance(data, (str, bytes, Mapping)) or data is None:
        return data
    array = find_device_array(data)
    if array is not None:
        return to_host(array)
    if _is_lazy(data):
        return data.collect()
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        if isinstance(data, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([data])
        if isinstance(data, (pyarrow.Array, pyarrow.ChunkedArray)):
            return pyarrow.table({"Column_0": data})
        if isinstance(data, pyarrow.Table):
            return data
        if isinstance(data, pyarrow.RecordBatchReader):
            return _read_stream(data)
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is not None and isinstance(data, (dataset.Dataset, dataset.Scanner)):
        return data.to_table()
    if hasattr(data, "iloc") or hasattr(data, "to_numpy"):  # frames that are known
        return data
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _from_arrow(data)
    return _from_tensor(data) if hasattr(data, "__dlpack__") else data


def _is_lazy(data: Any) -> bool:
    """Whether this is a lazy frame of polars, or of narwhals."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def _from_records(records: list[Any]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def _read_stream(reader: Any) -> Any:
    """Read pyarrow's stream of batches, which is empty the second time."""
    table = reader.read_all()
    if table.num_rows == 0:
        raise DataError.because(
            "the stream has no rows",
            got=type(reader).__name__,
            expected="at least one row",
            hint="A stream can be read only once. Make a new one, or keep its rows as a "
            "table: reader.read_all().",
        )
    return table


def _from_arrow(data: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise DataError.because(
            "tables by the Arrow interface need pyarrow",
            got=type(data).__name__,
            hint="pip install pyarrow, or convert the table to a data frame first.",
        ) from None
    return pyarrow.table(data)


def _from_tensor(data: Any) -> Any:
    device = getattr(data, "device", "cpu")
    if "cpu" not in str(getattr(device, "type", device)).lower():
        raise DataError.because(
            "the table is on another device",
            got=str(device),
            expected="a buffer in host memory",
            hint="Move it there first: .cpu() for torch, .get() for CuPy.",
        )
    if getattr(data, "requires_grad", False):
        data = data.detach()
    try:
        return np.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DataError.because(
            f"the tensor cannot be read ({error})", got=str(getattr(data, "dtype", ""))
        ) from None
