"""Early stopping, round by round."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from gossamer.callbacks import EvalResult, early_stopping
from gossamer.errors import DataError, ParameterError


def losses(*values: float, dataset: str = "valid", metric: str = "l2") -> list[list[EvalResult]]:
    """One result per round."""
    return [[EvalResult(dataset, metric, value, False)] for value in values]


def merge(*series: list[list[EvalResult]]) -> list[list[EvalResult]]:
    """Several results per round."""
    return [list(chain(*results)) for results in zip(*series, strict=True)]


def test_stops_after_rounds_without_improvement(train: Any, capsys: Any) -> None:
    stop = train(early_stopping(2), losses(5, 3, 4, 3, 2, 1))
    assert stop.best_iteration == 1
    assert stop.best_score == [EvalResult("valid", "l2", 3, False)]
    assert capsys.readouterr().out == (
        "Training until validation scores don't improve for 2 rounds\n"
        "Early stopping, best iteration is:\n[2]\tvalid's l2: 3\n"
    )


def test_higher_can_be_better(train: Any) -> None:
    rounds = [[EvalResult("valid", "auc", value, True)] for value in (0.5, 0.9, 0.8, 0.7, 1.0)]
    assert train(early_stopping(2, verbose=False), rounds).best_iteration == 1


def test_the_last_round_tells_the_best(train: Any, capsys: Any) -> None:
    stop = train(early_stopping(5), losses(5, 3, 4))
    assert stop.best_iteration == 1
    assert "Did not meet early stopping. Best iteration is:\n[2]" in capsys.readouterr().out


def test_rounds_count_from_the_beginning_of_this_training(train: Any) -> None:
    stop = train(early_stopping(2, verbose=False), losses(3, 4, 5, 6), begin=100)
    assert stop.best_iteration == 100


def test_quiet_when_not_verbose(train: Any, capsys: Any) -> None:
    train(early_stopping(1, verbose=False), losses(1, 2, 3))
    assert capsys.readouterr().out == ""


def test_training_set_is_ignored(train: Any, model: Any) -> None:
    model._train_data_name = "mine"
    rounds = merge(losses(1, 2, 3, 4, 5, dataset="mine"), losses(9, 8, 7, 6, 5))
    stop = train(early_stopping(2, verbose=False), rounds, model)
    assert stop.best_iteration == 4


def test_training_folds_of_cv_are_ignored(train: Any, cv_model: Any) -> None:
    rounds = merge(losses(1, 2, 3, 4, 5, dataset="train"), losses(9, 8, 7, 6, 5))
    stop = train(early_stopping(2, verbose=False), rounds, cv_model)
    assert stop.best_iteration == 4


def test_any_metric_can_stop(train: Any) -> None:
    rounds = merge(losses(9, 8, 7, 6), losses(1, 2, 3, 4, metric="l1"))
    assert train(early_stopping(2, verbose=False), rounds).best_iteration == 0


def test_first_metric_only(train: Any, capsys: Any) -> None:
    rounds = merge(losses(9, 8, 7, 6), losses(1, 2, 3, 4, metric="l1"))
    assert train(early_stopping(2, first_metric_only=True), rounds).best_iteration == 3
    assert "Evaluated only: l2" in capsys.readouterr().out


def test_small_improvements_do_not_count(train: Any) -> None:
    rounds = losses(5, 4.9, 4.8, 4.7)
    assert train(early_stopping(2, verbose=False, min_delta=0.5), rounds).best_iteration == 0
    assert train(early_stopping(2, verbose=False, min_delta=[]), rounds).best_iteration == 3


def test_min_delta_by_metric(train: Any) -> None:
    rounds = merge(losses(5, 4, 3, 2), losses(5, 4, 3, 2, metric="l1"))
    callback = early_stopping(2, verbose=False, min_delta=[0.0, 10.0])
    assert train(callback, rounds).best_iteration == 0
    with pytest.raises(ParameterError, match="one for each of l2, l1"):
        train(early_stopping(2, min_delta=[0, 0, 0]), rounds)


def test_a_callback_can_be_used_again(train: Any) -> None:
    callback = early_stopping(2, verbose=False)
    with pytest.warns(UserWarning, match="Only training set"):
        assert train(callback, losses(1, 2, 3, 4, dataset="training")) is None
    for _ in range(2):
        assert train(callback, losses(1, 2, 3, 4)).best_iteration == 0


@pytest.mark.parametrize("results", [None, []])
def test_no_validation_set_is_an_error(train: Any, results: Any) -> None:
    with pytest.raises(ParameterError, match="validation set"):
        train(early_stopping(2), [results])


def test_only_the_training_set_disables_it(train: Any) -> None:
    rounds = merge(losses(1, 2, 3, dataset="training"), losses(1, 2, 3, dataset="training"))
    with pytest.warns(UserWarning, match="Only training set"):
        assert train(early_stopping(1), rounds) is None


@pytest.mark.parametrize("rounds", [2.5, "3", None, True])
def test_bad_stopping_rounds(rounds: Any) -> None:
    with pytest.raises(ParameterError, match="stopping_rounds"):
        early_stopping(rounds)


@pytest.mark.parametrize("delta", [-1, [0.0, -1.0], "much", None, float("nan")])
def test_bad_min_delta(delta: Any) -> None:
    with pytest.raises(ParameterError, match="min_delta"):
        early_stopping(3, min_delta=delta)


def test_place_among_callbacks() -> None:
    callback = early_stopping(3)
    assert (callback.order, callback.before_iteration) == (30, False)
    assert len({callback, callback}) == 1  # hashable


def test_a_metric_that_is_nan_at_first(train: Any) -> None:
    nan = float("nan")
    stop = train(early_stopping(2, verbose=False), losses(nan, 5, 3, nan, 4, 5))
    assert (stop.best_iteration, stop.best_score[0].metric_value) == (2, 3)
    assert train(early_stopping(2, verbose=False), losses(nan, nan, nan, 1)).best_iteration == 0


@pytest.mark.parametrize("second", [[], losses(1)[0] * 2, losses(1, metric="auc")[0]])
def test_metrics_must_not_change(train: Any, second: list[EvalResult]) -> None:
    rounds = [losses(2)[0], second or losses(1, dataset="other")[0]]
    with pytest.raises(DataError, match="round 2 has other metrics than the first round"):
        train(early_stopping(2, verbose=False), rounds)
