"""`record`: structs of the kernels as NumPy types."""

from __future__ import annotations

from typing import Any

import numpy as np


def record(*members: str | tuple[Any, ...]) -> np.dtype[Any]:
    """Return a NumPy type with the layout of a C struct.

    Args:
        *members: As in C, a type and the names of the members that have it, where p is a pointer;
            structs and arrays one by one, as NumPy takes them.

    Example:
        >>> record("p values", "i4 n_rows n_columns", ("unused", "i4", 3)).itemsize
        32
    """
    listed: list[Any] = []
    for member in members:
        if isinstance(member, str):
            kind, *names = member.split()
            listed += [(name, "u8" if kind == "p" else kind) for name in names]
        else:
            listed.append(member)
    return np.dtype(listed, align=True)
