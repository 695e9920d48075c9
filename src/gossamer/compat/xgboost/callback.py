"""Callbacks: what may happen before and after a training and each of its rounds."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from gossamer.arguments import as_list, check_count
from gossamer.compat.xgboost.metrics import is_rising
from gossamer.compat.xgboost.positional import warn_of_positions
from gossamer.errors import DataError, ParameterError, ParameterTypeError, message
from gossamer.logger import show

# Metrics of every round: data set -> metric -> values; of `cv`, (mean, standard deviation).
History = dict[str, dict[str, list[Any]]]
EvalsLog = History


class TrainingCallback:
    """Base of all callbacks; a subclass says what it does.

    `model` is the `Booster`; in `cv`, an object for the boosters of all folds.
    """

    EvalsLog = History  # as in XGBoost, for annotations

    def before_training(self, model: Any) -> Any:
        """Return the model that is to be trained."""
        return model

    def after_training(self, model: Any) -> Any:
        """Return the model that the training is to return."""
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: History) -> bool:
        """Return whether training should stop before round `epoch`."""
        return False

    def after_iteration(self, model: Any, epoch: int, evals_log: History) -> bool:
        """Return whether training should stop after round `epoch`."""
        return False


class CallbackContainer:
    """Several callbacks, called one after the other.

    Args:
        callbacks: The callbacks.

    Raises:
        TypeError: If one of them is something else.
    """

    def __init__(self, callbacks: Sequence[TrainingCallback]) -> None:
        for callback in callbacks:
            if not isinstance(callback, TrainingCallback):
                raise ParameterTypeError.because(
                    "this is not a callback",
                    got=type(callback).__name__,
                    expected="an instance of a subclass of callback.TrainingCallback",
                )
        self.callbacks = list(dict.fromkeys(callbacks))
        self.history: EvalsLog = {}

    def before_training(self, model: Any) -> Any:
        """Call all of them."""
        for callback in self.callbacks:
            model = _same_kind(callback.before_training(model), model, "before_training")
        return model

    def after_training(self, model: Any) -> Any:
        """Call all of them."""
        for callback in self.callbacks:
            model = _same_kind(callback.after_training(model), model, "after_training")
        return model

    def before_iteration(self, model: Any, epoch: int) -> bool:
        """Call one after the other until one of them says stop."""
        return any(each.before_iteration(model, epoch, self.history) for each in self.callbacks)

    def after_iteration(
        self, model: Any, epoch: int, results: Sequence[tuple[str, str, Any]]
    ) -> bool:
        """Put the results (data set, metric, value) into the history, and call the callbacks."""
        for data, metric, value in results:
            self.history.setdefault(data, {}).setdefault(metric, []).append(value)
        return any(each.after_iteration(model, epoch, self.history) for each in self.callbacks)


def _same_kind(returned: Any, model: Any, method: str) -> Any:
    if type(returned) is type(model):
        return returned
    raise TypeError(
        message(f"{method} must return the model", got=type(returned).__name__, expected="model")
    )


class LearningRateScheduler(TrainingCallback):
    """Changes the learning rate after every round, for the next one.

    Args:
        learning_rates: A function of the round, or one number per round.

    Example:
        >>> LearningRateScheduler([0.3, 0.2]).learning_rates(1)
        0.2
    """

    def __init__(self, learning_rates: Callable[[int], float] | Sequence[float]) -> None:
        if callable(learning_rates):
            self.learning_rates = learning_rates
        elif isinstance(learning_rates, Sequence) and not isinstance(learning_rates, str):
            rates = list(learning_rates)
            self.learning_rates = lambda epoch: rates[epoch]
        else:
            raise TypeError(
                message(
                    "learning_rates cannot be used",
                    got=learning_rates,
                    expected="a function of the round, or one number per round",
                )
            )

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Set the learning rate."""
        model.set_param("learning_rate", self.learning_rates(epoch))
        return False


