"""Objectives of XGBoost's models: their names, their parameters, and the score they start from."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotSupportedError
from gossamer.objectives import CustomWithLink, Objective, SeveralTargets, objective_from_config
from gossamer.objectives.quantile import Quantile

# XGBoost's name: ours, by how scores become predictions. The loss of the squared logarithmic error
# has no link there, but one here.
_OURS: Final = {
    "reg:squarederror": "regression",
    "reg:linear": "regression",
    "reg:squaredlogerror": "regression",
    "reg:absoluteerror": "regression_l1",
    "reg:pseudohubererror": "pseudo_huber",
    "reg:quantileerror": "quantile",
    "reg:expectileerror": "expectile",
    "reg:logistic": "cross_entropy",
    "reg:gamma": "gamma",
    "reg:tweedie": "tweedie",
    "count:poisson": "poisson",
    "binary:logistic": "binary",
    "binary:logitraw": "binary:logitraw",
    "binary:hinge": "hinge",
    "multi:softprob": "multiclass",
    "multi:softmax": "multi:softmax",
    "rank:ndcg": "rank:ndcg",
    "rank:map": "rank:map",
    "rank:pairwise": "rank:pairwise",
    "survival:cox": "cox",
    "survival:aft": "aft",
}
_LINKS: Final = {"exp": "reg:gamma", "sigmoid": "reg:logistic", "softmax": "multi:softprob"}
_LOGIT: Final = ("reg:logistic", "binary:logistic")
_NEAR_ZERO: Final = np.float32(1e-6)
_LOG: Final = ("reg:gamma", "reg:tweedie", "count:poisson", "survival:cox", "survival:aft")
_RANK_PARAMS: Final = {
    "lambdarank_bias_norm": "1",
    "lambdarank_normalization": "1",
    "lambdarank_num_pair_per_sample": "4294967295",
    "lambdarank_pair_method": "topk",
    "lambdarank_score_normalization": "1",
    "lambdarank_unbiased": "0",
    "ndcg_exp_gain": "1",
}


def read_objective(found: Any, n_outputs: int) -> Objective:
    """Make our objective that predicts the same.

    Args:
        found: The objective of a model: its name and parameters.
        n_outputs: Classes or targets.

    Raises:
        NotSupportedError: If there is no such objective here.
        ValueError: If it is damaged.

    Example:
        >>> read_objective({"name": "multi:softprob"}, 3)
        Multiclass(n_outputs=3)
    """
    name = found["name"]
    if name not in _OURS:
        raise NotSupportedError.because(
            "the XGBoost model has an objective that Gossamer does not know",
            got=name,
            expected=f"one of {', '.join(_OURS)}",
        )
    config: dict[str, Any] = {"name": _OURS[name]}
    if name.startswith("multi:"):
        if n_outputs < 2:
            raise ValueError(f"{name} with {n_outputs} classes")
        return objective_from_config({**config, "num_class": n_outputs})
    if name in ("binary:logistic", "binary:logitraw"):
        config["sigmoid"] = 1.0
    if name == "survival:aft":
        given = found.get("aft_loss_param", {})
        config["distribution"] = given.get("aft_loss_distribution", "normal")
        config["scale"] = float(given.get("aft_loss_distribution_scale", 1))
    if name == "reg:quantileerror":
        parts = tuple(Quantile(alpha) for alpha in _alphas(found, n_outputs))
        return parts[0] if n_outputs == 1 else SeveralTargets(parts)
    if n_outputs == 1:
        return objective_from_config(config)
    return objective_from_config({"name": "several_targets", "parts": [config] * n_outputs})


def _alphas(found: Any, n_outputs: int) -> list[float]:
    """Return the quantile of each output."""
    text = str(found.get("quantile_loss_param", {}).get("quantile_alpha", "0.5"))
    alphas = [float(each) for each in text.strip("[]() ").split(",")]
    alphas = alphas * n_outputs if len(alphas) == 1 else alphas
    if len(alphas) != n_outputs or not all(0 <= alpha <= 1 for alpha in alphas):
        raise ValueError("quantile_alpha has no quantile for each output")
    return alphas


def params_of(objective: Objective) -> dict[str, Any]:
    """Return parameters of a training with the objective of a model that was read."""
    one = objective.parts[0] if isinstance(objective, SeveralTargets) else objective
    params = {"objective": one.name}
    config = one.to_config()
    return params | {name: config[name] for name in ("num_class",) if name in config}


def to_margin(
    name: str, base_score: npt.NDArray[np.float32], *, is_bounded: bool = True
) -> npt.NDArray[np.float64]:
    """Return the raw scores of the predictions that a model starts from, found in float32.

    Args:
        name: XGBoost's objective.
        base_score: The predictions.
        is_bounded: Whether probabilities are kept away from 0 and 1, as from version 3 on.

    Raises:
        ValueError: If there are none.

    Example:
        >>> to_margin("binary:logistic", np.float32([0.5])), to_margin("reg:gamma", np.float32([1]))
        (array([0.]), array([0.]))
    """
    if name in _LOGIT:
        if is_bounded:
            base_score = np.clip(base_score, _NEAR_ZERO, np.float32(1) - _NEAR_ZERO)
        if not ((base_score > 0) & (base_score < 1)).all():
            raise ValueError("base_score is not a probability")
        # The rounding of this, where probabilities are near 1, is part of XGBoost's predictions.
        odds = np.float32(1) / base_score - np.float32(1)
        margin: npt.NDArray[np.float64] = np.log(odds).astype(np.float64)
        return 0.0 - margin
    if name in _LOG:
        if not (base_score > 0).all():
            raise ValueError("base_score is not above 0")
        return np.log(base_score).astype(np.float64)
    return base_score.astype(np.float64)


def to_base_score(name: str, start: npt.NDArray[np.float64]) -> npt.NDArray[np.float32] | None:
    """Return the predictions at raw scores; None: float32 cannot say them exactly enough.

    Example:
        >>> to_base_score("binary:logistic", np.array([0.0])), to_base_score("reg:gamma", [200.0])
        (array([0.5], dtype=float32), None)
    """
    start = np.asarray(start, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        exact = start
        if name in _LOGIT:
            exact = 1 / (1 + np.exp(-start))
        elif name in _LOG:
            exact = np.exp(start)
        found = exact.astype(np.float32)
    if not np.isfinite(found).all():
        return None
    try:
        again = to_margin(name, found)
    except ValueError:
        return None
    is_close = np.abs(again - start) <= 2.0**-22 * np.maximum(np.abs(start), 1)
    return found if is_close.all() else None


def write_objective(objective: Objective) -> tuple[dict[str, Any], float]:
    """Return XGBoost's objective that predicts the same, and what scores must be multiplied with.

    Raises:
        NotSupportedError: If it has no objective with this link.

    Example:
        >>> write_objective(objective_from_config({"name": "huber"}))[0]["name"]
        'reg:squarederror'
    """
    parts = objective.parts if isinstance(objective, SeveralTargets) else (objective,)
    one = parts[0]
    name = one.traits.xgboost
    if isinstance(one, CustomWithLink):
        name = _LINKS.get(str(one.link), "")
    is_mixed = any(part.to_config() != one.to_config() for part in parts)
    if not name or is_mixed:
        raise NotSupportedError.because(
            "XGBoost has no objective that predicts as the model does",
            got=[part.name for part in parts] if is_mixed else objective.name,
            expected="a link that XGBoost has: none, exp, sigmoid, softmax or a class",
            hint="Save it in another format, or write a model of the raw scores with "
            "objective=regression.",
        )
    sigmoid = 1.0 if name == "binary:logitraw" else float(one.sigmoid)
    return {"name": name, **_params_of(name, objective)}, sigmoid


def _params_of(name: str, objective: Any) -> dict[str, Any]:
    """What XGBoost reads in addition to the name."""
    if name.startswith("rank:"):
        return {"lambdarank_param": dict(_RANK_PARAMS)}
    if name.startswith("multi:"):
        return {"softmax_multiclass_param": {"num_class": str(objective.n_outputs)}}
    if name == "reg:quantileerror":
        parts = getattr(objective, "parts", (objective,))
        alphas = getattr(objective, "alphas", None) or [part.alpha for part in parts]
        values = ",".join(f"{alpha:.8E}" for alpha in alphas)
        return {"quantile_loss_param": {"quantile_alpha": f"[{values}]"}}
    if name == "reg:pseudohubererror":
        return {"pseudo_huber_param": {"huber_slope": "1"}}
    if name == "count:poisson":
        return {"poisson_regression_param": {"max_delta_step": "0.7"}}
    if name == "reg:tweedie":
        return {"tweedie_regression_param": {"tweedie_variance_power": "1.5"}}
    if name == "survival:aft":
        given = {"aft_loss_distribution": objective.distribution}
        scale = {"aft_loss_distribution_scale": f"{objective.scale:.9g}"}
        return {"aft_loss_param": given | scale}
    if name in ("reg:absoluteerror", "binary:hinge", "survival:cox"):
        return {}
    return {"reg_loss_param": {"scale_pos_weight": "1"}}


def text_of(values: npt.NDArray[np.float32]) -> str:
    """Write a base score; one number alone as all versions read it.

    Example:
        >>> text_of(np.array([0.5], dtype=np.float32)), text_of(np.float32([0.25, 1]))
        ('5E-1', '[2.5E-1,1E0]')
    """
    texts = [_shortest(value) for value in values]
    return texts[0] if len(texts) == 1 else f"[{','.join(texts)}]"


def _shortest(value: np.float32) -> str:
    if not math.isfinite(value):
        raise ValueError("a base score is not finite")
    return (
        np.format_float_scientific(value, unique=True, trim="-", exp_digits=1)
        .upper()
        .replace("E+", "E")
    )
