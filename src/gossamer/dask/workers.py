"""The workers of a Dask cluster as a `Group`: messages go over connections between the workers.

A worker that gets its parts of a training gets two more operations, too: another worker of the
training connects with it, or asks whether it has begun. It is the worker's own listener that
accepts the connection. Nothing else listens, and the cluster's addresses and TLS are used as they
are.
"""

from __future__ import annotations

import asyncio
import pickle
import queue
import socket
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from distributed import Status, Worker, get_worker, secede
from distributed.comm import Comm, connect
from distributed.comm.tcp import TCP
from distributed.protocol import to_serialize

from gossamer.distributed import Group, SavedRounds, WorkerError
from gossamer.errors import GossamerError, message, shorten
from gossamer.threads import default_threads

_CONNECT: Final = "gossamer_connect"
_HAS_BEGUN: Final = "gossamer_has_begun"
_ACCEPTED: Final = b"a"  # the first byte on a connection; the one who connects waits for it
_CHUNK: Final = 1 << 20  # bytes that pass a bridge at once
_LOOK: Final = 5.0  # seconds between two looks at whether parts are still wanted

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


Place = tuple[str, int]  # a training, and the rank of a worker in it
# Another worker, and the socket to it or why there is none. None: the training is given up.
Arrival = tuple[int, socket.socket | Exception] | None

# What this process has of each training. Several workers may live in one process.
_held: dict[Place, tuple[list[Part], list[list[Part]]]] = {}  # parts that wait for the beginning
_arrivals: dict[Place, queue.SimpleQueue[Arrival]] = {}
groups: dict[Place, DaskGroup] = {}  # trainings that are under way


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
        self._worker, self._place, self._task = worker, (key, rank), worker.get_current_task()
        groups[self._place] = self

    def connect(self) -> None:
        """Connect with the workers of lower ranks, and wait for the others to do so.

        Raises:
            WorkerError: If one of them cannot be reached, or is not there in time.
        """
        arrivals = _arrivals[self._place]
        deadline = time.monotonic() + self.time_out
        for peer in range(self.rank):
            call = _call(self._worker, self.names[peer], self._place, peer, self.time_out)
            future = asyncio.run_coroutine_threadsafe(call, self._worker.loop.asyncio_loop)
            future.add_done_callback(partial(_note_call, arrivals, peer))
        while len(self._streams) < self.size - 1:
            try:
                arrival = arrivals.get(timeout=self._pause)
            except queue.Empty:
                self._check()
                if time.monotonic() > deadline:
                    self._ask_missing()
                    deadline = time.monotonic() + self.time_out
                continue
            if arrival is None:
                raise GossamerError.because("the training was abandoned")
            peer, connection = arrival
            if isinstance(connection, Exception):
                raise self._lost(peer, f"it cannot be reached ({shorten(connection)})")
            self.add_peer(peer, connection)

    def _ask_missing(self) -> None:
        """Stop waiting for a worker that has begun and does not connect, or does not answer.

        A worker that is busy with a task of someone else's begins later.

        Raises:
            WorkerError: If there is such a worker.
        """
        missing = next(r for r in range(self.size) if r not in {self.rank, *self._streams})
        why = f"it did not connect within {self.time_out:g} seconds"
        call = _ask(self._worker, self.names[missing], (self._place[0], missing), self.time_out)
        future = asyncio.run_coroutine_threadsafe(call, self._worker.loop.asyncio_loop)
        try:
            has_begun = future.result(2 * self.time_out)
        except Exception as error:  # whatever the other worker or its connection raises
            raise self._lost(missing, f"{why} ({shorten(error)})") from None
        if has_begun:
            raise self._lost(missing, why)

    def give_up(self) -> None:
        """End all waiting for other workers."""
        for stream in list(self._streams.values()):
            stream.cut()

    def _check(self) -> None:
        """Stop, too, once the scheduler has released the task, or the worker has left.

        Raises:
            GossamerError: If so.
        """
        super()._check()
        if self._worker.status in (Status.closing, Status.closed, Status.failed):
            raise self._lost(self.rank, "it has left the cluster")
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state == "cancelled":
            raise GossamerError.because("training was stopped because its client is gone")

    def close(self) -> None:
        """Close the connections, and forget the training."""
        super().close()
        groups.pop(self._place, None)
        _forget(self._place)


# ---- connections ----


async def _call(
    worker: Worker, address: str, place: Place, receiver: int, seconds: float
) -> socket.socket:
    """Connect with another worker; returns a socket to it.

    Raises:
        OSError: If there is no such worker, or it does not work on the training.
    """
    key, sender = place
    comm = await connect(
        address, timeout=seconds, deserialize=worker.deserialize, **worker.rpc.connection_args
    )
    await comm.write(
        {"op": _CONNECT, "reply": False, "key": key, "sender": sender, "receiver": receiver}
    )
    own = await _take_socket(comm)
    if own is None:
        own, end = socket.socketpair()
        worker.loop.add_callback(_bridge, comm, end)
    own.setblocking(False)
    try:
        answer = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(own, 1), seconds)
        if answer != _ACCEPTED:
            raise ConnectionError("it does not work on this training")
    except BaseException:
        own.close()
        raise
    return own


