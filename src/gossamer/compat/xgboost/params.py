"""From XGBoost's parameters to ours.

The steps: read what was given (`read_params`), then `translate` it name by name. What XGBoost does
by default and Gossamer does not is in `DEFAULTS`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import as_list
from gossamer.compat.xgboost.config import get_config
from gossamer.compat.xgboost.metrics import default_metric, our_metric
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model.formats.xgboost_objective import to_margin
from gossamer.params import CANONICAL, TABLE
from gossamer.params.coerce import coerce
from gossamer.params.suggest import did_you_mean

if TYPE_CHECKING:
    from gossamer.compat.xgboost.dmatrix import DMatrix

# XGBoost's second names.
ALIASES: Final = {
    "learning_rate": "eta",
    "min_split_loss": "gamma",
    "reg_lambda": "lambda",
    "reg_alpha": "alpha",
    "n_jobs": "nthread",
    "random_state": "seed",
}

# XGBoost's name -> ours, where the values mean the same.
RENAMED: Final = {
    "eta": "learning_rate",
    "gamma": "min_gain_to_split",
    "max_depth": "max_depth",
    "min_child_weight": "min_sum_hessian_in_leaf",
    "max_delta_step": "max_delta_step",
    "lambda": "lambda_l2",
    "alpha": "lambda_l1",
    "subsample": "bagging_fraction",
    "colsample_bytree": "feature_fraction",
    "colsample_bylevel": "feature_fraction_bylevel",
    "colsample_bynode": "feature_fraction_bynode",
    "tree_method": "tree_method",
    "grow_policy": "grow_policy",
    "max_leaves": "max_leaves",
    "max_bin": "max_bin",
    "num_parallel_tree": "num_parallel_tree",
    "sampling_method": "sampling_method",
    "sketch_eps": "sketch_eps",
    "scale_pos_weight": "scale_pos_weight",
    "base_score": "base_score",
    "boost_from_average": "boost_from_average",
    "num_class": "num_class",
    "multi_strategy": "multi_strategy",
    "seed": "seed",
    "nthread": "num_threads",
    "rate_drop": "drop_rate",
    "skip_drop": "skip_drop",
    "normalize_type": "normalize_type",
    "max_cat_to_onehot": "max_cat_to_onehot",
    "max_cat_threshold": "max_cat_threshold",
    "monotone_constraints": "monotone_constraints",
    "tweedie_variance_power": "tweedie_variance_power",
    "huber_slope": "huber_slope",
    "quantile_alpha": "quantile_alpha",
    "expectile_alpha": "expectile_alpha",
    "aft_loss_distribution": "aft_loss_distribution",
    "aft_loss_distribution_scale": "aft_loss_distribution_scale",
    "lambdarank_pair_method": "lambdarank_pair_method",
    "lambdarank_num_pair_per_sample": "lambdarank_num_pair_per_sample",
    "lambdarank_normalization": "lambdarank_normalization",
    "lambdarank_score_normalization": "lambdarank_score_normalization",
    "lambdarank_unbiased": "lambdarank_unbiased",
    "lambdarank_bias_norm": "lambdarank_bias_norm",
    "ndcg_exp_gain": "ndcg_exp_gain",
}

# Those that have a function of their own below.
_TRANSLATED: Final = (
    "objective",
    "eval_metric",
    "disable_default_eval_metric",
    "booster",
    "device",
    "verbosity",
    "sample_type",
    "interaction_constraints",
)

# What XGBoost does when nothing else is asked for, under our names.
DEFAULTS: Final[Mapping[str, Any]] = {
    "learning_rate": 0.3,
    "max_depth": 6,
    "grow_policy": "depthwise",
    "lambda_l2": 1.0,
    "min_sum_hessian_in_leaf": 1.0,
    "min_data_in_leaf": 1,
    "max_bin": 256,
    "min_data_in_bin": 1,
    "max_cat_threshold": 64,
    "min_data_per_group": 1,
    "cat_l2": 0.0,
    "cat_target_statistics": "off",
    "l1_in_gain": False,
}
_DART_DEFAULTS: Final[Mapping[str, Any]] = {
    "boosting": "dart",
    "xgboost_dart_mode": True,
    "drop_single_trees": True,
    "drop_rate": 0.0,
    "skip_drop": 0.0,
    "max_drop": 0,
    "uniform_drop": True,
}

# How things are done there, which makes no difference here.
_NO_EFFECT: Final = (
    "validate_parameters",
    "max_cached_hist_node",
    "sparse_threshold",
    "opt_dense_col",
    "debug_synchronize",
    "fail_on_invalid_gpu_id",
    "use_rmm",
    "use_cuda_async_pool",
)

# What only does what it does there by default.
_ONLY: Final[Mapping[str, Any]] = {
    "process_type": "default",
    "updater": "",
    "refresh_leaf": 1,
    "default_direction": "learn",
    "seed_per_iteration": False,
    "one_drop": 0,
}

# Our parameters that XGBoost has as arguments of `train`.
_ARGUMENTS: Final = ("num_iterations", "early_stopping_round", "is_provide_training_metric")

_ABOUT_BINS: Final = ("max_bin", "min_data_in_bin")
_MOST_LEAVES: Final = TABLE["num_leaves"].high or 0
KNOWN: Final = frozenset({*ALIASES, *RENAMED, *_TRANSLATED, *_NO_EFFECT, *_ONLY})


def read_params(params: Any) -> dict[str, Any]:
    """Return parameters by XGBoost's first names, without those that are None.

    Args:
        params: A dict, or a list of pairs, in which `eval_metric` may come several times.

    Raises:
        ParameterError: If it is neither.

    Example:
        >>> read_params([("learning_rate", 0.1), ("eval_metric", "auc"), ("eval_metric", "error")])
        {'eta': 0.1, 'eval_metric': ['auc', 'error']}
    """
    if params is None:
        return {}
    found: dict[str, Any] = {}
    for name, value in _pairs(params):
        if value is None:
            continue
        name = ALIASES.get(name, name)
        if name == "eval_metric":
            value = [*found.get(name, []), *metric_list(value)]
        found[name] = value
    return found


def _pairs(params: Any) -> list[tuple[str, Any]]:
    try:
        pairs = params.items() if isinstance(params, Mapping) else params
        return [(str(name), value) for name, value in pairs]
    except (TypeError, ValueError):
        raise ParameterError.because(
            "parameters cannot be used", got=params, expected="a dict, or a list of pairs"
        ) from None


def metric_list(metrics: Any) -> list[Any]:
    """Return metrics one by one, from one of them, a list or nothing.

    Example:
        >>> metric_list("auc"), metric_list(("auc", "error")), metric_list(None)
        (['auc'], ['auc', 'error'], [])
    """
    if metrics is None:
        return []
    is_several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    return as_list("eval_metric", metrics) if is_several else [metrics]


def params_for(given: Mapping[str, Any], data: DMatrix) -> dict[str, Any]:
    """Return all parameters of a training on this data, by our names."""
    if data.max_bin is not None:
        given = {"max_bin": data.max_bin, **given}
    params = translate(given, data.feature_names, data.num_col())
    return {**data.storage, **params, "zero_as_missing": data.is_sparse}


def translate(
    given: Mapping[str, Any], names: Sequence[str] | None = None, n_columns: int = 0
) -> dict[str, Any]:
    """Return all parameters of a training, by our names.

    Args:
        given: What `read_params` returned.
        names: Names of the columns; None: they have none.
        n_columns: Number of columns, for `interaction_constraints`.

    Raises:
        NotSupportedError: If Gossamer has no such thing.
        ParameterError: If a value cannot be read; most values are checked by the training.

    Example:
        >>> params = translate(read_params({"max_depth": 3, "reg_alpha": 2, "objective": "l2"}))
        >>> params["lambda_l1"], params["learning_rate"], params["num_leaves"]
        (2, 0.3, 8)
    """
    has_classes = _as_int("num_class", given.get("num_class", 0)) > 1
    objective = given.get("objective", "multi:softmax" if has_classes else "reg:squarederror")
    if not isinstance(objective, str) and not callable(objective):
        raise ParameterError.because("objective cannot be used", got=objective, expected="a name")
    given = {**given, "objective": objective}
    config = get_config()
    found: dict[str, Any] = {
        **DEFAULTS,
        "num_threads": config["nthread"],
        "verbosity": _as_int("verbosity", given.get("verbosity", config["verbosity"])) - 1,
    }
    if given.get("booster") == "dart":
        found |= _DART_DEFAULTS
    found |= translate_given(given)
    if found.get("tree_method") == "exact":  # it has no bins, and XGBoost takes no notice of these
        found = {name: value for name, value in found.items() if name not in _ABOUT_BINS}
        found.setdefault("prune", True)  # its exact trees are pruned, the others stop early
    found["objective"] = objective
    if objective != "reg:quantileerror" and "quantile_alpha" in found:  # for the metric
        found["alpha"] = found.pop("quantile_alpha")
    metrics = _metrics(given)
    if metrics is not None:
        found["metric"] = tuple(metrics)
    if "max_leaves" not in found:
        # Depth is what limits XGBoost's trees.
        depth = _as_int("max_depth", found["max_depth"])
        found["num_leaves"] = min(2 ** min(depth, 30), _MOST_LEAVES) if depth > 0 else _MOST_LEAVES
    if objective == "count:poisson":
        found["poisson_max_delta_step"] = found.setdefault("max_delta_step", 0.7) or 1e-9
    found.setdefault("cat_smooth", found["lambda_l2"])
    if found.get("num_class") == 0:  # XGBoost's default
        del found["num_class"]
    if "base_score" in found:
        found |= _start(found.pop("base_score"), objective)
    for name in ("interaction_constraints", "monotone_constraints"):
        if name in given:
            found[name] = _CONSTRAINTS[name](given[name], names, n_columns)
    return found


def translate_given(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given by our names, without anything that follows from it.

    Example:
        >>> translate_given({"eta": 0.1, "process_type": "default", "min_data_in_leaf": 5})
        {'learning_rate': 0.1, 'min_data_in_leaf': 5}
    """
    _refuse(given)
    found: dict[str, Any] = {}
    unknown: list[str] = []
    for name, value in given.items():
        if name in RENAMED:
            found |= _renamed(name, value)
        elif name == "sample_type":
            found["uniform_drop"] = value == "uniform"
        elif name == "device":
            found |= _device(str(value))
        elif name not in KNOWN:
            if CANONICAL.get(name) in (None, *_ARGUMENTS):
                unknown.append(name)
            else:
                found[CANONICAL[name]] = value  # one of ours
    if "scale_pos_weight" in found and not _is_binary(given):
        unknown += ["scale_pos_weight"] if found.pop("scale_pos_weight") != 1 else []
    if unknown:
        _warn_unused(unknown)
    return found


