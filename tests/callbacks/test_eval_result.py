"""Results as tuples."""

from __future__ import annotations

import copy
import pickle

from gossamer.callbacks import EarlyStopException, EvalResult


def test_result_of_train_is_a_4_tuple() -> None:
    result = EvalResult("valid", "auc", 0.9, True)
    assert len(result) == 4
    assert list(result) == ["valid", "auc", 0.9, True]
    assert result.metric_std_dev is None
    assert not result.is_cv_result()


def test_result_of_cv_is_a_5_tuple() -> None:
    result = EvalResult("valid", "auc", 0.9, True, 0.0)
    assert len(result) == 5
    assert tuple(result) == ("valid", "auc", 0.9, True, 0.0)
    assert result.is_cv_result()


def test_result_survives_pickle_and_copy() -> None:
    for result in (EvalResult("a", "b", 1.0, True), EvalResult("a", "b", 1.0, True, 0.5)):
        assert pickle.loads(pickle.dumps(result)) == result
        assert copy.copy(result) == result


def test_stop_keeps_results_and_takes_plain_tuples() -> None:
    stop = EarlyStopException(3, [("a", "b", 1.0, True), ("a", "b", 1.0, True, 0.5)])
    assert stop.best_iteration == 3
    assert [result.metric_std_dev for result in stop.best_score] == [None, 0.5]
    assert pickle.loads(pickle.dumps(stop)).best_score == stop.best_score
