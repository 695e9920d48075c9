"""`make_grow_params`: parameters as the typed settings of the native grower."""

from __future__ import annotations

from typing import Final

from gossamer import _native
from gossamer.params import Params

# More categories than any feature has bins.
_MAX_BINS: Final = 2**16


def make_grow_params(params: Params) -> _native.GrowParams:
    """Turn parameters into the typed settings of the native grower.

    Example:
        >>> from gossamer.params import resolve
        >>> make_grow_params(resolve({"num_leaves": 7})).num_leaves
        7
    """
    grow = _native.GrowParams()
    grow.num_leaves = params.num_leaves
    grow.max_depth = max(params.max_depth, 0)
    grow.depthwise = params.grow_policy != "lossguide"
    grow.symmetric = params.grow_policy == "symmetric"
    grow.extra_trees = params.extra_trees
    grow.learning_rate = params.learning_rate / params.num_parallel_tree
    grow.lambda_l1 = params.lambda_l1
    grow.lambda_l2 = params.lambda_l2
    grow.min_gain_to_split = 0.0 if params.prune else params.min_gain_to_split
    grow.prune_below = params.min_gain_to_split if params.prune else 0.0
    grow.min_sum_hessian = params.min_sum_hessian_in_leaf
    grow.min_data = params.min_data_in_leaf
    grow.max_delta_step = max(params.max_delta_step, 0.0)
    grow.l1_in_gain = params.l1_in_gain or not _limits_values(params)
    grow.path_smooth = params.path_smooth
    grow.cat_l2 = params.cat_l2
    grow.cat_smooth = params.cat_smooth
    grow.min_data_per_group = params.min_data_per_group
    grow.max_cat_threshold = min(params.max_cat_threshold, _MAX_BINS)
    grow.max_cat_to_onehot = min(params.max_cat_to_onehot, _MAX_BINS)
    grow.linear_lambda = params.linear_lambda
    grow.linear_extrapolation = params.linear_extrapolation
    grow.linear_check = params.linear_check
    grow.fraction_by_tree = params.feature_fraction
    grow.fraction_by_level = params.feature_fraction_bylevel
    grow.fraction_by_node = params.feature_fraction_bynode
    grow.copies_samples = params.max_memory == 0
    if params.histogram_pool_size > 0:
        grow.max_histogram_bytes = int(min(params.histogram_pool_size, 2.0**40) * 2**20)
    return grow


def _limits_values(params: Params) -> bool:
    """Whether the rules of XGBoost for leaf values within limits apply to all leaves."""
    signs = [c[1] if isinstance(c, tuple) else c for c in params.monotone_constraints]
    return params.max_delta_step > 0 or any(signs)
