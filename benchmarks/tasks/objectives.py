"""The objectives, what they are measured on, and what the peers call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.tasks import generators, tables
from benchmarks.tasks.libraries import FISHER, Options
from benchmarks.tasks.problem import Part, Problem, divide

QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
N_CLASSES = {"covertype_93k": 7, "letter": 26, "connect4": 3}
Make = Callable[[int], Problem]


@dataclass(frozen=True)
class Objective:
    """One objective.

    Attributes:
        name: Gossamer's name of it.
        loss: What is compared, a name of `LOSSES`.
        data: Data sets by name.
        options: Parameters of Gossamer besides the name; "objective" where it is not the name.
        lightgbm: Parameters of LightGBM, a list for one model each, None where it has no such
            objective.
        xgboost: Parameters of XGBoost.
        sklearn: Parameters of scikit-learn.
        is_raw: Whether the loss takes raw scores.
        loss_options: Arguments of the loss.
    """

    name: str
    loss: str
    data: tuple[str, ...]
    options: Options = field(default_factory=dict)
    lightgbm: Options | list[Options] | None = None
    xgboost: Options | None = None
    sklearn: Options | None = None
    is_raw: bool = False
    loss_options: dict[str, Any] = field(default_factory=dict)

    def contenders(self, data: str) -> dict[str, Options | list[Options]]:
        """Parameters by library; the number of classes is added where the loss needs it."""
        ours = {"objective": self.name, **self.options}
        found = {
            "gossamer": ours,
            "lightgbm": self.lightgbm,
            "xgboost": self.xgboost,
            "sklearn": self.sklearn,
        }
        classes = {"num_class": N_CLASSES[data]} if data in N_CLASSES else {}
        return {
            name: {**options, **classes} if isinstance(options, dict) else options
            for name, options in found.items()
            if options is not None
        }


def _real(read: Callable[[], Part]) -> Make:
    return lambda seed: divide(read(), seed)


DATA: dict[str, Make] = {
    **{
        name: _real(partial(tables.plain, name))
        for name in (
            "california_housing",
            "diamonds",
            "house_16h",
            "bike_sharing_hour",
            "protein_casp",
            "adult",
            "higgs_small",
            "credit_default",
            "covertype_93k",
            "letter",
            "connect4",
        )
    },
    "house_value_share": _real(tables.share_of_range),
    "be_mtpl97_rate": _real(tables.claim_rate),
    "be_mtpl97_amount": _real(tables.claim_amount),
    "be_mtpl97_size": _real(tables.claim_size),
    "right_censored": generators.right_censored,
    "interval_censored": generators.interval_censored,
    "noise_by_row": generators.noise_by_row,
}


def _name(objective: str, **options: Any) -> Options:
    return {"objective": objective, **options}


# XGBoost has no minimum of rows per leaf. Where the hessian of a row is one, this is that minimum.
_BY_ROWS = {"min_child_weight": 20}
# Where only XGBoost has the objective, both get the same minimum of the hessian, and no other.
_BY_HESSIAN = {"min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 10.0}
_AFT = {"aft_loss_distribution": "normal", "aft_loss_distribution_scale": 0.8}
_NUMBERS = ("california_housing", "diamonds", "house_16h", "protein_casp")
_SMALL_NUMBERS = ("california_housing", "protein_casp")
_BINARY = ("adult", "higgs_small", "credit_default")
_CLASSES = ("covertype_93k", "letter", "connect4")

OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective(
            "regression",
            "squared",
            (*_NUMBERS, "bike_sharing_hour"),
            lightgbm=_name("regression"),
            xgboost=_name("reg:squarederror", **_BY_ROWS),
            sklearn={"loss": "squared_error"},
        ),
        Objective(
            "regression_l1",
            "absolute",
            _NUMBERS,
            lightgbm=_name("regression_l1"),
            xgboost=_name("reg:absoluteerror", **_BY_ROWS),
            sklearn={"loss": "absolute_error"},
        ),
        Objective(
            "huber",
            "huber",
            _SMALL_NUMBERS,
            lightgbm=_name("huber", alpha=0.9),
            options={"alpha": 0.9},
            loss_options={"alpha": 0.9},
        ),
        Objective("fair", "fair", _SMALL_NUMBERS, lightgbm=_name("fair")),
        Objective(
            "pseudo_huber",
            "pseudo_huber",
            _SMALL_NUMBERS,
            xgboost=_name("reg:pseudohubererror", **_BY_ROWS),
        ),
        Objective("log_cosh", "log_cosh", _SMALL_NUMBERS),
        Objective(
            "quantile",
            "pinball",
            _NUMBERS,
            {"alpha": 0.9},
            _name("quantile", alpha=0.9),
            _name("reg:quantileerror", quantile_alpha=0.9, **_BY_ROWS),
            {"loss": "quantile", "quantile": 0.9},
            loss_options={"alphas": [0.9]},
        ),
        Objective(
            "quantiles",
            "pinball",
            ("california_housing", "diamonds", "noise_by_row"),
            {"objective": "quantile", "quantile_alpha": QUANTILES},
            [_name("quantile", alpha=alpha) for alpha in QUANTILES],
            _name("reg:quantileerror", quantile_alpha=QUANTILES, **_BY_ROWS),
            loss_options={"alphas": QUANTILES},
        ),
        Objective(
            "expectile",
            "expectile",
            _SMALL_NUMBERS,
            {"expectile_alpha": 0.8},
            loss_options={"alpha": 0.8},
        ),
        Objective("mape", "relative", ("diamonds", "bike_sharing_hour"), lightgbm=_name("mape")),
        Objective(
            "reg_sqrt",
            "squared",
            ("california_housing", "diamonds"),
            {"objective": "regression", "reg_sqrt": True},
            _name("regression", reg_sqrt=True),
        ),
        Objective(
            "squared_log_error",
            "squared_log",
            ("california_housing", "bike_sharing_hour"),
            xgboost=_name("reg:squaredlogerror"),
        ),
        Objective(
            "poisson",
            "poisson_deviance",
            ("be_mtpl97_rate", "bike_sharing_hour"),
            lightgbm=_name("poisson"),
            xgboost=_name("count:poisson"),
            sklearn={"loss": "poisson"},
        ),
        Objective(
            "gamma",
            "gamma_deviance",
            ("diamonds", "be_mtpl97_size"),
            lightgbm=_name("gamma"),
            xgboost=_name("reg:gamma", **_BY_ROWS),  # a row's hessian is one on average
            sklearn={"loss": "gamma"},
        ),
        Objective(
            "tweedie",
            "tweedie_deviance",
            ("bike_sharing_hour", "be_mtpl97_amount"),
            {"tweedie_variance_power": 1.5},
            _name("tweedie", tweedie_variance_power=1.5),
            _name("reg:tweedie", tweedie_variance_power=1.5),
            loss_options={"power": 1.5},
        ),
        Objective(
            "gaussian",
            "gaussian_nll",
            ("noise_by_row", "california_housing"),
            lightgbm=_name(FISHER, num_class=2),
            is_raw=True,
        ),
        Objective(
            "binary",
            "cross_entropy",
            _BINARY,
            lightgbm=_name("binary"),
            xgboost=_name("binary:logistic"),
        ),
        Objective(
            "binary:logitraw", "logistic", ("adult",), xgboost=_name("binary:logitraw"), is_raw=True
        ),
        Objective("hinge", "hinge", _BINARY, xgboost=_name("binary:hinge"), is_raw=True),
        Objective("focal", "focal", _BINARY, loss_options={"gamma": 2.0}),
        Objective(
            "cross_entropy",
            "cross_entropy",
            ("house_value_share",),
            lightgbm=_name("cross_entropy"),
            xgboost=_name("reg:logistic"),
        ),
        Objective(
            "cross_entropy_lambda",
            "cross_entropy_lambda",
            ("house_value_share",),
            lightgbm=_name("cross_entropy_lambda"),
        ),
        Objective(
            "multiclass",
            "multi_logloss",
            _CLASSES,
            lightgbm=_name("multiclass"),
            xgboost=_name("multi:softprob"),
        ),
        Objective("multi:softmax", "error_share", _CLASSES, xgboost=_name("multi:softmax")),
        Objective("multiclassova", "multi_logloss", _CLASSES, lightgbm=_name("multiclassova")),
        Objective(
            "cox",
            "cox_nll",
            ("right_censored",),
            _BY_HESSIAN,
            xgboost=_name("survival:cox", min_child_weight=10.0, base_score=1.0),
            is_raw=True,
        ),
        Objective(
            "aft",
            "aft_nll",
            ("interval_censored",),
            {**_BY_HESSIAN, **_AFT},
            xgboost=_name("survival:aft", min_child_weight=10.0, **_AFT),
            is_raw=True,
            loss_options={"scale": 0.8},
        ),
    )
}

_LIGHTGBM_RANKS = ("lambdarank", "rank_xendcg")
_XGBOOST_RANKS = {"lambdarank": "rank:ndcg"}
_SAMPLE = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8}
RANKING_DATA = ("mslr_sample10k", "mq2008", "kdd04_bio")
RANKING_OBJECTIVES = ("lambdarank", "rank_xendcg", "rank:ndcg", "rank:pairwise", "rank:map")


def ranking_contenders(objective: str, seed: int) -> dict[str, Options]:
    """Parameters by library; rows and columns are drawn, so that a seed makes a difference."""
    ours = {"objective": objective, **_SAMPLE, "seed": seed}
    found = {"gossamer": ours}
    if objective in _LIGHTGBM_RANKS:
        found["lightgbm"] = ours
    if objective != "rank_xendcg":
        theirs = _XGBOOST_RANKS.get(objective, objective)
        sample = {"subsample": 0.8, "colsample_bytree": 0.8, "seed": seed}
        found["xgboost"] = {"objective": theirs, "min_child_weight": 1e-3, **sample}
    return found
