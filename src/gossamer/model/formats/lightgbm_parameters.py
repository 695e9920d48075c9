"""The section of parameters in LightGBM's text format: for information, here as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gossamer.errors import GossamerError
from gossamer.objectives import Objective
from gossamer.objectives.square_root import SquareRoot
from gossamer.params import TABLE, resolve

# They say nothing about the model, or are told by other parts of the file.
_LEFT_OUT: Final = frozenset(
    {
        "objective",
        "metric",
        "categorical_feature",
        "num_class",
        "num_threads",
        "verbosity",
        "data",
        "valid",
        "input_model",
        "output_model",
    }
)
# Those of LightGBM 4.7 that describe a training; it warns of names that it does not know.
_NAMES: Final = """
alpha bagging_by_query bagging_fraction bagging_freq bagging_seed bin_construct_sample_cnt
boost_from_average boosting cat_l2 cat_smooth cegb_penalty_feature_coupled
cegb_penalty_feature_lazy cegb_penalty_split cegb_tradeoff data_random_seed data_sample_strategy
deterministic drop_rate drop_seed early_stopping_min_delta early_stopping_round enable_bundle
eval_at extra_seed extra_trees fair_c feature_contri feature_fraction feature_fraction_bynode
feature_fraction_seed feature_pre_filter first_metric_only force_col_wise force_row_wise
is_enable_sparse is_unbalance label_gain lambda_l1 lambda_l2 lambdarank_norm
lambdarank_position_bias_regularization lambdarank_truncation_level learning_rate linear_lambda
linear_tree max_bin max_bin_by_feature max_cat_threshold max_cat_to_onehot max_delta_step
max_depth max_drop min_data_in_bin min_data_in_leaf min_data_per_group min_gain_to_split
min_sum_hessian_in_leaf monotone_constraints monotone_constraints_method monotone_penalty
neg_bagging_fraction num_grad_quant_bins num_iterations num_leaves objective_seed other_rate
path_smooth poisson_max_delta_step pos_bagging_fraction quant_train_renew_leaf refit_decay_rate
reg_sqrt scale_pos_weight seed sigmoid skip_drop stochastic_rounding top_rate
tweedie_variance_power uniform_drop use_missing use_quantized_grad xgboost_dart_mode
zero_as_missing
"""
_KNOWN_THERE: Final = frozenset(_NAMES.split())
_SIMPLE: Final = (bool, int, float, str)


def read_parameters(found: Mapping[str, str], objective: Objective) -> dict[str, Any]:
    """Return the parameters that mean something here and are not at their defaults.

    Example:
        >>> from gossamer.objectives import Regression
        >>> read_parameters({"num_leaves": "7", "eta": "x", "max_bin": "255"}, Regression())
        {'objective': 'regression', 'num_leaves': 7}
    """
    params: dict[str, Any] = {"objective": objective.name}
    if isinstance(objective, SquareRoot):
        params = {"objective": objective.inner.name, "reg_sqrt": True}
    if objective.n_outputs > 1:
        params["num_class"] = objective.n_outputs
    known = {name: value for name, value in found.items() if name in TABLE and value}
    for name in known.keys() - _LEFT_OUT - params.keys():
        try:
            value = getattr(resolve({**params, name: known[name]}, context="predict"), name)
        except GossamerError:
            continue  # what only LightGBM can do
        if value != TABLE[name].default and _is_simple(value):
            params[name] = list(value) if isinstance(value, tuple) else value
    try:
        resolve(params, context="predict")
    except GossamerError:
        return {"objective": params["objective"]}
    first = [name for name in params if name not in found]
    return {name: params[name] for name in [*first, *(n for n in found if n in params)]}


def write_parameters(params: Mapping[str, Any]) -> list[str]:
    """Return the lines of parameters that LightGBM has as well, and that are plain values.

    Example:
        >>> write_parameters({"num_leaves": 7, "eval_at": [1, 2], "extra_trees": True})
        ['[num_leaves: 7]', '[eval_at: 1,2]', '[extra_trees: 1]']
    """
    lines = []
    for name, value in params.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        words = [str(int(v)) if isinstance(v, bool) else str(v) for v in values]
        is_plain = all(isinstance(v, _SIMPLE) for v in values)
        if name in _KNOWN_THERE and is_plain and "\n" not in "".join(words):
            lines.append(f"[{name}: {','.join(words)}]")
    return lines


def _is_simple(value: object) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(v, _SIMPLE) for v in values)
