"""The records of `native/cuda/device.h` as NumPy types."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cuda.record import record

SUMS: Final = record("i8 gradient hessian count")

RULES: Final = record(
    "f8 lambda_l1 lambda_l2 min_gain_to_split min_sum_hessian min_data max_delta_step",
    "f8 path_smooth cat_l2 cat_smooth min_data_per_group",
    "i4 max_cat_threshold max_cat_to_onehot",
    "? l1_in_gain",
)

LAYOUT: Final = record(
    "i4 count_bits row_hessian_bits hessian_bits",
    "i8 max_rows gradient_limit hessian_limit",
    "f8 gradient_unit hessian_unit",
    "? wide",
)

FEATURE: Final = record(
    "i8 first_cell",
    "f8 l2",
    "i4 n_value_bins has_missing lane two_bytes searched n_categories",
    "i8 known",
)

GROUP: Final = record("i4 first_lane n_lanes stride is_even")

NODE: Final = record(
    ("sums", SUMS),
    ("left", SUMS),
    "f8 gain reach value l2",
    "u8 key",
    "i8 first_row",
    "i4 parent left_child depth feature threshold missing_left slot buffer is_committed unused",
)

NODE_LIMITS: Final = record("f8 low high free_value")

JOB: Final = record(
    "i4 node left_child built is_searched",
    "i8 split_tile build_tile",
    "u4 n_left n_right",
    ("n_searched", "u4", 2),
)

BEST: Final = record("f8 gain", ("left", SUMS), "i4 threshold missing_left", "f8 l2")

STATISTICS: Final = record(
    ("gradient_exponents", "u8", 256),
    ("hessian_exponents", "u8", 256),
    "u4 max_abs_gradient max_hessian min_hessian unused",
)

STATE: Final = record(
    ("statistics", STATISTICS),
    ("layout", LAYOUT),
    ("rules", RULES),
    ("total", SUMS),
    "f8 last_cut last_root_gain",
    "i8 n_split_tiles n_build_tiles build_rows",
    "i4 n_nodes n_jobs n_slots is_complete error n_batches",
    "i8 built_rows n_before n_committed",
    "i4 first_committed n_waiting",
    "u8 reach_below",
    "i4 n_listed unused",
)

TASK: Final = record(
    "i8 n_rows",
    "u8 extra_key column_key",
    "i4 output is_sampled n_allowed unused",
    "f8 learning_rate",
)

ARGS: Final = record(
    "i8 n_rows n_cells",
    "p rows8 lanes8 rows16 features groups lane_features known_bins",
    "i4 stride8 stride16 n_features n_lanes8 n_lanes16 n_groups category_words wide",
    "p task sample gradient hessian row_values",
    ("row_lists", "u8", 2),
    "p state nodes jobs waiting bests category_sets histograms allowed feature_weights",
    "p node_features open_groups feature_groups directions node_limits tree_nodes tree_values",
    "i8 slot_words max_slots",
    "i4 max_nodes build_blocks max_depth depthwise extra_trees group_words",
    "f8 fraction_by_level fraction_by_node",
    "p category_scratch",
    "i8 category_scratch_bytes num_leaves",
    "f8 damp_from min_gain_to_split",
    ("given_rules", RULES),
)

TREE_NODE: Final = record("i4 lane threshold missing_bin missing_left left right set")

SCORE_ARGS: Final = record(
    "i8 n_rows",
    "p rows8 rows16",
    "i4 stride8 stride16",
    "p nodes values sets score state",
    "i4 n_nodes is_shared",
)

LOSS: Final = record("i4 kind", "f8 a b c")

GRADIENT_ARGS: Final = record(
    "i8 n_rows",
    "p score label weight gradient hessian",
    ("loss", LOSS),
    "i4 kind n_classes",
    "f8 sigmoid weight_negative weight_positive",
    "p state",
)


def as_bytes(records: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of records, as the native module takes them."""
    return np.ascontiguousarray(records).reshape(-1).view(np.uint8)
