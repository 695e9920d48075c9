"""Workers that are killed, stopped or fail: the right model, or an error that names the worker."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
from dask.delayed import delayed
from distributed import Client, LocalCluster, Status

import gossamer
from gossamer.dask import DaskDataset, WorkerError, run, train, workers
from gossamer.dask.data import make_part as make_delayed_part
from gossamer.dask.data import to_shard

N = 17_000
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N, 3))
LABEL = TABLE[:, 0] - np.abs(TABLE[:, 1])
PARAMS = {"num_leaves": 4, "verbosity": -1}
ROUNDS = 6
TIME_OUT = 20.0


@pytest.fixture
def client() -> Iterator[Client]:
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        yield client


def dataset() -> DaskDataset:
    return DaskDataset(
        da.from_array(TABLE, chunks=(5_000, 3)), label=da.from_array(LABEL, chunks=5_000)
    )


class Pause:
    """A callback that writes down the round, and waits there until it may go on."""

    before_iteration = True

    def __init__(self, folder: Path, at: int) -> None:
        self.folder, self.at = folder, at

    def __call__(self, env: Any) -> None:
        (self.folder / f"round-{env.iteration}-{os.getpid()}").touch()
        if env.iteration == self.at:
            for _ in range(600):
                if (self.folder / "go").exists():
                    return
                time.sleep(0.1)


class Attack:
    """Sends a signal to a worker once all workers have come to a round, or left a file."""

    def __init__(
        self, folder: Path, at: int | str, pid: int, number: signal.Signals, n_workers: int = 2
    ) -> None:
        self.pattern = at if isinstance(at, str) else f"round-{at}-*"
        self.folder, self.pid, self.number, self.n_workers = folder, pid, number, n_workers

    def __enter__(self) -> None:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        deadline = time.monotonic() + 280
        while len(list(self.folder.glob(self.pattern))) < self.n_workers:
            if time.monotonic() > deadline:
                return
            time.sleep(0.1)
        os.kill(self.pid, self.number)
        (self.folder / "go").touch()

    def __exit__(self, *_: object) -> None:
        self.thread.join()
        if self.number == signal.SIGSTOP:
            os.kill(self.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_worker_leaves_the_bytes_as_they_are(
    client: Client, tmp_path: Path, number: signal.Signals
) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    survivor, victim = client.run(os.getpid).values()
    with (
        Attack(tmp_path, 2, victim, number),
        pytest.warns(UserWarning, match="worker tcp:.* is lost: .*Training continues without it"),
    ):
        model = train(
            client, PARAMS, dataset(), ROUNDS, callbacks=[Pause(tmp_path, 2)], time_out=TIME_OUT
        )
    assert model.model_to_string() == expected.model_to_string()
    rounds = {path.name for path in tmp_path.glob(f"round-*-{survivor}")}
    assert f"round-{ROUNDS - 1}-{survivor}" in rounds
    # The worker that took its place, if there is one, did not begin at the first round.
    others = {path.name.split("-")[2] for path in tmp_path.glob("round-*-*")}
    for pid in others - {str(survivor), str(victim)}:
        assert not (tmp_path / f"round-0-{pid}").exists()


def test_a_lost_worker_is_named_once_there_are_no_restarts_left(
    client: Client, tmp_path: Path
) -> None:
    address, pid = sorted(client.run(os.getpid).items())[1]
    with Attack(tmp_path, 1, pid, signal.SIGKILL), pytest.raises(WorkerError) as caught:
        train(
            client,
            PARAMS,
            dataset(),
            ROUNDS,
            callbacks=[Pause(tmp_path, 1)],
            time_out=TIME_OUT,
            max_restarts=0,
        )
    assert caught.value.is_lost
    assert caught.value.worker == address
    assert address in str(caught.value)


def wait_for(condition: Any, seconds: float = 120.0) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def make_part(folder: Path, rows: slice) -> np.ndarray:
    """Return rows of the table, not before the test goes on."""
    (folder / f"part-{os.getpid()}").touch()
    wait_for((folder / "go").exists)
    return TABLE[rows]


def test_a_worker_that_is_stopped_before_it_has_its_rows(client: Client, tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    halves = [slice(0, 9_000), slice(9_000, N)]
    data = DaskDataset(
        [delayed(make_part, pure=False)(tmp_path, rows) for rows in halves],
        label=[delayed(LABEL[rows]) for rows in halves],
    )
    _, victim = client.run(os.getpid).values()
    begin = time.monotonic()
    with (
        Attack(tmp_path, "part-*", victim, signal.SIGSTOP),
        pytest.warns(UserWarning, match="worker tcp:.* is lost"),
    ):
        model = train(client, PARAMS, data, ROUNDS, time_out=TIME_OUT)
    assert model.model_to_string() == expected.model_to_string()
    assert time.monotonic() - begin < 60 + 4 * TIME_OUT


def test_a_stopped_worker_that_has_all_rows(client: Client, tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    whole = DaskDataset(  # there are fewer partitions than workers
        da.from_array(TABLE, chunks=(N, 3)), label=da.from_array(LABEL, chunks=N)
    )
    _, victim = sorted(client.run(os.getpid).items())[0]
    with (
        Attack(tmp_path, 2, victim, signal.SIGSTOP, n_workers=1),
        pytest.warns(UserWarning, match="worker tcp:.* is lost"),
    ):
        model = train(
            client, PARAMS, whole, ROUNDS, callbacks=[Pause(tmp_path, 2)], time_out=TIME_OUT
        )
    assert model.model_to_string() == expected.model_to_string()


def test_a_worker_that_is_killed_before_its_result_is_fetched(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    _, victim = sorted(client.run(os.getpid).items())[0]  # the first one returns the model
    wait, calls = run.wait, []

    def wait_and_kill(futures: Any, **_: Any) -> Any:
        found = wait(futures, timeout=120)
        calls.append(found)
        if len(calls) == 2:  # the rows were placed, the model is trained
            os.kill(victim, signal.SIGKILL)
        return found

    monkeypatch.setattr(run, "wait", wait_and_kill)
    with pytest.warns(UserWarning, match="worker tcp:.* is lost"):
        model = train(client, PARAMS, dataset(), ROUNDS, time_out=TIME_OUT)
    assert model.model_to_string() == expected.model_to_string()


def test_a_worker_that_joins_late(tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:

        def join() -> None:
            wait_for(lambda: list(tmp_path.glob("round-1-*")))
            cluster.scale(2)
            wait_for(lambda: len(client.nthreads()) == 2)
            (tmp_path / "go").touch()

        thread = threading.Thread(target=join)
        thread.start()
        pause = Pause(tmp_path, 1)
        model = train(client, PARAMS, dataset(), ROUNDS, callbacks=[pause], time_out=TIME_OUT)
        thread.join()
        later = train(client, PARAMS, dataset(), ROUNDS, time_out=TIME_OUT)
    assert model.model_to_string() == later.model_to_string() == expected.model_to_string()


CLIENT = """
import sys, time
from pathlib import Path
from distributed import Client
import dask.array as da
from gossamer.dask import DaskDataset, train

