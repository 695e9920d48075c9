"""Which arrays the native core reads as they are, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import DataError, DataTypeError, message

# Kinds of NumPy types that are numbers: booleans, integers (signed or not), floats.
NUMERIC_KINDS = "biuf"


def check_shape(shape: Sequence[int]) -> None:
    """Check that there are rows and columns.

    Raises:
        DataError: If there are not two dimensions.
    """
    if len(shape) != 2:
        hint = ""
        if len(shape) == 1:
            hint = "Use reshape(-1, 1) for a single column, reshape(1, -1) for a single row."
        error = DataError if shape else DataTypeError  # a single value is not a table of any kind
        raise error(
            message(
                f"data must be a table of rows and columns: got shape {tuple(shape)}, "
                "expected 2 dimensions",
                hint=hint,
            )
        )


def readable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Check that the array holds numbers; convert it only where the native core cannot read it.

    Raises:
        DataError: If it does not hold numbers.

    Example:
        >>> readable(np.array([True, False])), readable(np.array([0.5], dtype=np.float16))
        (array([1, 0], dtype=uint8), array([0.5], dtype=float32))
    """
    dtype = array.dtype
    if dtype.kind not in NUMERIC_KINDS:
        raise DataError.because(
            "data must be numeric",
            got=str(dtype),
            expected="floats, integers or booleans",
            hint="Encode text and categories as numbers first; convert object arrays with "
            ".astype(float)."
            if dtype.kind in "OUS"
            else "",
        )
    if dtype.kind == "b":
        array = array.view(np.uint8)
    elif dtype.kind == "f" and dtype.itemsize not in (4, 8):
        array = array.astype(np.float32 if dtype.itemsize < 4 else np.float64)
    elif not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    if not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = array.copy()
    return array
