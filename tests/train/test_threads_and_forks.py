"""Training and predicting from several Python threads, and in forked children."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from gossamer import Booster, Dataset, threads, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6000, 8))
LABEL = TABLE[:, 0] * TABLE[:, 1] > 0.1
PARAMS = {"objective": "binary", "num_threads": 3, "num_leaves": 15}
TIMEOUT = 60

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@pytest.fixture(autouse=True)
def every_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are used as asked for, however small the data."""
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)


def train_text(seed: int, data: Dataset | None = None) -> str:
    params = {**PARAMS, "bagging_fraction": 0.7, "bagging_seed": seed}
    return train(params, data or Dataset(TABLE, LABEL), 8).model_to_string()


def test_trainings_at_once() -> None:
    expected = [train_text(seed) for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(train_text, range(6))) == expected


def test_trainings_at_once_on_one_data_set() -> None:
    expected = [train_text(seed) for seed in range(6)]
    for _ in range(3):
        data = Dataset(TABLE, LABEL)  # binned, and completed, by whoever comes first
        start = threading.Barrier(6)

        def work(seed: int, data: Dataset = data, start: threading.Barrier = start) -> str:
            start.wait(TIMEOUT)
            return train_text(seed, data)

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(work, range(6))) == expected


def test_predictions_at_once() -> None:
    booster = train(PARAMS, Dataset(TABLE, LABEL), 8)
    expected = booster.predict(TABLE)
    fresh = Booster(model_str=booster.model_to_string())  # its native forest is yet to be made
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: fresh.predict(TABLE), range(24)):
            np.testing.assert_array_equal(found, expected)


def test_predictions_while_training() -> None:
    booster = train(PARAMS, Dataset(TABLE, LABEL), 8)
    expected = booster.predict(TABLE)
    with ThreadPoolExecutor(4) as pool:
        trainings = [pool.submit(train_text, seed) for seed in range(3)]
        while not all(training.done() for training in trainings):
            np.testing.assert_array_equal(booster.predict(TABLE), expected)
        for seed, training in enumerate(trainings):
            assert training.result() == train_text(seed)


def run_in_child(work: Callable[[], bool]) -> None:
    """Fork, do the work in the child, and see that it ends well and in time."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@needs_fork
def test_a_child_trains_after_its_parent_did() -> None:
    expected = train_text(1)
    run_in_child(lambda: train_text(1) == expected)
    assert train_text(1) == expected  # and the parent still can


@needs_fork
def test_a_child_predicts_with_its_parents_model() -> None:
    booster = train(PARAMS, Dataset(TABLE, LABEL), 8)
    expected = booster.predict(TABLE)
    run_in_child(lambda: np.array_equal(booster.predict(TABLE), expected))


@needs_fork
def test_a_child_goes_on_with_its_parents_training() -> None:
    booster = train(PARAMS, Dataset(TABLE, LABEL), 4, keep_training_booster=True)
    expected = train(PARAMS, Dataset(TABLE, LABEL), 6).predict(TABLE)

    def work() -> bool:
        booster.update()
        booster.update()
        return np.array_equal(booster.predict(TABLE), expected)

    run_in_child(work)
    assert work()


@needs_fork
def test_a_grandchild() -> None:
    expected = train_text(2)

    def work() -> bool:
        run_in_child(lambda: train_text(2) == expected)
        return train_text(2) == expected

    run_in_child(work)


@needs_fork
def test_forks_while_other_threads_train() -> None:
    expected = train_text(0)
    stop = threading.Event()

    def keep_training() -> None:
        while not stop.is_set():
            train_text(0)

    worker = threading.Thread(target=keep_training)
    worker.start()
    try:
        for _ in range(5):
            run_in_child(lambda: train_text(0) == expected)
    finally:
        stop.set()
        worker.join(TIMEOUT)
    assert not worker.is_alive()


def _train_in_pool(seed: int) -> str:
    return train_text(seed)


@needs_fork
def test_a_pool_of_forked_processes() -> None:
    expected = [train_text(seed) for seed in range(4)]
    context: Any = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(_train_in_pool, range(4)).get(TIMEOUT) == expected
