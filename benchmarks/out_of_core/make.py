"""A Parquet file of numbers, written a group of rows at a time."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

GROUP = 200_000  # rows
_DISTINCT = 16  # groups; later ones repeat their columns, and have targets of their own
TEXT = "text"  # the column of text


def check_disk(folder: Path, n_bytes: int) -> None:
    """Exit where a disk has less than three times the size of a file: XGBoost's cache is as large.

    Raises:
        SystemExit: If so.
    """
    free = shutil.disk_usage(folder).free
    if free < 3 * n_bytes:
        raise SystemExit(
            f"{folder} has {free / 1e9:.1f} GB left; the file and the caches may take "
            f"{3 * n_bytes / 1e9:.1f} GB"
        )


def make_parquet(
    path: Path, n_bytes: int, n_columns: int, n_group: int | None = None, n_levels: int = 0
) -> int:
    """Write random float32 columns and a target until the file has about `n_bytes`.

    Args:
        path: The file.
        n_bytes: Its size.
        n_columns: Columns of numbers.
        n_group: Rows of a group.
        n_levels: Levels of a column of text; 0: there is no such column.

    Returns:
        The number of rows.
    """
    import pyarrow
    import pyarrow.parquet

    group = n_group or GROUP
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(n_columns)]
    numbers = [(name, pyarrow.float32()) for name in [*names, "target"]]
    schema = pyarrow.schema([*([(TEXT, pyarrow.string())] if n_levels else []), *numbers])
    levels = np.array([f"level number {i}" for i in range(n_levels)])
    effects = rng.normal(size=n_levels).astype(np.float32)
    n_rows = 0
    # Dictionaries of random numbers would make the file half as large again.
    text = [TEXT] if n_levels else False
    made: list[tuple[list[pyarrow.Array], np.ndarray]] = []
    with pyarrow.parquet.ParquetWriter(
        path, schema, compression="none", use_dictionary=text
    ) as writer:
        while n_rows == 0 or path.stat().st_size < n_bytes:
            if len(made) < _DISTINCT:
                x = rng.normal(size=(n_columns, group)).astype(np.float32)
                known = x[0] * x[1] + np.sin(2 * x[2]) + np.abs(x[3])
                columns = []
                if n_levels:
                    codes = rng.integers(0, n_levels, group)
                    known += effects[codes]
                    columns = [pyarrow.array(levels[codes])]
                made.append(([*columns, *map(pyarrow.array, x)], known))
            columns, known = made[n_rows // group % _DISTINCT]
            target = pyarrow.array(known + rng.normal(size=group).astype(np.float32))
            writer.write_table(
                pyarrow.table([*columns, target], schema=schema), row_group_size=group
            )
            n_rows += group
    return n_rows
