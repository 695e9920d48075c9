"""Objectives by name."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gossamer.data import Dataset, Targets
from gossamer.errors import DataError, ModelFileError, message
from gossamer.objectives.aft import AFT
from gossamer.objectives.base import Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.cox import Cox
from gossamer.objectives.custom import Custom
from gossamer.objectives.gaussian import Gaussian
from gossamer.objectives.multiclass import Multiclass
from gossamer.objectives.quantiles import Quantiles
from gossamer.objectives.regression import Regression
from gossamer.params import Params

OBJECTIVES: Final[dict[str, type[Objective]]] = {
    objective.name: objective
    for objective in (
        Regression,
        Binary,
        Multiclass,
        Custom,
        Cox,
        AFT,
        Gaussian,
        Quantiles,
    )
}


def objective_class(params: Params) -> type[Objective]:
    """Return the class of the objective that the parameters ask for by name.

    Example:
        >>> from gossamer.params import resolve
        >>> objective_class(resolve({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}))
        <class 'gossamer.objectives.quantiles.Quantiles'>
    """
    if callable(params.objective):
        return Custom
    if params.objective == "quantile":
        return Quantiles
    return OBJECTIVES[params.objective]


def make_objective(params: Params, train_set: Dataset) -> Objective:
    """Make the objective of a training, and check the labels against it.

    Example:
        >>> from gossamer.params import resolve
        >>> data = Dataset([[1], [2]], label=[0, 1])
        >>> make_objective(resolve({"objective": "binary"}), data)
        Binary(sigmoid=1.0, weight_negative=1.0, weight_positive=1.0)
    """
    if callable(params.objective):
        return Custom(params.num_class, params.objective, train_set)
    objective = objective_class(params)
    check_columns(objective, train_set.targets, "training")
    return objective.from_params(params, train_set.targets)


def check_columns(objective: type[Objective], targets: Targets, name: str) -> None:
    """Check that the objective takes as many columns of labels, and infinite ones if there are any.

    Raises:
        DataError: If it does not.
    """
    if not objective.takes_targets and targets.n_targets > 1:
        raise DataError(
            message(
                f"objective={objective.name} takes one label per row",
                got=f"{targets.n_targets} columns of labels in the {name} data",
            )
        )
    if not objective.takes_intervals and not np.isfinite(targets.label).all():
        row = int(np.argmax(~np.isfinite(targets.target(1).label)))
        raise DataError(
            message(
                f"label of row {row} of the {name} data does not fit objective={objective.name}",
                got=float("inf"),
                expected="finite numbers",
                hint="Intervals with an open end are for objective=aft.",
            )
        )


def objective_from_config(config: Any) -> Objective:
    """Make the objective that a model file describes.

    Raises:
        ModelFileError: If the description is not one.

    Example:
        >>> objective_from_config({"name": "multiclass", "num_class": 3})
        Multiclass(n_outputs=3)
    """
    try:
        return OBJECTIVES[config["name"]].from_config(config)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            message(
                f"the model's objective cannot be read ({error!r})",
                got=config,
                expected=f"one of {', '.join(OBJECTIVES)}",
            )
        ) from None
