"""Workers that are killed, stopped or fail: the right model, or an error that names the worker."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
from distributed import Client, LocalCluster

import gossamer
from gossamer.dask import DaskDataset, WorkerError, train

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


@pytest.mark.parametrize("with_signal", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_worker_leaves_the_bytes_as_they_are(
    client: Client, tmp_path: Path, with_signal: signal.Signals
) -> None:
    expected = gossamer.train(PARAMS, gossamer.Dataset(TABLE, label=LABEL), ROUNDS)
    pids = sorted(client.run(os.getpid).values())
    found: list[Any] = []

    def run() -> None:
        pause = Pause(tmp_path, 2)
        model = train(client, PARAMS, dataset(), ROUNDS, callbacks=[pause], time_out=TIME_OUT)
        found.append(model.model_to_string())

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 300
    while len(list(tmp_path.glob("round-2-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(pids[1], with_signal)
    (tmp_path / "go").touch()
    thread.join(300)
    if with_signal == signal.SIGSTOP:
        os.kill(pids[1], signal.SIGKILL)
    assert found == [expected.model_to_string()]
    # Rounds 0 and 1 were finished: the survivor went on from there.
    assert len(list(tmp_path.glob(f"round-0-{pids[0]}"))) == 1
    again = [path for path in tmp_path.glob("round-*") if path.name.startswith("round-5-")]
    assert again


def test_a_lost_worker_is_named_once_there_are_no_restarts_left(
    client: Client, tmp_path: Path
) -> None:
    workers = client.run(os.getpid)
    address, pid = sorted(workers.items())[1]
    errors: list[BaseException] = []

    def run() -> None:
        try:
            train(
                client,
                PARAMS,
                dataset(),
                ROUNDS,
                callbacks=[Pause(tmp_path, 1)],
                time_out=TIME_OUT,
                max_restarts=0,
            )
        except WorkerError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 300
    while len(list(tmp_path.glob("round-1-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    (tmp_path / "go").touch()
    thread.join(300)
    (error,) = errors
    assert isinstance(error, WorkerError)
    assert error.is_lost
    assert error.worker == address
    assert address in str(error)
