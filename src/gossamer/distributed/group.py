"""`Group`: workers that train one model together, and the messages between them."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.distributed.stream import Content, Stream, wait
from gossamer.distributed.traffic import Traffic
from gossamer.errors import GossamerError, message, shorten

# What a message is: an array or the like, why its sender failed, or a sign of life.
_DATA, _ERROR, _ALIVE = b"d", b"e", b"a"
# Heartbeats within `time_out`: a worker that computes for long is not taken for a lost one.
_BEATS: Final = 4
# Arrays up to this size are sent whole to every worker: one exchange instead of two.
_SMALL_BYTES: Final = 16_384

Number = TypeVar("Number", bound=np.generic)


class WorkerError(GossamerError):
    """Another worker of the group failed: its message, and its name.

    Attributes:
        worker: The name of the worker that failed.
        is_lost: Whether the worker was lost, rather than raised an exception.
    """

    def __init__(self, text: str, worker: str, *, is_lost: bool = False) -> None:
        super().__init__(text)
        self.worker, self.is_lost = worker, is_lost

    def __reduce__(self) -> Any:
        return _make_error, (str(self), self.worker, self.is_lost)


def _make_error(text: str, worker: str, is_lost: bool) -> WorkerError:
    return WorkerError(text, worker, is_lost=is_lost)


class Group:
    """Some workers, each of which makes the same calls in the same order.

    A worker waits for others in `exchange` alone, and reads and writes on all of its connections
    meanwhile. A second thread sends signs of life.

    Attributes:
        rank: Which of the workers this is, from 0.
        names: What errors call the workers, one name each.
        time_out: Seconds without a sign of life after which a worker counts as lost.
        traffic: What this worker has sent so far.
    """

    def __init__(self, rank: int, names: Sequence[str], time_out: float = 60.0) -> None:
        self.rank, self.names, self.time_out = rank, list(names), time_out
        self.traffic = Traffic()
        self._streams: dict[int, Stream] = {}
        self._is_closed = threading.Event()
        self._failure: WorkerError | None = None
        self._beat: threading.Thread | None = None

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self.names)

    @property
    def has_failed(self) -> bool:
        """Whether a worker was lost, or raised an exception."""
        return self._failure is not None

    @property
    def _pause(self) -> float:
        """Seconds between two signs of life."""
        return self.time_out / _BEATS

    @property
    def connections(self) -> dict[int, socket.socket]:
        """The sockets of the other workers, by rank."""
        return {rank: stream.connection for rank, stream in list(self._streams.items())}

    def add_peer(self, rank: int, connection: socket.socket) -> None:
        """Use a socket for the messages of another worker."""
        self._streams[rank] = Stream(connection, self.time_out)

    # ---- calls that all workers make ----

    def start(self) -> None:
        """Begin to send signs of life; all workers call it before anything else."""
        if self.size == 1 or self._beat is not None:
            return
        self._beat = threading.Thread(target=self._send_beats, name="gossamer-alive", daemon=True)
        self._beat.start()

    def exchange(self, parts: Sequence[Content]) -> list[Content]:
        """Send part i to worker i; returns what each of the workers sent to this one.

        Raises:
            WorkerError: If one of them is lost, or failed.
        """
        self._check()
        self.traffic.n_collectives += 1
        received = list(parts)
        wanted: dict[Stream, int] = {}  # who has not sent its part yet
        for step in range(1, self.size):  # each begins with its neighbour: none gets all at once
            rank = (self.rank + step) % self.size
            self.traffic.n_messages += 1
            self.traffic.n_bytes += len(parts[rank])
            stream = self._streams[rank]
            wanted[stream] = rank
            stream.put(_DATA, parts[rank])
            stream.flush()
            stream.last_life = time.monotonic()
        ranks = dict(wanted)
        next_look = time.monotonic() + self._pause
        while True:
            # What is sent must arrive, too: nothing is sent while this worker computes.
            full = [stream for stream in ranks if not stream.is_flushed]
            if not wanted and not full:
                return received
            for stream in wait(wanted, full, self._pause):
                stream.flush()
                if stream in wanted and (content := self._receive(stream, ranks[stream])):
                    received[wanted.pop(stream)] = content[0]
            if (now := time.monotonic()) > next_look:
                next_look = now + self._pause
                self._check()
                for stream in (*wanted, *full):
                    if now - stream.last_life > self.time_out:
                        why = f"no sign of life for {self.time_out:g} seconds"
                        raise self._lost(ranks[stream], why)

    def _receive(self, stream: Stream, rank: int) -> tuple[Content] | None:
        """Return the part that a worker has sent, once it is there."""
        while True:
            try:
                message = stream.receive()
            except OSError as error:
                raise self._lost(rank, f"the connection is gone ({shorten(error)})") from None
            if message is None:
                return None
            kind, content = message
            if kind == _ERROR:
                raise self._read_error(content)
            if kind == _DATA:
                return (content,)

    def gather(self, own: bytes) -> list[bytes]:
        """Send the same to all workers; returns what each of them sent, in their order."""
        return [bytes(part) for part in self.exchange([own] * self.size)]

    def gather_array(self, own: npt.NDArray[Number]) -> list[npt.NDArray[Number]]:
        """Return the arrays of all workers; they have one type, and one dimension each."""
        own = np.ascontiguousarray(own)
        content = own.view(np.uint8).data
        return [np.frombuffer(p, dtype=own.dtype) for p in self.exchange([content] * self.size)]

    def add(self, array: npt.NDArray[Any]) -> None:
        """Make every number of an array of integers the sum over all workers.

        Example:
            >>> from gossamer.distributed.threads import run_group
            >>> def work(group):
            ...     array = np.array([group.rank, 1])
            ...     group.add(array)
            ...     return array.tolist()
            >>> run_group(3, work)
            [[3, 3], [3, 3], [3, 3]]
        """
        if self.size == 1:
            return
        if array.nbytes <= _SMALL_BYTES:
            array[:] = sum(self.gather_array(array), np.zeros_like(array))
            return
        ends = np.linspace(0, len(array), self.size + 1).astype(np.int64)
        pieces = [array[a:b] for a, b in itertools.pairwise(ends)]
        total = pieces[self.rank].copy()
        for rank, part in enumerate(self.exchange([piece.view(np.uint8).data for piece in pieces])):
            if rank != self.rank:
                total += np.frombuffer(part, dtype=array.dtype)
        for piece, summed in zip(pieces, self.gather_array(total), strict=True):
            piece[:] = summed

    def keep_largest(self, array: npt.NDArray[np.float64]) -> None:
        """Make every number of an array the largest of all workers."""
        array[:] = np.max(self.gather_array(array), axis=0)

    # ---- failures ----

    def fail(self, error: BaseException) -> None:
        """Tell all others that this worker cannot go on."""
        if isinstance(error, WorkerError):  # another worker's, passed on as it is
            worker, is_lost, text = error.worker, error.is_lost, str(error)
        else:
            worker, is_lost = self.names[self.rank], False
            text = f"worker {worker} failed: {type(error).__name__}: {shorten(error, 2000)}"
        self._failure = self._failure or WorkerError(text, worker, is_lost=is_lost)
        content = b"\0".join([b"%d" % is_lost, worker.encode(), text.encode()])
        for stream in list(self._streams.values()):
            stream.put(_ERROR, content)
            stream.flush()

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Close the group; if something was raised, the others are told."""
        if error is not None:
            self.fail(error)
        self.close()

    def close(self) -> None:
        """Close the connections; nothing can be sent any more."""
        if self._is_closed.is_set():
            return
        self._is_closed.set()
        if self._streams:
            # Others may still have to read why this worker failed.
            threading.Thread(target=self._close_streams, name="gossamer-close", daemon=True).start()

    def _close_streams(self) -> None:
        deadline = time.monotonic() + self.time_out
        for stream in self._streams.values():
            stream.end()
        for stream in self._streams.values():
            stream.close(deadline)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _read_error(self, content: Content) -> WorkerError:
        is_lost, worker, text = bytes(content).split(b"\0", 2)
        self._failure = WorkerError(text.decode(), worker.decode(), is_lost=is_lost == b"1")
        return self._failure

    def _lost(self, rank: int, why: str) -> WorkerError:
        name = self.names[rank]
        self._failure = WorkerError(
            message(
                f"worker {name} is lost: {why}",
                hint="Look at the worker's log; time_out is how long to wait for a sign of life.",
            ),
            name,
            is_lost=True,
        )
        return self._failure

    def _send_beats(self) -> None:
        while not self._is_closed.wait(self._pause):
            for stream in list(self._streams.values()):
                stream.beat(_ALIVE)
