"""`train`: the training loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, cast

from gossamer.arguments import as_list, check_flags
from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult, early_stopping
from gossamer.callbacks.checkpoint import Checkpoint
from gossamer.callbacks.log import automatic_log, prints_metrics
from gossamer.callbacks.progress import automatic_progress
from gossamer.data import Dataset
from gossamer.data.dataset import built_data, check_dataset
from gossamer.errors import ParameterError, ParameterTypeError
from gossamer.logger import info, show, warn
from gossamer.metrics import CustomMetric
from gossamer.metrics.order import metric_of_two_classes
from gossamer.model import Booster
from gossamer.model.training.checkpoint import Run
from gossamer.model.training.constant import warn_if_constant
from gossamer.model.training.evaluate import restore_best
from gossamer.model.training.pass_report import PassReport
from gossamer.params import TABLE, Params, warn_of_unused
from gossamer.params.coerce import coerce
from gossamer.params.given import as_dict
from gossamer.params.unused import may_warn

Callback = Callable[[CallbackEnv], Any]

# Whether Ctrl-C is raised by who called `train`.
_raises: Final = ContextVar("raises", default=False)


@check_flags
def train(
    params: Mapping[str, Any] | None,
    train_set: Dataset,
    num_boost_round: int = 100,
    valid_sets: Dataset | Sequence[Dataset] | None = None,
    valid_names: str | Sequence[str] | None = None,
    feval: CustomMetric | Sequence[CustomMetric] | None = None,
    init_model: Any = None,
    keep_training_booster: bool = False,
    callbacks: Sequence[Callback] | None = None,
) -> Booster:
    """Train a model.

    Args:
        params: Parameters. `num_iterations` in them takes precedence over `num_boost_round`.
        train_set: Training data.
        num_boost_round: Number of rounds.
        valid_sets: Data sets to evaluate after each round. The training data may be one of them.
        valid_names: Their names.
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        init_model: A `Booster`, or the path of a saved one, to continue from. The returned model
            has its trees followed by the new ones. If the booster has a `best_iteration`, only the
            rounds up to it are used. See docs/control.md.
        keep_training_booster: Whether the booster keeps its data, so that it can be trained
            further, and the rounds after the best one (not with `boosting="dart"`, where these
            rounds have changed earlier trees).
        callbacks: Functions called before or after each round, see `gossamer.callbacks`. In a
            terminal or a notebook, a longer training shows a progress bar if tqdm is installed,
            unless metrics are printed or `verbosity` is below 0.

    Returns:
        The trained model. After Ctrl-C, the model trained so far, with a warning; its attribute
        `was_interrupted` is then true. (A second Ctrl-C, or one in the first round, raises
        KeyboardInterrupt.)

    Raises:
        GossamerError: If data, parameters or callbacks cannot be used.
        Exception: Whatever a callback raises. The callback's `env.model` has the rounds completed
            so far; it can be used and trained further.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> model = train({"learning_rate": 0.3}, Dataset(x, label=x[:, 0] ** 2), 50)
        >>> model.predict([[0.7]]).round(1)
        array([0.5])
    """
    check_dataset(train_set)
    booster = Booster(params, train_set, init_model=init_model)
    resolved = booster.resolved_params
    warn_of_unused(params)
    _warn_of_two_classes(resolved, train_set)
    n_rounds = cast(int, coerce(TABLE["num_iterations"], num_boost_round, "num_boost_round"))
    if "num_iterations" in resolved.given:
        n_rounds = resolved.num_iterations
    evaluates_train = _add_valid_sets(booster, valid_sets, valid_names)
    evaluates_train |= resolved.is_provide_training_metric
    _check_names(booster, evaluates_train)

    def evaluate() -> list[EvalResult]:
        results = booster.eval_train(feval) if evaluates_train else []
        return results + booster.eval_valid(feval)

    before, after = _sort_callbacks(callbacks, resolved)
    begin = booster.current_iteration()
    # (reset_parameter changes the parameters)
    run = Run(booster, as_dict(params), [*before, *after], begin, begin + n_rounds)
    booster.best_iteration = 0
    started = time.perf_counter()
    try:
        for callback in run.callbacks:
            if isinstance(callback, Checkpoint):  # may go on after some rounds
                callback.attach(run)
        is_watched = bool(run.callbacks or evaluates_train or booster.name_valid_sets)
        _boost(run, before, after, evaluate, is_watched=is_watched)
    except EarlyStopException as stop:
        booster.best_iteration = stop.best_iteration + 1
        restore_best(booster, with_scores=keep_training_booster)
        run.results = stop.best_score
    except KeyboardInterrupt:
        if booster.current_iteration() == begin:
            raise
        _keep_so_far(run)
    finally:
        close_callbacks(run.callbacks)
    if run.is_finished and run.n_done == 1 and resolved.verbosity >= 0:
        warn_if_constant(booster, train_set)
    for result in run.results:
        scores = booster.best_score.setdefault(result.dataset_name, {})
        scores[result.metric_name] = result.metric_value
    if prints_metrics(resolved):
        seconds = time.perf_counter() - started
        show(
            f"Trained {booster.current_iteration() - begin} rounds on {train_set.num_data():,} "
            f"rows x {train_set.num_feature():,} columns in {seconds:.2f} s."
        )
    if not keep_training_booster:
        booster.free_dataset().model = booster.used_model()  # as LightGBM: up to the best round
    return booster


def _boost(
    run: Run,
    before: list[Callback],
    after: list[Callback],
    evaluate: Callable[[], list[EvalResult]],
    *,
    is_watched: bool,
) -> None:
    """Train round after round.

    Args:
        run: The training.
        before: Callbacks before a round.
        after: Callbacks after a round.
        evaluate: Evaluates all data sets that are to be evaluated.
        is_watched: Whether something is to be done after every round.
    """
    booster = run.booster
    report = PassReport(booster.training)
    # Where a checkpoint resumes, the metrics of the rounds before are not known.
    keeps_history = run.n_done == 0
    i = run.begin + run.n_done
    while i < run.end and not run.is_finished:
        for callback in before:
            callback(CallbackEnv(booster, run.params, i, run.begin, run.end, None))
        # Gradients, sampled rows, trees, scores: see `Training.train_round`.
        if i == run.begin or is_watched or booster.training is None:
            is_finished = booster.update()
        else:
            n_before = booster.current_iteration()
            is_finished = booster.training.train_rounds(run.end - i)
            i += max(booster.current_iteration() - n_before - 1, 0)
        report.after_round()
        params = booster.resolved_params  # as they are in this round
        if is_finished and params.verbosity >= 1:
            n_rounds = booster.current_iteration()
            info(f"Training ends after {n_rounds} rounds: no leaf can be split any further.")
        end = i + 1 if is_finished else run.end  # callbacks learn that this was the last one
        is_evaluated = i in (run.begin, end - 1) or (i + 1) % params.metric_freq == 0
        found = evaluate() if is_evaluated else []
        run.results = found or run.results
        if keeps_history:
            _keep_metrics(booster, found)
        i += 1
        run.n_done, run.is_finished = i - run.begin, is_finished
        for callback in after:
            callback(CallbackEnv(booster, run.params, i - 1, run.begin, end, found))
        run.n_settled = run.n_done


def _keep_metrics(booster: Booster, results: list[EvalResult]) -> None:
    for result in results:
        metrics = booster.eval_history.setdefault(result.dataset_name, {})
        metrics.setdefault(result.metric_name, []).append(result.metric_value)


def _keep_so_far(run: Run) -> None:
    """After Ctrl-C: use the rounds so far; where early stopping looked on, up to the best one."""
    booster = run.booster
    booster.was_interrupted = True
    n_rounds = booster.current_iteration()
    for callback in run.callbacks:
        if run.is_whole and isinstance(callback, Checkpoint):
            callback.write()
    for callback in run.callbacks:
        best = callback.best_so_far() if hasattr(callback, "best_so_far") else None
        if best is not None:
            booster.best_iteration, run.results = best[0] + 1, best[1]
            restore_best(booster, with_scores=True)
            break
    if not _raises.get():
        warn(f"Training was interrupted after {n_rounds} rounds; the model has these rounds.")


@contextmanager
def raises_interrupts() -> Iterator[None]:
    """Trainings in here need not tell of Ctrl-C: the caller raises KeyboardInterrupt.

    Example:
        >>> with raises_interrupts():
        ...     model = train({"verbosity": -1}, Dataset([[1.0], [2.0]] * 20, [0, 1] * 20), 2)
        ...     if model.was_interrupted:
        ...         raise KeyboardInterrupt
    """
    token = _raises.set(True)
    try:
        yield
    finally:
        _raises.reset(token)


def _warn_of_two_classes(params: Params, train_set: Dataset) -> None:
    """Warn of a metric that takes all labels above 0 for one class, as LightGBM does."""
    if not may_warn(params):
        return
    name = metric_of_two_classes(params, built_data(train_set).targets.label)
    if name is not None:
        warn(
            f"metric={name} is for two classes, and objective={params.objective} has other labels: "
            "all labels above 0 count as one class."
        )


def _add_valid_sets(
    booster: Booster,
    valid_sets: Dataset | Sequence[Dataset] | None,
    valid_names: str | Sequence[str] | None,
) -> bool:
    """Add the validation sets; returns whether the training data is among them."""
    sets = [valid_sets] if isinstance(valid_sets, Dataset) else as_list("valid_sets", valid_sets)
    names = [valid_names] if isinstance(valid_names, str) else as_list("valid_names", valid_names)
    if len(names) > len(sets):
        raise ParameterError.because(
            "valid_names do not fit valid_sets",
            got=names,
            expected=f"at most {len(sets)}, one per data set",
        )
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise ParameterTypeError.because(f"valid_names[{i}] must be a string", got=name)
    has_train = False
    for i, data in enumerate(sets):
        if data is booster.train_set:
            has_train = True
            if i < len(names):
                booster.set_train_data_name(names[i])
        else:
            booster.add_valid(data, names[i] if i < len(names) else f"valid_{i}")
    return has_train


def _check_names(booster: Booster, evaluates_train: bool) -> None:
    """Data sets of one name could not be told apart in the results."""
    names = [booster.train_data_name] if evaluates_train else []
    names += booster.name_valid_sets
    if len(set(names)) < len(names):
        raise ParameterError.because(
            "two data sets have the same name",
            got=names,
            expected="names that differ",
            hint="Set valid_names.",
        )


def _sort_callbacks(
    callbacks: Sequence[Callback] | None, params: Params
) -> tuple[list[Callback], list[Callback]]:
    """Callbacks before and after a round, each by their `order`."""
    found = list({id(callback): callback for callback in as_list("callbacks", callbacks)}.values())
    for callback in found:
        if not callable(callback):
            raise ParameterTypeError.because("a callback must be a function", got=callback)
    if params.early_stopping_round > 0:
        found.append(
            early_stopping(
                params.early_stopping_round,
                params.first_metric_only,
                verbose=params.verbosity >= 1,
                min_delta=params.early_stopping_min_delta,
            )
        )
    found += automatic_log(found, params)
    found += automatic_progress(found, params.verbosity)
    # Checkpoints come last, so that they keep the state of the other callbacks after the round.
    found.sort(
        key=lambda callback: (isinstance(callback, Checkpoint), getattr(callback, "order", 0))
    )
    before: list[Callback] = []
    after: list[Callback] = []
    for callback in found:
        (before if getattr(callback, "before_iteration", False) else after).append(callback)
    return before, after


def close_callbacks(callbacks: Sequence[Callback]) -> None:
    """Let callbacks release what they hold, however the training ended."""
    for callback in callbacks:
        close = getattr(callback, "close", None)
        if callable(close):
            with suppress(Exception):
                close()
