"""The fields of `Params`, for type checkers and editors.

Generated from the parameter table, do not edit: `make stubs`, or
`python -m gossamer.params.write_fields src/gossamer/params/param_fields.py`, writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gossamer.params.param import ByColumn


# `Params`, which is derived from it, has the methods.
class ParamFields:
    """Every parameter by its canonical name, with the type of its resolved value."""

    # Core
    objective: str | Callable[..., Any]
    boosting: str
    num_iterations: int
    learning_rate: float
    num_parallel_tree: int
    num_leaves: int
    tree_method: str
    sketch_eps: float
    proposal: str
    grow_policy: str
    tree_learner: str
    num_threads: int
    device_type: str
    seed: int | None
    deterministic: bool

    # Trees
    max_depth: int
    min_data_in_leaf: int
    min_sum_hessian_in_leaf: float
    min_gain_to_split: float
    prune: bool
    lambda_l1: float
    lambda_l2: float
    max_delta_step: float
    l1_in_gain: bool
    path_smooth: float
    extra_trees: bool
    extra_seed: int
    linear_tree: bool
    linear_lambda: float
    linear_extrapolation: float
    linear_check: bool
    forcedsplits_filename: str

    # Sampling
    data_sample_strategy: str
    sampling_method: str
    bagging_fraction: float
    pos_bagging_fraction: float
    neg_bagging_fraction: float
    bagging_freq: int
    bagging_seed: int
    bagging_by_query: bool
    top_rate: float | str
    other_rate: float
    goss_error: float
    mvs_reg: float | str
    feature_fraction: float
    feature_fraction_bylevel: float
    feature_fraction_bynode: float
    feature_fraction_seed: int
    feature_weights: ByColumn[float]

    # Objective
    objective_seed: int
    num_class: int
    is_unbalance: bool
    scale_pos_weight: float
    sigmoid: float
    boost_from_average: bool
    base_score: float | None
    multi_strategy: str
    reg_sqrt: bool
    alpha: float
    fair_c: float
    poisson_max_delta_step: float | str
    tweedie_variance_power: float
    huber_slope: float
    expectile_alpha: float
    focal_gamma: float
    focal_alpha: float | None
    quantile_alpha: tuple[float, ...]
    aft_loss_distribution: str
    aft_loss_distribution_scale: float
    lambdarank_truncation_level: int
    lambdarank_norm: bool
    label_gain: tuple[float, ...]
    lambdarank_position_bias_regularization: float
    lambdarank_pair_method: str
    lambdarank_num_pair_per_sample: int | None
    lambdarank_normalization: bool
    lambdarank_score_normalization: bool
    lambdarank_unbiased: bool
    lambdarank_bias_norm: float
    ndcg_exp_gain: bool

    # Metric
    metric: tuple[str, ...] | None
    metric_freq: int
    is_provide_training_metric: bool
    multi_error_top_k: int
    eval_at: tuple[int, ...]
    auc_mu_weights: tuple[float, ...]

    # Training run
    early_stopping_round: int
    early_stopping_min_delta: float
    first_metric_only: bool
    verbosity: int
    force_col_wise: bool
    force_row_wise: bool
    histogram_pool_size: float
    use_quantized_grad: bool
    num_grad_quant_bins: int
    quant_train_renew_leaf: bool
    stochastic_rounding: bool
    task: str
    config: str
    input_model: str
    output_model: str
    saved_feature_importance_type: int
    snapshot_freq: int
    refit_decay_rate: float

    # Dataset
    max_bin: int
    max_bin_by_feature: ByColumn[int]
    min_data_in_bin: int
    bin_construct_sample_cnt: int
    weighted_bins: bool
    data_random_seed: int
    use_missing: bool
    zero_as_missing: bool
    is_enable_sparse: bool
    enable_bundle: bool
    max_conflict_rate: float
    bundle_order: str
    max_memory: int
    cache_dir: str
    feature_pre_filter: bool
    categorical_feature: tuple[int | str, ...]
    forcedbins_filename: str

    # Prediction
    start_iteration_predict: int
    num_iteration_predict: int
    predict_raw_score: bool
    predict_leaf_index: bool
    predict_contrib: bool
    predict_disable_shape_check: bool
    pred_early_stop: bool
    pred_early_stop_freq: int
    pred_early_stop_margin: float
    output_result: str

    # Categorical splits
    min_data_per_group: int
    max_cat_threshold: int
    cat_l2: float
    cat_smooth: float
    max_cat_to_onehot: int
    cat_target_statistics: str
    cat_combinations: int
    cat_prior_weight: float | str
    cat_statistics_l2: float | str

    # Constraints
    monotone_constraints: ByColumn[int]
    monotone_constraints_method: str
    monotone_penalty: float
    interaction_constraints: tuple[tuple[int | str, ...], ...]
    feature_contri: ByColumn[float]
    cegb_tradeoff: float
    cegb_penalty_split: float
    cegb_penalty_feature_lazy: ByColumn[float]
    cegb_penalty_feature_coupled: ByColumn[float]

    # Dropout (dart)
    drop_rate: float
    max_drop: int
    skip_drop: float
    xgboost_dart_mode: bool
    drop_single_trees: bool
    normalize_type: str
    uniform_drop: bool
    drop_seed: int

    # Data files
    data: str
    valid: str
    pre_partition: bool
    two_round: bool
    header: bool
    label_column: int | str
    weight_column: int | str
    group_column: int | str
    ignore_column: tuple[int | str, ...]
    save_binary: bool
    precise_float_parser: bool
    parser_config_file: str

    # Conversion
    convert_model_language: str
    convert_model: str

    # Network
    num_machines: int
    top_k: int
    local_listen_port: int
    time_out: int
    machine_list_filename: str
    machines: str

    # GPU
    gpu_platform_id: int
    gpu_device_id: int
    gpu_device_id_list: str
    gpu_use_dp: bool
    num_gpu: int
