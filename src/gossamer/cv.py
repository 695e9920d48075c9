"""`cv`: cross-validation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from gossamer.arguments import check_flags, check_function
from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult
from gossamer.data import Dataset
from gossamer.data.built import BuiltData, GivenRows
from gossamer.data.dataset import built_data, check_dataset, given_rows, subset_with_table
from gossamer.data.folds import (
    Fold,
    are_classes,
    check_nfold,
    read_folds,
    split_classes,
    split_queries,
    split_rows,
)
from gossamer.errors import (
    DataError,
    GossamerError,
    NotSupportedError,
    ParameterError,
    ParameterTypeError,
)
from gossamer.logger import info
from gossamer.metrics import CustomMetric
from gossamer.model import Booster, CVBooster
from gossamer.model.cv_results import CVResults
from gossamer.model.training.memory import fold_memory
from gossamer.params import TABLE, Params, resolve, warn_of_unused
from gossamer.params.coerce import coerce
from gossamer.params.given import as_dict
from gossamer.params.table import CANONICAL
from gossamer.params.traits import Kind, traits_of
from gossamer.side_by_side import SideBySide, plan_stretches
from gossamer.threads import resolve_threads
from gossamer.train import Callback, _sort_callbacks, close_callbacks

Feval = CustomMetric | Sequence[CustomMetric] | None
Preparation = Callable[[Dataset, Dataset, dict[str, Any]], tuple[Dataset, Dataset, dict[str, Any]]]


@check_flags
def cv(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    num_boost_round: int = 100,
    folds: Iterable[tuple[Any, Any]] | Any = None,
    nfold: int = 5,
    stratified: bool = True,
    shuffle: bool = True,
    metrics: str | Sequence[str] | None = None,
    feval: Feval = None,
    init_model: Any = None,
    fpreproc: Preparation | None = None,
    seed: int = 0,
    callbacks: Sequence[Callback] | None = None,
    eval_train_metric: bool = False,
    return_cvbooster: bool = False,
) -> CVResults:
    """Run cross-validation: for each fold, train on the other folds and evaluate on this one.

    All folds go through each round together, and callbacks receive the means of their metrics.
    Early stopping therefore finds the round that is best on average. The table is binned once, for
    all folds.

    Args:
        params: Parameters. `num_iterations` in them takes precedence over `num_boost_round`.
        train_set: The data.
        num_boost_round: Number of rounds.
        folds: Pairs of (training rows, test rows), or a scikit-learn splitter. With queries, its
            `groups` are the numbers of the queries.
        nfold: Number of folds if `folds` is not given.
        stratified: Whether every fold gets its share of each class. This has no effect if labels
            are not classes, or with queries, which are kept whole.
        shuffle: Whether rows are assigned at random, or folds are consecutive rows.
        metrics: Metrics to evaluate instead of those in `params`.
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        init_model: A `Booster`, or the path of a saved one, to continue from in every fold. It
            should not have been trained on the rows used for evaluation. Rounds are counted from
            its own, as in `train`.
        fpreproc: A function (training data, test data, parameters) that returns these three,
            changed for the fold.
        seed: Seed of the folds.
        callbacks: Functions called before or after each round, see `gossamer.callbacks`.
        eval_train_metric: Whether to evaluate on the training rows of each fold too.
        return_cvbooster: Whether to return the models.

    Returns:
        A dict with a list for the mean and the standard deviation of each metric over the folds,
        with one number per round. The names are "valid l2-mean", "valid l2-stdv" ("train l2-mean",
        ...) and so on. After early stopping, the lists end with the best round. With
        `return_cvbooster`, the `CVBooster` is under "cvbooster". Notebooks show the dict as a
        table, `plot()` draws a metric, and `to_pandas()` returns a data frame.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(500, 3))
        >>> result = cv({"objective": "binary", "metric": "auc"}, Dataset(x, x[:, 0] > 0), 10)
        >>> list(result), len(result["valid auc-mean"])
        (['valid auc-mean', 'valid auc-stdv'], 10)
        >>> round(max(result["valid auc-mean"]), 1)
        1.0
    """
    check_dataset(train_set)
    given = with_metrics(params, metrics)
    resolved = resolve(given)
    warn_of_unused(given)
    n_rounds = count_rounds(num_boost_round, resolved)
    before, after = _sort_callbacks(callbacks, resolved)
    check_callbacks(before + after, "cv()")
    check_function("fpreproc", fpreproc)
    if isinstance(init_model, str | os.PathLike):
        init_model = Booster(model_file=init_model)
    training = _CrossTraining(
        evaluates_train=eval_train_metric or resolved.is_provide_training_metric, feval=feval
    )
    # What a user wrote is called from the thread that called us, for one fold after the other.
    is_ours = fpreproc is None and not callable(resolved.objective)
    try:
        # A model is best applied to the table itself, which may be released below.
        table = None if init_model is None else given_rows(train_set)
        # Once for all folds: they take rows of what is binned here.
        built = built_data(train_set, resolved, for_training=True)
        parts = make_folds(built, resolved, folds, nfold, stratified, shuffle, seed)
        continues = init_model is not None
        memory = fold_memory(resolved, built, parts, len(parts), continues=continues)
        makers = [
            FoldMaker(i, train_set, fold, given, fpreproc, init_model, table, memory)
            for i, fold in enumerate(parts)
        ]
        n_threads = count_threads(makers, resolved) if is_ours else 1
        stretches = plan_stretches(len(makers), n_threads)
        with SideBySide(stretches) as team:
            training.boosters = team.run([maker.make for maker in makers])
        del parts, makers, table  # rows of the folds
        with SideBySide(stretches) as team:
            if is_ours:
                each = [s.n_threads for s in stretches for _ in range(s.n_jobs)]
                training.limit_threads(each)
            try:
                training.boost(team, n_rounds, before, after, given)
            except EarlyStopException as stop:
                training.stop_at(stop.best_iteration)
    finally:
        close_callbacks(before + after)
    result = CVResults(training.history, training.higher_is_better)
    if return_cvbooster:
        training.limit_threads([None] * len(training.boosters))
        result["cvbooster"] = training.model
    return result


class _CrossTraining:
    """The trainings of all folds, and what was found so far."""

    def __init__(self, evaluates_train: bool, feval: Feval) -> None:
        self.model = CVBooster()
        self.history: dict[str, list[float]] = {}
        self.higher_is_better: dict[str, bool] = {}
        self._evaluates_train = evaluates_train
        self._feval = feval
        self._rounds: list[int] = []  # that were evaluated

    @property
    def boosters(self) -> list[Booster]:
        return self.model.boosters

    @boosters.setter
    def boosters(self, boosters: list[Booster]) -> None:
        self.model.boosters = boosters

    def limit_threads(self, limits: Sequence[int | None]) -> None:
        for booster, limit in zip(self.boosters, limits, strict=True):
            if booster.training is not None:  # a callback may have freed its data
                booster.training.limit_threads(limit)

    def boost(
        self,
        team: SideBySide,
        n_rounds: int,
        before: list[Callback],
        after: list[Callback],
        env_params: dict[str, Any],
    ) -> None:
        """Train all folds round after round."""
        begin = self.boosters[0].current_iteration()  # more than 0 with init_model
        end = begin + n_rounds
        is_finished = [False] * len(self.boosters)
        for i in range(begin, end):
            for callback in before:
                callback(CallbackEnv(self.model, env_params, i, begin, end, None))
            metric_freq = self.boosters[0].resolved_params.metric_freq
            is_due = i in (begin, end - 1) or (i + 1) % metric_freq == 0
            jobs = [
                _Round(booster, done, self._evaluate if is_due and self._feval is None else None)
                for booster, done in zip(self.boosters, is_finished, strict=True)
            ]
            is_finished = team.run([job.run for job in jobs])
            is_over = all(is_finished)
            results: list[EvalResult] = []
            if is_due or is_over:
                # Metric functions of the user are called from this thread.
                by_fold = [job.results or self._evaluate(job.booster) for job in jobs]
                results = average(by_fold)
                self._keep(i, results)
            end = i + 1 if is_over else end  # callbacks learn that this was the last one
            for callback in after:
                callback(CallbackEnv(self.model, env_params, i, begin, end, results))
            if is_over and self.boosters[0].resolved_params.verbosity >= 1:
                info(f"Training ends after {i} rounds: no leaf can be split any further.")
            if is_over:
                break

    def _evaluate(self, booster: Booster) -> list[EvalResult]:
        results = booster.eval_train(self._feval) if self._evaluates_train else []
        return results + booster.eval_valid(self._feval)

    def _keep(self, n_round: int, results: list[EvalResult]) -> None:
        self._rounds.append(n_round)
        for result in results:
            name = f"{result.dataset_name} {result.metric_name}"
            self.higher_is_better[name] = result.maximize
            self.history.setdefault(f"{name}-mean", []).append(result.metric_value)
            deviation = cast(float, result.metric_std_dev)
            self.history.setdefault(f"{name}-stdv", []).append(deviation)

    def stop_at(self, n_round: int) -> None:
        """Say that this round was the best."""
        n_kept = sum(each <= n_round for each in self._rounds)
        self.history = {name: values[:n_kept] for name, values in self.history.items()}
        self.model.best_iteration = n_round + 1
        for booster in self.boosters:
            booster.best_iteration = n_round + 1


@dataclass(eq=False)
class _Round:
    """One round of one fold: train, then evaluate."""

    booster: Booster
    is_finished: bool
    evaluate: Callable[[Booster], list[EvalResult]] | None
    results: list[EvalResult] = field(default_factory=list)

    def run(self) -> bool:
        """Return whether the fold's training is finished."""
        if not self.is_finished:
            self.is_finished = self.booster.update()
        if self.evaluate is not None:
            self.results = self.evaluate(self.booster)
        return self.is_finished


