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
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Final

from gossamer.distributed.sockets import SocketGroup
from gossamer.errors import GossamerError, ParameterError, shorten

_PAUSE: Final = 0.05  # seconds between two tries to connect
_SHORTEST_TOKEN: Final = 16


class TcpGroup(SocketGroup):
    """One of several processes; see `connect`."""


def connect(
    machines: Sequence[tuple[str, int]], rank: int, token: str, time_out: float = 60.0
) -> TcpGroup:
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
    peers: dict[int, Connection] = {}
    listener = Listener(machines[rank], backlog=len(machines), authkey=token.encode())
    accepted: queue.SimpleQueue[tuple[int, Connection]] = queue.SimpleQueue()
    is_done = threading.Event()
    thread = threading.Thread(target=_accept, args=(listener, accepted, is_done), daemon=True)
    thread.start()
    try:
        for peer in range(rank):
            connection = _call(machines[peer], token, deadline, names[peer])
            connection.send_bytes(b"%d" % rank)
            peers[peer] = connection
        while len(peers) < len(machines) - 1:
            try:
                peer, connection = accepted.get(timeout=max(deadline - time.monotonic(), 0.0))
            except queue.Empty:
                missing = [names[r] for r in range(len(names)) if r not in {rank, *peers}]
                raise _absent(", ".join(missing), time_out) from None
            if rank < peer < len(machines) and peer not in peers:
                peers[peer] = connection
            else:
                connection.close()
    except BaseException:
        for connection in peers.values():
            connection.close()
        raise
    finally:
        is_done.set()
        listener.close()
    group = TcpGroup(rank, names, time_out)
    for peer, connection in peers.items():
        # The socket outlives the connection, which has done its work: the token is proven.
        group.add_peer(peer, socket.socket(fileno=os.dup(connection.fileno())))
        connection.close()
    group.start()
    return group


def _check(machines: Sequence[tuple[str, int]], rank: int, token: str) -> None:
    if not 0 <= rank < len(machines):
        raise ParameterError.because(
            "there is no such rank", got=rank, expected=f"0 to {len(machines) - 1}"
        )
    if len(token) < _SHORTEST_TOKEN:
        raise ParameterError.because(
            "the token is too short",
            got=f"{len(token)} characters",
            expected=f"at least {_SHORTEST_TOKEN}",
            hint="Make one with secrets.token_hex(), and give it to all processes.",
        )


def _accept(
    listener: Listener,
    accepted: queue.SimpleQueue[tuple[int, Connection]],
    is_done: threading.Event,
) -> None:
    while not is_done.is_set():
        try:
            connection = listener.accept()
            accepted.put((int(connection.recv_bytes(20)), connection))
        except (AuthenticationError, EOFError, ValueError):
            continue  # a stranger, who is turned away
        except OSError:
            if is_done.wait(_PAUSE):
                return


def _call(address: tuple[str, int], token: str, deadline: float, name: str) -> Connection:
    time_out = deadline - time.monotonic()
    error: Exception = TimeoutError()
    while time.monotonic() < deadline:
        try:
            return Client(address, authkey=token.encode())
        except AuthenticationError:
            raise GossamerError.because(
                f"worker {name} has another token", hint="Give all processes the same one."
            ) from None
        except (OSError, EOFError) as problem:
            error = problem
            time.sleep(_PAUSE)
    raise _absent(f"{name} ({shorten(error)})", time_out)


def _absent(who: str, time_out: float) -> GossamerError:
    return GossamerError.because(
        f"worker {who} could not be reached",
        got=f"nothing within {time_out:.0f} seconds",
        hint="Start all processes at about the same time, or raise time_out.",
    )
