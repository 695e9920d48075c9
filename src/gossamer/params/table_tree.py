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
    _tree("max_depth", (), "int", -1, "Most splits between root and leaf; 0 or less: no limit."),
    _tree(
        "min_data_in_leaf",
        ("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
        "int",
        20,
        "Fewest rows a leaf may hold, counted exactly; at least 2 when `path_smooth` is on.",
        low=0,
    ),
    _tree(
        "min_sum_hessian_in_leaf",
        ("min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"),
        "float",
        1e-3,
        "Smallest sum of hessians a leaf may hold.",
        low=0,
    ),
    _tree(
        "min_gain_to_split",
        ("min_split_gain", "min_split_loss", "gamma"),
        "float",
        0.0,
        "Smallest gain worth a split. As in the code of LightGBM and XGBoost, the gain has no "
        "factor of one half, so this is twice the gamma of the XGBoost paper.",
        low=0,
    ),
    _tree(
        "prune",
        (),
        "bool",
        False,
        "Grow a tree as if `min_gain_to_split` were 0, and then take back the splits that gain "
        "less, from the leaves upwards: a split with better ones below it stays. Off, growth stops "
        "at such a split.",
    ),
    _tree(
        "lambda_l1",
        ("reg_alpha", "l1_regularization"),
        "float",
        0.0,
        "L1 penalty on leaf values. XGBoost's `alpha`, which is another parameter here.",
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
        "Largest absolute leaf value before shrinking; 0 or less means no limit, except that "
        "values of the log losses beyond 8 are damped.",
    ),
    _tree(
        "path_smooth",
        (),
        "float",
        0.0,
        "Pulls the value of a leaf with few rows towards its parent's value; 0 turns it off.",
        low=0,
    ),
    _tree(
        "extra_trees",
        ("extra_tree",),
        "bool",
        False,
        "Try a single random threshold per feature instead of all of them, or a single set of "
        "categories; target statistics are searched whole.",
    ),
    _tree(
        "extra_seed", (), "int", 6, "Seed of the random thresholds of `extra_trees`.", seed_number=5
    ),
    _tree(
        "linear_tree",
        ("linear_trees",),
        "bool",
        False,
        "Give leaves a linear model of the numerical columns on the path to them instead of a "
        "constant, where `linear_check` finds that it helps. Training then needs the raw values: "
        "give it to `Dataset` too where that is constructed before.",
        raw_values=True,
    ),
    _tree(
        "linear_lambda",
        (),
        "float",
        0.0,
        "L2 penalty on the coefficients of `linear_tree`; columns count in units of their standard "
        "deviation in the leaf.",
        low=0,
    ),
    _tree(
        "linear_extrapolation",
        (),
        "float",
        0.5,
        "How far a leaf of `linear_tree` may go beyond the values that its training rows got, as a "
        "multiple of their range; a huge number: as far as the line goes, as in LightGBM.",
        low=0,
        high=1e9,
    ),
    _tree(
        "linear_check",
        (),
        "bool",
        True,
        "Give a leaf of `linear_tree` slopes only where they lower the loss of rows that are left "
        "out of its fit, and only as far as they do; false: wherever they can be fitted, as in "
        "LightGBM.",
    ),
    _tree(
        "forcedsplits_filename",
        ("fs", "forced_splits_filename", "forced_splits_file", "forced_splits"),
        "forced_splits",
        "",
        "Splits that every tree starts with: nested dicts, or a JSON file with them.",
    ),
)

CATEGORICAL: Final = (
    _categorical(
        "min_data_per_group",
        (),
        "int",
        100,
        "Fewest rows a group of categories must have to be a candidate.",
        low=1,
    ),
    _categorical(
        "max_cat_threshold",
        (),
        "int",
        32,
        "Most categories on the smaller side of a split.",
        low=1,
    ),
    _categorical("cat_l2", (), "float", 10.0, "L2 penalty added in categorical splits.", low=0),
    _categorical(
        "cat_smooth",
        (),
        "float",
        10.0,
        "Added to the hessian when categories are ordered, against noise in rare ones.",
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
        "Encode categories by the labels of the rows before (ordered target statistics) instead of "
        "splitting them by sets. `auto`: columns of many categories for their rows.",
        choices={"auto": (), "on": (), "off": ()},
        fixed=True,
    ),
    _categorical(
        "cat_combinations",
        ("max_ctr_complexity",),
        "int",
        3,
        "Most columns whose combined categories are encoded together; 1: none are combined.",
        low=1,
        high=4,
        fixed=True,
    ),
    _categorical(
        "cat_prior_weight",
        (),
        "auto_float",
        5.0,
        "Rows that the mean of all labels counts for in the statistic of a category. `auto`: for "
        "each column by how much labels vary within its categories and between them.",
        low=0,
        low_open=True,
        fixed=True,
    ),
    _categorical(
        "cat_statistics_l2",
        (),
        "auto_float",
        50.0,
        "L2 penalty added in splits of target statistics. `auto`: ten times the rows that "
        "`cat_prior_weight=auto` finds for the column, from 50 to 200.",
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
        "Per column 1, -1 or 0: predictions rise with it, fall, or may do either. A list, or a "
        "dict that may leave columns out.",
        low=-1,
        high=1,
        fixed=True,
    ),
    _constraint(
        "monotone_constraints_method",
        ("monotone_constraining_method", "mc_method"),
        "enum",
        "basic",
        "How leaves are kept in order: `basic` is the fastest, `advanced` constrains them least.",
        choices={"basic": (), "intermediate": (), "advanced": ()},
    ),
    _constraint(
        "monotone_penalty",
        ("monotone_splits_penalty", "ms_penalty", "mc_penalty"),
        "float",
        0.0,
        "Discourages splits on monotone columns near the root; the first levels, as many as this "
        "says, have none.",
        low=0,
    ),
    _constraint(
        "interaction_constraints",
        (),
        "groups",
        (),
        "Groups of features; one path through a tree uses features of one group only. Features "
        "of no group are not used.",
    ),
    _constraint(
        "feature_contri",
        ("feature_contrib", "fc", "fp", "feature_penalty"),
        "floats_by_column",
        (),
        "Per feature a factor on the gain of its splits.",
        low=0,
    ),
    _cost(
        "cegb_tradeoff",
        (),
        "float",
        1.0,
        "Factor on all cost-effective gradient boosting penalties.",
        low=0,
    ),
    _cost(
        "cegb_penalty_split",
        (),
        "float",
        0.0,
        "Cost of any split, for each row of the leaf that is split.",
        low=0,
    ),
    _cost(
        "cegb_penalty_feature_lazy",
        (),
        "floats_by_column",
        (),
        "Per feature the cost of reading it, paid once for each row.",
        low=0,
    ),
    _cost(
        "cegb_penalty_feature_coupled",
        (),
        "floats_by_column",
        (),
        "Per feature the cost of using it, paid once for the model.",
        low=0,
    ),
)
