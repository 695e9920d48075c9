"""Parameters of objectives and metrics."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_objective = partial(Param, group="Objective")
_metric = partial(Param, group="Metric")

OBJECTIVE: Final = (
    _objective("objective_seed", (), "int", 5, "Seed for objectives that draw random numbers."),
    _objective(
        "num_class",
        ("num_classes",),
        "int",
        1,
        "Number of classes: above 1 for `multiclass`, 1 for others; a custom objective may "
        "have either.",
        low=1,
    ),
    _objective(
        "is_unbalance",
        ("unbalance", "unbalanced_sets"),
        "bool",
        False,
        "For `binary`: weight the classes so that both count the same. "
        "Not together with `scale_pos_weight`.",
    ),
    _objective(
        "scale_pos_weight",
        (),
        "float",
        1.0,
        "For `binary`: weight of the positive rows.",
        low=0,
        low_open=True,
    ),
    _objective(
        "sigmoid",
        (),
        "float",
        1.0,
        "For `binary`: steepness of the sigmoid from raw score to probability; for `lambdarank` of "
        "that from a difference of scores.",
        low=0,
        low_open=True,
    ),
    _objective(
        "boost_from_average",
        (),
        "bool",
        True,
        "Start from the best constant instead of from zero.",
    ),
    _objective(
        "base_score",
        (),
        "float",
        None,
        "Prediction that boosting starts from.",
        supported=False,
    ),
    _objective(
        "reg_sqrt",
        (),
        "bool",
        False,
        "Fit the square root of the label, and square the prediction.",
        supported=False,
    ),
    _objective(
        "alpha",
        (),
        "float",
        0.9,
        "For `huber` where the loss becomes linear, for `quantile` the quantile. With any other "
        "objective, `alpha` is XGBoost's name for `lambda_l1` and is read as that, unless the L1 "
        "penalty is given by another name too.",
        low=0,
        low_open=True,
        supported=False,
    ),
    _objective(
        "fair_c",
        (),
        "float",
        1.0,
        "For `fair`: scale of the loss.",
        low=0,
        low_open=True,
        supported=False,
    ),
    _objective(
        "poisson_max_delta_step",
        (),
        "float",
        0.7,
        "For `poisson`: keeps the hessian away from zero.",
        low=0,
        low_open=True,
        supported=False,
    ),
    _objective(
        "tweedie_variance_power",
        (),
        "float",
        1.5,
        "For `tweedie`: between 1 (Poisson) and 2 (gamma).",
        low=1,
        high=2,
        high_open=True,
        supported=False,
    ),
    _objective(
        "lambdarank_truncation_level",
        (),
        "int",
        30,
        "For `lambdarank`: only pairs with one row above this rank count.",
        low=1,
    ),
    _objective(
        "lambdarank_norm",
        (),
        "bool",
        True,
        "For `lambdarank`: normalise the gradients of each query.",
    ),
    _objective(
        "label_gain",
        (),
        "floats",
        tuple(float(2**label - 1) for label in range(31)),
        "For `lambdarank` and `ndcg`: gain of each label 0, 1, 2, ...; where it is not given "
        "2^label - 1, whatever the labels are.",
    ),
    _objective(
        "lambdarank_position_bias_regularization",
        (),
        "float",
        0.0,
        "For ranking by pairs with positions: penalty on the position biases.",
        low=0,
    ),
    _objective(
        "lambdarank_pair_method",
        (),
        "enum",
        "topk",
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: pairs with one of the first rows by "
        "score (`topk`), or drawn for each row (`mean`).",
        choices={"topk": (), "mean": ()},
    ),
    _objective(
        "lambdarank_num_pair_per_sample",
        (),
        "int",
        None,
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: how many first rows are paired, 32 "
        "unless given, or with `lambdarank_pair_method=mean` pairs per row, 1 unless given.",
        low=1,
    ),
    _objective(
        "lambdarank_normalization",
        (),
        "bool",
        True,
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: normalise the gradients of each query.",
    ),
    _objective(
        "lambdarank_score_normalization",
        (),
        "bool",
        True,
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: pairs count less the further apart their "
        "scores are.",
    ),
    _objective(
        "ndcg_exp_gain",
        (),
        "bool",
        True,
        "For `rank:ndcg`: gains are 2^label - 1, otherwise the labels.",
    ),
)

METRIC: Final = (
    _metric(
        "metric",
        ("metrics", "metric_types", "eval_metric"),
        "metrics",
        None,
        "Metrics to evaluate, one name, several separated by commas, or a list. An empty string "
        "or None stands for the objective's own metric; `custom` (the string `none`) or an empty "
        "list for no metric.",
        choices={
            "l1": ("mean_absolute_error", "mae", "regression_l1"),
            "l2": ("mean_squared_error", "mse", "regression_l2", "regression"),
            "rmse": ("root_mean_squared_error", "l2_root"),
            "quantile": (),
            "mape": ("mean_absolute_percentage_error",),
            "huber": (),
            "fair": (),
            "poisson": (),
            "gamma": (),
            "gamma_deviance": ("gamma-deviance",),
            "tweedie": (),
            "r2": (),
            "ndcg": (
                "lambdarank",
                "rank_xendcg",
                "xendcg",
                "xe_ndcg",
                "xe_ndcg_mart",
                "xendcg_mart",
            ),
            "map": ("mean_average_precision",),
            "pre": ("precision",),
            "auc": (),
            "average_precision": (),
            "binary_logloss": ("binary", "logloss"),
            "binary_error": ("error",),
            "auc_mu": (),
            "multi_logloss": (
                "multiclass",
                "softmax",
                "multiclassova",
                "multiclass_ova",
                "ova",
                "ovr",
                "mlogloss",
            ),
            "multi_error": ("merror",),
            "cross_entropy": ("xentropy",),
            "cross_entropy_lambda": ("xentlambda",),
            "kullback_leibler": ("kldiv",),
            "custom": ("none", "null", "na"),
        },
        supported=(
            "l1",
            "l2",
            "rmse",
            "ndcg",
            "map",
            "pre",
            "auc",
            "binary_logloss",
            "binary_error",
            "multi_logloss",
            "multi_error",
            "custom",
        ),
    ),
    _metric("metric_freq", ("output_freq",), "int", 1, "Rounds between two evaluations.", low=1),
    _metric(
        "is_provide_training_metric",
        ("training_metric", "is_training_metric", "train_metric"),
        "bool",
        False,
        "Evaluate on the training data too.",
    ),
    _metric(
        "multi_error_top_k",
        (),
        "int",
        1,
        "For `multi_error`: a row is right when its class is among this many best.",
        low=1,
    ),
    _metric(
        "eval_at",
        ("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
        "ints",
        (1, 2, 3, 4, 5),
        "For `ndcg`, `map` and `pre`: the ranks to evaluate at, unless the name has one, as "
        "`ndcg@10`.",
    ),
    _metric(
        "auc_mu_weights",
        (),
        "floats",
        (),
        "For `auc_mu`: matrix of misclassification costs, row by row.",
        supported=False,
    ),
)
