"""`ThreadGroup`: workers that are threads of one process, for tests and examples."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gossamer.distributed.group import Group, WorkerError

R = TypeVar("R")


class ThreadGroup(Group):
    """One of several threads; see `run_group`."""


def run_group(n_workers: int, work: Callable[[Group], R], time_out: float = 60.0) -> list[R]:
    """Let threads work together; returns what each of them returns.

    Raises:
        Exception: What the first of them raised that failed by itself.

    Example:
        >>> run_group(2, lambda group: group.gather(b"%d" % group.rank))
        [[b'0', b'1'], [b'0', b'1']]
    """
    names = [f"thread {rank}" for rank in range(n_workers)]
    groups = [ThreadGroup(rank, names, time_out) for rank in range(n_workers)]
    for a, b in itertools.combinations(groups, 2):
        ends = socket.socketpair()
        a.add_peer(b.rank, ends[0])
        b.add_peer(a.rank, ends[1])

    def run(group: Group) -> R:
        group.start()
        with group:
            return work(group)

    with ThreadPoolExecutor(n_workers) as pool:
        futures = [pool.submit(run, group) for group in groups]
        errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((e for e in errors if not isinstance(e, WorkerError)), errors[0])
    return [future.result() for future in futures]
