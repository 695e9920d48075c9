"""`TcpGroup`: processes that connect over TCP, for programs that start their own workers.

Connections use `multiprocessing.connection`: both sides prove that they know the token.
Messages are bytes that are never unpickled. A worker listens on its own address only.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Client,
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from typing import Any, Final

from gossamer.distributed.group import Group
from gossamer.errors import GossamerError, ParameterError, shorten

_PAUSE: Final = 0.05  # seconds between two tries to connect
_SHORTEST_TOKEN: Final = 16

Address = tuple[str, int]
# A worker, and the connection with it or why there will be none.
Arrival = tuple[int, Connection | GossamerError]


class TcpGroup(Group):
    """One of several processes; see `connect`."""


def connect(machines: Sequence[Address], rank: int, token: str, time_out: float = 60.0) -> TcpGroup:
    """Connect this process with all others of a group.

    Args:
        machines: Address and port of each process, in the order of their rows. This process
            listens on its own one, and nowhere else.
        rank: Which of them this process is, from 0.
        token: A secret that all of them share, at least 16 characters.
        time_out: Seconds to wait for the others, now and whenever they are silent.

    Raises:
        ParameterError: If an argument cannot be used.
        GossamerError: If another process is not there in time.
    """
    _check(machines, rank, token)
    names = [f"{host}:{port}" for host, port in machines]
    deadline = time.monotonic() + time_out
    meeting = _Meeting(machines[rank], len(machines), token)
    group = TcpGroup(rank, names, time_out)
    try:
        for peer in range(rank):
            _start(meeting.call, peer, machines[peer], names[peer], rank, deadline)
        while len(group.connections) < group.size - 1:
            try:
                peer, arrived = meeting.arrivals.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                found = {rank, *group.connections}
                missing = ", ".join(name for r, name in enumerate(names) if r not in found)
                raise _absent(missing, time_out) from None
            if isinstance(arrived, GossamerError):
                raise arrived
            if 0 <= peer < group.size and peer not in {rank, *group.connections}:
                # The socket outlives the connection, which has done its work: the token is proven.
                group.add_peer(peer, socket.socket(fileno=os.dup(arrived.fileno())))
            arrived.close()
    except BaseException:
        group.close()
        raise
    finally:
        meeting.close()
    group.start()
    return group


def _check(machines: Sequence[Address], rank: int, token: str) -> None:
    if not 0 <= rank < len(machines):
        raise ParameterError.because(
            "there is no such rank", got=rank, expected=f"0 to {len(machines) - 1}"
        )
    if len(token) < _SHORTEST_TOKEN:
        raise ParameterError.because(
            "the token is too short",
            found=f"{len(token)} characters",
            expected=f"at least {_SHORTEST_TOKEN}",
            hint="Make one with secrets.token_hex(), and give it to all processes.",
        )


class _Meeting:
    """Connects with other processes, each in a thread of its own.

    A process that is stopped, or a stranger that connects and says nothing, holds up none of the
    others.

    Attributes:
        arrivals: What came of it.
    """

    def __init__(self, address: Address, n_machines: int, token: str) -> None:
        self.arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self._token = token.encode()
        self._listener = Listener(address, backlog=n_machines)
        self._is_over = threading.Event()
        _start(self._accept)

    def close(self) -> None:
        """Stop listening."""
        self._is_over.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._is_over.is_set():
            try:
                _start(self._greet, self._listener.accept())
            except OSError:
                self._is_over.wait(_PAUSE)

    def _greet(self, connection: Connection) -> None:
        """Let a process prove that it knows the token, and say which one it is."""
        with suppress(AuthenticationError, EOFError, OSError, ValueError):  # a stranger
            deliver_challenge(connection, self._token)
            answer_challenge(connection, self._token)
            self._arrive(int(connection.recv_bytes(20)), connection)
            return
        connection.close()

    def call(self, peer: int, address: Address, name: str, own: int, deadline: float) -> None:
        """Connect with a process that may not listen yet, and say which one this is."""
        seconds = deadline - time.monotonic()
        error: Exception = TimeoutError()
        while time.monotonic() < deadline and not self._is_over.is_set():
            try:
                connection = Client(address, authkey=self._token)
                connection.send_bytes(b"%d" % own)
            except AuthenticationError:
                found = GossamerError.because(
                    f"worker {name} has another token", hint="Give all processes the same one."
                )
                self.arrivals.put((peer, found))
                return
            except (OSError, EOFError) as problem:
                error = problem
                time.sleep(_PAUSE)
            else:
                self._arrive(peer, connection)
                return
        self.arrivals.put((peer, _absent(f"{name} ({shorten(error)})", seconds)))

    def _arrive(self, peer: int, connection: Connection) -> None:
        if self._is_over.is_set():
            connection.close()
        else:
            self.arrivals.put((peer, connection))


def _start(work: Any, *arguments: Any) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _absent(who: str, time_out: float) -> GossamerError:
    return GossamerError.because(
        f"worker {who} could not be reached",
        found=f"nothing within {time_out:.0f} seconds",
        hint="Start all processes at about the same time, or raise time_out.",
    )
