"""Parameters that a training cannot change."""

from __future__ import annotations

from typing import Final

from gossamer.data.build import BINNING_PARAMS
from gossamer.errors import ParameterError, message
from gossamer.params import Params

# What a training cannot change half-way.
_FIXED: Final = (
    "seed",  # before those that follow from it
    "tree_method",  # likewise
    "num_iterations",
    "early_stopping_round",
    "early_stopping_min_delta",
    "first_metric_only",
    "is_provide_training_metric",
    "objective",
    "num_class",
    "boosting",
    "num_parallel_tree",
    "multi_strategy",
    "boost_from_average",
    "sigmoid",
    "is_unbalance",
    "scale_pos_weight",
    "base_score",
    "reg_sqrt",
    "alpha",
    "fair_c",
    "poisson_max_delta_step",
    "tweedie_variance_power",
    "huber_slope",
    "expectile_alpha",
    "focal_gamma",
    "focal_alpha",
    "quantile_alpha",
    "aft_loss_distribution",
    "aft_loss_distribution_scale",
    "objective_seed",
    "label_gain",
    "lambdarank_truncation_level",
    "lambdarank_norm",
    "lambdarank_position_bias_regularization",
    "lambdarank_pair_method",
    "lambdarank_num_pair_per_sample",
    "lambdarank_normalization",
    "lambdarank_score_normalization",
    "ndcg_exp_gain",
    "monotone_constraints",
    "proposal",
    "categorical_feature",
    "cat_target_statistics",
    "cat_combinations",
    "cat_prior_weight",
    "cat_statistics_l2",
    *BINNING_PARAMS,
    "sketch_eps",  # may follow from max_bin
)


def check_fixed(params: Params, before: Params) -> None:
    """Raise if other parameters for the rounds to come change what is fixed.

    Raises:
        ParameterError: If one of them cannot change during a training.
    """
    for name in _FIXED:
        if params[name] != before[name]:
            raise ParameterError(
                message(
                    f"{name} cannot change during a training",
                    got=params[name],
                    expected=repr(before[name]),
                )
            )
