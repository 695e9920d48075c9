"""`search`: many trainings, and the parameters of the best one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gossamer.callbacks import early_stopping
from gossamer.cv import cv
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, check_dataset
from gossamer.ensemble.train_folds import train_folds
from gossamer.errors import ParameterError
from gossamer.model import Booster
from gossamer.model.training.evaluate import training_of
from gossamer.params import CANONICAL, TABLE, resolve
from gossamer.params.coerce import coerce
from gossamer.train import train
from gossamer.tune.prune import PruningCallback, import_optuna
from gossamer.tune.space import default_space, starting_points

Space = Callable[[Any, Dataset], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes:
        params: The parameters of the best trial, including those that were given.
        value: The metric of the best trial: of its best round, or the mean over the folds.
        metric: Name of the metric.
        n_rounds: Number of rounds of the best trial.
        study: Optuna's study, for its own plots and tables.
        data: The training data.
    """

    params: dict[str, Any]
    value: float
    metric: str
    n_rounds: int
    study: Any
    data: Dataset

    def train(self, **arguments: Any) -> Booster:
        """Train with the best parameters on all data.

        Args:
            **arguments: Arguments of `gossamer.train`, such as `callbacks`.
        """
        return train(self.params, self.data, self.n_rounds, **arguments)

    def train_folds(self, nfold: int = 8, **arguments: Any) -> Booster:
        """Train one member per fold with the best parameters, and return their average.

        Each member stops on the rows of its own fold, so `n_rounds` is not used.

        Args:
            nfold: Number of folds.
            **arguments: Arguments of `gossamer.train_folds`, such as `repeats` and `calibration`.
        """
        return train_folds(self.params, self.data, nfold=nfold, **arguments)


def search(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    valid_set: Dataset | None = None,
    n_trials: int = 50,
    timeout: float | None = None,
    num_boost_round: int = 1000,
    early_stopping_rounds: int = 50,
    nfold: int = 5,
    space: Space = default_space,
    seed: int = 0,
    study: Any = None,
    prune: bool = True,
    show_progress: bool = False,
) -> SearchResult:
    """Search for good parameters.

    Every trial trains with early stopping, on the validation set or in cross-validation, and is
    given up when it falls behind the trials before it. A new study of `default_space` begins with
    the defaults and the settings of the presets (`quality`). It needs Optuna:
    `pip install "gossamer[tune]"`.

    Args:
        params: Parameters that all trials share, such as `objective` and `metric`; they win over
            what the space suggests.
        train_set: Training data; binned once, for all trials.
        valid_set: Validation data; None: cross-validation.
        n_trials: Number of trials.
        timeout: Seconds after which no trial is begun; None: no limit.
        num_boost_round: Most rounds of a trial.
        early_stopping_rounds: Rounds without improvement that end a trial.
        nfold: Without `valid_set`: number of folds.
        space: (trial, training data) -> parameters, see `default_space`.
        seed: Seed of the search and of the folds: the same one finds the same parameters.
        study: A study of Optuna to go on with; None: a new one.
        prune: Whether to give up trials that fall behind.
        show_progress: Whether to show Optuna's progress bar.

    Returns:
        The best parameters, and what goes with them.

    Raises:
        ParameterError: If parameters, or the numbers above, cannot be used.

    Example:
        >>> import numpy as np
        >>> import gossamer as gs
        >>> x = np.random.default_rng(0).normal(size=(200, 3))
        >>> data = gs.Dataset(x, x[:, 0] > 0)
        >>> found = search({"objective": "binary"}, data, n_trials=2, nfold=2, num_boost_round=5)
        >>> found.metric, found.train().current_iteration() == found.n_rounds
        ('binary_logloss', True)
    """
    optuna = import_optuna()
    check_dataset(train_set)
    for name, number in (("n_trials", n_trials), ("early_stopping_rounds", early_stopping_rounds)):
        if coerce(TABLE["num_iterations"], number, name) == 0:
            raise ParameterError.because(f"{name} is too small", got=number, expected="1 or more")
    given = {CANONICAL.get(name, name): value for name, value in (params or {}).items()}
    given.setdefault("verbosity", -1)
    resolved = resolve(given)
    built_data(train_set, resolved)
    metric, is_higher_better = _first_metric(given, train_set)
    trials = _Trials(
        given,
        train_set,
        valid_set,
        num_boost_round,
        early_stopping_rounds,
        nfold,
        space,
        seed,
        metric,
        prune,
    )
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        if study is None:
            study = optuna.create_study(
                direction="maximize" if is_higher_better else "minimize",
                sampler=optuna.samplers.TPESampler(seed=seed),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=20),
            )
            if space is default_space:
                for point in starting_points(train_set)[:n_trials]:
                    study.enqueue_trial(point)
        study.optimize(
            trials.run, n_trials=n_trials, timeout=timeout, show_progress_bar=show_progress
        )
    finally:
        optuna.logging.set_verbosity(level)
    best = study.best_trial
    return SearchResult(
        {**space(best, train_set), **given},
        float(best.value),
        metric,
        best.user_attrs["n_rounds"],
        study,
        train_set,
    )


@dataclass(frozen=True, eq=False)
class _Trials:
    """How one trial is done."""

    given: Mapping[str, Any]
    train_set: Dataset
    valid_set: Dataset | None
    num_boost_round: int
    early_stopping_rounds: int
    nfold: int
    space: Space
    seed: int
    metric: str
    prune: bool

    def run(self, trial: Any) -> float:
        """Train, and return the best value of the metric."""
        params = {**self.space(trial, self.train_set), **self.given}
        callbacks: list[Any] = [
            early_stopping(self.early_stopping_rounds, first_metric_only=True, verbose=False)
        ]
        if self.prune:
            callbacks.append(PruningCallback(trial, self.metric))
        if self.valid_set is None:
            results = cv(
                params,
                self.train_set,
                self.num_boost_round,
                nfold=self.nfold,
                seed=self.seed,
                callbacks=callbacks,
            )
            means = results[f"valid {self.metric}-mean"]
            value, n_rounds = means[-1], len(means)
        else:
            model = train(
                params,
                self.train_set,
                self.num_boost_round,
                [self.valid_set],
                ["valid"],
                callbacks=callbacks,
            )
            value, n_rounds = model.best_score["valid"][self.metric], model.current_iteration()
        trial.set_user_attr("n_rounds", n_rounds)
        return float(value)


def _first_metric(params: Mapping[str, Any], data: Dataset) -> tuple[str, bool]:
    """Return the metric that decides, and whether higher is better.

    Raises:
        ParameterError: If nothing is evaluated.
    """
    metrics = training_of(Booster(params, data), "search()").metrics
    if not metrics:
        raise ParameterError.because(
            "a search needs a metric", hint="Pass metric, such as 'auc', in params."
        )
    return metrics[0].name, metrics[0].maximize