def _device(value: str) -> dict[str, Any]:
    """Read a device of XGBoost: `cpu`, `cuda`, or `cuda:1` for the second GPU.

    Example:
        >>> _device("cuda:1")
        {'device_type': 'cuda', 'gpu_device_id': 1}
    """
    kind, _, number = value.partition(":")
    if kind not in ("cpu", "cuda", "gpu") or not (number == "" or number.isdecimal()):
        raise NotSupportedError.because(
            "this device is not supported", got=value, expected="cpu, cuda or cuda:<number>"
        )
    found: dict[str, Any] = {"device_type": "cpu" if kind == "cpu" else "cuda"}
    return found | ({"gpu_device_id": int(number)} if number else {})


def _is_binary(given: Mapping[str, Any]) -> bool:
    objective = given.get("objective", "binary")  # a single change says nothing about it
    return not isinstance(objective, str) or objective.startswith("binary")


def _renamed(name: str, value: Any) -> dict[str, Any]:
    ours = RENAMED[name]
    if name == "max_leaves" and _as_int(name, value) == 0:
        return {}  # no limit
    if name == "nthread" and _as_int(name, value) < 0:
        value = 0  # all of them
    if ours == "learning_rate" and value in (0, "0", "0.0"):
        value = _NO_STEP
    if name == "tree_method" and value == "gpu_hist":
        return {ours: "hist", "device_type": "cuda"}
    if ours not in CANONICAL:
        if value in _NEUTRAL.get(name, ()):
            return {}
        raise NotSupportedError.because(
            f"{name} is not supported in this version of Gossamer", got=value
        )
    is_one_value = ours in TABLE and TABLE[ours].kind in ("int", "float", "enum")
    if is_one_value and name not in ("base_score", "num_class"):  # these are translated further
        others = [other for other, first in ALIASES.items() if first == name and other != ours]
        coerce(TABLE[ours], value, "/".join([name, *others]))  # an error says XGBoost's name
    return {ours: value}


