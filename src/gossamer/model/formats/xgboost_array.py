"""Arrays of XGBoost's models: lists in JSON, typed in UBJSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def read_array(
    found: Any,
    name: str,
    dtype: npt.DTypeLike,
    size: int | None = None,
    *,
    may_be_nan: bool = False,
) -> npt.NDArray[Any]:
    """Return an array of numbers, checked.

    Args:
        found: Where it is, by name.
        name: Its name.
        dtype: The type that it must fit into: int64, or float32.
        size: Its length; None: any.
        may_be_nan: Whether some values may be no numbers.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> read_array({"left_children": [1, -1, -1]}, "left_children", np.int64, 3)
        array([ 1, -1, -1])
    """
    if not isinstance(found, dict) or name not in found:
        raise ValueError(f"there is no {name}")
    given = found[name]
    if not isinstance(given, (list, np.ndarray)):
        raise ValueError(f"{name} is not an array")
    values = np.asarray(given)
    if values.ndim != 1 or (values.dtype.kind not in "biuf" and len(values)):
        raise ValueError(f"{name} is not an array of numbers")
    if size is not None and len(values) != size:
        raise ValueError(f"{name} has {len(values)} values, not {size}")
    if np.issubdtype(np.dtype(dtype), np.integer):
        if values.dtype.kind == "f" and len(values):
            if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
                raise ValueError(f"{name} has a value that is not an integer")
        elif values.dtype.kind == "u" and len(values) and values.max() > np.iinfo(np.int64).max:
            raise ValueError(f"{name} has a value that is too large")
        return values.astype(np.int64)
    with np.errstate(over="ignore"):
        numbers = values.astype(dtype)
    if not may_be_nan and np.isnan(numbers).any():
        raise ValueError(f"{name} has a value that is not a number")
    return numbers


def read_int(found: Any, name: str, low: int, high: int, default: int | None = None) -> int:
    """Return a number that XGBoost wrote as text, checked.

    Raises:
        ValueError: If it is something else, or out of range.

    Example:
        >>> read_int({"num_class": "3"}, "num_class", 0, 10)
        3
    """
    if default is not None and name not in found:
        return default
    value = int(found[name])
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}, not within {low}..{high}")
    return value