@dataclass(frozen=True, eq=False)
class FoldMaker:
    """Everything that the booster of one fold is made of.

    Attributes:
        number: The fold, from 0.
        data: All rows.
        fold: Which of them to train on, and which to evaluate on.
        params: Parameters as given.
        fpreproc: A function of the user that changes data and parameters.
        init_model: A model to continue from.
        table: The user's table, which that model is applied to.
        max_memory: The part of `max_memory` that the fold has; 0: no limit.
    """

    number: int
    data: Dataset
    fold: Fold
    params: dict[str, Any]
    fpreproc: Preparation | None
    init_model: Booster | None
    table: GivenRows | None
    max_memory: int = 0

    def make(self) -> Booster:
        """Return the booster of the fold; it evaluates the fold's test rows as "valid"."""
        train = subset_with_table(self.data, self.fold.train, self.table)
        test = subset_with_table(self.data, self.fold.test, self.table)
        params = self.params
        if self.fpreproc is not None:
            train, test, params = self._prepare(train, test)
        if self.max_memory > 0:
            params = {**params, "max_memory": self.max_memory}
        try:
            booster = Booster(params, train, init_model=self.init_model)
            booster.set_train_data_name("train").add_valid(test, "valid")
        except GossamerError as error:
            raise type(error)(f"In fold {self.number}: {error}") from error
        return booster

    def _prepare(self, train: Dataset, test: Dataset) -> tuple[Dataset, Dataset, dict[str, Any]]:
        assert self.fpreproc is not None
        returned = self.fpreproc(train, test, dict(self.params))
        is_three = isinstance(returned, tuple | list) and len(returned) == 3
        if not is_three or not all(isinstance(data, Dataset) for data in returned[:2]):
            raise DataError.because(
                "fpreproc returned an unexpected value",
                got=returned,
                expected="(training Dataset, test Dataset, parameters)",
            )
        return returned[0], returned[1], dict(returned[2])