class EarlyStopping(TrainingCallback):
    """Stops when a metric has not improved for some rounds.

    The best round and its metric become `best_iteration` and `best_score` of the model.

    Args:
        rounds: Rounds without improvement after which to stop.
        metric_name: The metric; None: the last one.
        data_name: The data set; None: the last one.
        maximize: Whether higher is better; None: as the metric's name says.
        save_best: Whether to return the model of the best round.
        min_delta: By how much the metric must improve.

    Example:
        >>> EarlyStopping(rounds=5, min_delta=-1)
        Traceback (most recent call last):
        ...
        gossamer.errors.ParameterError: min_delta is out of range: got -1, expected a number >= 0.
    """

    @warn_of_positions
    def __init__(
        self,
        *,
        rounds: int,
        metric_name: str | None = None,
        data_name: str | None = None,
        maximize: bool | None = None,
        save_best: bool = False,
        min_delta: float = 0.0,
    ) -> None:
        if min_delta < 0:
            raise ParameterError.because(
                "min_delta is out of range", got=min_delta, expected="a number >= 0"
            )
        self.rounds, self.save_best, self.maximize = rounds, save_best, maximize
        self.metric_name, self.data, self._min_delta = metric_name, data_name, min_delta
        self._begin_anew(0)

    def _begin_anew(self, starting_round: int) -> None:
        self.starting_round = starting_round
        self.current_rounds = 0  # since the best one
        self._best: float | None = None
        # The scores that were compared, by data set and metric.
        self.stopping_history: dict[str, dict[str, list[float]]] = {}

    def before_training(self, model: Any) -> Any:
        """Begin again."""
        self._begin_anew(model.num_boosted_rounds())
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Compare the round with the best so far."""
        if not evals_log:
            raise DataError.because(
                "early stopping needs data to evaluate", hint="Pass evals (eval_set)."
            )
        data = self.data or list(evals_log)[-1]
        log = _look_up(evals_log, data, "data set")
        metric = self.metric_name or list(log)[-1]
        value = _look_up(log, metric, "metric")[-1]
        score = float(value[0] if isinstance(value, tuple) else value)
        self.stopping_history.setdefault(data, {}).setdefault(metric, []).append(score)
        if self._is_better(score, metric):
            self._best, self.current_rounds = score, 0
            model.set_attr(best_score=score, best_iteration=epoch + self.starting_round)
        else:
            self.current_rounds += 1
        return self.current_rounds >= self.rounds

    def _is_better(self, score: float, metric: str) -> bool:
        if self._best is None:
            return True
        rising = is_rising(metric) if self.maximize is None else self.maximize
        gained = score - self._best if rising else self._best - score
        return gained > self._min_delta

    def after_training(self, model: Any) -> Any:
        """Return the best model, if asked to."""
        if not self.save_best:
            return model
        found = model[: model.best_iteration + 1]
        found.set_attr(**{name: model.attr(name) for name in ("best_iteration", "best_score")})
        return found


def _look_up(log: dict[str, Any], name: str, what: str) -> Any:
    if name not in log:
        raise DataError.because(
            f"there is no such {what} to stop early by", got=name, expected=", ".join(log)
        )
    return log[name]


class EvaluationMonitor(TrainingCallback):
    """Shows the metrics while training.

    Args:
        rank: Has no effect: there is one process.
        period: Rounds from one line to the next; the last round is always shown.
        show_stdv: Whether to show the standard deviation over the folds in `cv`.
        logger: Takes the lines; by default they are printed, or logged where `logging` is set up.

    Example:
        >>> lines = []
        >>> monitor = EvaluationMonitor(logger=lines.append)
        >>> monitor.after_iteration(None, 0, {"train": {"rmse": [0.5]}}), lines
        (False, ['[0]\\ttrain-rmse:0.50000\\n'])
    """

    def __init__(
        self,
        rank: int = 0,
        period: int = 1,
        show_stdv: bool = False,
        logger: Callable[[str], Any] | None = None,
    ) -> None:
        if period < 1:
            raise ParameterError.because(
                "period is out of range", got=period, expected="an integer >= 1"
            )
        self.period, self.show_stdv = period, show_stdv
        self._logger = logger or _print
        self._held_back: str | None = None

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Show the round, if it is time."""
        if not evals_log:
            return False
        parts = [
            f"{data}-{metric}:{self._format(values[-1])}"
            for data, log in evals_log.items()
            for metric, values in log.items()
        ]
        line = "\t".join([f"[{epoch}]", *parts]) + "\n"
        self._held_back = None if epoch % self.period == 0 else line
        if self._held_back is None:
            self._logger(line)
        return False

    def _format(self, value: Any) -> str:
        if not isinstance(value, tuple):
            return f"{value:.5f}"
        return f"{value[0]:.5f}+{value[1]:.5f}" if self.show_stdv else f"{value[0]:.5f}"

    def after_training(self, model: Any) -> Any:
        """Show the last round."""
        if self._held_back is not None:
            self._logger(self._held_back)
        return model


def _print(line: str) -> None:
    show(line.rstrip("\n"))


class TrainingCheckPoint(TrainingCallback):
    """Saves the model every some rounds.

    Args:
        directory: Where to.
        name: Files are called name_round.ubj.
        as_pickle: Whether to pickle the booster, parameters included, instead (name_round.pkl).
        interval: Rounds from one file to the next.
    """

    default_format: ClassVar[str] = "ubj"

    def __init__(
        self,
        directory: str | os.PathLike[str],
        name: str = "model",
        as_pickle: bool = False,
        interval: int = 100,
    ) -> None:
        self._path, self._name = os.fspath(directory), name
        self._as_pickle, self._interval = as_pickle, interval
        self._start = 0

    def before_training(self, model: Any) -> Any:
        """Count rounds from those the model has."""
        self._start = model.num_boosted_rounds()
        return model

    def after_iteration(self, model: Any, epoch: int, evals_log: EvalsLog) -> bool:
        """Save the model, if it is time."""
        if epoch == 0 or epoch % self._interval != 0:
            return False
        ending = "pkl" if self._as_pickle else self.default_format
        path = os.path.join(self._path, f"{self._name}_{epoch + self._start}.{ending}")
        if self._as_pickle:
            with open(path, "wb") as file:
                pickle.dump(model, file)
        else:
            model.save_model(path)
        return False


def standard_callbacks(
    callbacks: Sequence[TrainingCallback] | None,
    verbose_eval: bool | int | None,
    early_stopping_rounds: int | None,
    maximize: bool | None,
    show_stdv: bool = False,
) -> list[TrainingCallback]:
    """Return the user's callbacks and those that the arguments of `train` and `cv` ask for.

    Example:
        >>> [type(each).__name__ for each in standard_callbacks(None, 10, 5, None)]
        ['EvaluationMonitor', 'EarlyStopping']
    """
    found = as_list("callbacks", callbacks)
    if verbose_eval is not None and not isinstance(verbose_eval, bool):
        verbose_eval = check_count(verbose_eval, "verbose_eval", least=0)
    if early_stopping_rounds is not None:
        check_count(early_stopping_rounds, "early_stopping_rounds", least=0)
    if verbose_eval:
        period = 1 if verbose_eval is True else verbose_eval
        found.append(EvaluationMonitor(period=period, show_stdv=show_stdv))
    if early_stopping_rounds:
        found.append(EarlyStopping(rounds=early_stopping_rounds, maximize=maximize))
    return found
