"""Objectives by name."""

from __future__ import annotations

from typing import Any, Final

from gossamer.data import Dataset, Targets
from gossamer.errors import ModelFileError, shorten
from gossamer.objectives.absolute import Mape, RegressionL1
from gossamer.objectives.aft import AFT
from gossamer.objectives.base import Objective
from gossamer.objectives.binary import Binary, BinaryLogitRaw
from gossamer.objectives.calibrated import Calibrated
from gossamer.objectives.cox import Cox
from gossamer.objectives.cross_entropy import CrossEntropy, CrossEntropyLambda
from gossamer.objectives.custom import Custom, CustomWithLink, make_custom
from gossamer.objectives.expectile import Expectile
from gossamer.objectives.focal import Focal
from gossamer.objectives.gaussian import Gaussian
from gossamer.objectives.hinge import Hinge
from gossamer.objectives.lambdarank import Lambdarank
from gossamer.objectives.log_link import Gamma, Poisson, Tweedie
from gossamer.objectives.multiclass import Multiclass, MulticlassSoftmax
from gossamer.objectives.multiclassova import MulticlassOva
from gossamer.objectives.quantile import Quantile
from gossamer.objectives.quantiles import Quantiles
from gossamer.objectives.rank_map import RankMap
from gossamer.objectives.rank_ndcg import RankNdcg
from gossamer.objectives.rank_pairwise import RankPairwise
from gossamer.objectives.rank_xendcg import RankXendcg
from gossamer.objectives.regression import Regression
from gossamer.objectives.robust import Fair, Huber, LogCosh, PseudoHuber
from gossamer.objectives.several import SeveralTargets
from gossamer.objectives.square_root import SquareRoot
from gossamer.objectives.squared_log_error import SquaredLogError
from gossamer.params import Params
from gossamer.params.traits import add_traits, remove_traits, traits_of

OBJECTIVES: Final[dict[str, type[Objective]]] = {}


def register(objective: type[Objective]) -> None:
    """Make an objective known by its name: to parameters, model files and all that use traits."""
    OBJECTIVES[objective.name] = objective
    add_traits(objective.name, objective.traits)


def unregister(objective: type[Objective]) -> None:
    """Make an objective unknown again."""
    del OBJECTIVES[objective.name]
    remove_traits(objective.name)


# In the order of docs/parameters.md.
for _objective in (
    Regression,
    RegressionL1,
    Huber,
    Fair,
    Poisson,
    Quantile,
    Mape,
    Gamma,
    Tweedie,
    SquaredLogError,
    PseudoHuber,
    LogCosh,
    Expectile,
    Gaussian,
    Binary,
    BinaryLogitRaw,
    Hinge,
    Focal,
    Multiclass,
    MulticlassSoftmax,
    MulticlassOva,
    CrossEntropy,
    CrossEntropyLambda,
    Lambdarank,
    RankXendcg,
    RankNdcg,
    RankMap,
    RankPairwise,
    Cox,
    AFT,
    Custom,
    CustomWithLink,
    Quantiles,
    SquareRoot,
):
    register(_objective)


def objective_class(params: Params) -> type[Objective]:
    """Return the class of the objective that the parameters ask for by name.

    Example:
        >>> from gossamer.params import resolve
        >>> objective_class(resolve({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}))
        <class 'gossamer.objectives.quantiles.Quantiles'>
    """
    if callable(params.objective):
        return Custom
    if traits_of(params.objective).takes_quantiles and len(params.quantile_alpha) > 1:
        return Quantiles
    return OBJECTIVES[params.objective]


def make_objective(params: Params, targets: Targets, train_set: Dataset | None = None) -> Objective:
    """Make the objective of a training, and check the labels against it.

    Args:
        params: Checked parameters.
        targets: Labels and weights.
        train_set: What an objective of the user's is called with.

    Example:
        >>> import numpy as np
        >>> from gossamer.params import resolve
        >>> targets = Targets(np.array([0, 1], dtype=np.float32))
        >>> make_objective(resolve({"objective": "binary"}), targets)
        Binary(sigmoid=1.0, weight_negative=1.0, weight_positive=1.0)
    """
    if callable(params.objective):
        says = "num_class" in params.given or params.num_class > 1
        n_outputs = params.num_class if says else targets.n_targets
        return make_custom(params.objective, train_set, n_outputs)
    objective = objective_class(params)
    if objective.takes_targets or targets.n_targets == 1:
        return _make_one(objective, params, targets)
    return SeveralTargets.of(
        objective.name, lambda part: _make_one(objective, params, part), params, targets
    )


def _make_one(objective: type[Objective], params: Params, targets: Targets) -> Objective:
    """Make the objective of one target."""
    made = objective.from_params(params, targets)
    return SquareRoot(made) if params.reg_sqrt else made


def objective_from_config(config: Any) -> Objective:
    """Make the objective that a model file describes.

    Raises:
        ModelFileError: If the description is not one.

    Example:
        >>> objective_from_config({"name": "multiclass", "num_class": 3})
        Multiclass(n_outputs=3)
    """
    try:
        if "calibration" in config:
            rest = {name: value for name, value in config.items() if name != "calibration"}
            return Calibrated.around(_one_from_config(rest), config["calibration"])
        if config["name"] == SeveralTargets.name:
            return _several_from_config(config)
        return _one_from_config(config)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError.because(
            f"the model's objective cannot be read ({shorten(repr(error))})",
            got=config,
            expected=f"one of {', '.join(OBJECTIVES)}",
        ) from None


def _one_from_config(config: dict[str, Any]) -> Objective:
    if config["name"] == SquareRoot.name:
        inner = OBJECTIVES[config["objective"]]
        if inner is SquareRoot or inner.traits.has_link or inner.n_outputs != 1:
            raise ValueError("reg_sqrt needs an objective with one score")
        return SquareRoot(inner())
    return OBJECTIVES[config["name"]].from_config(config)


def _several_from_config(config: dict[str, Any]) -> SeveralTargets:
    parts = tuple(_one_from_config(part) for part in config["parts"])
    if len(parts) < 2 or any(part.n_outputs != 1 for part in parts):
        raise ValueError("several targets need parts with one output each")
    return SeveralTargets(parts)