# XGBoost takes a learning rate of 0; this one changes no prediction either.
_NO_STEP: Final = 1e-30
# Values that ask for nothing special, of parameters that a version may not have.
_NEUTRAL: Final[Mapping[str, tuple[Any, ...]]] = {
    "sampling_method": ("uniform",),
    "num_parallel_tree": (1,),
}


def _refuse(given: Mapping[str, Any]) -> None:
    """Raise where something is asked for that is not there."""
    booster = given.get("booster", "gbtree")
    if booster not in ("gbtree", "dart"):
        raise NotSupportedError.because(
            f"booster={booster} is not supported", got=booster, expected="gbtree or dart"
        )
    for name, only in _ONLY.items():
        if name in given and given[name] not in (only, str(only)):
            raise NotSupportedError.because(
                f"{name} is not supported in this version of Gossamer",
                got=given[name],
                expected=f"its default {only!r}",
                hint="Leave it out.",
            )
    if given.get("sample_type", "uniform") not in ("uniform", "weighted"):
        raise ParameterError.because(
            "sample_type is not known", got=given["sample_type"], expected="uniform or weighted"
        )


def _warn_unused(unknown: Sequence[str]) -> None:
    names = ", ".join(f'"{name}"' for name in unknown)
    hints = [did_you_mean(name, {*KNOWN, *CANONICAL} - {name}) for name in unknown]
    text = " ".join(
        [f"Parameters: {{ {names} }} are not used.", *dict.fromkeys(filter(None, hints))]
    )
    warnings.warn(text, UserWarning, stacklevel=2)