def average(by_fold: Sequence[Sequence[EvalResult]]) -> list[EvalResult]:
    """Return the mean and the standard deviation of every metric over the folds.

    Raises:
        DataError: If the folds were not evaluated by the same metrics.

    Example:
        >>> folds = [[EvalResult("valid", "l2", value, False)] for value in (1.0, 3.0)]
        >>> average(folds)[0].metric_value, average(folds)[0].metric_std_dev
        (2.0, 1.0)
    """
    results = []
    names = [[f"{r.dataset_name} {r.metric_name}" for r in fold] for fold in by_fold]
    for i, found in enumerate(names):
        if found != names[0]:
            raise DataError.because(
                f"fold {i} has other metrics than fold 0",
                got=found,
                expected=str(names[0]),
            )
    for each in zip(*by_fold, strict=True):
        values = [result.metric_value for result in each]
        first = each[0]
        with np.errstate(invalid="ignore"):  # a metric may be infinite
            mean, deviation = float(np.mean(values)), float(np.std(values))
        results.append(
            EvalResult(first.dataset_name, first.metric_name, mean, first.maximize, deviation)
        )
    return results


def check_callbacks(callbacks: Sequence[Callback], caller: str) -> None:
    """Refuse what is not a function, and callbacks that resume a training of a single model.

    Raises:
        ParameterTypeError: If one is not a function.
        NotSupportedError: If there is one; `caller` is the function that it was given to.
    """
    for callback in callbacks:
        if not callable(callback):
            raise ParameterTypeError.because("a callback must be a function", got=callback)
        if hasattr(callback, "attach"):
            raise NotSupportedError.because(
                f"{caller} cannot be resumed from a checkpoint",
                got=type(callback).__name__,
                hint="Leave the callback out, or use it in train().",
            )


