"""Parameters every user meets first, and those of the training run."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param
from gossamer.params.traits import OBJECTIVE_CHOICES

_core = partial(Param, group="Core")
_run = partial(Param, group="Training run")

CORE: Final = (
    _core(
        "objective",
        ("objective_type", "app", "application", "loss"),
        "objective",
        "regression",
        "The loss to minimise, by name or as a function that returns gradients and hessians.",
        choices=OBJECTIVE_CHOICES,
    ),
    _core(
        "boosting",
        ("boosting_type", "boost", "booster"),
        "enum",
        "gbdt",
        "How trees are added to the model, see [boosting modes](boosting_modes.md). `goss` means "
        "`gbdt` with `data_sample_strategy=goss`.",
        choices={
            "gbdt": ("gbrt", "gbtree"),
            "rf": ("random_forest",),
            "dart": (),
            "goss": (),
        },
    ),
    _core(
        "num_iterations",
        (
            "num_iteration",
            "n_iter",
            "num_tree",
            "num_trees",
            "num_round",
            "num_rounds",
            "nrounds",
            "num_boost_round",
            "n_estimators",
            "max_iter",
        ),
        "int",
        100,
        "Number of boosting rounds; a multiclass round grows one tree per class.",
        low=0,
    ),
    _core(
        "learning_rate",
        ("shrinkage_rate", "eta"),
        "float",
        0.1,
        "Factor by which every leaf value is shrunk before it is added to the score.",
        low=0,
        low_open=True,
    ),
    _core(
        "num_parallel_tree",
        (),
        "int",
        1,
        "Trees per output that a round grows on the same gradients, each on its own rows and "
        "features, and each with `learning_rate` divided by their number (boosted forests).",
        low=1,
        high=100000,
    ),
    _core(
        "num_leaves",
        ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "int",
        31,
        "Most leaves a tree may have. When only `max_depth` is given it follows from that. "
        "`max_leaves=0`, as in XGBoost, is no limit.",
        low=2,
        high=131072,
    ),
    _core(
        "tree_method",
        (),
        "enum",
        "auto",
        "How split candidates are found: bounds of bins (`hist`, which `auto` is), every value "
        "(`exact`), or quantiles of the hessians, found again for every tree or split (`approx`).",
        choices={"auto": (), "hist": (), "approx": (), "exact": ()},
    ),
    _core(
        "sketch_eps",
        (),
        "float",
        0.004,
        "With `approx`: share of the hessians between two candidates; about `1 / sketch_eps` "
        "candidates per feature. When only `max_bin` is given, one part in so many.",
        low=0,
        low_open=True,
        high=1,
        high_open=True,
    ),
    _core(
        "proposal",
        (),
        "enum",
        "global",
        "With `approx`: candidates are proposed for every tree (`global`) or, from the rows of the "
        "leaf, for every split (`local`).",
        choices={"global": (), "local": ()},
    ),
    _core(
        "grow_policy",
        (),
        "enum",
        "lossguide",
        "Split the leaf of largest gain first (`lossguide`), or level by level (`depthwise`).",
        choices={"lossguide": ("leafwise", "leaf-wise"), "depthwise": ("depth-wise",)},
    ),
    _core(
        "tree_learner",
        ("tree", "tree_type", "tree_learner_type"),
        "enum",
        "serial",
        "How the work on one tree is shared between machines.",
        choices={
            "serial": (),
            "feature": ("feature_parallel",),
            "data": ("data_parallel",),
            "voting": ("voting_parallel",),
        },
        supported=("serial",),
    ),
    _core(
        "num_threads",
        ("num_thread", "nthread", "nthreads", "n_jobs"),
        "int",
        0,
        "Number of threads; 0 or less means every CPU this process may use. "
        "The model does not depend on it.",
    ),
    _core(
        "device_type",
        ("device",),
        "enum",
        "cpu",
        "Where training runs.",
        choices={"cpu": (), "gpu": (), "cuda": ()},
        supported=("cpu",),
    ),
    _core(
        "seed",
        ("random_seed", "random_state"),
        "int",
        None,
        "One number that all the other seeds are derived from, unless they are given themselves.",
    ),
    _core(
        "deterministic",
        (),
        "bool",
        True,
        "Accepted, no effect: training is always deterministic.",
    ),
)

RUN: Final = (
    _run(
        "early_stopping_round",
        ("early_stopping_rounds", "early_stopping", "n_iter_no_change"),
        "int",
        0,
        "Stop when no validation metric improved for this many rounds; 0 or less never stops.",
    ),
    _run(
        "early_stopping_min_delta",
        (),
        "float",
        0.0,
        "How much better a metric must get to count as improved.",
        low=0,
    ),
    _run(
        "first_metric_only",
        (),
        "bool",
        False,
        "Let only the first metric decide about early stopping.",
    ),
    _run(
        "verbosity",
        ("verbose",),
        "int",
        1,
        "How much is logged: below 0 nothing, 0 warnings, 1 information, above 1 details.",
    ),
    _run(
        "force_col_wise",
        (),
        "bool",
        False,
        "A hint that is accepted and has no effect: the memory layout is chosen from the data.",
    ),
    _run(
        "force_row_wise",
        (),
        "bool",
        False,
        "A hint that is accepted and has no effect: the memory layout is chosen from the data.",
    ),
    _run(
        "histogram_pool_size",
        ("hist_pool_size",),
        "float",
        -1.0,
        "Megabytes that histograms kept for later may take; below 0 means no limit.",
    ),
    _run(
        "use_quantized_grad",
        (),
        "bool",
        False,
        "Accepted, no effect: histograms are always exact sums of fixed-point gradients.",
    ),
    _run(
        "num_grad_quant_bins",
        (),
        "int",
        4,
        "Accepted, no effect: see `use_quantized_grad`.",
    ),
    _run(
        "quant_train_renew_leaf",
        (),
        "bool",
        False,
        "Accepted, no effect: leaf values always come from the full-width sums.",
    ),
    _run(
        "stochastic_rounding",
        (),
        "bool",
        True,
        "Accepted, no effect: see `use_quantized_grad`.",
    ),
    _run(
        "task",
        ("task_type",),
        "enum",
        "train",
        "What the command line is asked to do.",
        choices={
            "train": ("training",),
            "predict": ("prediction", "test"),
            "convert_model": (),
            "refit": ("refit_tree",),
            "save_binary": (),
        },
        supported=False,
    ),
    _run(
        "config",
        ("config_file",),
        "str",
        "",
        "Accepted, no effect in Python. File of parameters for the command line.",
    ),
    _run(
        "input_model",
        ("model_input", "model_in"),
        "str",
        "",
        "Accepted, no effect in Python, where `train` has `init_model`. Model file for the command "
        "line.",
    ),
    _run(
        "output_model",
        ("model_output", "model_out"),
        "str",
        "LightGBM_model.txt",
        "Accepted, no effect in Python. File the command line writes the model to.",
    ),
    _run(
        "saved_feature_importance_type",
        (),
        "int",
        0,
        "Importance written into a text model: 0 counts splits, 1 sums gains.",
        supported=False,
    ),
    _run(
        "snapshot_freq",
        ("save_period",),
        "int",
        -1,
        "Rounds between two snapshots of the model; 0 or less writes none.",
        supported=False,
    ),
    _run(
        "refit_decay_rate",
        (),
        "float",
        0.9,
        "Share of the old leaf value that a refit keeps.",
        low=0,
        high=1,
        supported=False,
    ),
)
