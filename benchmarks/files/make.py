"""A Parquet file of a given size, written a group of rows at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

N_NUMBERS = 40
TOWNS = np.array([f"town {i}" for i in range(50)])
_GROUP = 100_000  # rows


def make_parquet(path: Path, n_bytes: int, compression: str = "none") -> int:
    """Write random numbers, towns and a target until the file has about `n_bytes`.

    Returns:
        The number of rows.
    """
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    n_rows = 0
    writer = None
    while path.stat().st_size < n_bytes if writer else True:
        table = _group(rng)
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(path, table.schema, compression=compression)
        writer.write_table(table)
        n_rows += _GROUP
    assert writer is not None
    writer.close()
    return n_rows


def _group(rng: np.random.Generator) -> Any:
    import pyarrow

    numbers: npt.NDArray[np.float64] = rng.normal(size=(N_NUMBERS, _GROUP))
    town = rng.integers(0, len(TOWNS), _GROUP)
    target = numbers[0] * numbers[1] + np.abs(numbers[2]) + 0.1 * town + rng.normal(size=_GROUP)
    numbers[3][rng.random(_GROUP) < 0.1] = np.nan
    columns: dict[str, Any] = {f"x{i}": numbers[i] for i in range(N_NUMBERS)}
    columns["town"] = pyarrow.array(TOWNS[town].tolist()).dictionary_encode()
    return pyarrow.table({**columns, "target": target})
