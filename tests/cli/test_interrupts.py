"""Ctrl-C, and what a terminal shows, in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs
from gossamer.cli.interrupts import StopAfterRound, heeding_interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

GOSSAMER = [sys.executable, "-m", "gossamer.cli"]
LONG = ("train", "long.csv", "-t", "y", "-n", "1000000", "--threads", "1")


@pytest.fixture(autouse=True)
def _interrupts_are_heard() -> Iterator[None]:
    """Also where the tests run in the background, and so ignore them; children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def long(folder: Path) -> Path:
    """A training that takes long."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 4)).round(3)
    lines = [",".join(map(str, row)) for row in table]
    Path("long.csv").write_text("\n".join(["a,b,c,y", *lines]))
    return folder


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*GOSSAMER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def interrupt_in_training(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stderr is not None
    seen = ""
    while "Task: " not in seen:
        line = process.stderr.readline()
        assert line, "it ended: " + seen
        seen += line
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()  # nothing of it is left to the tests that follow
        process.communicate()
        raise
    return out, seen + err


def test_the_rounds_so_far_are_kept(long: Path) -> None:
    process = start(*LONG, "--json", "--valid", "0.2")
    out, err = interrupt_in_training(process)
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["interrupted"] and 0 < found["rounds"] < 1_000_000
    assert "Traceback" not in err and "interrupted after" in err
    assert "Stopping after this round" in err
    model = gs.Booster(model_file="model.gsm")
    assert model.current_iteration() == found["rounds"]


def test_a_checkpoint_is_gone_on_from(long: Path) -> None:
    process = start(*LONG, "--json", "--checkpoint", "run.checkpoint")
    out, err = interrupt_in_training(process)
    n_done = json.loads(out)["rounds"]
    assert process.returncode == 130 and Path("run.checkpoint").exists(), err
    n_rounds = str(n_done + 5)
    process = start(*LONG[:4], "--threads", "1", "-n", n_rounds, "--resume", "run.checkpoint")
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert f"rounds       {n_rounds}\n" in out


def test_nothing_is_kept_of_cv(long: Path) -> None:
    process = start("cv", *LONG[1:])
    out, err = interrupt_in_training(process)
    assert process.returncode == 130 and out == ""
    assert "interrupted" in err and "Traceback" not in err


def test_interrupts_that_others_swallow() -> None:
    swallowed = contextlib.suppress(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt), heeding_interrupts(), swallowed:
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), heeding_interrupts():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise AttributeError("half imported") from None
    with pytest.raises(AttributeError), heeding_interrupts():
        raise AttributeError("of its own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_interrupts() -> None:
    stop = StopAfterRound(is_quiet=True)
    env: Any = None
    with stop:
        stop(env)
        signal.raise_signal(signal.SIGINT)  # the round goes on
        with pytest.raises(KeyboardInterrupt):
            stop(env)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def in_a_terminal(*arguments: str, columns: int = 90) -> tuple[int, str]:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment: dict[str, Any] = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    for name in ("NO_COLOR", "COLUMNS"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [*GOSSAMER, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    content = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        content += part
    os.close(ours)
    return process.wait(), content.decode()


def test_progress(long: Path) -> None:
    code, text = in_a_terminal("train", "long.csv", "-t", "y", "-n", "30", "--valid", "0.2")
    assert code == 0
    assert "training  [" in text and "30/30" in text and "valid rmse" in text and "best" in text
    code, text = in_a_terminal("train", "long.csv", "-t", "y", "-n", "30", "--quiet")
    assert code == 0 and text == ""
    code, text = in_a_terminal("cv", "long.csv", "-t", "y", "-n", "5", "--folds", "3")
    assert code == 0 and "3 folds  [" in text and "5/5" in text


def test_lines_fit_a_terminal(long: Path) -> None:
    code, text = in_a_terminal("params", columns=60)
    assert code == 0
    assert max(len(line) for line in text.splitlines()) <= 60
    code, text = in_a_terminal("train", "long.csv", "-t", "nothing", columns=60)
    assert code == 1
    assert max(len(line) for line in text.splitlines()) <= 60
