"""What LightGBM and XGBoost call the parameters of the table."""

from __future__ import annotations

from typing import Final

from gossamer.params.table import CANONICAL, TABLE

# Canonical names that LightGBM does not have; all others are its own.
NOT_LIGHTGBM: Final = frozenset(
    {
        "aft_loss_distribution",
        "aft_loss_distribution_scale",
        "base_score",
        "bundle_order",
        "cat_combinations",
        "cat_prior_weight",
        "cat_statistics_l2",
        "cat_target_statistics",
        "expectile_alpha",
        "feature_fraction_bylevel",
        "feature_weights",
        "focal_alpha",
        "focal_gamma",
        "goss_error",
        "grow_policy",
        "huber_slope",
        "lambdarank_normalization",
        "lambdarank_num_pair_per_sample",
        "lambdarank_pair_method",
        "lambdarank_score_normalization",
        "linear_extrapolation",
        "max_conflict_rate",
        "multi_strategy",
        "mvs_reg",
        "ndcg_exp_gain",
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

# Names of XGBoost, its estimators included, that mean the same here.
_XGBOOST: Final = (
    *("eta", "learning_rate", "gamma", "min_split_loss", "max_depth", "min_child_weight"),
    *("max_delta_step", "lambda", "reg_lambda", "alpha", "reg_alpha", "subsample"),
    *("colsample_bytree", "colsample_bylevel", "colsample_bynode", "tree_method", "grow_policy"),
    *("max_leaves", "max_bin", "num_parallel_tree", "sampling_method", "sketch_eps"),
    *("scale_pos_weight", "base_score", "boost_from_average", "num_class", "multi_strategy"),
    *("seed", "random_state", "nthread", "n_jobs", "rate_drop", "skip_drop", "objective"),
    *("max_cat_to_onehot", "max_cat_threshold", "monotone_constraints", "tweedie_variance_power"),
    *("interaction_constraints", "feature_weights", "huber_slope", "quantile_alpha"),
    *("expectile_alpha", "aft_loss_distribution", "aft_loss_distribution_scale"),
    *("lambdarank_pair_method", "lambdarank_num_pair_per_sample", "lambdarank_normalization"),
    *("lambdarank_score_normalization", "ndcg_exp_gain", "n_estimators", "num_boost_round"),
    *("early_stopping_rounds", "eval_metric", "verbosity"),
)
# Where XGBoost's name is no alias here, or that of something else.
_RENAMED: Final = {"alpha": "lambda_l1", "eval_metric": "metric", "rate_drop": "drop_rate"}


def xgboost_names(name: str) -> list[str]:
    """Return what XGBoost calls a parameter; empty: it has nothing that means the same.

    Example:
        >>> [xgboost_names(name) for name in ("learning_rate", "num_leaves", "linear_tree")]
        [['eta', 'learning_rate'], ['max_leaves'], []]
    """
    return [n for n in _XGBOOST if _RENAMED.get(n, CANONICAL.get(n)) == name]


def lightgbm_name(name: str) -> str | None:
    """Return what LightGBM calls a parameter; None: it has none.

    Example:
        >>> lightgbm_name("num_leaves"), lightgbm_name("tree_method")
        ('num_leaves', None)
    """
    return None if name in NOT_LIGHTGBM or name not in TABLE else name
