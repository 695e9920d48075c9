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


class Attack:
    """Sends a signal to a worker once all workers have come to a round."""

    def __init__(self, folder: Path, at: int, pid: int, number: signal.Signals) -> None:
        self.folder, self.at, self.pid, self.number = folder, at, pid, number

    def __enter__(self) -> None:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        deadline = time.monotonic() + 280
        while len(list(self.folder.glob(f"round-{self.at}-*"))) < 2:
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
        pytest.warns(UserWarning, match="worker tcp:.* is lost: .*Training goes on without it"),
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
