"""`ThreadGroup`: workers that are threads of one process, for tests and examples."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gossamer.distributed.group import Content, Group, Inbox, Message, WorkerError

R = TypeVar("R")


class ThreadGroup(Group):
    """One of several threads; see `run_group`."""

    def __init__(self, rank: int, inboxes: list[list[Inbox]], time_out: float) -> None:
        super().__init__(rank, [f"thread {i}" for i in range(len(inboxes))], time_out)
        self._inboxes = inboxes  # by sender and receiver

    def _send(self, rank: int, kind: bytes, content: Content) -> None:
        self._inboxes[self.rank][rank].put((kind, content))

    def _receive(self, rank: int, seconds: float) -> Message:
        return self._inboxes[rank][self.rank].get(seconds)

    def _disconnect(self) -> None:
        for inbox in self._inboxes[self.rank]:
            inbox.put(None)


def run_group(n_workers: int, work: Callable[[Group], R], time_out: float = 60.0) -> list[R]:
    """Let threads work together; returns what each of them returns.

    Raises:
        Exception: What the first of them raised that failed by itself.

    Example:
        >>> run_group(2, lambda group: group.gather(b"%d" % group.rank))
        [[b'0', b'1'], [b'0', b'1']]
    """
    inboxes = [[Inbox() for _ in range(n_workers)] for _ in range(n_workers)]
    groups = [ThreadGroup(rank, inboxes, time_out) for rank in range(n_workers)]

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