def note(env, folder=sys.argv[2]):
    Path(folder, f"round-{env.iteration}").touch()
    time.sleep(0.2)

with Client(sys.argv[1]) as client:
    table = da.random.random((20_000, 3), chunks=(10_000, 3))
    data = DaskDataset(table, label=table[:, 0])
    train(client, {"num_leaves": 4, "verbosity": -1}, data, 3000, callbacks=[note])
"""


def test_a_training_whose_client_has_gone_ends(client: Client, tmp_path: Path) -> None:
    address = client.scheduler.address
    process = subprocess.Popen([sys.executable, "-c", CLIENT, address, str(tmp_path)])
    try:
        wait_for((tmp_path / "round-2").exists)
    finally:
        process.kill()
        process.wait()

    def has_ended() -> bool:
        before = len(list(tmp_path.glob("round-*")))
        time.sleep(3.0)
        return len(list(tmp_path.glob("round-*"))) == before

    wait_for(has_ended, 60.0)
    assert len(list(tmp_path.glob("round-*"))) < 3000
    # The workers are free, and have forgotten the training.
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    model = train(client, PARAMS, dataset(), ROUNDS, time_out=TIME_OUT)
    assert model.model_to_string() == expected.model_to_string()


class SchedulerThatStoodStill:
    """Has not heard of two workers for a minute, and then reads what one of them has sent."""

    def __init__(self) -> None:
        self.workers = {name: SimpleNamespace(last_seen=time.time() - 60) for name in "ab"}

    def run_on_scheduler(self, look: Any) -> Any:
        found = look(dask_scheduler=self)
        self.workers["a"].last_seen = time.time()
        return found


def test_a_scheduler_that_stood_still_is_not_the_silence_of_its_workers() -> None:
    client: Any = SchedulerThatStoodStill()
    assert run.silent_workers(client, ["a", "b"], 0.5) == ["b"]


@pytest.fixture
def threads() -> Iterator[Client]:
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        yield client


async def pause(dask_worker: Any = None) -> None:
    """Do what a worker does that is short of memory: it begins no task any more."""
    dask_worker.memory_manager.memory_pause_fraction = False  # nor does it look at its memory
    dask_worker.status = Status.paused


def wait_for_pause(client: Client, address: str) -> None:
    client.run(pause, workers=[address])
    wait_for(lambda: client.scheduler_info()["workers"][address]["status"] == "paused")


def test_a_paused_worker_is_left_out(threads: Client) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    wait_for_pause(threads, sorted(threads.nthreads())[0])
    model = train(threads, PARAMS, dataset(), ROUNDS, time_out=TIME_OUT)
    assert model.model_to_string() == expected.model_to_string()


def test_workers_that_are_all_paused_are_named(threads: Client) -> None:
    addresses = sorted(threads.nthreads())
    for address in addresses:
        wait_for_pause(threads, address)
    with pytest.raises(WorkerError, match="it is paused") as caught:
        train(threads, PARAMS, dataset(), ROUNDS, time_out=6.0)
    assert caught.value.worker in addresses


def test_a_worker_that_is_paused_before_it_has_its_rows(threads: Client, tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    victim = sorted(threads.nthreads())[1]
    halves = [slice(0, 9_000), slice(9_000, N)]
    data = DaskDataset(
        [delayed(make_part, pure=False)(tmp_path, rows) for rows in halves],
        label=[delayed(LABEL[rows]) for rows in halves],
    )

    def interfere() -> None:
        wait_for(lambda: list(tmp_path.glob("part-*")))
        wait_for_pause(threads, victim)
        (tmp_path / "go").touch()

    thread = threading.Thread(target=interfere)
    thread.start()
    with pytest.warns(UserWarning, match="is lost: it is paused"):
        model = train(threads, PARAMS, data, ROUNDS, time_out=6.0)
    thread.join()
    assert model.model_to_string() == expected.model_to_string()


def test_a_worker_that_is_paused_while_it_trains_goes_on(threads: Client, tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    victim = sorted(threads.nthreads())[1]

    def interfere() -> None:
        wait_for(lambda: list(tmp_path.glob("round-2-*")))
        wait_for_pause(threads, victim)
        time.sleep(8.0)  # longer than time_out
        (tmp_path / "go").touch()

    thread = threading.Thread(target=interfere)
    thread.start()
    model = train(threads, PARAMS, dataset(), ROUNDS, callbacks=[Pause(tmp_path, 2)], time_out=6.0)
    thread.join()
    assert model.model_to_string() == expected.model_to_string()


async def cut_connections(dask_worker: Any = None) -> None:
    """Cut this worker off from the others of its training."""
    for group in list(workers.groups.values()):
        if group.names[group.rank] == dask_worker.address:
            for connection in list(group.connections.values()):
                connection.shutdown(socket.SHUT_RDWR)


def test_workers_whose_connection_is_cut_train_on(threads: Client, tmp_path: Path) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    addresses = sorted(threads.nthreads())

    def interfere() -> None:
        wait_for(lambda: list(tmp_path.glob("round-2-*")))
        threads.run(cut_connections, workers=addresses[1:])
        (tmp_path / "go").touch()

    thread = threading.Thread(target=interfere)
    thread.start()
    with pytest.warns(UserWarning, match="Training continues from the finished rounds"):
        model = train(
            threads, PARAMS, dataset(), ROUNDS, callbacks=[Pause(tmp_path, 2)], time_out=TIME_OUT
        )
    thread.join()
    assert model.model_to_string() == expected.model_to_string()
    assert sorted(threads.nthreads()) == addresses  # both are well, and stay


def test_a_worker_that_is_busy_with_something_else_is_waited_for(
    threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the moment when it has its rows and the beginning it gets another task."""
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    addresses = sorted(threads.nthreads())
    others: list[Any] = []
    wait = run.wait

    def wait_and_occupy(futures: Any, **how: Any) -> Any:
        found = wait(futures, **how)
        if not others and all(future.done() for future in futures):
            others.append(
                threads.submit(time.sleep, 8.0, workers=addresses[1:], pure=False, priority=9)
            )
            wait_for(lambda: threads.processing()[addresses[1]])
        return found

    monkeypatch.setattr(run, "wait", wait_and_occupy)
    model = train(threads, PARAMS, dataset(), ROUNDS, time_out=2.0)
    assert others[0].done()
    assert model.model_to_string() == expected.model_to_string()
    assert sorted(threads.nthreads()) == addresses


