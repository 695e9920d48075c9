"""What a training depends on, in a few short strings: to tell whether two are the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.built import BuiltData
from gossamer.params import TABLE, Params

# Bins are looked at in so many rows and features, spread evenly: this must be cheap.
_ROWS: Final = 4096
_FEATURES: Final = 256


def describe_data(data: BuiltData) -> dict[str, Any]:
    """Return facts about a data set and short digests of what it holds, by name.

    Example:
        >>> from gossamer.data import Dataset
        >>> from gossamer.data.dataset import built_data
        >>> table = [[1.0], [2.0], [3.0]]
        >>> facts = describe_data(built_data(Dataset(table, label=[0, 1, 1])))
        >>> facts["rows"], facts["columns"]
        (3, 1)
        >>> facts == describe_data(built_data(Dataset(table, label=[0, 1, 0])))
        False
    """
    data = data.whole()
    binning, fields = data.table.binning, ("label", "weight", "group")
    facts: dict[str, Any] = {
        "rows": data.n_rows,
        "columns": data.n_columns,
        "names of columns": _digest(name.encode() + b"\0" for name in data.names),
        "bin bounds": _digest(
            [*map(_bytes, binning.to_arrays().values()), b"%d" % binning.missing_kind]
        ),
        "values": _digest(_sampled_bins(data)),
    }
    facts |= {name: _digest([_bytes(data.field(name))]) for name in fields}
    facts["init_score"] = _digest([_bytes(data.rows.first_scores)])
    targets = data.targets
    facts["position"] = _digest([_bytes(targets.position), repr(targets.positions).encode()])
    return facts


def describe_params(params: Params) -> dict[str, Any]:
    """Return all parameters that matter, as JSON has them; functions count as "custom".

    Example:
        >>> from gossamer.params import resolve
        >>> describe_params(resolve({"metric": "l1"}))["metric"]
        ['l1']
    """
    return {
        name: _plain(value)
        for name, value in params.to_dict().items()
        # More rounds may be asked for.
        if TABLE[name].changes_model and name != "num_iterations"
    }


def _plain(value: Any) -> Any:
    if callable(value):
        return "custom"
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def _sampled_bins(data: BuiltData) -> Iterable[bytes | memoryview]:
    binned = data.table
    n_rows, n_features = binned.n_rows, binned.bins.n_features
    rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS)).astype(np.uint32))
    features = np.unique(
        np.linspace(0, max(n_features - 1, 0), min(n_features, _FEATURES), dtype=int)
    )
    sample = binned.copy_rows(rows)
    return (_bytes(sample.copy_column(int(feature))) for feature in features)


def _bytes(array: npt.NDArray[Any] | None) -> bytes | memoryview:
    """The contents of an array, not copied; types and shapes follow from what it is."""
    if array is None:
        return b"none"
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _digest(parts: Iterable[bytes | memoryview]) -> str:
    from hashlib import sha256  # takes its time

    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:16]
