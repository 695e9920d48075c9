"""Processes that are killed, leave or find the disk full: files are whole, and the end is quiet."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.children import in_child, wait_for
from attack.conftest import Tally
from attack.scale import share

import gossamer
from gossamer import Booster, Dataset, checkpoint, train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, limits and signals")
PARAMS = {"verbosity": -1, "num_threads": 1, "num_leaves": 8}
N_PARTS = share(1, 10)  # that run side by side
ROWS = np.random.default_rng(0).normal(size=(400, 5))


def booster(n_rounds: int) -> Booster:
    return train(PARAMS, Dataset(ROWS, ROWS[:, 0]), n_rounds)


def data_set(n_rows: int) -> Dataset:
    return Dataset(ROWS[:n_rows], ROWS[:n_rows, 0], params=PARAMS).construct()


def writers() -> dict[str, list[Callable[[Path], Any]]]:
    """Ways to write a file, each with two contents."""
    models, sets = [booster(5), booster(60)], [data_set(100), data_set(400)]
    return {
        "model": [model.save_model for model in models],
        "json": [lambda path, m=model: m.save_model(path, format="json") for model in models],
        "lightgbm": [
            lambda path, m=model: m.save_model(path, format="lightgbm") for model in models
        ],
        "data set": [data.save_binary for data in sets],
        "report": [lambda path, m=model: m.report(path, ROWS) for model in models],
    }


def contents(ways: list[Callable[[Path], Any]], path: Path) -> list[bytes]:
    found = []
    for write in ways:
        write(path)
        found.append(path.read_bytes())
    return found


@pytest.mark.parametrize("kind", ["model", "json", "lightgbm", "data set"])
def test_killed_while_writing(kind: str, tally: Tally, tmp_path: Path) -> None:
    path, ways, draw = tmp_path / "file", writers()[kind], random.Random(1)
    whole = contents(ways, path)
    for run in range(share(8, 250)):
        with tally.run(f"{kind} {run}"):
            child = os.fork()
            if child == 0:
                while True:
                    for write in ways:
                        write(path)
            time.sleep(draw.uniform(0.0, 0.03))
            os.kill(child, signal.SIGKILL)
            assert wait_for(child) == "SIGKILL"
            assert path.read_bytes() in whole, "a part of a file"
            ways[run % 2](path)
            assert path.read_bytes() == whole[run % 2]
            assert os.listdir(tmp_path) == ["file"], "a temporary file stays"


@pytest.mark.parametrize("kind", ["model", "json", "lightgbm", "data set", "report"])
def test_full_disk(kind: str, tally: Tally, tmp_path: Path) -> None:
    """Files of this process may not grow: an error, and the old file is whole."""
    path, (old, new) = tmp_path / "file.html", writers()[kind]
    before = contents([old], path)[0]
    new(path)
    size = path.stat().st_size
    old(path)

    def work(limit: int) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with pytest.raises(OSError) as caught:
            new(path)
        assert caught.value.errno == errno.EFBIG

    for limit in np.unique(np.linspace(0, size - 1, share(6, 200)).astype(int)):
        with tally.run(f"{kind}, {limit} of {size} bytes"):
            found = in_child(lambda limit=limit: work(int(limit)))
            assert "wrong" not in found, found
            assert path.read_bytes() == before
            assert os.listdir(tmp_path) == [path.name], "a temporary file stays"


@pytest.mark.parametrize("part", range(N_PARTS))
def test_killed_while_training_with_checkpoints(part: int, tally: Tally, tmp_path: Path) -> None:
    path, draw = tmp_path / "run", random.Random(2 + part)
    params = {**PARAMS, "bagging_fraction": 0.7, "bagging_freq": 1}

    def run() -> str:
        callbacks = [checkpoint(path, every_rounds=1)]
        return train(params, Dataset(ROWS, ROWS[:, 0]), 12, callbacks=callbacks).model_to_string()

    expected = run()
    for attempt in range(part, share(5, 250), N_PARTS):
        path.unlink(missing_ok=True)
        with tally.run(f"training {attempt}"):
            child = os.fork()
            if child == 0:
                run()
                os._exit(0)
            time.sleep(draw.uniform(0.0, 0.15))
            os.kill(child, signal.SIGKILL)
            wait_for(child)
            assert run() == expected, "another model after the break"
            assert os.listdir(tmp_path) == ["run"], "a temporary file stays"


# The end of the loop is the end of the process: threads are still at work then.
EXIT = """
import os, random, sys, threading, time
import numpy as np
from gossamer import Dataset, threads, train
from attack.children import wait_for

threads.CELLS_PER_THREAD = 1
table = np.random.default_rng(0).normal(size=(3000, 6))
label = (table[:, 0] > 0.1).astype(float)
params = {"objective": "binary", "num_threads": 2, "verbosity": -1}
booster = train(params, Dataset(table, label), 5)

def keep_training():
    train(params, Dataset(table, label), 100_000)

def keep_predicting():
    while True:
        booster.predict(table, num_threads=2)

def leave(env):
    if env.iteration == 2:
        sys.exit(0)

failures = []
for i in range(*map(int, sys.argv[1:])):
    child = os.fork()
    if child == 0:
        draw = random.Random(i)
        for _ in range(draw.randrange(1, 4)):
            work = draw.choice([keep_training, keep_predicting])
            threading.Thread(target=work, daemon=True).start()
        time.sleep(draw.uniform(0, 0.08))
        if i % 3 == 0:
            train(params, Dataset(table, label), 100, callbacks=[leave])
        break
    status = wait_for(child)
    if status != "exit 0":
        failures.append(f"{i}: {status}")
else:
    print(failures)
"""


@pytest.mark.parametrize("part", range(N_PARTS))
def test_exit_while_threads_work(part: int, tally: Tally) -> None:
    runs = range(part, share(10, 1_000), N_PARTS)
    package = str(Path(gossamer.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EXIT, *map(str, (runs.start, runs.stop, runs.step))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([package, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    tally.add(len(runs), [] if done.stdout == "[]\n" else [done.stdout])
