"""`train_quality`: as good a model as the time allows, with settings that are chosen."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from gossamer.arguments import as_list
from gossamer.callbacks import CallbackEnv, EarlyStopException
from gossamer.cv import Feval
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, check_dataset
from gossamer.ensemble.presets import QUALITIES, choose_preset
from gossamer.ensemble.train_folds import check_seconds, train_folds
from gossamer.ensemble.train_refit import train_refit
from gossamer.errors import ParameterError, check_choice
from gossamer.model import Booster
from gossamer.params import resolve
from gossamer.params.given import as_dict
from gossamer.train import Callback, train


def train_quality(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    quality: str = "good",
    num_boost_round: int | None = None,
    nfold: int | None = None,
    folds: Any = None,
    feval: Feval = None,
    seed: int = 0,
    callbacks: Sequence[Callback] | None = None,
    time_limit: float | None = None,
    calibration: str | None = None,
) -> Booster:
    """Train with settings chosen for a quality level. Parameters that you give take precedence.

    "fast" trains one model with the defaults, as `train` does. "good" trains one model with sampled
    rows and columns, and finds the number of rounds on held-out rows (`train_refit`). "best"
    averages eight members over folds (`train_folds`), with learning rate 0.04 (0.08 if a round has
    several trees, as with several classes). The members differ in their number of leaves and in
    using extra trees.

    Args:
        params: Parameters. They take precedence over the settings of the quality level.
        train_set: The data.
        quality: "fast", "good" or "best".
        num_boost_round: Maximum number of rounds; None uses the setting of the quality level.
        nfold: Number of folds with "best"; None means eight.
        folds: Pairs of (training rows, held-out rows) or a splitter, with "best".
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        seed: Seed for choosing the held-out rows.
        callbacks: Functions called after each round; with "best", after each fold.
        time_limit: Time limit in seconds; training stops earlier if it would take longer.
        calibration: With "best": see `train_folds`.

    Returns:
        The model. Its `params` contain all settings that were chosen. With "best", `fold_facts_`
        has the settings of each member.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(700, 4))
        >>> data = Dataset(x, x[:, 0] + rng.normal(size=700))
        >>> model = train_quality({"verbose": -1, "bagging_fraction": 0.7}, data, "good")
        >>> model.params["bagging_fraction"], model.params["feature_fraction"]
        (0.7, 0.6)
    """
    check_dataset(train_set)
    quality = check_choice("quality", quality, QUALITIES)
    if quality != "best" and any(each is not None for each in (nfold, folds, calibration)):
        raise ParameterError.because(
            "folds, nfold and calibration are for quality='best'",
            got=quality,
            hint="Use quality='best', or train_folds().",
        )
    given = as_dict(params)
    if quality == "fast":
        limit = [] if time_limit is None else [TimeLimit(check_seconds(time_limit))]
        n_rounds = 100 if num_boost_round is None else num_boost_round
        return train(
            given,
            train_set,
            n_rounds,
            feval=feval,
            callbacks=[*as_list("callbacks", callbacks), *limit],
        )
    resolved = resolve(given)
    built = built_data(train_set, resolved, for_training=True)
    preset = choose_preset(
        quality,
        given,
        has_categories=bool(built.columns.categorical),
        n_outputs=max(resolved.num_class, built.targets.n_targets),
    )
    n_rounds = preset.n_rounds if num_boost_round is None else num_boost_round
    chosen = {**given, **preset.params}
    more: dict[str, Any] = {"feval": feval, "seed": seed, "callbacks": callbacks}
    more["time_limit"] = time_limit
    if quality == "good":
        return train_refit(chosen, train_set, n_rounds, **more)
    more |= {"nfold": preset.n_folds if nfold is None else nfold, "folds": folds}
    more |= {"calibration": calibration, "members": preset.members}
    return train_folds(chosen, train_set, n_rounds, **more)


class TimeLimit:
    """A callback that ends a training when its time is over.

    Example:
        >>> TimeLimit(60.0)(CallbackEnv(None, {}, 0, 0, 10, None))
    """

    order = 40
    before_iteration = False

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __call__(self, env: CallbackEnv) -> None:
        """Look at the clock."""
        if time.monotonic() > self._end:
            raise EarlyStopException(env.iteration, env.evaluation_result_list or [])
