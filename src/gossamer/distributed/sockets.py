"""`SocketGroup`: workers that have a stream of bytes to each of the others."""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from gossamer.distributed.group import Content, Group, Inbox, Message

_HEADER: Final = struct.Struct("!cQ")  # kind and length of a message
_TOGETHER: Final = 65_536  # bytes: smaller messages are sent in one piece with their header
_MOST_AT_ONCE: Final = 1 << 30  # bytes that one call of the system receives


class SocketGroup(Group):
    """Workers that are connected by sockets, each pair by one.

    Two threads work on each socket: a worker that is stopped or slow holds up none of the others.

    Attributes:
        connections: The sockets, by rank.
    """

    def __init__(self, rank: int, names: Sequence[str], time_out: float) -> None:
        super().__init__(rank, names, time_out)
        self._inboxes: dict[int, Inbox] = {}
        self._outboxes: dict[int, queue.SimpleQueue[Message | None]] = {}
        self._gone: set[int] = set()
        self.connections: dict[int, socket.socket] = {}

    def add_peer(self, peer: int, connection: socket.socket) -> None:
        """Begin to send to another worker, and to receive what it sends."""
        connection.settimeout(None)
        with suppress(OSError):  # sockets that are not TCP never wait for more
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[peer] = connection
        self._inboxes[peer], self._outboxes[peer] = Inbox(), queue.SimpleQueue()
        for work in (self._read, self._write):
            threading.Thread(target=work, args=(peer, connection), daemon=True).start()

    @property
    def n_peers(self) -> int:
        """Number of workers that are connected with this one."""
        return len(self.connections)

    def _read(self, peer: int, connection: socket.socket) -> None:
        inbox = self._inboxes[peer]
        try:
            while True:
                kind, n = _HEADER.unpack(_receive_all(connection, _HEADER.size))
                inbox.put((kind, _receive_all(connection, n)))
        except (EOFError, OSError, MemoryError):
            inbox.put(None)
        finally:
            connection.close()

    def _write(self, peer: int, connection: socket.socket) -> None:
        """Send what there is: a receiver that has stopped holds up this thread only."""
        try:
            while (message := self._outboxes[peer].get()) is not None:
                kind, content = message
                header = _HEADER.pack(kind, len(content))
                if len(content) <= _TOGETHER:
                    connection.sendall(b"".join((header, content)))
                else:
                    connection.sendall(header)
                    connection.sendall(content)
            # The thread that reads closes the socket once the other side has read all.
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            self._gone.add(peer)

    def _send(self, rank: int, kind: bytes, content: Content) -> None:
        if rank in self._gone:
            raise ConnectionError("closed by the other side")
        if rank not in self._outboxes:
            raise ConnectionError("not connected yet")
        self._outboxes[rank].put((kind, content))

    def _receive(self, rank: int, seconds: float) -> Message:
        return self._inboxes[rank].get(seconds)

    def _disconnect(self) -> None:
        for outbox in self._outboxes.values():
            outbox.put(None)  # after everything that is still to be sent


def _receive_all(connection: socket.socket, n: int) -> bytes:
    """Receive exactly so many bytes, into one piece of memory if the system allows it.

    Raises:
        EOFError: If the other side has sent its last byte before.
    """
    pieces: list[bytes] = []
    while n > 0:
        piece = connection.recv(min(n, _MOST_AT_ONCE), socket.MSG_WAITALL)
        if not piece:
            raise EOFError
        pieces.append(piece)
        n -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
