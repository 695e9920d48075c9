"""Several threads on one booster, one data set or one table; threads at exit and under limits.

What crashes ends the process: such things are tried in one of their own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gossamer import Booster, Dataset, threads, train

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(3000, 6))
LABEL = (TABLE[:, 0] * TABLE[:, 1] > 0.1).astype(float)
PARAMS = {"objective": "binary", "num_threads": 2, "num_leaves": 15, "verbosity": -1}
TIMEOUT = 120

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux has them")


@pytest.fixture(autouse=True)
def every_thread_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads are used as asked for, however small the data."""
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)


def at_once(*work: Callable[[], Any]) -> list[Any]:
    """Do several things at the same time."""
    start = threading.Barrier(len(work))

    def begin(each: Callable[[], Any]) -> Any:
        start.wait(TIMEOUT)
        return each()

    with ThreadPoolExecutor(len(work)) as pool:
        return [future.result(TIMEOUT) for future in [pool.submit(begin, each) for each in work]]


# ---- one booster ----


def in_training(n_rounds: int = 0, **params: Any) -> Booster:
    booster = Booster({**PARAMS, **params}, Dataset(TABLE, LABEL))
    booster.add_valid(booster.train_set.create_valid(TABLE[::3], LABEL[::3]), "valid")
    for _ in range(n_rounds):
        booster.update()
    return booster


def check_scores(booster: Booster) -> None:
    """The scores of the training must be those of its trees."""
    assert booster.training is not None
    raw = booster.predict(TABLE, raw_score=True)
    np.testing.assert_allclose(booster.training.train.score, raw, atol=1e-9)
    valid = booster.predict(TABLE[::3], raw_score=True)
    np.testing.assert_allclose(booster.training.valid[0].score, valid, atol=1e-9)


@pytest.mark.parametrize("boosting", ["gbdt", "dart"])
def test_updates_at_once_are_rounds_one_after_another(boosting: str) -> None:
    params = {"boosting": boosting, "bagging_fraction": 0.7, "bagging_freq": 1}
    booster = in_training(**params)

    def update() -> None:
        for _ in range(8):
            booster.update()

    at_once(update, update, update)
    assert booster.num_trees() == 24
    assert booster.model_to_string() == in_training(24, **params).model_to_string()
    check_scores(booster)


@pytest.mark.parametrize("boosting", ["gbdt", "dart"])
def test_updates_while_others_look_and_roll_back(boosting: str) -> None:
    booster = in_training(10, boosting=boosting)
    is_done = threading.Event()

    def update() -> None:
        for _ in range(20):
            booster.update()
        is_done.set()

    def until_done(look: Callable[[], object]) -> Callable[[], None]:
        def repeat() -> None:
            while not is_done.is_set():
                look()

        return repeat

    def roll_back() -> None:
        for _ in range(10):
            booster.rollback_one_iter()

    def save_and_load() -> None:
        loaded = Booster(model_str=booster.model_to_string())
        assert loaded.predict(TABLE[:50]).shape == (50,)

    def predict() -> None:
        assert np.isfinite(booster.predict(TABLE[:1])).all()
        assert np.isfinite(booster.predict(TABLE[:100])).all()

    def evaluate() -> None:
        results = booster.eval_train() + booster.eval_valid()
        assert len(results) == 2
        assert booster.num_trees() >= 0

    looks = [until_done(each) for each in (save_and_load, predict, evaluate)]
    at_once(update, roll_back, *looks)
    assert booster.num_trees() == 20
    check_scores(booster)


def test_an_evaluation_sees_whole_rounds_only() -> None:
    """Every value is that of the model after some round, never of one that is half done."""
    expected = set()
    plain = in_training()
    for _ in range(30):
        plain.update()
        expected.add((plain.eval_train()[0].metric_value, plain.eval_valid()[0].metric_value))
    booster = in_training(1)
    is_done = threading.Event()

    def update() -> None:
        for _ in range(29):
            booster.update()
        is_done.set()

    def evaluate() -> set[tuple[float, float]]:
        found = set()
        assert booster.training is not None
        while not is_done.is_set():
            with booster.training.lock:
                values = (
                    booster.eval_train()[0].metric_value,
                    booster.eval_valid()[0].metric_value,
                )
            found.add(values)
        return found

    _, found = at_once(update, evaluate)
    assert found <= expected


def test_a_custom_metric_may_use_the_booster() -> None:
    booster = in_training(2)

    def feval(predictions: np.ndarray, data: Dataset) -> tuple[str, float, bool]:
        return "trees", float(booster.num_trees() + len(booster.predict(TABLE[:3]))), True

    assert booster.eval_train(feval)[-1].metric_value == 5.0


def test_the_data_is_freed_while_others_predict() -> None:
    booster = in_training(5)
    expected = booster.predict(TABLE)

    def predict() -> None:
        for _ in range(20):
            np.testing.assert_array_equal(booster.predict(TABLE), expected)

    def free() -> None:
        booster.free_dataset()

    at_once(predict, predict, free)


# ---- one data set ----


