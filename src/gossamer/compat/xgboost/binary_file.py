"""Files of a `DMatrix`: the table and its fields, as an archive of NumPy arrays."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from gossamer.arguments import as_path
from gossamer.data import as_table
from gossamer.data.files.file_kinds import UNREADABLE
from gossamer.data.table.sparse import is_sparse
from gossamer.errors import DataError, NotSupportedError
from gossamer.files import write_atomically

_MAGIC: Final = b"PK\x03\x04"
_SPARSE: Final = ("data", "indices", "indptr")
_NAMES: Final = ("feature_names", "feature_types")


def save(
    path: str | os.PathLike[str],
    table: Any,
    fields: Mapping[str, Any],
    names: Sequence[str] | None,
    types: Sequence[str] | None,
) -> None:
    """Write a table with its fields.

    Raises:
        NotSupportedError: If the table has columns of categories or text.
    """
    arrays: dict[str, Any] = {
        f"field_{name}": np.asarray(values) for name, values in fields.items()
    }
    if is_sparse(table):
        rows = table.tocsr()
        arrays |= {f"table_{part}": getattr(rows, part) for part in _SPARSE}
    else:
        found = as_table(table)
        if found.levels:
            raise NotSupportedError.because(
                "a DMatrix with columns of categories or text cannot be written",
                hint="Save the frame itself, for instance as Parquet.",
            )
        arrays["table"] = np.asarray(found.matrix)
    facts = {"feature_names": names, "feature_types": types, "shape": list(table.shape)}
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_atomically(as_path(path), content.getvalue())


def matches(path: Path) -> bool:
    """Whether a file may be one that `save` wrote."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def load(path: Path) -> tuple[Any, dict[str, Any]]:
    """Read a table, and its fields by name.

    Raises:
        DataError: If the file is damaged, or something else.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        facts = json.loads(arrays.pop("facts").tobytes())
        fields = {name[6:]: values for name, values in arrays.items() if name[:6] == "field_"}
        fields |= {name: _texts(facts[name], name) for name in _NAMES if facts[name]}
        if "table" in arrays:
            return arrays["table"], fields
        from scipy.sparse import csr_matrix

        parts = tuple(arrays[f"table_{part}"] for part in _SPARSE)
        return csr_matrix(parts, shape=tuple(facts["shape"])), fields
    except (
        *UNREADABLE,
        *(ValueError, KeyError, TypeError, AttributeError, OverflowError),
        *(RuntimeError, MemoryError),  # it is encrypted; shapes that no array can have
    ) as error:
        raise DataError.because(
            f"the file {os.fspath(path)!r} cannot be read as a DMatrix ({error})",
            expected="a file that DMatrix.save_binary() wrote",
        ) from None


def _texts(found: Any, name: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"{name} is not a list of strings")
    return found
