"""Parameters that choose rows, columns and trees at random."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_sampling = partial(Param, group="Sampling")
_dart = partial(Param, group="Dropout (dart)")
# A share of rows or columns, above 0 and at most 1.
_fraction = partial(_sampling, kind="float", default=1.0, low=0, low_open=True, high=1)

SAMPLING: Final = (
    _sampling(
        "data_sample_strategy",
        (),
        "enum",
        "bagging",
        "How the rows of a round are sampled: at random, or by their gradients (see [row "
        "sampling](sampling.md)).",
        choices={"bagging": (), "goss": (), "mvs": ()},
    ),
    _sampling(
        "sampling_method",
        (),
        "enum",
        "uniform",
        "XGBoost's name: `gradient_based` means `data_sample_strategy=mvs` with `subsample` as "
        "the share of rows. With `uniform`, `data_sample_strategy` decides.",
        choices={"uniform": (), "gradient_based": ()},
    ),
    _fraction(
        name="bagging_fraction",
        aliases=("sub_row", "subsample", "bagging"),
        doc="Share of the rows that a round uses, drawn without replacement. A value below 1 turns"
        " bagging on, see `bagging_freq`. With `mvs`, and with `goss` and `top_rate=auto`, it "
        "is the share of rows in the sample.",
    ),
    _fraction(
        name="pos_bagging_fraction",
        aliases=("pos_sub_row", "pos_subsample", "pos_bagging"),
        doc="Share of the positive rows that a round uses; only for `binary`.",
    ),
    _fraction(
        name="neg_bagging_fraction",
        aliases=("neg_sub_row", "neg_subsample", "neg_bagging"),
        doc="Share of the negative rows that a round uses; only for `binary`.",
    ),
    _sampling(
        "bagging_freq",
        ("subsample_freq",),
        "int",
        0,
        "Number of rounds between two samples; 0 or less turns bagging off. If it is not set and"
        " a bagging fraction is below 1, it is 1 (LightGBM would ignore the fraction).",
    ),
    _sampling(
        "bagging_seed",
        ("bagging_fraction_seed",),
        "int",
        3,
        "Seed for row sampling.",
        seed_number=1,
    ),
    _sampling(
        "bagging_by_query",
        (),
        "bool",
        False,
        "Sample whole queries instead of rows.",
    ),
    _sampling(
        "top_rate",
        (),
        "auto_float",
        0.2,
        "Share of rows with the largest gradients that GOSS keeps. `auto` chooses both rates in "
        "each round: for the smallest error if `bagging_fraction` sets the number of rows, "
        "otherwise for the fewest rows within `goss_error`.",
        low=0,
        high=1,
    ),
    _sampling(
        "other_rate",
        (),
        "float",
        0.1,
        "Share of all rows that GOSS samples from the remaining rows. Their gradients and "
        "hessians are scaled up.",
        low=0,
        high=1,
    ),
    _sampling(
        "goss_error",
        (),
        "float",
        1.5,
        "For `top_rate=auto`: how much noise sampling may add to a sum of gradients, relative to"
        " the noise that is in the sum already. Smaller values use more rows.",
        low=0,
        low_open=True,
    ),
    _sampling(
        "mvs_reg",
        (),
        "auto_float",
        "auto",
        "Weight of the hessian in the score of a row for `mvs`: sqrt(g^2 + `mvs_reg` h^2). "
        "`auto` is the square of (sum of absolute gradients / sum of hessians) in the round.",
        low=0,
    ),
    _fraction(
        name="feature_fraction",
        aliases=("sub_feature", "colsample_bytree"),
        doc="Share of the features sampled for each tree.",
    ),
    _fraction(
        name="feature_fraction_bylevel",
        aliases=("colsample_bylevel",),
        doc="Share of the tree's features sampled for each level of depth.",
    ),
    _fraction(
        name="feature_fraction_bynode",
        aliases=("sub_feature_bynode", "colsample_bynode"),
        doc="Share of the level's features sampled for each node.",
    ),
    _sampling("feature_fraction_seed", (), "int", 2, "Seed for feature sampling.", seed_number=3),
    _sampling(
        "feature_weights",
        (),
        "floats_by_column",
        (),
        "Weight of each feature when features are sampled: a larger weight makes a feature more "
        "likely.",
        low=0,
    ),
)

DART: Final = (
    _dart(
        "drop_rate",
        ("rate_drop",),
        "float",
        0.1,
        "Probability that a tree is dropped in a round.",
        low=0,
        high=1,
    ),
    _dart(
        "max_drop",
        (),
        "int",
        50,
        "Maximum number of trees dropped in a round; 0 or less means no limit.",
    ),
    _dart(
        "skip_drop",
        (),
        "float",
        0.5,
        "Probability that a round has no dropout.",
        low=0,
        high=1,
    ),
    _dart(
        "xgboost_dart_mode",
        (),
        "bool",
        False,
        "Weight the trees as XGBoost does.",
    ),
    _dart(
        "drop_single_trees",
        (),
        "bool",
        False,
        "Drop single trees, as XGBoost does, instead of all trees of a round. This makes a "
        "difference with several trees per round: several classes or targets, or "
        "`num_parallel_tree`.",
        fixed=True,
    ),
    _dart(
        "normalize_type",
        (),
        "enum",
        "tree",
        "With `xgboost_dart_mode`: whether a new tree gets the weight of one dropped tree (`tree`) "
        "or of all of them together (`forest`).",
        choices={"tree": (), "forest": ()},
    ),
    _dart(
        "uniform_drop",
        (),
        "bool",
        False,
        "Drop trees with equal probability instead of by weight.",
    ),
    _dart("drop_seed", (), "int", 4, "Seed for dropout.", seed_number=2),
)