@pytest.mark.parametrize("kind", ["dense", "sparse", "exact", "linear", "vector"])
def test_trainings_at_once_on_one_data_set(kind: str) -> None:
    params: dict[str, Any] = dict(PARAMS)
    table: Any = TABLE
    label = LABEL
    if kind == "sparse":
        table = csr_array(np.where(RNG.random((3000, 40)) < 0.03, RNG.normal(size=(3000, 40)), 0.0))
    elif kind == "exact":
        params["tree_method"] = "exact"
    elif kind == "linear":
        params["linear_tree"] = True
    elif kind == "vector":
        params |= {"objective": "multiclass", "num_class": 3, "multi_strategy": "multi_output_tree"}
        label = np.digitize(TABLE[:, 0], [-0.5, 0.5]).astype(float)

    def text(data: Dataset, leaves: int) -> str:
        return train({**params, "num_leaves": leaves}, data, 4).model_to_string()

    expected = [text(Dataset(table, label, params=params), leaves) for leaves in (7, 15, 7, 31)]
    for _ in range(3):
        data = Dataset(table, label, params=params)  # nothing is made of it yet
        assert at_once(*(partial(text, data, leaves) for leaves in (7, 15, 7, 31))) == expected


# ---- one table ----


def run_script(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    head = """
        import sys, threading, time
        import numpy as np
        from gossamer import Booster, Dataset, threads, train
        threads.CELLS_PER_THREAD = 1
        table = np.random.default_rng(0).normal(size=(20000, 8))
        label = (table[:, 0] > 0.1).astype(float)
        params = {"objective": "binary", "num_threads": 2, "verbosity": -1}
    """
    script = textwrap.dedent(head) + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("csr", "indices"),
        ("csr", "indptr"),
        ("csr", "data"),
        ("csc", "indices"),
        ("csc", "indptr"),
        ("coo", "row"),
    ],
)
def test_a_sparse_table_that_another_thread_changes(kind: str, part: str) -> None:
    """It may be refused, or give some model; nothing may be read or written out of bounds."""
    done = run_script(
        """
        from scipy.sparse import random_array
        from gossamer.errors import DataError
        kind, part = sys.argv[1:]
        matrix = random_array((4000, 60), density=0.02, rng=1).asformat(kind)
        label = label[:4000]
        model = train(params, Dataset(matrix, label), 3)
        array = getattr(matrix, part)
        values = [np.nan, 0.0] if part == "data" else [2**30, -1, 0]
        before, is_done = array.copy(), threading.Event()

        def write():
            while not is_done.is_set():
                for value in values:
                    array[:] = value
                array[:] = before
                time.sleep(0.0005)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        for attempt in range(15):
            try:
                train(params, Dataset(matrix, label, params={"num_threads": 1 + attempt % 2}), 2)
                model.predict(matrix)
                model.predict(matrix, pred_contrib=True)
            except DataError:
                pass
        is_done.set()
        writer.join()
        array[:] = before
        again = train(params, Dataset(matrix, label), 3)
        print(np.array_equal(again.predict(matrix), model.predict(matrix)))
        """,
        kind,
        part,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "True", "")


# ---- the end of the process ----


@pytest.mark.parametrize("objective", ["binary", "lambdarank", "quantile"])
def test_the_interpreter_exits_while_daemon_threads_train(objective: str) -> None:
    done = run_script(
        """
        params["objective"] = sys.argv[1]
        n_started = threading.Semaphore(0)

        def work():
            data = Dataset(table, label, group=[100] * 200 if sys.argv[1] == "lambdarank" else None)
            told = []

            def tell(env):
                if not told:
                    told.append(n_started.release())

            train(params, data, 100_000, callbacks=[tell])

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        for _ in range(3):
            n_started.acquire()
        time.sleep(0.05)
        print("end", flush=True)
        """,
        objective,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "end", "")


def test_the_interpreter_exits_while_daemon_threads_predict() -> None:
    done = run_script(
        """
        booster = train(params, Dataset(table, label), 20)

        def work():
            while True:
                booster.predict(table, num_threads=2)

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        print("end", flush=True)
        """
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "end", "")


def test_sys_exit_in_a_callback_while_others_train() -> None:
    done = run_script(
        """
        data = Dataset(table, label)
        for _ in range(3):
            threading.Thread(target=train, args=(params, data, 100_000), daemon=True).start()

        def leave(env):
            if env.iteration == 5:
                sys.exit(3)

        train(params, Dataset(table, label), 100, callbacks=[leave])
        """
    )
    assert (done.returncode, done.stderr) == (3, "")


# ---- limits ----


@needs_linux
@pytest.mark.parametrize("more_megabytes", [20, 45, 70, 95, 120, 160])
def test_threads_that_cannot_be_started(more_megabytes: int) -> None:
    """A worker needs 8 MB of addresses for its stack, more than an allocator asks for at a time."""
    done = run_script(
        """
        import resource
        data, other = Dataset(table, label), Dataset(table, label)
        alone = train({**params, "num_threads": 1}, data, 3).predict(table, num_threads=1)
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        limit = used + (int(sys.argv[1]) << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            found = train({**params, "num_threads": 32}, other, 3).predict(table, num_threads=1)
            print(np.array_equal(found, alone))
        except MemoryError:
            print("no memory")
        """,
        str(more_megabytes),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() in ("True", "no memory")
