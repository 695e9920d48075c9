"""Parameters of objectives and metrics."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_objective = partial(Param, group="Objective", fixed=True)
_metric = partial(Param, group="Metric")

OBJECTIVE: Final = (
    _objective(
        "objective_seed",
        (),
        "int",
        5,
        "Seed for objectives that use random numbers.",
        seed_number=4,
    ),
    _objective(
        "num_class",
        ("num_classes",),
        "int",
        1,
        "Number of classes: above 1 for `multiclass`, `multi:softmax` and `multiclassova`, 1 for"
        " other objectives. A custom objective may have any number.",
        low=1,
        high=1000000,
    ),
    _objective(
        "is_unbalance",
        ("unbalance", "unbalanced_sets"),
        "bool",
        False,
        "For `binary` and `multiclassova`: weight the classes so that both have the same total "
        "weight. Cannot be combined with `scale_pos_weight`.",
    ),
    _objective(
        "scale_pos_weight",
        (),
        "float",
        1.0,
        "For `binary` and `multiclassova`: weight of the positive rows.",
        low=0,
        low_open=True,
    ),
    _objective(
        "sigmoid",
        (),
        "float",
        1.0,
        "For `binary` and `multiclassova`: steepness of the sigmoid from raw score to "
        "probability. For `lambdarank`: steepness of the sigmoid of score differences.",
        low=0,
        low_open=True,
    ),
    _objective(
        "boost_from_average",
        (),
        "bool",
        True,
        "Start from the best constant instead of zero.",
    ),
    _objective(
        "base_score",
        (),
        "float",
        None,
        "The prediction that boosting starts from, instead of the best constant. `init_score` of"
        " the data takes precedence. Only for objectives with one score per prediction.",
    ),
    _objective(
        "multi_strategy",
        (),
        "enum",
        "one_output_per_tree",
        "For several targets or classes: grow one tree for each of them in every round, or "
        "(`multi_output_tree`) one tree whose leaves have a value for each.",
        choices={"one_output_per_tree": (), "multi_output_tree": ()},
    ),
    _objective(
        "reg_sqrt",
        (),
        "bool",
        False,
        "For `regression`, `regression_l1` and `fair`: fit the signed square root of the label, "
        "and square the predictions.",
    ),
    _objective(
        "alpha",
        (),
        "float",
        0.9,
        "For `huber`, the error at which the loss becomes linear. For `quantile`, the quantile. "
        "For `expectile`, the same as `expectile_alpha`. Other objectives ignore it. "
        "XGBoost also calls the L1 penalty `alpha`, which is `lambda_l1` here.",
        low=0,
        low_open=True,
    ),
    _objective(
        "fair_c",
        (),
        "float",
        1.0,
        "For `fair`: scale of the loss.",
        low=0,
        low_open=True,
    ),
    _objective(
        "poisson_max_delta_step",
        (),
        "auto_float",
        "auto",
        "For `poisson`: hessians are multiplied by exp of this value, so LightGBM's default 0.7 "
        "halves every step. `auto` means 0.7 for rare counts (if the variance of the labels is "
        "more than twice their squared mean), and no factor otherwise.",
        low=0,
        low_open=True,
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
    ),
    _objective(
        "huber_slope",
        (),
        "float",
        1.0,
        "For `pseudo_huber`: the error at which the loss changes from quadratic to linear.",
        low=0,
        low_open=True,
    ),
    _objective(
        "expectile_alpha",
        (),
        "float",
        0.5,
        "For `expectile`: weight of labels above the prediction; labels below it have weight 1 "
        "minus this value. 0.5 gives the mean. If it is not set, `alpha` is used.",
        low=0,
        low_open=True,
        high=1,
        high_open=True,
    ),
    _objective(
        "focal_gamma",
        (),
        "float",
        2.0,
        "For `focal`: how strongly rows that are already predicted well are down-weighted; 0 "
        "gives `binary`.",
        low=0,
    ),
    _objective(
        "focal_alpha",
        (),
        "float",
        None,
        "For `focal`: weight of the positive rows; negative rows have weight 1 minus this value."
        " None means weight 1 for both.",
        low=0,
        low_open=True,
        high=1,
        high_open=True,
    ),
    _objective(
        "quantile_alpha",
        (),
        "floats",
        (),
        "For `quantile`: the quantiles that one model predicts, increasing, each between 0 and "
        "1. A single value is the same as `alpha`.",
    ),
    _objective(
        "aft_loss_distribution",
        (),
        "enum",
        "normal",
        "For `aft`: distribution of the logarithm of the time.",
        choices={"normal": (), "logistic": (), "extreme": ()},
    ),
    _objective(
        "aft_loss_distribution_scale",
        (),
        "float",
        1.0,
        "For `aft`: scale of that distribution.",
        low=0,
        low_open=True,
    ),
    _objective(
        "lambdarank_truncation_level",
        (),
        "int",
        30,
        "For `lambdarank`: only pairs with at least one row above this rank are used.",
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
        "For `lambdarank` and `ndcg`: the gains of labels 0, 1, 2, ... The default is 2^label - "
        "1, for any number of labels.",
    ),
    _objective(
        "lambdarank_position_bias_regularization",
        (),
        "float",
        0.0,
        "For pairwise ranking with positions: penalty on the position biases.",
        low=0,
    ),
    _objective(
        "lambdarank_pair_method",
        (),
        "enum",
        "topk",
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: pair rows with the rows ranked first "
        "(`topk`), or with random rows (`mean`).",
        choices={"topk": (), "mean": ()},
    ),
    _objective(
        "lambdarank_num_pair_per_sample",
        (),
        "int",
        None,
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: the number of rows ranked first that "
        "are paired (default 32), or with `lambdarank_pair_method=mean` the number of pairs per "
        "row (default 1).",
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
        "For `rank:ndcg`, `rank:pairwise` and `rank:map`: give pairs a smaller weight if their "
        "scores are further apart.",
    ),
    _objective(
        "lambdarank_unbiased",
        (),
        "bool",
        False,
        "For pairwise ranking: the rows of a query are in the order in which they were shown, "
        "and the bias of each position is learned together with the trees.",
    ),
    _objective(
        "lambdarank_bias_norm",
        (),
        "float",
        1.0,
        "For `lambdarank_unbiased`: how strongly the biases are shrunk towards 1; 0 means not at"
        " all.",
        low=0,
    ),
    _objective(
        "ndcg_exp_gain",
        (),
        "bool",
        True,
        "For `rank:ndcg`: gains are 2^label - 1. If false, gains are the labels.",
    ),
)

# Metrics that compare the scores of several classes; the others take one score per row.
CLASS_METRICS: Final = ("multi_logloss", "multi_error", "auc_mu", "multi_auc", "multi_aucpr")

METRIC: Final = (
    _metric(
        "metric",
        ("metrics", "metric_types", "eval_metric"),
        "metrics",
        None,
        "Metrics to evaluate, one name, several separated by commas, or a list. An empty string "
        "or None stands for the objective's own metric; `custom` (the string `none`) or an empty "
        "list for no metric. After some names may come `@` and a number: `binary_error@0.7` (the "
        "threshold), `multi_error@2` (`multi_error_top_k`), `ams@0.15` (the share of rows "
        "selected). Results carry the canonical name and the number, whichever spelling was given.",
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
            "gamma_deviance": (),
            "gamma-deviance": (),
            "tweedie": (),
            "r2": (),
            "poisson-nloglik": (),
            "gamma-nloglik": (),
            "tweedie-nloglik": (),
            "rmsle": (),
            "mphe": ("pseudo_huber",),
            "log_cosh": ("logcosh",),
            "expectile": (),
            "hinge": (),
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
            "aucpr": (),
            "ams": (),
            "binary_logloss": ("binary", "logloss"),
            "binary_error": ("error",),
            "auc_mu": (),
            "multi_auc": (),
            "multi_aucpr": (),
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
            "cox-nloglik": ("cox", "survival:cox", "cox_nloglik"),
            "aft-nloglik": ("aft", "survival:aft", "aft_nloglik"),
            "interval-regression-accuracy": ("interval_regression_accuracy",),
            "c_index": ("concordance", "concordance_index"),
            "gaussian_nll": ("gaussian", "normal", "mean_variance"),
            "crps": (),
            "custom": ("none", "null", "na"),
        },
    ),
    _metric(
        "metric_freq",
        ("output_freq",),
        "int",
        1,
        "Number of rounds between two evaluations.",
        low=1,
    ),
    _metric(
        "is_provide_training_metric",
        ("training_metric", "is_training_metric", "train_metric"),
        "bool",
        False,
        "Evaluate on the training data too.",
        fixed=True,
    ),
    _metric(
        "multi_error_top_k",
        (),
        "int",
        1,
        "For `multi_error`: a row is correct if its class is among this many highest scores.",
        low=1,
    ),
    _metric(
        "eval_at",
        ("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
        "ints",
        (1, 2, 3, 4, 5),
        "For `ndcg`, `map` and `pre`: the ranks to evaluate at, unless the name contains one, as"
        " in `ndcg@10`.",
    ),
    _metric(
        "auc_mu_weights",
        (),
        "floats",
        (),
        "For `auc_mu`: matrix of misclassification costs, row by row, with `num_class` x "
        "`num_class` numbers that are not 0 outside the diagonal. The default is 1.",
    ),
)
