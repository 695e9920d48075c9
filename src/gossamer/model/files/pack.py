"""Nested Python values as JSON and arrays, and back: what the state of something is made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gossamer.errors import ParameterError
from gossamer.files import Arrays


def pack(value: Any, arrays: Arrays, name: str) -> Any:
    """Return a value as JSON can hold it; arrays in it are added to `arrays`.

    Args:
        value: None, booleans, numbers, strings, arrays, and lists, tuples and dicts (with
            strings as keys) of these. Tuples become lists.
        arrays: Where arrays go.
        name: What the value is; the names of its arrays begin with it.

    Raises:
        ParameterError: If there is something else in it.

    Example:
        >>> arrays = {}
        >>> pack({"best": [0.5, math.nan], "bias": np.arange(2)}, arrays, "state")
        {'dict': [['best', [0.5, {'float': 'nan'}]], ['bias', {'array': 'state.bias'}]]}
        >>> arrays
        {'state.bias': array([0, 1])}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return {"array": name}
    if isinstance(value, (list, tuple)):
        return [pack(item, arrays, f"{name}.{i}") for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        # Pairs: the JSON of a file is sorted by key, and the order of a dict may mean something.
        return {"dict": [[key, pack(item, arrays, f"{name}.{key}")] for key, item in value.items()]}
    raise ParameterError.because(
        f"{name} cannot be written to a checkpoint",
        got=type(value).__name__,
        expected="numbers, strings, arrays, and lists and dicts of these",
    )


def unpack(value: Any, arrays: Arrays) -> Any:
    """Return what `pack` was given.

    Raises:
        KeyError, TypeError, ValueError: If it was something else.

    Example:
        >>> unpack({"dict": [["best", [0.5, {"float": "inf"}]]]}, {})
        {'best': [0.5, inf]}
    """
    if isinstance(value, list):
        return [unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return arrays[content]
    if kind == "float":
        return float(content)
    if kind == "dict":
        return {key: unpack(item, arrays) for key, item in content}
    raise ValueError(f"{kind!r} is unknown")
