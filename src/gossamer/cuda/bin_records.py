"""The records of `native/cuda/bin.h` as NumPy types."""

from __future__ import annotations

from typing import Final

import numpy as np

from gossamer.cuda.predict_records import MATRIX

_POINTER: Final = np.uint64

BINNED_FEATURE: Final = np.dtype(
    [
        ("column", "i4"),
        ("first_bound", "i4"),
        ("n_bounds", "i4"),
        ("lane", "i4"),
        ("two_bytes", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

BIN_ARGS: Final = np.dtype(
    [
        ("matrix", MATRIX),
        ("features", _POINTER),
        ("bounds", _POINTER),
        ("rows8", _POINTER),
        ("rows16", _POINTER),
        ("is_missing", _POINTER),
        ("stride8", "i4"),
        ("stride16", "i4"),
        ("n_features", "i4"),
        ("missing_kind", "i4"),
        ("is_double", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

GATHER_ARGS: Final = np.dtype(
    [
        ("matrix", MATRIX),
        ("rows", _POINTER),
        ("columns", _POINTER),
        ("out", _POINTER),
        ("first_row", "i8"),
        ("n_rows", "i8"),
        ("n_columns", "i4"),
        ("item_bytes", "i4"),
    ],
    align=True,
)
