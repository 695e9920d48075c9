"""XGBoost's names of metrics, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# Ranks that count where XGBoost looks at all of them.
_ALL: Final = 2**62
_RANKING: Final = ("ndcg", "map", "pre")

# Metrics that have another name here; the rest are called the same.
_OURS: Final = {
    "mae": "l1",
    "logloss": "binary_logloss",
    "error": "binary_error",
    "mlogloss": "multi_logloss",
    "merror": "multi_error",
}
_THEIRS: Final = {ours: name for name, ours in _OURS.items()} | {"cross_entropy": "logloss"}

# Metrics of two classes that XGBoost takes for several, too.
_BY_CLASS: Final = ("auc", "aucpr")

# Metrics that early stopping looks for a maximum of.
_RISING: Final = ("auc", "aucpr", "pre", "map", "ndcg")

# What is shown when no metric is asked for.
_DEFAULT: Final = {
    "reg:squarederror": "rmse",
    "reg:linear": "rmse",
    "reg:logistic": "rmse",
    "reg:squaredlogerror": "rmsle",
    "reg:pseudohubererror": "mphe",
    "reg:absoluteerror": "mae",
    "reg:quantileerror": "quantile",
    "reg:expectileerror": "expectile",
    "reg:gamma": "gamma-deviance",
    "count:poisson": "poisson-nloglik",
    "binary:logistic": "logloss",
    "binary:logitraw": "logloss",
    "binary:hinge": "error",
    "multi:softmax": "mlogloss",
    "multi:softprob": "mlogloss",
    "survival:cox": "cox-nloglik",
    "survival:aft": "aft-nloglik",
}


def our_metric(name: str, objective: str) -> str:
    """Return our name of one of XGBoost's metrics.

    Example:
        >>> our_metric("mae", "reg:squarederror"), our_metric("error@0.7", "binary:logistic")
        ('l1', 'binary_error@0.7')
        >>> our_metric("logloss", "reg:logistic")
        'cross_entropy'
    """
    base, at, argument = name.partition("@")
    if base in _RANKING and not at:
        return f"{base}@{_ALL}"
    if base == "logloss" and objective == "reg:logistic":
        return "cross_entropy"
    if base in _BY_CLASS and objective.startswith("multi:"):
        base = f"multi_{base}"
    return _OURS.get(base, base) + at + argument


def their_metric(name: str) -> str:
    """Return XGBoost's name of one of our metrics, as results have it.

    Example:
        >>> their_metric("binary_error@0.7"), their_metric(our_metric("ndcg", "rank:ndcg"))
        ('error@0.7', 'ndcg')
    """
    base, at, argument = name.partition("@")
    if base in _RANKING and argument == str(_ALL):
        return base
    if base.removeprefix("multi_") in _BY_CLASS:
        base = base.removeprefix("multi_")
    return _THEIRS.get(base, base) + at + argument


def default_metric(params: Mapping[str, Any]) -> str | None:
    """Return XGBoost's name of the metric that goes with an objective; None: ours is taken.

    Example:
        >>> default_metric({"objective": "rank:map"}), default_metric({"objective": "l2"})
        ('map@32', None)
    """
    objective = params["objective"]
    if objective == "reg:tweedie":
        return f"tweedie-nloglik@{float(params.get('tweedie_variance_power', 1.5)):g}"
    if isinstance(objective, str) and objective.startswith("rank:"):
        base = "map" if objective == "rank:map" else "ndcg"
        if params.get("lambdarank_pair_method", "topk") != "topk":
            return base
        return f"{base}@{int(params.get('lambdarank_num_pair_per_sample', 32))}"
    return _DEFAULT.get(objective)


def is_rising(name: str) -> bool:
    """Whether XGBoost takes a higher value of the metric to be better.

    Example:
        >>> is_rising("ndcg@5"), is_rising("mape"), is_rising("rmse")
        (True, False, False)
    """
    return name != "mape" and name.startswith(_RISING)
