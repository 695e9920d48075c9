"""Stop training when validation gets no better."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn

from gossamer.callbacks.env import CallbackEnv, EarlyStopException, is_cv
from gossamer.errors import DataError, ParameterError, ParameterTypeError
from gossamer.logger import show, warn
from gossamer.metrics.eval_result import EvalResult, format_results


@dataclass
class _Best:
    """The best round so far by one metric on one data set."""

    min_delta: float
    iteration: int
    value: float  # NaN until the metric is defined
    results: list[EvalResult]  # all results of that round

    def update(self, result: EvalResult, env: CallbackEnv) -> None:
        value = result.metric_value
        if math.isnan(self.value):
            is_better = not math.isnan(value)
        elif result.maximize:
            is_better = value > self.value + self.min_delta
        else:
            is_better = value < self.value - self.min_delta
        if is_better:
            self.iteration = env.iteration
            self.value = value
            self.results = list(env.evaluation_result_list or [])


@dataclass(eq=False)
class _EarlyStopping:
    order: ClassVar[int] = 30
    before_iteration: ClassVar[bool] = False

    stopping_rounds: int
    first_metric_only: bool
    verbose: bool
    min_deltas: list[float]  # none, one, or one per metric
    enabled: bool = True
    _best: list[_Best] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)  # data set and metric of each result
    _watched: list[bool] = field(default_factory=list)  # which results can stop the training

    def __call__(self, env: CallbackEnv) -> None:
        results = env.evaluation_result_list or []
        if env.iteration == env.begin_iteration:
            self._start(env, results)
        if not self.enabled or not results:  # with metric_freq, not every round is evaluated
            return
        if _names(results) != self._names:
            raise DataError.because(
                f"round {env.iteration + 1} has other metrics than the first round",
                got=_names(results),
                expected=str(self._names),
                hint="A metric function must return the same metrics every time.",
            )
        for result, best, is_watched in zip(results, self._best, self._watched, strict=True):
            best.update(result, env)
            if not is_watched:
                continue
            if env.iteration - best.iteration >= self.stopping_rounds:
                self._stop("Early stopping, best iteration is:", best, result)
            if env.iteration == env.end_iteration - 1:
                self._stop("Did not meet early stopping. Best iteration is:", best, result)

    def best_so_far(self) -> tuple[int, list[EvalResult]] | None:
        """Return the best round so far (from 0) and its results; None: nothing is watched."""
        for best, is_watched in zip(self._best, self._watched, strict=True):
            if self.enabled and is_watched:
                return best.iteration, best.results
        return None

    def get_state(self) -> dict[str, Any]:
        """Return what was best so far, for a checkpoint."""
        return {
            "enabled": self.enabled,
            "names": self._names,
            "watched": self._watched,
            "best": [
                [best.min_delta, best.iteration, best.value, [list(r) for r in best.results]]
                for best in self._best
            ],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.enabled = state["enabled"]
        self._names, self._watched = state["names"], state["watched"]
        self._best = [
            _Best(delta, iteration, value, [EvalResult(*result) for result in results])
            for delta, iteration, value, results in state["best"]
        ]

    def _start(self, env: CallbackEnv, results: list[EvalResult]) -> None:
        self.enabled = self._can_stop(env, results)
        if not self.enabled:
            return
        train_name = _train_name(env)
        deltas = self._deltas(results)
        self._names = _names(results)
        self._best = [
            _Best(deltas[r.metric_name], env.iteration, r.metric_value, list(results))
            for r in results
        ]
        self._watched = [
            r.dataset_name != train_name
            and (not self.first_metric_only or r.metric_name == results[0].metric_name)
            for r in results
        ]
        if self.verbose:
            show(
                f"Training until validation scores don't improve for {self.stopping_rounds} rounds"
            )

    def _can_stop(self, env: CallbackEnv, results: list[EvalResult]) -> bool:
        if self.stopping_rounds <= 0:
            return False
        if not results:
            raise ParameterError.because(
                "early_stopping has nothing to evaluate",
                expected="at least one validation set and one metric",
                hint="Pass valid_sets to train() (eval_set to fit()), or leave it out.",
            )
        if all(result.dataset_name == _train_name(env) for result in results):
            warn("Only training set found, disabling early stopping.")
            return False
        return True

    def _deltas(self, results: list[EvalResult]) -> dict[str, float]:
        """The least improvement that counts, by name of the metric."""
        names = list(dict.fromkeys(result.metric_name for result in results))
        deltas = self.min_deltas
        if len(deltas) <= 1:
            deltas = (deltas or [0.0]) * len(names)
        if len(deltas) != len(names):
            raise ParameterError.because(
                "min_delta does not match the metrics",
                got=deltas,
                expected=f"one value, or one for each of {', '.join(names)}",
            )
        return dict(zip(names, deltas, strict=True))

    def _stop(self, reason: str, best: _Best, result: EvalResult) -> NoReturn:
        if self.verbose:
            show(f"{reason}\n[{best.iteration + 1}]\t{format_results(best.results)}")
            if self.first_metric_only:
                show(f"Evaluated only: {result.metric_name}")
        raise EarlyStopException(best.iteration, best.results)


def _names(results: list[EvalResult]) -> list[str]:
    return [f"{result.dataset_name}'s {result.metric_name}" for result in results]


def _train_name(env: CallbackEnv) -> str:
    """Name under which the training set is evaluated, if it is."""
    name: str = "train" if is_cv(env.model) else getattr(env.model, "_train_data_name", "training")
    return name


def early_stopping(
    stopping_rounds: int,
    first_metric_only: bool = False,
    verbose: bool = True,
    min_delta: float | list[float] = 0.0,
) -> _EarlyStopping:
    """Stop when a validation metric has not improved for some rounds.

    The best round becomes the model's `best_iteration`, even if training is not stopped. Every
    metric on every validation set can stop training; metrics on the training set cannot. With
    `boosting="dart"`, where later rounds change earlier trees, the trees get back their values of
    the best round.

    Args:
        stopping_rounds: Number of rounds without improvement after which to stop; 0 or less means
            never.
        first_metric_only: Whether only the first metric counts.
        verbose: Whether to show when and why training stopped.
        min_delta: Minimum improvement of a metric; one value, or one per metric.

    Example:
        >>> from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult
        >>> stop = early_stopping(2, verbose=False)
        >>> try:
        ...     for i, loss in enumerate([0.5, 0.4, 0.6, 0.7, 0.8]):
        ...         stop(CallbackEnv(None, {}, i, 0, 5, [EvalResult("valid", "l2", loss, False)]))
        ... except EarlyStopException as stopped:
        ...     print(stopped.best_iteration)
        1
    """
    is_integer = isinstance(stopping_rounds, Integral) and not isinstance(stopping_rounds, bool)
    if not is_integer:
        raise ParameterTypeError.because(
            "stopping_rounds must be a whole number",
            got=stopping_rounds,
            expected="an integer; 0 or less trains all rounds",
        )
    min_deltas = list(min_delta) if isinstance(min_delta, list | tuple) else [min_delta]
    if not all(isinstance(delta, Real) and delta >= 0 for delta in min_deltas):
        raise ParameterError.because(
            "min_delta cannot be used",
            got=min_delta,
            expected="a number >= 0, or a list of one per metric",
        )
    return _EarlyStopping(
        stopping_rounds, first_metric_only, verbose, min_deltas, enabled=stopping_rounds > 0
    )
