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
        "How rows are sampled for a round: at random, or by their gradients "
        "(see [row sampling](sampling.md)).",
        choices={"bagging": (), "goss": (), "mvs": ()},
    ),
    _sampling(
        "sampling_method",
        (),
        "enum",
        "uniform",
        "XGBoost's name: `gradient_based` is `data_sample_strategy=mvs` with `subsample` as the "
        "share of rows, `uniform` leaves the choice to `data_sample_strategy`.",
        choices={"uniform": (), "gradient_based": ()},
    ),
    _fraction(
        name="bagging_fraction",
        aliases=("sub_row", "subsample", "bagging"),
        doc="Share of the rows used for a round, drawn without replacement. "
        "Below 1 it turns bagging on, see `bagging_freq`. For `mvs`, and for `goss` with "
        "`top_rate=auto`, it is the share of rows used.",
    ),
    _fraction(
        name="pos_bagging_fraction",
        aliases=("pos_sub_row", "pos_subsample", "pos_bagging"),
        doc="Share of the positive rows used for a round; only for `binary`.",
    ),
    _fraction(
        name="neg_bagging_fraction",
        aliases=("neg_sub_row", "neg_subsample", "neg_bagging"),
        doc="Share of the negative rows used for a round; only for `binary`.",
    ),
    _sampling(
        "bagging_freq",
        ("subsample_freq",),
        "int",
        0,
        "Draw new rows every so many rounds; 0 or less turns bagging off. When it is not given "
        "and a bagging fraction is below 1, it is 1 (LightGBM would ignore the fraction).",
    ),
    _sampling(
        "bagging_seed", ("bagging_fraction_seed",), "int", 3, "Seed of row sampling.", seed_number=1
    ),
    _sampling(
        "bagging_by_query",
        (),
        "bool",
        False,
        "Bagging draws whole queries instead of rows.",
    ),
    _sampling(
        "top_rate",
        (),
        "auto_float",
        0.2,
        "Share of rows with the largest gradients that GOSS keeps. `auto` chooses both rates "
        "each round: with the smallest error if `bagging_fraction` says how many rows to use, "
        "otherwise the fewest rows that hold `goss_error`.",
        low=0,
        high=1,
    ),
    _sampling(
        "other_rate",
        (),
        "float",
        0.1,
        "Share of all rows that GOSS draws from those it does not keep; their gradients and "
        "hessians are weighted up.",
        low=0,
        high=1,
    ),
    _sampling(
        "goss_error",
        (),
        "float",
        1.5,
        "With `top_rate=auto`: noise that sampling may add to a sum of gradients, in units of the "
        "noise it has anyway. Less means more rows.",
        low=0,
        low_open=True,
    ),
    _sampling(
        "mvs_reg",
        (),
        "auto_float",
        "auto",
        "How much the hessian counts when `mvs` scores a row: sqrt(g^2 + `mvs_reg` h^2). `auto` is "
        "the square of (sum of gradient sizes / sum of hessians) of the round.",
        low=0,
    ),
    _fraction(
        name="feature_fraction",
        aliases=("sub_feature", "colsample_bytree"),
        doc="Share of the features drawn for each tree.",
    ),
    _fraction(
        name="feature_fraction_bylevel",
        aliases=("colsample_bylevel",),
        doc="Share of the tree's features drawn for each level of depth.",
    ),
    _fraction(
        name="feature_fraction_bynode",
        aliases=("sub_feature_bynode", "colsample_bynode"),
        doc="Share of the level's features drawn for each node.",
    ),
    _sampling("feature_fraction_seed", (), "int", 2, "Seed of feature sampling.", seed_number=3),
    _sampling(
        "feature_weights",
        (),
        "floats_by_column",
        (),
        "Per feature how likely it is to be drawn, relative to others, when features are sampled.",
        low=0,
    ),
)

DART: Final = (
    _dart(
        "drop_rate",
        ("rate_drop",),
        "float",
        0.1,
        "Chance of a tree to be left out of a round.",
        low=0,
        high=1,
    ),
    _dart(
        "max_drop",
        (),
        "int",
        50,
        "Most trees left out of a round; 0 or less means no limit.",
    ),
    _dart(
        "skip_drop",
        (),
        "float",
        0.5,
        "Chance of a round without any dropout.",
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
        "uniform_drop",
        (),
        "bool",
        False,
        "Leave trees out with equal chances instead of by weight.",
    ),
    _dart("drop_seed", (), "int", 4, "Seed of the dropout.", seed_number=2),
)
