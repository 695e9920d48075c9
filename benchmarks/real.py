"""Real data sets, looked for in the folder named by GOSSAMER_DATA and never copied.

Each data set is a folder with ``meta.json`` (task, target, columns to leave out) and either
``data.parquet`` (needs pyarrow) or a dense ``data.npz`` with ``X`` and ``y``.
"""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.split import Array, Split, Task

VARIABLE = "GOSSAMER_DATA"
TEST_SHARE = 0.25


class CaseUnavailableError(Exception):
    """The data of a case is not on this machine; the message says what is missing."""


def load_real(name: str, seed: int, scale: float) -> Split:
    """Reads a real data set, numeric columns only, and splits it at random.

    Args:
        name: Folder name under GOSSAMER_DATA.
        seed: Seed of the split.
        scale: Share of the rows to keep.

    Returns:
        The split.

    Raises:
        CaseUnavailableError: When the folder or a reader for it is missing.
    """
    folder = _folder(name)
    meta = json.loads((folder / "meta.json").read_text())
    x, target = _read(folder, meta)
    task, labels, n_classes = _labels(meta, target)

    order = np.random.default_rng(seed).permutation(len(labels))[: max(200, int(len(x) * scale))]
    n_test = int(len(order) * TEST_SHARE)
    test, train = order[:n_test], order[n_test:]
    return Split(task, x[train], labels[train], x[test], labels[test], n_classes)


def _folder(name: str) -> Path:
    root = os.environ.get(VARIABLE)
    if not root:
        raise CaseUnavailableError(f"set {VARIABLE} to the folder that holds {name}/")
    folder = Path(root) / name
    if not (folder / "meta.json").is_file():
        raise CaseUnavailableError(f"no {name}/meta.json under {VARIABLE}")
    return folder


def _read(folder: Path, meta: dict[str, Any]) -> tuple[Array, Array]:
    if (folder / "data.npz").is_file():
        with np.load(folder / "data.npz") as archive:
            if "X" not in archive.files:
                raise CaseUnavailableError(f"{folder.name} is sparse; only dense data is read")
            return archive["X"].astype(np.float32), archive["y"]
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise CaseUnavailableError(f"{folder.name} is a parquet file; needs pyarrow") from None
    table = parquet.read_table(folder / "data.parquet")
    left_out = {meta["target"], meta.get("group"), meta.get("split_col"), *meta.get("leaky", [])}
    columns = [
        table[name].to_numpy().astype(np.float32)
        for name in table.column_names
        if name not in left_out and _is_numeric(str(table.schema.field(name).type))
    ]
    return np.column_stack(columns), table[meta["target"]].to_numpy()


def _is_numeric(arrow_type: str) -> bool:
    return arrow_type.startswith(("int", "uint", "float", "double", "halffloat"))


def _labels(meta: dict[str, Any], target: Array) -> tuple[Task, Array, int]:
    if meta["task"].startswith("regression"):
        return "regression", target.astype(np.float32), 0
    classes, codes = np.unique(target, return_inverse=True)
    task: Task = "binary" if len(classes) == 2 else "multiclass"
    return task, codes.astype(np.float32), len(classes)