def _metrics(given: Mapping[str, Any]) -> list[str] | None:
    """Return the metrics asked for, or the objective's own, by our names; None: ours know."""
    objective = given["objective"]
    names = given.get("eval_metric") or []
    if not names and not _is_on(given.get("disable_default_eval_metric", False)):
        own = default_metric(given)
        names = [own] if own else []
        if not own and isinstance(objective, str):
            return None  # one of our objectives has a metric of its own
    for name in names:
        if not isinstance(name, str):
            raise ParameterError.because(
                "eval_metric takes names",
                got=name,
                hint="Pass a function as custom_metric, or to an estimator.",
            )
    return [our_metric(name, objective) for name in names]


def _start(base_score: Any, objective: Any) -> dict[str, Any]:
    """Where to start: one number, alone or in a list, or one for each output.

    To softmax, the same for all is nothing.
    """
    if isinstance(base_score, np.ndarray):
        base_score = base_score.tolist()
    is_list = isinstance(base_score, Sequence) and not isinstance(base_score, str)
    if is_list and len(base_score) == 1:
        base_score, is_list = base_score[0], False
    if not is_list and isinstance(objective, str) and objective.startswith("multi:"):
        return {"boost_from_average": False}
    # A raw score there, and a probability here.
    is_raw = objective == "binary:logitraw" and not is_list
    return {"base_score": [float(base_score)] if is_raw else base_score}


def take_start(params: dict[str, Any]) -> npt.NDArray[np.float64] | None:
    """Take the scores to start from out of our parameters, where outputs have different ones.

    Returns:
        A score for each output; None: they start from the same prediction, or the best constant.

    Raises:
        ParameterError: If `base_score` is not a prediction for each output.

    Example:
        >>> take_start({"base_score": [1.0, 2.0], "objective": "reg:squarederror"})
        array([1., 2.])
    """
    base_score = params.get("base_score")
    if not isinstance(base_score, Sequence) or isinstance(base_score, str):
        return None
    del params["base_score"]
    params["boost_from_average"] = False
    try:
        return to_margin(str(params["objective"]), np.array(base_score, dtype=np.float32))
    except (TypeError, ValueError) as error:
        raise ParameterError.because(
            f"base_score cannot be used: {error}",
            got=base_score,
            expected="a prediction for each output",
        ) from None


def _is_on(value: Any) -> bool:
    return str(value).lower() in ("1", "true")


def _as_int(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ParameterError.because(
            f"{name} cannot be used", got=value, expected="an integer"
        ) from None


def _interactions(groups: Any, names: Sequence[str] | None, n_columns: int) -> list[list[Any]]:
    """Give columns of no group one of their own: XGBoost uses them, alone."""
    if isinstance(groups, str):
        try:
            groups = json.loads(groups)
        except ValueError:
            raise ParameterError.because(
                "interaction_constraints cannot be used",
                got=groups,
                expected="a list of lists, or '[[0, 1], [2, 3]]'",
            ) from None
    found = [[_column(column, names) for column in group] for group in groups]
    places = {name: i for i, name in enumerate(names or ())}
    used = {places.get(column, column) for group in found for column in group}
    return found + [[column] for column in range(n_columns) if column not in used]


def _monotone(constraints: Any, names: Sequence[str] | None, n_columns: int) -> Any:
    if isinstance(constraints, Mapping):
        return {_column(column, names): sign for column, sign in constraints.items()}
    return constraints


def _column(column: Any, names: Sequence[str] | None) -> Any:
    """Columns without names are called f0, f1, ..."""
    is_number = isinstance(column, str) and column[:1] == "f" and column[1:].isdecimal()
    return int(column[1:]) if names is None and is_number else column


_CONSTRAINTS: Final = {
    "interaction_constraints": _interactions,
    "monotone_constraints": _monotone,
}
