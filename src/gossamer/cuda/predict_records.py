"""The records of `native/cuda/predict.h` as NumPy types."""

from __future__ import annotations

from typing import Final

import numpy as np

_POINTER: Final = np.uint64

# The number types of matrices, in the order of `ValueKind`; booleans are read as bytes.
VALUE_KINDS: Final = {
    name: kind
    for kind, name in enumerate(
        ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"),
    )
} | {"b1": 6}

# Types whose values floats represent exactly; others are compared as doubles.
AS_FLOATS: Final = frozenset(("f4", "f2", "i1", "i2", "u1", "u2", "b1"))

MATRIX: Final = np.dtype(
    [
        ("values", _POINTER),
        ("n_rows", "i8"),
        ("row_stride", "i8"),
        ("column_stride", "i8"),
        ("n_columns", "i4"),
        ("kind", "i4"),
    ],
    align=True,
)

PLAIN_NODE: Final = np.dtype(
    [
        ("threshold", "f8"),
        ("first_category", "i8"),
        ("n_categories", "i4"),
        ("column", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("missing_kind", "i4"),
        ("default_left", "i4"),
    ],
    align=True,
)

PLAIN_TREE: Final = np.dtype(
    [
        ("first_node", "i8"),
        ("first_leaf", "i8"),
        ("output", "i4"),
        ("number", "i4"),
        ("has_nodes", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

PACKED_COLUMN: Final = np.dtype(
    [("column", "i4"), ("first_bound", "i4"), ("n_bounds", "i4"), ("operand", "i4", 5)], align=True
)

PACKED_TREE: Final = np.dtype(
    [("first_entry", "i4"), ("depth", "i4"), ("output", "i4"), ("number", "i4")], align=True
)

PREDICT_ARGS: Final = np.dtype(
    [
        ("matrix", MATRIX),
        ("score", _POINTER),
        ("leaves", _POINTER),
        ("n_trees", "i8"),
        ("n_outputs", "i4"),
        ("n_values", "i4"),
        ("entries", _POINTER),
        ("entry_values", _POINTER),
        ("entry_leaves", _POINTER),
        ("packed_trees", _POINTER),
        ("stage_begin", _POINTER),
        ("columns", _POINTER),
        ("columns_begin", _POINTER),
        ("bounds", _POINTER),
        ("sets", _POINTER),
        ("n_stages", "i4"),
        ("n_column_parts", "i4"),
        ("n_sets", "i4"),
        ("first_set_operand", "i4"),
        ("n_operands", "i4"),
        ("is_double", "i4"),
        ("trees", _POINTER),
        ("nodes", _POINTER),
        ("leaf_values", _POINTER),
        ("categories", _POINTER),
        ("n_plain_trees", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

FINISH_ARGS: Final = np.dtype(
    [
        ("n_rows", "i8"),
        ("score", _POINTER),
        ("start", _POINTER),
        ("divisor", "f8"),
        ("steepness", "f8"),
        ("n_outputs", "i4"),
        ("link", "i4"),
        ("is_first", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)
