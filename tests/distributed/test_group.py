"""Messages between workers: what arrives when, and what happens if one is slow, stopped or gone."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from gossamer.distributed import Group, WorkerError, run_group
from gossamer.distributed.stream import Stream

LARGE = 20_000_000  # bytes: more than the system keeps for a receiver that does not read


@contextmanager
def pair(time_out: float) -> Iterator[tuple[Group, Stream]]:
    """A worker, and the other end of its connection with the only other one."""
    group = Group(0, ["here", "there"], time_out)
    own, other = socket.socketpair()
    group.add_peer(1, own)
    group.start()
    there = Stream(other, time_out)
    try:
        with group:
            yield group, there
    finally:
        other.close()


def test_parts_arrive_in_order_whoever_is_ahead() -> None:
    n_exchanges = 30

    def work(group: Group) -> bool:
        chance = np.random.default_rng(group.rank)
        sizes = np.random.default_rng(99).integers(0, 300_000, (n_exchanges, 4, 4))
        for i in range(n_exchanges):
            time.sleep(chance.choice([0.0, 0.0, 0.01]))
            parts = [bytes([i, group.rank, r]) * sizes[i, group.rank, r] for r in range(4)]
            for sender, part in enumerate(group.exchange(parts)):
                assert bytes(part) == bytes([i, sender, group.rank]) * sizes[i, sender, group.rank]
        return True

    assert run_group(4, work) == [True] * 4


@pytest.mark.parametrize("n_bytes", [10, LARGE])
def test_a_worker_that_is_silent_is_lost(n_bytes: int) -> None:
    begin = time.monotonic()
    with (
        pytest.raises(WorkerError, match="no sign of life for 1 seconds") as caught,
        pair(1.0) as (group, _),
    ):
        group.exchange([b"", bytes(n_bytes)])
    assert caught.value.worker == "there"
    assert time.monotonic() - begin < 20


def test_a_worker_that_sends_its_part_and_reads_no_more_is_lost() -> None:
    begin = time.monotonic()
    with (
        pytest.raises(WorkerError, match="no sign of life"),
        pair(1.0) as (group, there),
    ):
        there.put(b"d", b"its part")
        there.flush()
        group.exchange([b"", bytes(LARGE)])
    assert time.monotonic() - begin < 20


def test_a_part_that_takes_longer_than_the_time_out_arrives() -> None:
    with pair(1.0) as (group, there):
        there.put(b"d", bytes(100))
        content = b"".join(there._waiting)

        def dribble() -> None:
            for byte in content[:5], content[5:50], content[50:51], content[51:]:
                time.sleep(0.7)
                there.connection.sendall(byte)

        thread = threading.Thread(target=dribble)
        thread.start()
        assert bytes(group.exchange([b"", b""])[1]) == bytes(100)
        thread.join()


def test_signs_of_life_keep_a_worker() -> None:
    with pair(1.0) as (group, there):

        def live() -> None:
            for _ in range(10):
                time.sleep(0.3)
                there.beat(b"a")
            there.put(b"d", b"late")
            there.flush()

        thread = threading.Thread(target=live)
        thread.start()
        assert bytes(group.exchange([b"", b""])[1]) == b"late"
        thread.join()


def test_why_a_worker_failed_is_read_though_nothing_can_be_sent_to_it() -> None:
    with pair(10.0) as (group, there):
        there.put(b"e", b"0\0there\0worker there failed: here is why")
        there.flush()
        there.connection.close()
        with pytest.raises(WorkerError, match="here is why") as caught:
            group.exchange([b"", bytes(LARGE)])
        assert not caught.value.is_lost


def test_a_worker_can_be_given_up_from_another_thread() -> None:
    with pair(60.0) as (group, _):
        cut = threading.Timer(0.5, lambda: [stream.cut() for stream in group._streams.values()])
        cut.start()
        begin = time.monotonic()
        with pytest.raises(WorkerError, match="the connection is gone"):
            group.exchange([b"", b""])
        assert time.monotonic() - begin < 20


@pytest.mark.parametrize("n_bytes", [0, LARGE])
def test_a_closed_group_leaves_nothing_behind(n_bytes: int) -> None:
    """The other side neither reads nor closes."""
    # Not their idents: the system gives the ident of a thread that ended to the next one.
    before = set(threading.enumerate())
    with pair(1.0) as (group, _):
        own = group.connections[1]
        for stream in group._streams.values():
            stream.put(b"d", bytes(n_bytes))
        group.close()
        group.close()  # a second time does nothing
        deadline = time.monotonic() + 20
        while set(threading.enumerate()) - before:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert own.fileno() == -1
