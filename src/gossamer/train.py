"""`train`: the training loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from gossamer.callbacks import CallbackEnv, EarlyStopException, EvalResult, early_stopping
from gossamer.data import Dataset
from gossamer.errors import DataError, NotSupportedError, ParameterError, message
from gossamer.logger import info
from gossamer.metrics import CustomMetric
from gossamer.model import Booster
from gossamer.params import TABLE, Params
from gossamer.params.coerce import coerce

Callback = Callable[[CallbackEnv], Any]


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
        params: Parameters; `num_iterations` among them wins over `num_boost_round`.
        train_set: Training data.
        num_boost_round: Number of rounds.
        valid_sets: Data sets to evaluate after each round; the training data may be among them.
        valid_names: Their names.
        feval: Metric functions: (predictions, data) -> (name, value, whether higher is better).
        init_model: Not supported in this version.
        keep_training_booster: Whether the booster keeps its data, to be trained further, and the
            rounds after the best one (not with `boosting="dart"`, where these have changed the
            trees before them).
        callbacks: Functions called before or after each round, see `gossamer.callbacks`.

    Returns:
        The trained model.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> model = train({"learning_rate": 0.3}, Dataset(x, label=x[:, 0] ** 2), 50)
        >>> model.predict([[0.7]]).round(1)
        array([0.5])
    """
    if init_model is not None:
        raise NotSupportedError(message("init_model is not supported in this version of Gossamer"))
    if not isinstance(train_set, Dataset):
        raise DataError(
            message(
                "train_set is no Dataset",
                got=type(train_set).__name__,
                expected="Dataset(data, label=...)",
            )
        )
    booster = Booster(params, train_set)
    resolved = booster.resolved_params
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
    env_params = dict(params or {})  # reset_parameter changes them
    booster.best_iteration = 0
    try:
        results = _boost(booster, n_rounds, before, after, env_params, evaluate)
    except EarlyStopException as stop:
        booster.best_iteration = stop.best_iteration + 1
        booster._restore_best(with_scores=keep_training_booster)
        results = stop.best_score
    finally:
        _close(before + after)
    for result in results:
        scores = booster.best_score.setdefault(result.dataset_name, {})
        scores[result.metric_name] = result.metric_value
    if not keep_training_booster:
        booster.free_dataset()._keep_best()
    return booster


def _boost(
    booster: Booster,
    n_rounds: int,
    before: list[Callback],
    after: list[Callback],
    env_params: dict[str, Any],
    evaluate: Callable[[], list[EvalResult]],
) -> list[EvalResult]:
    """Train round after round; returns the last results."""
    params = booster.resolved_params
    results: list[EvalResult] = []
    for i in range(n_rounds):
        for callback in before:
            callback(CallbackEnv(booster, env_params, i, 0, n_rounds, None))
        # Gradients, sampled rows, trees, scores: see `Training.train_round`.
        is_finished = booster.update()
        if is_finished and params.verbosity >= 1:
            info(f"Training ends after {i} rounds: no leaf can be split any further.")
        end = i + 1 if is_finished else n_rounds  # callbacks learn that this was the last one
        is_evaluated = i in (0, end - 1) or (i + 1) % params.metric_freq == 0
        found = evaluate() if is_evaluated else []
        results = found or results
        for callback in after:
            callback(CallbackEnv(booster, env_params, i, 0, end, found))
        if is_finished:
            break
    return results


def _add_valid_sets(
    booster: Booster,
    valid_sets: Dataset | Sequence[Dataset] | None,
    valid_names: str | Sequence[str] | None,
) -> bool:
    """Add the validation sets; returns whether the training data is among them."""
    sets = [valid_sets] if isinstance(valid_sets, Dataset) else list(valid_sets or [])
    names = [valid_names] if isinstance(valid_names, str) else list(valid_names or [])
    if len(names) > len(sets):
        raise ParameterError(
            message(
                "valid_names do not fit valid_sets",
                got=names,
                expected=f"at most {len(sets)}, one per data set",
            )
        )
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
    names = [booster._train_data_name] if evaluates_train else []
    names += booster.name_valid_sets
    if len(set(names)) < len(names):
        raise ParameterError(
            message(
                "two data sets have the same name",
                got=names,
                expected="names that differ",
                hint="Set valid_names.",
            )
        )


def _sort_callbacks(
    callbacks: Sequence[Callback] | None, params: Params
) -> tuple[list[Callback], list[Callback]]:
    """Callbacks before and after a round, each by their `order`."""
    found = list({id(callback): callback for callback in callbacks or ()}.values())
    if params.early_stopping_round > 0:
        found.append(
            early_stopping(
                params.early_stopping_round,
                params.first_metric_only,
                verbose=params.verbosity >= 1,
                min_delta=params.early_stopping_min_delta,
            )
        )
    found.sort(key=lambda callback: getattr(callback, "order", 0))
    before: list[Callback] = []
    after: list[Callback] = []
    for callback in found:
        (before if getattr(callback, "before_iteration", False) else after).append(callback)
    return before, after


def _close(callbacks: Sequence[Callback]) -> None:
    """Let callbacks that hold something let go of it, however the training ended."""
    for callback in callbacks:
        close = getattr(callback, "close", None)
        if callable(close):
            with suppress(Exception):
                close()