async def _accept(comm: Comm, key: str, sender: int, receiver: int) -> None:
    """Handle the operation by which another worker connects with this one."""
    arrivals = _arrivals.get((key, receiver))
    if arrivals is None:
        comm.abort()
        return
    own = await _take_socket(comm)
    if own is not None:
        own.send(_ACCEPTED)
        arrivals.put((sender, own))
        return
    own, end = socket.socketpair()
    own.send(_ACCEPTED)
    arrivals.put((sender, own))
    await _bridge(comm, end)


async def _ask(worker: Worker, address: str, place: Place, seconds: float) -> bool:
    """Return whether another worker has begun its share of a training.

    Raises:
        OSError: If the worker cannot be reached.
        TimeoutError: If it does not answer.
    """
    key, receiver = place
    call = getattr(worker.rpc(address), _HAS_BEGUN)(key=key, receiver=receiver)
    return bool(await asyncio.wait_for(call, seconds))


def _has_begun(key: str, receiver: int) -> bool:
    """Handle the operation by which another worker asks whether this one has begun its share."""
    return (key, receiver) not in _held


async def _take_socket(comm: Comm) -> socket.socket | None:
    """Take over the socket of a plain TCP connection; None: it is something else.

    Messages then need not pass the event loop of the worker, which costs milliseconds each. The one
    who connects sends nothing before the other side has the socket, so that no byte is lost.
    """
    if type(comm) is not TCP:  # both sides see the same kind of connection
        return None
    while comm.stream is not None and comm.stream.writing():
        await asyncio.sleep(0.001)
    if comm.stream is None:
        raise ConnectionError("closed by the other side")
    own: socket.socket = comm.stream.socket.dup()
    comm.abort()  # closes Dask's socket, not its copy
    return own


async def _bridge(comm: Comm, end: socket.socket) -> None:
    """Pass bytes between a connection of Dask's and a socket, both ways, until one is closed."""
    end.setblocking(False)
    loop = asyncio.get_running_loop()

    async def send() -> None:
        while chunk := await loop.sock_recv(end, _CHUNK):
            await comm.write({"chunk": to_serialize(chunk)})
        await comm.write({"chunk": b""})

    async def receive() -> None:
        while chunk := bytes((await comm.read())["chunk"]):
            await loop.sock_sendall(end, chunk)
        end.shutdown(socket.SHUT_WR)

    ways = [asyncio.ensure_future(send()), asyncio.ensure_future(receive())]
    try:
        await asyncio.gather(*ways)
    except OSError:
        pass  # closed by one side; the other one finds out
    finally:
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        end.close()
        comm.abort()


def _note_call(
    arrivals: queue.SimpleQueue[Arrival], peer: int, call: Future[socket.socket]
) -> None:
    error = call.exception()
    told = OSError(str(error) or type(error).__name__)
    arrivals.put((peer, call.result() if error is None else told))


def _forget(place: Place) -> None:
    """Close the connections that no group has taken."""
    arrivals = _arrivals.pop(place, None)
    while arrivals is not None and not arrivals.empty():
        arrival = arrivals.get()
        if arrival is not None and isinstance(arrival[1], socket.socket):
            arrival[1].close()


# ---- tasks ----


def hold_parts(key: str, rank: int, rows: list[Part], valid: list[list[Part]]) -> Outcome:
    """Keep the parts of a worker until its training begins.

    Dask can then forget its own references to them, so that they are freed once they are binned.
    """
    worker = get_worker()
    worker.handlers[_CONNECT], worker.handlers[_HAS_BEGUN] = _accept, _has_begun
    _arrivals[key, rank] = queue.SimpleQueue()
    _held[key, rank] = (rows, valid)
    worker.loop.add_callback(_watch, worker, worker.get_current_task(), (key, rank))
    return Outcome()


async def _watch(worker: Worker, task: str, place: Place) -> None:
    """Forget parts whose training never begins: the client has gone, and its tasks with it."""
    while place in _held:
        await asyncio.sleep(_LOOK)
        if task not in worker.state.tasks and _held.pop(place, None) is not None:
            _forget(place)


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
    try:
        rows, valid = _held.pop((key, rank))
    except KeyError:
        text = message(f"worker {worker.address} is lost: it was started again, without its rows")
        return Outcome(error=WorkerError(text, worker.address, is_lost=True))
    saved = SavedRounds(rounds)
    group = DaskGroup(worker, key, rank, addresses, time_out)
    group.start()
    try:
        group.connect()
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
    for place in [p for p in _held if p[0] == key]:
        _held.pop(place, None)
        _forget(place)
    for place, arrivals in list(_arrivals.items()):
        if place[0] == key:
            arrivals.put(None)
    for place, group in list(groups.items()):
        if place[0] == key:
            group.give_up()


def _sendable(error: BaseException, address: str) -> BaseException:
    """Return an exception that the client can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # exceptions of users may hold anything
        return WorkerError(f"{type(error).__name__}: {shorten(error, 2000)}", address)
    return error
