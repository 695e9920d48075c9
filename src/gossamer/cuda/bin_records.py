"""The records of `native/cuda/bin.h` as NumPy types."""

from __future__ import annotations

from typing import Final

from gossamer.cuda.predict_records import MATRIX
from gossamer.cuda.record import record

BINNED_FEATURE: Final = record("i4 column first_bound n_bounds lane two_bytes unused")

BIN_ARGS: Final = record(
    ("matrix", MATRIX),
    "p features bounds rows8 rows16 is_missing",
    "i4 stride8 stride16 n_features missing_kind is_double unused",
)

GATHER_ARGS: Final = record(
    ("matrix", MATRIX), "p rows columns out", "i8 first_row n_rows", "i4 n_columns item_bytes"
)
