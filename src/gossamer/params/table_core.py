"""Parameters every user meets first, and the parameters of the training run."""

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
        fixed=True,
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
        fixed=True,
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
        fixed=True,
    ),
    _core(
        "learning_rate",
        ("shrinkage_rate", "eta"),
        "float",
        0.1,
        "Factor that every leaf value is multiplied by before it is added to the scores.",
        low=0,
        low_open=True,
    ),
    _core(
        "num_parallel_tree",
        (),
        "int",
        1,
        "Number of trees per output in each round. All of them use the same gradients, and each "
        "has its own sample of rows and features. `learning_rate` is divided by this number "
        "(boosted forests).",
        low=1,
        high=100000,
        fixed=True,
    ),
    _core(
        "num_leaves",
        ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
        "int",
        31,
        "Maximum number of leaves in a tree. If only `max_depth` is set, the default depends on "
        "it. `max_leaves=0`, as in XGBoost, means no limit.",
        low=2,
        high=131072,
    ),
    _core(
        "tree_method",
        (),
        "enum",
        "auto",
        "Which split candidates are tried: the bounds of bins (`hist` and `auto`), every value "
        "(`exact`), or quantiles weighted by the hessians, computed again for every tree or "
        "split (`approx`).",
        choices={"auto": (), "hist": (), "approx": (), "exact": ()},
        raw_values=True,
    ),
    _core(
        "sketch_eps",
        (),
        "float",
        0.004,
        "For `approx`: the share of the hessians between two candidates, which gives about `1 / "
        "sketch_eps` candidates per feature. If only `max_bin` is set, it is `1 / max_bin`.",
        low=0,
        low_open=True,
        high=1,
        high_open=True,
        fixed=True,
    ),
    _core(
        "proposal",
        (),
        "enum",
        "global",
        "For `approx`: whether candidates are computed once for every tree (`global`), or for "
        "every split from the rows of the leaf (`local`).",
        choices={"global": (), "local": ()},
        fixed=True,
    ),
    _core(
        "grow_policy",
        (),
        "enum",
        "lossguide",
        "Split the leaf with the largest gain first (`lossguide`), grow level by level "
        "(`depthwise`), or use one split for all leaves of a level (`symmetric`, as in CatBoost; "
        "`max_depth` is the number of levels).",
        choices={
            "lossguide": ("leafwise", "leaf-wise"),
            "depthwise": ("depth-wise",),
            "symmetric": ("symmetrictree", "oblivious"),
        },
    ),
    _core(
        "tree_learner",
        ("tree", "tree_type", "tree_learner_type"),
        "enum",
        "serial",
        "How machines share the work on a tree. Each machine has a part of the rows (`data`) or "
        "all rows (`feature`). With `voting`, machines exchange only the features that `top_k` "
        "selects. On one machine it is ignored.",
        choices={
            "serial": (),
            "feature": ("feature_parallel",),
            "data": ("data_parallel",),
            "voting": ("voting_parallel",),
        },
    ),
    _core(
        "num_threads",
        ("num_thread", "nthread", "nthreads", "n_jobs"),
        "int",
        0,
        "Number of threads; 0 or less means all CPUs that are available to the process. The "
        "model does not depend on it.",
        changes_model=False,
        kept=False,
    ),
    _core(
        "device_type",
        ("device",),
        "enum",
        "cpu",
        "Where training runs, see [GPU](gpu.md). `cuda` is an NVIDIA GPU. `auto` uses a GPU if "
        "there is one, if it supports the parameters and if the data is large enough. The model "
        "does not depend on it.",
        choices={"cpu": (), "cuda": ("gpu",), "auto": ()},
        fixed=True,
        changes_model=False,
        kept=False,
    ),
    _core(
        "seed",
        ("random_seed", "random_state"),
        "int",
        None,
        "The seed that all other seeds are derived from, unless they are set.",
        fixed=True,
    ),
    _core(
        "deterministic",
        (),
        "bool",
        True,
        "Accepted, no effect: training is always deterministic.",
        changes_model=False,
    ),
)

RUN: Final = (
    _run(
        "early_stopping_round",
        ("early_stopping_rounds", "early_stopping", "n_iter_no_change"),
        "int",
        0,
        "Stop if no validation metric has improved for this many rounds; 0 or less turns early "
        "stopping off.",
        fixed=True,
    ),
    _run(
        "early_stopping_min_delta",
        (),
        "float",
        0.0,
        "Minimum change of a metric that counts as an improvement.",
        low=0,
        fixed=True,
    ),
    _run(
        "first_metric_only",
        (),
        "bool",
        False,
        "Use only the first metric for early stopping.",
        fixed=True,
    ),
    _run(
        "verbosity",
        ("verbose",),
        "int",
        1,
        "What is shown: below 0 nothing, 0 warnings, 1 information, above 1 details. If it is "
        "set to 1 or more, training prints its metrics and its time.",
        changes_model=False,
        kept=False,
    ),
    _run(
        "force_col_wise",
        (),
        "bool",
        False,
        "A hint that is accepted and has no effect: the memory layout is chosen from the data.",
        changes_model=False,
    ),
    _run(
        "force_row_wise",
        (),
        "bool",
        False,
        "A hint that is accepted and has no effect: the memory layout is chosen from the data.",
        changes_model=False,
    ),
    _run(
        "histogram_pool_size",
        ("hist_pool_size",),
        "float",
        -1.0,
        "Memory in megabytes for histograms that are kept for later; below 0 means no limit.",
        changes_model=False,
    ),
    _run(
        "use_quantized_grad",
        (),
        "bool",
        False,
        "Accepted, no effect: histograms are always exact sums of fixed-point gradients.",
        changes_model=False,
    ),
    _run(
        "num_grad_quant_bins",
        (),
        "int",
        4,
        "Accepted, no effect: see `use_quantized_grad`.",
        changes_model=False,
    ),
    _run(
        "quant_train_renew_leaf",
        (),
        "bool",
        False,
        "Accepted, no effect: leaf values are always computed from full-width sums.",
        changes_model=False,
    ),
    _run(
        "stochastic_rounding",
        (),
        "bool",
        True,
        "Accepted, no effect: see `use_quantized_grad`.",
        changes_model=False,
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
        is_file=True,
        changes_model=False,
    ),
    _run(
        "input_model",
        ("model_input", "model_in"),
        "str",
        "",
        "Accepted, no effect in Python, where `train` has `init_model`. Model file for the command "
        "line.",
        is_file=True,
        changes_model=False,
    ),
    _run(
        "output_model",
        ("model_output", "model_out"),
        "str",
        "LightGBM_model.txt",
        "Accepted, no effect in Python. File the command line writes the model to.",
        is_file=True,
        changes_model=False,
    ),
    _run(
        "saved_feature_importance_type",
        (),
        "int",
        0,
        "Importance written into a text model: 0 counts splits, 1 sums gains.",
        changes_model=False,
        low=0,
        high=1,
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
