"""What workers send to each other: arrays and JSON, never code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import _native, files
from gossamer.data.table.matrix import Values
from gossamer.data.table.sparse import read_sparse, to_scipy
from gossamer.distributed.group import Group
from gossamer.distributed.stream import Content


def values_to_bytes(values: Values | None) -> bytes:
    """Return rows of a table as bytes; None: no rows.

    Example:
        >>> values_from_bytes(values_to_bytes(np.eye(2)))
        array([[1., 0.],
               [0., 1.]])
    """
    if values is None:
        return b""
    if isinstance(values, _native.SparseMatrix):
        rows = to_scipy(values).tocsr()
        arrays = {"data": rows.data, "indices": rows.indices, "begin": rows.indptr}
        return files.to_bytes(arrays, {"shape": list(rows.shape)})
    return files.to_bytes({"dense": values}, {})


def values_from_bytes(content: Content) -> Values | None:
    """Return the rows that `values_to_bytes` was given."""
    if not content:
        return None
    arrays, facts = files.from_bytes(bytes(content))
    if "dense" in arrays:
        return arrays["dense"]
    from scipy.sparse import csr_array  # only those who have sparse rows wait for the import

    parts = (arrays["data"], arrays["indices"], arrays["begin"])
    return read_sparse(csr_array(parts, shape=facts["shape"]))


def gather_facts(group: Group, own: Any) -> list[Any]:
    """Return what each worker says, as JSON holds it."""
    return [files.from_bytes(part)[1]["own"] for part in group.gather(_fact(own))]


def _fact(own: Any) -> bytes:
    return files.to_bytes({}, {"own": own})


def gather_rows(group: Group, own: Any) -> npt.NDArray[Any] | None:
    """Put together what every worker has for its rows; None: none of them has anything.

    Example:
        >>> from gossamer.distributed.threads import run_group
        >>> run_group(2, lambda group: gather_rows(group, [group.rank] * 2))[0]
        array([0, 0, 1, 1])
    """
    array = None if own is None else np.asarray(own)
    if array is None:
        content = b""
    elif array.dtype.kind in "biuf":
        content = files.to_bytes({"values": array}, {})
    else:
        content = files.to_bytes({}, {"values": array.tolist(), "shape": list(array.shape)})
    parts: list[npt.NDArray[Any]] = []
    for part in group.gather(content):
        if part:
            arrays, facts = files.from_bytes(part)
            found = arrays.get("values")
            if found is None:
                found = np.array(facts["values"], dtype=object).reshape(facts["shape"])
            parts.append(found)
    filled = [part for part in parts if len(part)] or parts[:1]
    return np.concatenate(filled) if filled else None
