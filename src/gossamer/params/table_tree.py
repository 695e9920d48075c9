"""Parameters of a single tree: limits, penalties, categorical splits, constraints."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_tree = partial(Param, group="Trees")
_categorical = partial(Param, group="Categorical splits")
_constraint = partial(Param, group="Constraints")
_cost = partial(_constraint, cost=True)

TREE: Final = (
    _tree(
        "max_depth",
        (),
        "int",
        -1,
        "Maximum number of splits between the root and a leaf; 0 or less means no limit.",
    ),
    _tree(
        "min_data_in_leaf",
        ("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
        "int",
        20,
        "Minimum number of rows in a leaf, counted exactly; at least 2 with `path_smooth`.",
        low=0,
    ),
    _tree(
        "min_sum_hessian_in_leaf",
        ("min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"),
        "float",
        1e-3,
        "Minimum sum of hessians in a leaf.",
        low=0,
    ),
    _tree(
        "min_gain_to_split",
        ("min_split_gain", "min_split_loss", "gamma"),
        "float",
        0.0,
        "Minimum gain of a split. As in the code of LightGBM and XGBoost, the gain has no factor"
        " of one half, so this is twice the gamma of the XGBoost paper.",
        low=0,
    ),
    _tree(
        "prune",
        (),
        "bool",
        False,
        "Grow a tree as if `min_gain_to_split` were 0, then remove splits with a smaller gain, "
        "from the leaves upwards. A split stays if a split below it is good enough. If false, "
        "growth stops at such a split.",
    ),
    _tree(
        "lambda_l1",
        ("reg_alpha", "l1_regularization"),
        "float",
        0.0,
        "L1 penalty on leaf values. XGBoost calls it `alpha`, which is a different parameter here.",
        low=0,
    ),
    _tree(
        "lambda_l2",
        ("reg_lambda", "lambda", "l2_regularization"),
        "float",
        0.0,
        "L2 penalty on leaf values.",
        low=0,
    ),
    _tree(
        "max_delta_step",
        ("max_tree_output", "max_leaf_output"),
        "float",
        0.0,
        "Maximum absolute leaf value before `learning_rate` is applied; 0 or less means no "
        "limit, except that values beyond 8 are damped for the log losses.",
    ),
    _tree(
        "l1_in_gain",
        (),
        "bool",
        True,
        "Count `lambda_l1` in the gains of splits where `max_delta_step` or "
        "`monotone_constraints` limit leaf values. XGBoost up to 3.2 does not.",
    ),
    _tree(
        "path_smooth",
        (),
        "float",
        0.0,
        "Shrinks the value of a leaf with few rows towards its parent's value; 0 turns it off.",
        low=0,
    ),
    _tree(
        "extra_trees",
        ("extra_tree",),
        "bool",
        False,
        "Try only one random threshold per feature, or one random set of categories. Target "
        "statistics are still searched completely.",
    ),
    _tree(
        "extra_seed",
        (),
        "int",
        6,
        "Seed for the random thresholds of `extra_trees`.",
        seed_number=5,
    ),
    _tree(
        "linear_tree",
        ("linear_trees",),
        "bool",
        False,
        "Fit a linear model in each leaf, with the numerical features on its path, instead of a "
        "constant. `linear_check` decides which leaves get one. Training needs the raw values: "
        "if the `Dataset` is constructed before training, pass this parameter to it too.",
        raw_values=True,
    ),
    _tree(
        "linear_lambda",
        (),
        "float",
        0.0,
        "L2 penalty on the coefficients of `linear_tree`. Features are scaled by their standard "
        "deviation in the leaf.",
        low=0,
    ),
    _tree(
        "linear_extrapolation",
        (),
        "float",
        0.5,
        "How far the predictions of a `linear_tree` leaf may go beyond the range of its training"
        " rows, as a multiple of this range. A very large number means no limit, as in LightGBM.",
        low=0,
        high=1e9,
    ),
    _tree(
        "linear_check",
        (),
        "bool",
        True,
        "Fit a linear model in a leaf of `linear_tree` only if it lowers the loss on rows that "
        "are held out of the fit, and shrink its slopes accordingly. If false, linear models are"
        " fitted wherever possible, as in LightGBM.",
    ),
    _tree(
        "forcedsplits_filename",
        ("fs", "forced_splits_filename", "forced_splits_file", "forced_splits"),
        "forced_splits",
        "",
        "Splits at the top of every tree: nested dicts, or the name of a JSON file.",
    ),
)

CATEGORICAL: Final = (
    _categorical(
        "min_data_per_group",
        (),
        "int",
        100,
        "Minimum number of rows in a group of categories that is tried as a split.",
        low=1,
    ),
    _categorical(
        "max_cat_threshold",
        (),
        "int",
        32,
        "Maximum number of categories on the smaller side of a split.",
        low=1,
    ),
    _categorical("cat_l2", (), "float", 10.0, "L2 penalty added in categorical splits.", low=0),
    _categorical(
        "cat_smooth",
        (),
        "float",
        10.0,
        "Added to the hessian when categories are sorted, to reduce the noise of rare categories.",
        low=0,
    ),
    _categorical(
        "max_cat_to_onehot",
        (),
        "int",
        4,
        "Features with at most this many categories are split one against the rest.",
        low=1,
    ),
    _categorical(
        "cat_target_statistics",
        (),
        "enum",
        "auto",
        "Encode categories by the labels of earlier rows (ordered target statistics) instead of "
        "splitting on sets of categories. `auto` does so for columns with many categories for "
        "their number of rows.",
        choices={"auto": (), "on": (), "off": ()},
        fixed=True,
    ),
    _categorical(
        "cat_combinations",
        ("max_ctr_complexity",),
        "int",
        3,
        "Maximum number of columns whose categories are combined and encoded together; 1 turns "
        "combinations off.",
        low=1,
        high=4,
        fixed=True,
    ),
    _categorical(
        "cat_prior_weight",
        (),
        "auto_float",
        5.0,
        "Number of rows that the overall mean of the labels counts as in the statistic of a "
        "category. `auto` chooses it for each column from the variation of labels within and "
        "between its categories.",
        low=0,
        low_open=True,
        fixed=True,
    ),
    _categorical(
        "cat_statistics_l2",
        (),
        "auto_float",
        50.0,
        "L2 penalty added in splits on target statistics. `auto` is ten times the number of rows"
        " that `cat_prior_weight=auto` chooses for the column, between 50 and 200.",
        low=0,
        fixed=True,
    ),
)

CONSTRAINTS: Final = (
    _constraint(
        "monotone_constraints",
        ("mc", "monotone_constraint", "monotonic_cst"),
        "ints_by_column",
        (),
        "1, -1 or 0 for each feature: predictions increase with the feature, decrease, or are "
        "not constrained. A list, or a dict of the constrained features.",
        low=-1,
        high=1,
        fixed=True,
    ),
    _constraint(
        "monotone_constraints_method",
        ("monotone_constraining_method", "mc_method"),
        "enum",
        "basic",
        "How leaves are kept in order: `basic` is the fastest method, `advanced` constrains "
        "leaves the least.",
        choices={"basic": (), "intermediate": (), "advanced": ()},
    ),
    _constraint(
        "monotone_penalty",
        ("monotone_splits_penalty", "ms_penalty", "mc_penalty"),
        "float",
        0.0,
        "Penalty for splits on constrained features near the root. The first `monotone_penalty` "
        "levels have no such splits.",
        low=0,
    ),
    _constraint(
        "interaction_constraints",
        (),
        "groups",
        (),
        "Groups of features. All features on a path through a tree must be in the same group. "
        "Features that are in no group are not used.",
    ),
    _constraint(
        "feature_contri",
        ("feature_contrib", "fc", "fp", "feature_penalty"),
        "floats_by_column",
        (),
        "Factor for the gain of splits, for each feature.",
        low=0,
    ),
    _cost(
        "cegb_tradeoff",
        (),
        "float",
        1.0,
        "Factor for all penalties of cost-effective gradient boosting.",
        low=0,
    ),
    _cost(
        "cegb_penalty_split",
        (),
        "float",
        0.0,
        "Cost of a split, for each row of the leaf.",
        low=0,
    ),
    _cost(
        "cegb_penalty_feature_lazy",
        (),
        "floats_by_column",
        (),
        "Cost of each feature, charged once for each row that uses it.",
        low=0,
    ),
    _cost(
        "cegb_penalty_feature_coupled",
        (),
        "floats_by_column",
        (),
        "Cost of each feature, charged once for the model.",
        low=0,
    ),
)
