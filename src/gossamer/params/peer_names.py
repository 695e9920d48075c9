"""Which library knows a parameter under which of its names."""

from __future__ import annotations

from typing import Final

from gossamer.params.param import Param

_LAMBDARANK: Final = (
    "lambdarank_bias_norm",
    "lambdarank_normalization",
    "lambdarank_num_pair_per_sample",
    "lambdarank_pair_method",
    "lambdarank_score_normalization",
    "lambdarank_unbiased",
)

# Names of CatBoost and scikit-learn that are not aliases: their values may mean something else.
OTHER_NAMES: Final = {
    "iterations": "num_iterations",
    "depth": "max_depth",
    "l2_leaf_reg": "lambda_l2",
    "rsm": "feature_fraction",
    "border_count": "max_bin",
    "od_wait": "early_stopping_round",
    "loss_function": "objective",
    "max_features": "feature_fraction_bynode",
    "max_leaf_nodes": "num_leaves",
    "min_samples_leaf": "min_data_in_leaf",
    "l2_regularization": "lambda_l2",
    "verbose_eval": "callbacks=[gossamer.log_evaluation(10)]",
    "cat_features": "categorical_feature",
}

# Names that LightGBM 4.7 does not know.
NOT_LIGHTGBMS: Final = frozenset(
    {
        "aft_loss_distribution",
        "aft_loss_distribution_scale",
        "base_score",
        "booster",
        "bundle_order",
        "cache_dir",
        "cat_combinations",
        "cat_prior_weight",
        "cat_statistics_l2",
        "cat_target_statistics",
        "colsample_bylevel",
        "drop_single_trees",
        "eval_metric",
        "expectile_alpha",
        "feature_fraction_bylevel",
        "feature_weights",
        "focal_alpha",
        "focal_gamma",
        "forced_bins",
        "gamma",
        "goss_error",
        "grow_policy",
        "huber_slope",
        "l1_in_gain",
        *_LAMBDARANK,
        "linear_check",
        "linear_extrapolation",
        "max_conflict_rate",
        "max_ctr_complexity",
        "max_memory",
        "min_split_loss",
        "multi_strategy",
        "mvs_reg",
        "ndcg_exp_gain",
        "normalize_type",
        "num_parallel_tree",
        "proposal",
        "prune",
        "quantile_alpha",
        "sampling_method",
        "sketch_eps",
        "tree_method",
        "weighted_bins",
    }
)

# Names that XGBoost 3 knows, in the same sense.
XGBOOSTS: Final = frozenset(
    {
        "aft_loss_distribution",
        "aft_loss_distribution_scale",
        "base_score",
        "boost_from_average",
        "booster",
        "colsample_bylevel",
        "colsample_bynode",
        "colsample_bytree",
        "device",
        "eta",
        "eval_metric",
        "expectile_alpha",
        "feature_weights",
        "gamma",
        "grow_policy",
        "huber_slope",
        "interaction_constraints",
        "lambda",
        *_LAMBDARANK,
        "learning_rate",
        "max_bin",
        "max_cat_threshold",
        "max_cat_to_onehot",
        "max_delta_step",
        "max_depth",
        "max_leaves",
        "min_child_weight",
        "min_split_loss",
        "monotone_constraints",
        "multi_strategy",
        "n_estimators",
        "n_jobs",
        "ndcg_exp_gain",
        "normalize_type",
        "nthread",
        "num_boost_round",
        "num_class",
        "num_parallel_tree",
        "objective",
        "quantile_alpha",
        "random_state",
        "rate_drop",
        "reg_alpha",
        "reg_lambda",
        "sampling_method",
        "scale_pos_weight",
        "seed",
        "skip_drop",
        "subsample",
        "tree_method",
        "tweedie_variance_power",
        "verbosity",
    }
)


def names_in_lightgbm(param: Param) -> list[str]:
    """Return the names under which LightGBM takes the parameter, its own first.

    Example:
        >>> from gossamer.params import TABLE
        >>> names_in_lightgbm(TABLE["min_gain_to_split"])
        ['min_gain_to_split', 'min_split_gain']
    """
    return [name for name in (param.name, *param.aliases) if name not in NOT_LIGHTGBMS]


def names_in_xgboost(param: Param) -> list[str]:
    """Return the names under which XGBoost takes the parameter.

    Example:
        >>> from gossamer.params import TABLE
        >>> names_in_xgboost(TABLE["min_gain_to_split"])
        ['min_split_loss', 'gamma']
    """
    found = [name for name in (param.name, *param.aliases) if name in XGBOOSTS]
    # Its `alpha` is not an alias: here, as in LightGBM, that is the quantile.
    return [*found, "alpha"] if param.name == "lambda_l1" else found


def further_names(param: Param) -> list[str]:
    """Return the aliases that neither of them knows.

    Example:
        >>> from gossamer.params import TABLE
        >>> further_names(TABLE["cat_combinations"])
        ['max_ctr_complexity']
    """
    known = {*names_in_lightgbm(param), *names_in_xgboost(param)}
    return [name for name in param.aliases if name not in known]
