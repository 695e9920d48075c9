"""The records of `native/cuda/predict.h` as NumPy types."""

from __future__ import annotations

from typing import Final

from gossamer.cuda.record import record

# The number types of matrices, in the order of `ValueKind`; booleans are read as bytes.
VALUE_KINDS: Final = {
    name: kind
    for kind, name in enumerate(
        ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"),
    )
} | {"b1": 6}

# Types whose values floats represent exactly; others are compared as doubles.
AS_FLOATS: Final = frozenset(("f4", "f2", "i1", "i2", "u1", "u2", "b1"))

# Links of predictions, by the numbers that the kernels know them by.
LINKS: Final = {"": 0, "sigmoid": 1, "softmax": 2, "exp": 3}

MATRIX: Final = record("p values", "i8 n_rows row_stride column_stride", "i4 n_columns kind")

PLAIN_NODE: Final = record(
    "f8 threshold",
    "i8 first_category",
    "i4 n_categories column left right missing_kind default_left",
)

PLAIN_TREE: Final = record("i8 first_node first_leaf", "i4 output number has_nodes unused")

PACKED_COLUMN: Final = record("i4 column first_bound n_bounds", ("operand", "i4", 5))

PACKED_TREE: Final = record("i4 first_entry depth output number")

PREDICT_ARGS: Final = record(
    ("matrix", MATRIX),
    "p score leaves",
    "i8 n_trees",
    "i4 n_outputs n_values",
    "p entries entry_values entry_leaves packed_trees stage_begin columns columns_begin bounds",
    "p sets",
    "i4 n_stages n_column_parts n_sets first_set_operand n_operands is_double",
    "p trees nodes leaf_values categories",
    "i4 n_plain_trees unused",
)

FINISH_ARGS: Final = record(
    "i8 n_rows", "p score start", "f8 divisor steepness", "i4 n_outputs link is_first unused"
)
