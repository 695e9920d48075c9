"""The records of `native/cuda/device.h` as NumPy types."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_POINTER: Final = np.uint64

SUMS: Final = np.dtype([("gradient", "i8"), ("hessian", "i8"), ("count", "i8")], align=True)

RULES: Final = np.dtype(
    [
        ("lambda_l1", "f8"),
        ("lambda_l2", "f8"),
        ("min_gain_to_split", "f8"),
        ("min_sum_hessian", "f8"),
        ("min_data", "f8"),
        ("max_delta_step", "f8"),
        ("path_smooth", "f8"),
        ("cat_l2", "f8"),
        ("cat_smooth", "f8"),
        ("min_data_per_group", "f8"),
        ("max_cat_threshold", "i4"),
        ("max_cat_to_onehot", "i4"),
    ],
    align=True,
)

LAYOUT: Final = np.dtype(
    [
        ("count_bits", "i4"),
        ("row_hessian_bits", "i4"),
        ("hessian_bits", "i4"),
        ("max_rows", "i8"),
        ("gradient_limit", "i8"),
        ("hessian_limit", "i8"),
        ("gradient_unit", "f8"),
        ("hessian_unit", "f8"),
        ("wide", "?"),
    ],
    align=True,
)

FEATURE: Final = np.dtype(
    [
        ("first_cell", "i8"),
        ("l2", "f8"),
        ("n_value_bins", "i4"),
        ("has_missing", "i4"),
        ("lane", "i4"),
        ("two_bytes", "i4"),
        ("searched", "i4"),
        ("n_categories", "i4"),
        ("known", "i8"),
    ],
    align=True,
)

GROUP: Final = np.dtype(
    [("first_lane", "i4"), ("n_lanes", "i4"), ("stride", "i4"), ("is_even", "i4")], align=True
)

NODE: Final = np.dtype(
    [
        ("sums", SUMS),
        ("left", SUMS),
        ("gain", "f8"),
        ("reach", "f8"),
        ("value", "f8"),
        ("l2", "f8"),
        ("key", "u8"),
        ("first_row", "i8"),
        ("parent", "i4"),
        ("left_child", "i4"),
        ("depth", "i4"),
        ("feature", "i4"),
        ("threshold", "i4"),
        ("missing_left", "i4"),
        ("slot", "i4"),
        ("buffer", "i4"),
    ],
    align=True,
)

NODE_LIMITS: Final = np.dtype([("low", "f8"), ("high", "f8"), ("free_value", "f8")], align=True)

JOB: Final = np.dtype(
    [
        ("node", "i4"),
        ("left_child", "i4"),
        ("built", "i4"),
        ("is_searched", "i4"),
        ("split_tile", "i8"),
        ("build_tile", "i8"),
        ("n_left", "u4"),
        ("n_right", "u4"),
        ("n_searched", "u4", 2),
    ],
    align=True,
)

BEST: Final = np.dtype(
    [("gain", "f8"), ("left", SUMS), ("threshold", "i4"), ("missing_left", "i4"), ("l2", "f8")],
    align=True,
)

STATISTICS: Final = np.dtype(
    [
        ("gradient_exponents", "u8", 256),
        ("hessian_exponents", "u8", 256),
        ("max_abs_gradient", "u4"),
        ("max_hessian", "u4"),
        ("min_hessian", "u4"),
        ("unused", "u4"),
    ],
    align=True,
)

STATE: Final = np.dtype(
    [
        ("statistics", STATISTICS),
        ("layout", LAYOUT),
        ("rules", RULES),
        ("total", SUMS),
        ("last_cut", "f8"),
        ("last_root_gain", "f8"),
        ("n_split_tiles", "i8"),
        ("n_build_tiles", "i8"),
        ("build_rows", "i8"),
        ("n_nodes", "i4"),
        ("n_jobs", "i4"),
        ("n_slots", "i4"),
        ("is_complete", "i4"),
        ("error", "i4"),
        ("n_batches", "i4"),
        ("built_rows", "i8"),
        ("n_before", "i8"),
        ("n_committed", "i8"),
        ("first_committed", "i4"),
        ("n_waiting", "i4"),
    ],
    align=True,
)

TASK: Final = np.dtype(
    [
        ("n_rows", "i8"),
        ("extra_key", "u8"),
        ("column_key", "u8"),
        ("output", "i4"),
        ("is_sampled", "i4"),
        ("n_allowed", "i4"),
        ("unused", "i4"),
    ],
    align=True,
)

ARGS: Final = np.dtype(
    [
        ("n_rows", "i8"),
        ("n_cells", "i8"),
        ("rows8", _POINTER),
        ("lanes8", _POINTER),
        ("rows16", _POINTER),
        ("features", _POINTER),
        ("groups", _POINTER),
        ("lane_features", _POINTER),
        ("known_bins", _POINTER),
        ("stride8", "i4"),
        ("stride16", "i4"),
        ("n_features", "i4"),
        ("n_lanes8", "i4"),
        ("n_lanes16", "i4"),
        ("n_groups", "i4"),
        ("category_words", "i4"),
        ("wide", "i4"),
        ("task", _POINTER),
        ("sample", _POINTER),
        ("gradient", _POINTER),
        ("hessian", _POINTER),
        ("row_values", _POINTER),
        ("row_lists", _POINTER, 2),
        ("state", _POINTER),
        ("nodes", _POINTER),
        ("jobs", _POINTER),
        ("waiting", _POINTER),
        ("bests", _POINTER),
        ("category_sets", _POINTER),
        ("histograms", _POINTER),
        ("allowed", _POINTER),
        ("feature_weights", _POINTER),
        ("node_features", _POINTER),
        ("open_groups", _POINTER),
        ("feature_groups", _POINTER),
        ("directions", _POINTER),
        ("node_limits", _POINTER),
        ("slot_words", "i8"),
        ("max_nodes", "i4"),
        ("build_blocks", "i4"),
        ("max_depth", "i4"),
        ("depthwise", "i4"),
        ("extra_trees", "i4"),
        ("group_words", "i4"),
        ("fraction_by_level", "f8"),
        ("fraction_by_node", "f8"),
        ("category_scratch", _POINTER),
        ("category_scratch_bytes", "i8"),
        ("num_leaves", "i8"),
        ("damp_from", "f8"),
        ("min_gain_to_split", "f8"),
        ("given_rules", RULES),
    ],
    align=True,
)

TREE_NODE: Final = np.dtype(
    [
        ("lane", "i4"),
        ("threshold", "i4"),
        ("missing_bin", "i4"),
        ("missing_left", "i4"),
        ("left", "i4"),
        ("right", "i4"),
        ("set", "i4"),
    ],
    align=True,
)

SCORE_ARGS: Final = np.dtype(
    [
        ("n_rows", "i8"),
        ("rows8", _POINTER),
        ("rows16", _POINTER),
        ("stride8", "i4"),
        ("stride16", "i4"),
        ("nodes", _POINTER),
        ("values", _POINTER),
        ("sets", _POINTER),
        ("score", _POINTER),
        ("n_nodes", "i4"),
        ("n_shared", "i4"),
    ],
    align=True,
)

LOSS: Final = np.dtype([("kind", "i4"), ("a", "f8"), ("b", "f8"), ("c", "f8")], align=True)

GRADIENT_ARGS: Final = np.dtype(
    [
        ("n_rows", "i8"),
        ("score", _POINTER),
        ("label", _POINTER),
        ("weight", _POINTER),
        ("gradient", _POINTER),
        ("hessian", _POINTER),
        ("loss", LOSS),
        ("kind", "i4"),
        ("n_classes", "i4"),
        ("sigmoid", "f8"),
        ("weight_negative", "f8"),
        ("weight_positive", "f8"),
    ],
    align=True,
)


def as_bytes(record: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of records, as the native module takes them."""
    return np.ascontiguousarray(record).reshape(-1).view(np.uint8)
