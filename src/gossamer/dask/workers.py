"""The workers of a Dask cluster as a `Group`: messages go over their own connections.

A worker that gets its parts of a training gets one more operation, too, which puts messages into
the mailbox of the training. Nothing else listens, and the cluster's addresses and TLS are used as
they are.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from distributed import Worker, get_worker, secede
from distributed.protocol import to_serialize

from gossamer.distributed import Group, SavedRounds, WorkerError
from gossamer.distributed.group import Inbox
from gossamer.errors import GossamerError, shorten
from gossamer.threads import default_threads

# Finished trainings whose late messages are still recognised.
_REMEMBERED: Final = 1000

Part = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Share:
    """One worker's share of a job.

    Attributes:
        group: The workers.
        rows: This worker's parts of the training data.
        valid: Its parts of each validation set.
        rounds: The rounds that are finished already.
    """

    group: Group
    rows: Sequence[Part]
    valid: Sequence[Sequence[Part]]
    rounds: SavedRounds


class Job(Protocol):
    """What the workers do together; it is sent to all of them."""

    def __call__(self, share: Share) -> Any:
        """Work on this worker's share; the result of the first worker counts."""


@dataclass(eq=False)
class Outcome:
    """How the work of one worker ended.

    Attributes:
        value: What the job returned, on the first worker.
        error: What it raised; None: nothing.
        rounds: The finished rounds, where another worker failed.
    """

    value: Any = None
    error: BaseException | None = None
    rounds: bytes | None = None


class _OrderedInbox(Inbox):
    """Messages of one worker; they may arrive in any order, and are numbered."""

    def __init__(self) -> None:
        super().__init__()
        self._early: dict[int, bytes] = {}
        self._next = 0

    def put_numbered(self, number: int, content: bytes) -> None:
        self._early[number] = content
        while self._next in self._early:
            self.put(self._early.pop(self._next))
            self._next += 1


class _Mail:
    """The mailboxes of this process, by training, receiver and sender.

    Several workers may live in one process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._boxes: dict[tuple[str, int, int], _OrderedInbox] = {}
        self._closed: deque[tuple[str, int]] = deque(maxlen=_REMEMBERED)

    def box(self, key: str, receiver: int, sender: int) -> _OrderedInbox | None:
        """Return a mailbox; None: the training has ended."""
        with self._lock:
            if (key, receiver) in self._closed:
                return None
            return self._boxes.setdefault((key, receiver, sender), _OrderedInbox())

    def close(self, key: str, receiver: int) -> None:
        with self._lock:
            self._closed.append((key, receiver))
            for place in [p for p in self._boxes if p[:2] == (key, receiver)]:
                del self._boxes[place]

    def stop(self, key: str) -> None:
        """Tell the workers of a training that no more messages will come."""
        with self._lock:
            for place, box in self._boxes.items():
                if place[0] == key:
                    box.put(None)


_mail = _Mail()
# Parts that wait for their training to begin, by training and rank.
_held: dict[tuple[str, int], tuple[list[Part], list[list[Part]]]] = {}


def _receive_message(key: str, sender: int, receiver: int, number: int, content: Any) -> str:
    box = _mail.box(key, receiver, sender)
    if box is not None:
        box.put_numbered(number, bytes(content))
    return "OK"


class DaskGroup(Group):
    """The workers of a cluster that train one model.

    Args:
        worker: The Dask worker that this process runs.
        key: Names the training.
        rank: Which of the workers this is, from 0.
        addresses: Of all workers, in the order of their rows.
        time_out: See `Group`.
    """

    def __init__(
        self, worker: Worker, key: str, rank: int, addresses: Sequence[str], time_out: float
    ) -> None:
        super().__init__(rank, addresses, time_out)
        self._worker, self._key, self._task = worker, key, worker.get_current_task()
        self._sent = [0] * len(addresses)
        self._gone: set[int] = set()
        self._lock = threading.Lock()
        self._inboxes = {
            sender: box
            for sender in range(len(addresses))
            if (box := _mail.box(key, rank, sender)) is not None
        }

    def _send(self, rank: int, content: bytes) -> None:
        if rank in self._gone:
            raise ConnectionError("closed by the other side")
        with self._lock:
            number = self._sent[rank]
            self._sent[rank] += 1
        self._worker.loop.add_callback(self._deliver, rank, number, content)

    async def _deliver(self, rank: int, number: int, content: bytes) -> None:
        try:
            sending = self._worker.rpc(self.names[rank]).gossamer_message(
                key=self._key,
                sender=self.rank,
                receiver=rank,
                number=number,
                content=to_serialize(content),
            )
            await asyncio.wait_for(sending, self.time_out)
        except Exception:  # whatever it is, the message did not arrive
            self._gone.add(rank)
            self._inboxes[rank].put(None)

    def _receive(self, rank: int, seconds: float) -> bytes:
        return self._inboxes[rank].get(seconds)

    def _check(self) -> None:
        """Stop, too, once the scheduler has released the task: the client has gone.

        Raises:
            GossamerError: If so.
        """
        super()._check()
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state == "cancelled":
            raise GossamerError.because("training was stopped: its client has gone")

    def _disconnect(self) -> None:
        _mail.close(self._key, self.rank)


# ---- tasks ----


def hold_parts(key: str, rank: int, rows: list[Part], valid: list[list[Part]]) -> Outcome:
    """Keep the parts of a worker until its training begins.

    Dask can then forget its own references to them, so that they are freed once they are binned.
    """
    get_worker().handlers["gossamer_message"] = _receive_message
    _held[key, rank] = (rows, valid)
    return Outcome()


def work_on_parts(
    job: Job,
    key: str,
    rank: int,
    addresses: Sequence[str],
    time_out: float,
    rounds: bytes | None,
) -> Outcome:
    """Do a worker's share of a job, outside of the worker's pool of threads.

    Several trainings then run at once, however few threads the workers have.
    """
    worker = get_worker()
    secede()
    rows, valid = _held.pop((key, rank))
    saved = SavedRounds(rounds)
    group = DaskGroup(worker, key, rank, addresses, time_out)
    group.start()
    try:
        with default_threads(worker.state.nthreads):
            value = job(Share(group, rows, valid, saved))
        return Outcome(value if rank == 0 else None)
    except BaseException as error:
        group.fail(error)
        return Outcome(error=_sendable(error, worker.address), rounds=saved.content)
    finally:
        group.close()


async def stop_training(key: str) -> None:
    """End the work of a training on this worker, and forget its parts."""
    _mail.stop(key)
    for place in [p for p in _held if p[0] == key]:
        _held.pop(place, None)


def _sendable(error: BaseException, address: str) -> BaseException:
    """Return an exception that the client can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # exceptions of users may hold anything
        return WorkerError(f"{type(error).__name__}: {shorten(error, 2000)}", address)
    return error
