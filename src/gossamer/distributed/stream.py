"""`Stream`: messages over a socket, sent and received without ever waiting."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import Final

Content = bytes | bytearray | memoryview
Message = tuple[bytes, Content]  # kind, content

_HEADER: Final = struct.Struct("!cQ")  # kind and length of a message
_MOST_PIECES: Final = 64  # that one call of the system sends
_SMALL: Final = 16_384  # bytes: smaller messages are sent in one piece with their header


class Stream:
    """One connection with another worker.

    One thread at a time receives; any thread may send. A worker that is stopped or slow holds up
    none of them: what cannot be sent yet waits here, and `flush` goes on with it.

    Args:
        connection: A connected socket, which the stream owns from now on.
        time_out: Seconds after which the system gives a silent connection up.

    Attributes:
        connection: The socket.
        last_life: When the other side last sent something, or took some of what waited for it, by
            `time.monotonic()`.
    """

    def __init__(self, connection: socket.socket, time_out: float) -> None:
        connection.setblocking(False)
        milliseconds = max(int(1000 * time_out), 1)
        with suppress(OSError):  # sockets that are not TCP need none of it
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
        self.connection = connection
        self.last_life = time.monotonic()
        self._lock = threading.Lock()  # of what is to be sent, and of the socket's end
        self._waiting: deque[memoryview] = deque()
        self._is_broken = False  # nothing can be sent any more
        self._is_ended = False  # nor will anything be
        self._header = bytearray(_HEADER.size)
        self._kind: bytes | None = None  # of the message that is arriving, once it is known
        self._content = bytearray()
        self._target = memoryview(self._header)  # where the next bytes go

    # ---- sending ----

    @property
    def is_flushed(self) -> bool:
        """Whether nothing waits to be sent."""
        return not self._waiting

    def put(self, kind: bytes, content: Content) -> None:
        """Add a message behind those that wait; `flush` sends them."""
        header = _HEADER.pack(kind, len(content))
        with self._lock:
            if self._is_broken:
                return
            if len(content) <= _SMALL:
                self._waiting.append(memoryview(header + content))
            else:
                self._waiting.extend((memoryview(header), memoryview(content)))

    def flush(self) -> None:
        """Send as much as the system takes now.

        A connection that is gone is found out by `receive`: what the other worker sent before it
        left may still be there to read.
        """
        with self._lock:
            if self._flush() > 0:
                self.last_life = time.monotonic()

    def _flush(self) -> int:
        """Return how many bytes the system took."""
        n_all = 0
        try:
            while self._waiting:
                n_sent = self.connection.sendmsg(islice(self._waiting, _MOST_PIECES))
                n_all += n_sent
                while self._waiting and n_sent >= len(self._waiting[0]):
                    n_sent -= len(self._waiting.popleft())
                if self._waiting:
                    self._waiting[0] = self._waiting[0][n_sent:]
        except BlockingIOError:
            pass
        except OSError:
            self._is_broken = True
            self._waiting.clear()
        return n_all

    def beat(self, kind: bytes) -> None:
        """Send a message without content, unless others wait: they are as good.

        The other side may be dead even if the system accepts the message.
        """
        if self.is_flushed:
            self.put(kind, b"")
            with self._lock:
                self._flush()

    # ---- receiving ----

    def receive(self) -> Message | None:
        """Return the next message if all of it has arrived.

        Raises:
            OSError: If the connection is gone.
        """
        while True:
            while len(self._target) > 0:
                try:
                    n = self.connection.recv_into(self._target)
                except BlockingIOError:
                    return None
                if n == 0:
                    raise ConnectionError("closed by the other side")
                self.last_life = time.monotonic()
                self._target = self._target[n:]
            if self._kind is not None:
                message = self._kind, self._content
                self._kind, self._target = None, memoryview(self._header)
                return message
            self._kind, n_bytes = _HEADER.unpack(self._header)
            self._content = bytearray(n_bytes)
            self._target = memoryview(self._content)

    # ---- the end ----

    def cut(self) -> None:
        """End the connection at once; any thread may call it. Whoever receives finds out."""
        with self._lock, suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Send what waits as far as possible, and then the end."""
        with self._lock:
            self._flush()
            if not self._waiting and not self._is_ended:
                self._is_ended = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_WR)

    def close(self, deadline: float) -> None:
        """Wait until the other side has read everything, and close the socket.

        Args:
            deadline: When to close it in any case, by `time.monotonic()`.
        """
        while (seconds := deadline - time.monotonic()) > 0:
            self.end()
            try:
                while self.receive() is not None:
                    continue
            except (OSError, MemoryError):
                break  # the other side has closed it, too
            wait([self], [] if self._is_ended else [self], seconds)
        with self._lock:
            self.connection.close()


def wait(readers: Iterable[Stream], writers: Iterable[Stream], seconds: float) -> list[Stream]:
    """Wait until streams can receive or send; returns those, or nothing after so many seconds."""
    events: dict[int, int] = {}
    streams: dict[int, Stream] = {}
    for each, event in ((readers, select.POLLIN), (writers, select.POLLOUT)):
        for stream in each:
            number = stream.connection.fileno()
            streams[number] = stream
            events[number] = events.get(number, 0) | event
    poll = select.poll()
    for number, event in events.items():
        poll.register(number, event)
    return [streams[number] for number, _ in poll.poll(1000 * seconds)]