def test_a_worker_that_was_started_again_at_its_address_is_lost_without_harm(
    threads: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    addresses = sorted(threads.nthreads())
    forgotten: list[Any] = []
    submit = threads.submit

    def forget_and_submit(function: Any, *args: Any, **how: Any) -> Any:
        if function is workers.work_on_parts and not forgotten:
            forgotten.append(workers._held.pop((args[1], 1)))  # as if it had no past
        return submit(function, *args, **how)

    monkeypatch.setattr(threads, "submit", forget_and_submit)
    with pytest.warns(UserWarning, match="it was started again, without its rows"):
        model = train(threads, PARAMS, dataset(), ROUNDS, time_out=5.0)
    assert len(forgotten) == 1
    assert model.model_to_string() == expected.model_to_string()
    assert sorted(threads.nthreads()) == addresses


def test_a_finished_model_is_returned_whoever_was_lost() -> None:
    lost = WorkerError("worker b is lost", "b", is_lost=True)
    outcomes = {"a": workers.Outcome("model"), "c": workers.Outcome(error=lost)}
    assert run._result(["a", "b", "c"], outcomes, {"b"}) == "model"
    outcomes["c"] = workers.Outcome(error=ZeroDivisionError("here"))
    with pytest.raises(WorkerError, match="worker c failed: ZeroDivisionError: here"):
        run._result(["a", "b", "c"], outcomes, {"b"})


def test_a_worker_that_does_not_answer_delays_no_error(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker raises while the other one is stopped: the exception is that of the first."""
    monkeypatch.setattr(run, "_STOP", 1.0)
    address, pid = sorted(client.run(os.getpid).items())[1]
    os.kill(pid, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        run._stop(client, "gossamer-none", [address])
        assert time.monotonic() - begin < 20
    finally:
        os.kill(pid, signal.SIGKILL)


def test_labels_do_not_keep_the_tables_that_they_are_columns_of() -> None:
    tables = [np.ones((10, 3)), np.zeros((5, 3))]
    parts = [make_delayed_part(["data", "label"], t[:, :-1], t[:, -1]) for t in tables]
    kept = [weakref.ref(table) for table in tables]
    shard = to_shard(parts, "auto", "auto")
    del tables
    shard.chunks.clear()
    assert [table() for table in kept] == [None, None]
    assert shard.label.tolist() == [1.0] * 10 + [0.0] * 5
