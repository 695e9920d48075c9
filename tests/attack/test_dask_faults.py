"""Workers of a Dask cluster that are killed, stopped, cut off or raise, at random moments.

Each training must end in time: with the bytes of an undisturbed one, or an error that names a
worker. It is never hung, and never a wrong model.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from attack.conftest import Tally
from attack.scale import share

pytest.importorskip("distributed")

import cloudpickle
import dask.array as da
from distributed import Client, LocalCluster

import gossamer
from gossamer.dask import DaskDataset, WorkerError, train

N_WORKERS: Final = 4
N_ROWS: Final = 26_000
N_ROUNDS: Final = 15
ROUND_SECONDS: Final = 0.05  # a round waits so long: faults then meet every stage
TIME_OUT: Final = 10.0
MOST_SECONDS: Final = 60.0 + TIME_OUT
PARAMS: Final = {"num_leaves": 4, "verbosity": -1}
FAULTS: Final = ("kill", "stop", "drop", "raise")

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(N_ROWS, 3))
LABEL = TABLE[:, 0] - np.abs(TABLE[:, 1])

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Cluster:
    """A cluster that replaces workers, and is started again if hardly any is left."""

    def __init__(self) -> None:
        self._cluster: LocalCluster | None = None
        self.client: Client | None = None

    def find_workers(self) -> dict[str, int]:
        """Return the processes of the workers that answer, once there are two of them."""
        for _ in range(40):
            if self._cluster is None or self.client is None:
                break
            found: dict[str, int] = self.client.run(os.getpid, on_error="ignore")
            if len(found) < N_WORKERS:  # a nanny ends with a worker that was removed
                self._cluster.scale(N_WORKERS)
            if len(found) > 1:
                return found
            time.sleep(0.5)
        self.close()
        self._cluster = LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        self.client = Client(self._cluster)
        return self.find_workers()

    def close(self) -> None:
        for part in (self.client, self._cluster):
            if part is not None:
                part.close()
        self.client = self._cluster = None


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.close()


class Slow:
    """A callback that makes rounds last, and raises on a worker that is told to."""

    before_iteration = True

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, env: Any) -> None:
        time.sleep(ROUND_SECONDS)
        if os.path.exists(os.path.join(self.folder, f"raise-{os.getpid()}")):
            raise ZeroDivisionError("as it was told to")


async def cut_connections(dask_worker: Any = None) -> None:
    """Close every connection that a worker has to others, Dask's and the training's."""
    from gossamer.dask.workers import groups

    for group in list(groups.values()):
        for connection in list(group.connections.values()):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
    pool = dask_worker.rpc
    for comms in (*pool.available.values(), *pool.occupied.values()):
        for comm in list(comms):
            comm.abort()


class Training:
    """A training in a thread of its own, so that a hung one can be told."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.model: str | None = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(client, folder), daemon=True)
        self._thread.start()

    def _run(self, client: Client, folder: Path) -> None:
        data = DaskDataset(
            da.from_array(TABLE, chunks=(5_000, 3)), label=da.from_array(LABEL, chunks=5_000)
        )
        try:
            slow = Slow(str(folder))
            found = train(client, PARAMS, data, N_ROUNDS, callbacks=[slow], time_out=TIME_OUT)
            self.model = found.model_to_string()
        except BaseException as error:
            self.error = error

    def join(self, seconds: float) -> bool:
        """Return whether it has ended in time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


def inject(client: Client, fault: str, address: str, pid: int, folder: Path) -> None:
    """Let something go wrong on one worker."""
    match fault:
        case "kill":
            os.kill(pid, signal.SIGKILL)
        case "stop":
            os.kill(pid, signal.SIGSTOP)
        case "drop":
            client.run(cut_connections, workers=[address], wait=False)
        case "raise":
            (folder / f"raise-{pid}").touch()


def clean_up(fault: str, pid: int) -> None:
    if fault == "stop":
        try:
            os.kill(pid, signal.SIGKILL)  # its nanny starts another one
        except ProcessLookupError:
            return


@pytest.mark.filterwarnings("ignore")
def test_faults_at_random_moments(cluster: Cluster, tally: Tally, tmp_path: Path) -> None:
    whole = gossamer.Dataset(TABLE, label=LABEL)
    expected = gossamer.train(PARAMS, whole, N_ROUNDS).model_to_string()
    # Another seed, for more faults: ATTACK_SEED=1.
    chance = random.Random(int(os.environ.get("ATTACK_SEED", "0")))
    usual = 2.0  # seconds; measured below
    for i in range(-1, share(4, 100)):
        fault = FAULTS[i % len(FAULTS)] if i >= 0 else "none"
        address, pid = chance.choice(sorted(cluster.find_workers().items()))
        folder = tmp_path / str(i)
        folder.mkdir()
        delay = chance.uniform(0.0, usual)
        with tally.run(f"{fault} after {delay:.2f} s"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert cluster.client is not None
            begin = time.monotonic()
            training = Training(cluster.client, folder)
            time.sleep(delay)
            inject(cluster.client, fault, address, pid, folder)
            try:
                if fault == "none":
                    usual = measure_undisturbed(training, begin)
                about = f"not over after {MOST_SECONDS:g} s; undisturbed it takes {usual:.1f} s"
                assert training.join(MOST_SECONDS), about
            finally:
                clean_up(fault, pid)
            check(fault, training, expected)


def measure_undisturbed(training: Training, begin: float) -> float:
    """Return the seconds that a training takes; deadlines need a machine with time for it."""
    training.join(20 * MOST_SECONDS)
    usual = time.monotonic() - begin
    if usual > MOST_SECONDS:
        pytest.fail(f"this machine is too busy: an undisturbed training takes {usual:.0f} s")
    return usual


def check(fault: str, training: Training, expected: str) -> None:
    """See that the model is right, or the error names a worker."""
    if training.error is None:
        assert training.model == expected, "another model"
        return
    assert fault != "none", repr(training.error)
    assert isinstance(training.error, WorkerError), repr(training.error)
    assert "worker tcp:" in str(training.error)
    if fault == "raise":
        assert "ZeroDivisionError" in str(training.error)
