"""Work in forked children, where a crash or a hang is a result and ends nothing else."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import Any

MOST_SECONDS = 1200


def in_child(work: Callable[[], dict[str, Any] | None]) -> dict[str, Any]:
    """Fork, and work in the child.

    Returns:
        What the work returned; "wrong" says how it failed, if it did.
    """
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        signal.alarm(MOST_SECONDS)
        try:
            found = work() or {}
        except BaseException as error:  # all of them are results
            found = {"wrong": f"{type(error).__name__}: {error}"}
        os.write(sink, json.dumps(found).encode())
        os._exit(0)
    os.close(sink)
    with os.fdopen(source) as stream:
        answer = stream.read()
    status = wait_for(child)
    if status != "exit 0" or not answer:
        return {"wrong": f"crash: {status}"}
    found = json.loads(answer)
    assert isinstance(found, dict)
    return found


def wait_for(child: int) -> str:
    """Wait for a child, and say how it ended."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return signal.Signals(-code).name if code < 0 else f"exit {code}"
