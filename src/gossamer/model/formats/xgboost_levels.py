"""Names of categories in XGBoost's models (from 3.1 on), as levels of columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.data.categories.levels import Levels
from gossamer.errors import NotSupportedError
from gossamer.logger import warn
from gossamer.model.formats.xgboost_array import read_array

# Number that XGBoost gives to arrays of int64.
_INT64: Final = 15
_NO_NAMES: Final = {"offsets": np.empty(0, np.int32), "values": np.empty(0, np.int8)}


def read_levels(found: Any, n_columns: int) -> Levels | None:
    """Read the names of categories; None: there are none, codes are given as numbers.

    Raises:
        ValueError: If they are damaged.
    """
    columns = found.get("enc", [])
    if not isinstance(columns, list) or len(columns) not in (0, n_columns):
        raise ValueError("the names of categories do not fit the columns")
    levels = [[c, _levels_of(each)] for c, each in enumerate(columns)]
    unread = [c for c, names in levels if names is None]
    if unread:
        warn(
            f"The names of the categories of column {unread[0]} of the XGBoost model cannot be "
            "told apart (XGBoost cuts names that are not ASCII): give its codes, 0, 1, ..."
        )
    return Levels.from_json([pair for pair in levels if pair[1]], n_columns) or None


def _levels_of(found: Any) -> list[Any] | None:
    """Return the names of a column's categories; none: it has none; None: they are not names."""
    if "offsets" not in found:
        return [int(value) for value in read_array(found, "values", np.int64)]
    offsets = read_array(found, "offsets", np.int64)
    values = found["values"]
    text = (read_array(found, "values", np.int64) & 0xFF).astype(np.uint8).tobytes()
    if len(offsets) == 0:
        return []
    if offsets[0] != 0 or offsets[-1] != len(values) or (np.diff(offsets) < 0).any():
        raise ValueError("the names of categories do not fit their lengths")
    parts = [text[a:b] for a, b in pairwise(offsets.tolist())]
    try:
        names = [part.decode("utf-8") for part in parts]
    except UnicodeDecodeError:
        return None
    return names if len(set(names)) == len(names) else None


def write_levels(levels: Levels | None, n_columns: int) -> dict[str, Any]:
    """Return the names of categories as XGBoost keeps them.

    Raises:
        NotSupportedError: If they are neither text nor integers.
    """
    named: Mapping[int, tuple[Any, ...]] = {} if levels is None else levels.by_column
    if not any(named.values()):
        return {"enc": [], "feature_segments": _ints([]), "sorted_idx": _ints([])}
    for c, names in named.items():
        if names and {type(name) for name in names} not in ({str}, {int}):
            raise NotSupportedError.because(
                f"XGBoost does not know such names of categories (column {c})",
                got=names[0],
                expected="text, or integers",
                hint="Train with the codes of the categories, or with text.",
            )
    columns, sizes, order = [], [0], []
    for c in range(n_columns):
        names = named.get(c, ())
        keys: list[Any] = [n.encode("utf-8") if isinstance(n, str) else n for n in names]
        columns.append(_column(keys))
        sizes.append(len(keys))
        order += sorted(range(len(keys)), key=keys.__getitem__)
    segments = np.cumsum(sizes).tolist()
    return {"enc": columns, "feature_segments": _ints(segments), "sorted_idx": _ints(order)}


def _column(keys: list[Any]) -> dict[str, Any]:
    if not keys:
        return dict(_NO_NAMES)
    if isinstance(keys[0], int):
        return {"type": _INT64, "values": np.array(keys, np.int64)}
    offsets = np.cumsum([0, *map(len, keys)])
    return {
        "offsets": offsets.astype(np.int32),
        "values": np.frombuffer(b"".join(keys), np.int8),
    }


def _ints(values: list[int]) -> npt.NDArray[np.int32]:
    return np.array(values, dtype=np.int32)