def count_threads(makers: Sequence[FoldMaker], params: Params, rounds_per_join: int = 1) -> int:
    """Return the threads for all folds together, which wait for each other after so many rounds."""
    n_rows = sum(len(maker.fold.train) for maker in makers) * rounds_per_join
    return resolve_threads(params.num_threads, n_rows, makers[0].data.num_feature())


def with_metrics(
    params: Mapping[str, Any] | None, metrics: str | Sequence[str] | None
) -> dict[str, Any]:
    """Return the parameters, with these metrics instead of their own."""
    if params is not None and not isinstance(params, Mapping):
        raise ParameterError.because("parameters cannot be used", got=params, expected="a dict")
    given = as_dict(params)
    if metrics is not None:
        given = {name: v for name, v in given.items() if CANONICAL.get(name) != "metric"}
        given["metric"] = metrics
    return given


def count_rounds(num_boost_round: int, params: Params) -> int:
    """Return the number of rounds; `num_iterations` among the parameters wins.

    Raises:
        ParameterError: If it is not a number above 0.
    """
    n_rounds = cast(int, coerce(TABLE["num_iterations"], num_boost_round, "num_boost_round"))
    if "num_iterations" in params.given:
        n_rounds = params.num_iterations
    if n_rounds < 1:
        raise ParameterError.because(
            "num_boost_round is out of range", got=n_rounds, expected="an integer >= 1"
        )
    return n_rounds


def make_folds(
    data: BuiltData,
    params: Params,
    folds: Any,
    n_folds: int,
    stratified: bool,
    shuffle: bool,
    seed: int,
) -> list[Fold]:
    """Return the folds that were given, or folds that fit the data; see `cv` for the arguments."""
    n_rows, targets, sizes = data.n_rows, data.targets, data.rows.group
    if folds is not None:
        return read_folds(folds, n_rows, data.rows.label, sizes)
    if sizes is not None:
        return split_queries(sizes, n_folds)
    check_nfold(n_folds)
    # Labels of survival data are times: whole numbers among them are not classes.
    is_survival = traits_of(params.objective).kind is Kind.SURVIVAL
    has_classes = targets.n_targets == 1 and not is_survival
    if stratified and has_classes:
        if are_classes(targets.label, n_folds):
            return split_classes(targets.label, n_folds, shuffle, seed)
        if params.verbosity >= 1:
            info("The labels are not classes: folds are not stratified.")
    return split_rows(n_rows, n_folds, shuffle, seed)
