"""The same table in every kind of container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

N_ROWS = 400


def columns(with_text: bool = False, with_times: bool = False) -> dict[str, Any]:
    """Returns the table, column by column: some gaps, whole numbers, truth values."""
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {
        "x": np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(size=N_ROWS)),
        "count": rng.integers(0, 50, N_ROWS),
        "flag": rng.random(N_ROWS) < 0.4,
    }
    towns = np.array(["Rome", "Bern", "Oslo"], dtype=object)[rng.integers(0, 3, N_ROWS)]
    seconds = rng.integers(0, 10**6, N_ROWS).astype("timedelta64[s]")
    if with_text:
        found["town"] = towns
    if with_times:
        found["when"] = np.datetime64("2020-01-01T00:00", "us") + seconds
    return found


def label() -> Any:
    """Returns the label."""
    table = columns(with_text=True)
    noise = np.random.default_rng(1).normal(size=N_ROWS)
    return (
        np.nan_to_num(table["x"]) + 0.1 * table["count"] + (table["town"] == "Oslo") + 0.1 * noise
    )


def _pandas(**some: Any) -> Any:
    import pandas

    return pandas.DataFrame(columns(**some))


def _polars(**some: Any) -> Any:
    import polars

    return polars.from_pandas(_pandas(**some))


def _arrow(**some: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(_pandas(**some), preserve_index=False)


def _structured() -> Any:
    table = columns()
    array = np.empty(N_ROWS, [("x", "f8"), ("count", "i8"), ("flag", "?")])
    for name, values in table.items():
        array[name] = values
    return array


def _torch() -> Any:
    import torch

    return torch.from_numpy(_floats())


def _floats() -> Any:
    return np.column_stack([v.astype(np.float64) for v in columns().values()])


def _sparse() -> Any:
    from scipy import sparse

    return sparse.csr_array(np.nan_to_num(_floats()))


class _Capsule:
    """What only speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _arrow().__arrow_c_stream__(requested_schema)


def _multi_index() -> Any:
    import pandas

    frame = _pandas()
    frame.columns = pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    return frame


def _odd_names() -> Any:
    return _pandas().rename(columns={"x": "[x] <a>", "count": 'größe, "m"', "flag": "日本"})


KINDS: dict[str, Callable[[], Any]] = {
    "NumPy float64": _floats,
    "NumPy float32, Fortran order": lambda: np.asfortranarray(_floats().astype(np.float32)),
    "NumPy float16": lambda: _floats().astype(np.float16),
    "NumPy structured array": _structured,
    "list of lists": lambda: _floats().tolist(),
    "dict of columns": columns,
    "list of dicts": lambda: _pandas().to_dict("records"),
    "scipy.sparse CSR": _sparse,
    "torch tensor": _torch,
    "pandas, numbers": _pandas,
    "pandas, nullable types": lambda: _pandas().convert_dtypes(),
    "pandas, pyarrow types": lambda: _pandas().convert_dtypes(dtype_backend="pyarrow"),
    "pandas, text (object)": lambda: _pandas(with_text=True).astype({"town": object}),
    "pandas, text (string)": lambda: _pandas(with_text=True).astype({"town": "string"}),
    "pandas, category": lambda: _pandas(with_text=True).astype({"town": "category"}),
    "pandas, datetime": lambda: _pandas(with_times=True),
    "pandas, MultiIndex columns": _multi_index,
    "pandas, odd names": _odd_names,
    "polars, numbers": _polars,
    "polars, text": lambda: _polars(with_text=True),
    "polars, category": lambda: _to_category(_polars(with_text=True)),
    "polars, datetime": lambda: _polars(with_times=True),
    "polars, lazy": lambda: _polars().lazy(),
    "pyarrow Table, numbers": _arrow,
    "pyarrow Table, text": lambda: _arrow(with_text=True),
    "pyarrow Table, dictionary": lambda: _to_dictionary(_arrow(with_text=True)),
    "pyarrow RecordBatch": lambda: _arrow().combine_chunks().to_batches()[0],
    "Arrow PyCapsule": _Capsule,
}


def _to_category(frame: Any) -> Any:
    import polars

    return frame.with_columns(polars.col("town").cast(polars.Categorical))


def _to_dictionary(table: Any) -> Any:
    place = table.column_names.index("town")
    return table.set_column(place, "town", table["town"].dictionary_encode())
