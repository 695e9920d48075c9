"""`train`: the training loop, as XGBoost's; `cv` is there too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, cast

from gossamer.arguments import check_count, check_function
from gossamer.compat.xgboost.booster import Booster
from gossamer.compat.xgboost.callback import (
    CallbackContainer,
    EvalsLog,
    TrainingCallback,
    standard_callbacks,
)
from gossamer.compat.xgboost.cv import cv as cv
from gossamer.compat.xgboost.dmatrix import DMatrix
from gossamer.compat.xgboost.evaluation import check_evals
from gossamer.compat.xgboost.objective import MetricFunction, ObjectiveFunction
from gossamer.compat.xgboost.params import read_params
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.compat.xgboost.update import take_update
from gossamer.errors import DataError, ParameterTypeError


@warn_of_positions
def train(
    params: Any,
    dtrain: DMatrix,
    num_boost_round: int = 10,
    *,
    evals: Sequence[tuple[DMatrix, str]] | None = None,
    obj: ObjectiveFunction | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    evals_result: EvalsLog | None = None,
    verbose_eval: bool | int | None = True,
    xgb_model: Booster | str | os.PathLike[str] | bytearray | None = None,
    callbacks: Sequence[TrainingCallback] | None = None,
    custom_metric: MetricFunction | None = None,
) -> Booster:
    """Train a model with XGBoost's parameters and defaults.

    Args:
        params: Parameters by XGBoost's names, see docs/migrating_from_xgboost.md.
        dtrain: Training data.
        num_boost_round: Number of rounds.
        evals: Data sets to evaluate after each round, and their names.
        obj: The loss: (scores, data) -> (gradients, hessians).
        maximize: Whether early stopping takes higher to be better; None: as the metric says.
        early_stopping_rounds: Stop when the last metric on the last data set has not improved for
            this many rounds. The model keeps all rounds, and has a `best_iteration`.
        evals_result: A dict to be filled with the metrics of every round.
        verbose_eval: Whether to show them; or every how many rounds.
        xgb_model: A model to continue from: a `Booster`, a path, or what `save_raw` returned.
        callbacks: Callbacks, see `callback`.
        custom_metric: A metric: (predictions, data) -> (name, value). It is given scores if `obj`
            is given.

    Returns:
        The trained model.

    Raises:
        GossamerError: If data or parameters cannot be used.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> data = DMatrix(x, label=x[:, 0] ** 2)
        >>> found = {}
        >>> model = train(
        ...     {"max_depth": 3},
        ...     data,
        ...     evals=[(data, "train")],
        ...     evals_result=found,
        ...     verbose_eval=False,
        ... )
        >>> len(found["train"]["rmse"]), model.num_boosted_rounds()
        (10, 10)
        >>> model.predict(DMatrix([[0.9]])).round(1)
        array([0.8], dtype=float32)
    """
    check_count(num_boost_round, "num_boost_round", least=-(2**31))
    for name, function in (("obj", obj), ("custom_metric", custom_metric)):
        check_function(name, function)
    if evals_result is not None and not isinstance(evals_result, dict):
        raise ParameterTypeError.because("evals_result must be a dict", got=evals_result)
    pairs = check_evals(evals)
    container = CallbackContainer(
        standard_callbacks(callbacks, verbose_eval, early_stopping_rounds, maximize)
    )
    if early_stopping_rounds and not pairs:
        raise DataError.because("early stopping needs data to evaluate", hint="Pass evals.")
    given = read_params(params)
    update = take_update(given)
    booster = Booster(given, [dtrain], model_file=xgb_model)
    booster.set_attr(best_iteration=None, best_score=None)
    if update is not None:
        booster.update_trees(dtrain, update, num_boost_round)
    elif booster.num_boosted_rounds() == 0 and num_boost_round < 1:
        booster.start_without_rounds(dtrain, has_function=obj is not None)
    booster = cast(Booster, container.before_training(booster))
    for i in range(num_boost_round):
        if container.before_iteration(booster, i):
            break
        if update is None:
            booster.update(dtrain, i, fobj=obj)
        rounds = booster if update is None else booster[: i + 1]
        results = rounds.evaluate(pairs, custom_metric, output_margin=obj is not None)
        if container.after_iteration(booster, i, results):
            break
    booster = cast(Booster, container.after_training(booster))
    if evals_result is not None:
        evals_result.update(container.history)
    return booster.reset()
