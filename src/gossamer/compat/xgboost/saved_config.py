"""`save_config` and `load_config`: parameters as XGBoost's JSON has them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gossamer.compat.xgboost.metrics import default_metric
from gossamer.compat.xgboost.params import ALIASES, KNOWN, read_params
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.model.formats.xgboost_objective import to_base_score, write_objective
from gossamer.model.model import Model

_VERSION: Final = [3, 2, 0]

# XGBoost's sections, their parameters, and what these are by default.
_GENERIC: Final = {
    "device": "cpu",
    "nthread": "0",
    "seed": "0",
    "seed_per_iteration": "0",
    "validate_parameters": "1",
}
_GBTREE: Final = {"process_type": "default", "tree_method": "auto", "updater": ""}
_TREE: Final = {
    "alpha": "0",
    "colsample_bylevel": "1",
    "colsample_bynode": "1",
    "colsample_bytree": "1",
    "eta": "0.300000012",
    "gamma": "0",
    "grow_policy": "depthwise",
    "interaction_constraints": "",
    "lambda": "1",
    "max_bin": "256",
    "max_cat_threshold": "64",
    "max_cat_to_onehot": "4",
    "max_delta_step": "0",
    "max_depth": "6",
    "max_leaves": "0",
    "min_child_weight": "1",
    "monotone_constraints": "()",
    "refresh_leaf": "1",
    "sampling_method": "uniform",
    "subsample": "1",
}
# Facts of the model that have a section of their own.
_TREES: Final = {"num_parallel_tree": "1", "num_trees": "0"}
_DART: Final = {
    "normalize_type": "tree",
    "one_drop": "0",
    "rate_drop": "0",
    "sample_type": "uniform",
    "skip_drop": "0",
}
_LEARNER: Final = {
    "booster": "gbtree",
    "disable_default_eval_metric": "0",
    "multi_strategy": "one_output_per_tree",
    "objective": "reg:squarederror",
}
# Sections of objectives, by how their names begin.
_OBJECTIVES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "multi:": ("softmax_multiclass_param", {"num_class": "0"}),
    "count:poisson": ("poisson_regression_param", {"max_delta_step": "0.7"}),
    "reg:tweedie": ("tweedie_regression_param", {"tweedie_variance_power": "1.5"}),
    "reg:quantileerror": ("quantile_loss_param", {"quantile_alpha": "0"}),
    "reg:pseudohubererror": ("pseudo_huber_param", {"huber_slope": "1"}),
    "survival:aft": (
        "aft_loss_param",
        {"aft_loss_distribution": "normal", "aft_loss_distribution_scale": "1"},
    ),
    "rank:": (
        "lambdarank_param",
        {
            "lambdarank_bias_norm": "1",
            "lambdarank_normalization": "1",
            "lambdarank_num_pair_per_sample": "32",
            "lambdarank_pair_method": "topk",
            "lambdarank_score_normalization": "1",
            "lambdarank_unbiased": "0",
            "ndcg_exp_gain": "1",
        },
    ),
    "": ("reg_loss_param", {"scale_pos_weight": "1"}),
}
_DEFAULTS: Final = {
    **{name: value for _, section in _OBJECTIVES.values() for name, value in section.items()},
    **{**_GENERIC, **_GBTREE, **_TREE, **_DART, **_LEARNER},
}
# What XGBoost chooses itself.
_FOUND_OUT: Final = ("updater", "updater_seq")


def with_objective(params: Mapping[str, Any], model: Model | None) -> Mapping[str, Any]:
    """Return parameters with the objective of a model, where they do not say it: it was loaded."""
    if model is None or "objective" in params:
        return params
    try:
        objective = write_objective(model.objective)[0]
    except NotSupportedError:  # the user's own
        return params
    is_classes = objective["name"].startswith("multi:")
    classes = {"num_class": model.objective.n_outputs} if is_classes else {}
    return {**classes, **params, "objective": objective["name"]}


def facts_of(params: Mapping[str, Any], model: Model | None) -> dict[str, str]:
    """Return what a configuration says of a model; None: there is none yet."""
    facts = {"boost_from_average": "1", "num_class": str(params.get("num_class", 0))}
    if model is not None:
        base_score = to_base_score(str(params.get("objective")), model.start)
        start = model.start if base_score is None else base_score
        if "base_score" in params:
            start = np.broadcast_to(np.float32(params["base_score"]), model.start.shape)
        facts |= {
            "base_score": json.dumps(start.tolist()),
            "num_feature": str(model.n_columns),
            "num_parallel_tree": str(model.forest.n_parallel),
            "num_trees": str(model.forest.n_trees),
            "num_target": str(1 if int(facts["num_class"]) > 1 else len(model.start)),
        }
    return facts


def write_config(
    params: Mapping[str, Any],
    facts: Mapping[str, str],
    learned: Mapping[str, Sequence[float]] | None = None,
) -> str:
    """Return parameters as JSON.

    Args:
        params: What `read_params` returned.
        facts: What is known of the model: numbers of columns and the like.
        learned: What the objective has learned, by its name in XGBoost.

    Example:
        >>> found = json.loads(write_config({"eta": 0.1}, {"num_feature": "4"}))
        >>> found["learner"]["gradient_booster"]["tree_train_param"]["learning_rate"]
        '0.1'
    """
    booster = str(params.get("booster", "gbtree"))
    trees: dict[str, Any] = {
        "gbtree_model_param": {name: facts.get(name, default) for name, default in _TREES.items()},
        "gbtree_train_param": _section(_GBTREE, params),
        "name": "gbtree",
        "tree_train_param": _section(_TREE, params),
    }
    if booster == "dart":
        trees = {"dart_train_param": _section(_DART, params), "gbtree": trees, "name": "dart"}
    objective = _section(_LEARNER, params)["objective"]
    begin = next(each for each in _OBJECTIVES if objective.startswith(each))
    name, defaults = _OBJECTIVES[begin]
    metrics = params.get("eval_metric") or [default_metric({**params, "objective": objective})]
    return json.dumps(
        {
            "learner": {
                "generic_param": _section(_GENERIC, params),
                "gradient_booster": trees,
                "learner_model_param": {k: v for k, v in facts.items() if k not in _TREES},
                "learner_train_param": _section(_LEARNER, params),
                "metrics": [{"name": metric} for metric in metrics if isinstance(metric, str)],
                "objective": {
                    "name": objective,
                    name: _section(defaults, params),
                    **(learned or {}),
                },
            },
            "version": _VERSION,
        },
        separators=(",", ":"),
        sort_keys=True,
    )


def _section(defaults: Mapping[str, str], params: Mapping[str, Any]) -> dict[str, str]:
    found = {name: _text(params.get(name, default)) for name, default in defaults.items()}
    others = {alias: found[name] for alias, name in ALIASES.items() if name in found}
    return {**found, **others}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return f"({','.join(map(str, value))})"
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def read_config(text: str) -> dict[str, Any]:
    """Return the parameters in JSON that XGBoost or `write_config` wrote; defaults are left out.

    Raises:
        ParameterError: If it is something else.

    Example:
        >>> read_config(write_config({"eta": 0.1, "eval_metric": ["auc"]}, {}))
        {'eta': '0.1', 'eval_metric': ['auc']}
    """
    try:
        learner = json.loads(text)["learner"]
        sections = {name: learner[name] for name in learner if name != "learner_model_param"}
        metrics = [each["name"] for each in sections.pop("metrics", [])]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ParameterError.because(
            "the configuration cannot be read",
            got=text,
            expected="JSON that save_config() returned",
        ) from None
    given = read_params({name: value for name, value in _leaves(sections) if name in KNOWN})
    found = {name: value for name, value in given.items() if _DEFAULTS.get(name) != value}
    objective = {"objective": learner.get("learner_train_param", {}).get("objective")}
    is_own = metrics == [default_metric({**found, "objective": objective["objective"]})]
    return found if is_own or not metrics else {**found, "eval_metric": metrics}


def _leaves(section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        elif isinstance(value, str) and value and name not in _FOUND_OUT:
            yield name, value
