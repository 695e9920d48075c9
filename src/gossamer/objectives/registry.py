"""Objectives by name."""

from __future__ import annotations

from typing import Any, Final

from gossamer.data import Dataset
from gossamer.errors import DataError, ModelFileError, message
from gossamer.objectives.base import Objective
from gossamer.objectives.binary import Binary
from gossamer.objectives.custom import Custom
from gossamer.objectives.lambdarank import Lambdarank
from gossamer.objectives.multiclass import Multiclass
from gossamer.objectives.rank_map import RankMap
from gossamer.objectives.rank_ndcg import RankNdcg
from gossamer.objectives.rank_pairwise import RankPairwise
from gossamer.objectives.rank_xendcg import RankXendcg
from gossamer.objectives.regression import Regression
from gossamer.params import Params

OBJECTIVES: Final[dict[str, type[Objective]]] = {
    objective.name: objective
    for objective in (
        Regression,
        Binary,
        Multiclass,
        Lambdarank,
        RankXendcg,
        RankNdcg,
        RankMap,
        RankPairwise,
        Custom,
    )
}


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
    objective, targets = OBJECTIVES[params.objective], train_set.targets
    if not objective.takes_targets and targets.n_targets > 1:
        raise DataError(
            message(
                f"objective={objective.name} takes one label per row",
                got=f"{targets.n_targets} columns of labels",
            )
        )
    return objective.from_params(params, targets)


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
