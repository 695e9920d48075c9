"""Processes that connect over TCP; here they are threads with connections of their own."""

from __future__ import annotations

import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.distributed import Group, ShardData, WorkerError, connect, train

TOKEN = "a secret of sixteen or more"


def free_addresses(n: int) -> list[tuple[str, int]]:
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    addresses = [one.getsockname() for one in sockets]
    for one in sockets:
        one.close()
    return addresses


def run(n: int, work: Any, time_out: float = 60.0) -> list[Future[Any]]:
    addresses = free_addresses(n)

    def one(rank: int) -> Any:
        with connect(addresses, rank, TOKEN, time_out) as group:
            return work(group)

    with ThreadPoolExecutor(n) as pool:
        return [pool.submit(one, rank) for rank in range(n)]


def test_the_bytes_of_one_machine() -> None:
    table = np.random.default_rng(0).normal(size=(17_000, 3))
    label = table[:, 0] - table[:, 1] ** 2
    params = {"num_leaves": 5, "verbosity": -1}

    def work(group: Group) -> str:
        rows = np.array_split(np.arange(len(table)), group.size)[group.rank]
        shard = ShardData([table[rows]], label=label[rows])
        return train(group, params, shard, 2).model_to_string()

    one = gossamer.train(params, gossamer.Dataset(table, label=label), 2).model_to_string()
    assert [future.result() for future in run(3, work)] == [one] * 3


def test_large_messages_in_both_directions() -> None:
    def work(group: Group) -> int:
        array = np.full(3_000_000, group.rank + 1, dtype=np.uint64)
        group.add(array)
        return int(array.sum())

    assert [future.result() for future in run(2, work)] == [9_000_000] * 2


def test_a_worker_that_fails_says_why() -> None:
    def work(group: Group) -> None:
        if group.rank == 0:
            raise ZeroDivisionError("here")
        group.gather(b"")

    first, second = run(2, work, time_out=30)
    assert isinstance(first.exception(), ZeroDivisionError)
    error = second.exception()
    assert isinstance(error, WorkerError)
    assert not error.is_lost
    assert "failed: ZeroDivisionError: here" in str(error)


def test_a_worker_that_goes_away_is_named() -> None:
    def work(group: Group) -> None:
        if group.rank == 1:
            group.gather(b"")

    error = run(2, work, time_out=30)[1].exception()
    assert isinstance(error, WorkerError)
    assert error.is_lost
    assert error.worker.startswith("127.0.0.1:")


def test_a_slow_worker_is_not_lost() -> None:
    def work(group: Group) -> int:
        if group.rank == 1:
            time.sleep(6.0)
        return len(group.gather(b""))

    assert [future.result() for future in run(2, work, time_out=3.0)] == [2, 2]


def test_who_is_not_there_is_named() -> None:
    addresses = free_addresses(2)
    begin = time.monotonic()
    with pytest.raises(gossamer.GossamerError, match=rf"127.0.0.1:{addresses[1][1]} could not"):
        connect(addresses, 0, TOKEN, time_out=1.0)
    assert time.monotonic() - begin < 30


def test_a_process_that_is_stopped_holds_up_nobody_longer_than_the_time_out() -> None:
    addresses = free_addresses(2)
    with socket.socket() as stopped:  # the system answers for it, the process does not
        stopped.bind(addresses[0])
        stopped.listen()
        begin = time.monotonic()
        with pytest.raises(gossamer.GossamerError, match="could not be reached"):
            connect(addresses, 1, TOKEN, time_out=1.0)
        assert time.monotonic() - begin < 30


def test_a_stranger_who_says_nothing_holds_up_nobody() -> None:
    addresses = free_addresses(2)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(connect, addresses, 0, TOKEN, 30.0)
        for _ in range(300):
            try:
                stranger = socket.create_connection(addresses[0])
                break
            except OSError:
                time.sleep(0.05)
        with stranger, connect(addresses, 1, TOKEN, 30.0) as second, first.result() as one:
            sent = pool.submit(one.gather, b"one")
            assert second.gather(b"two") == [b"one", b"two"]
            assert sent.result() == [b"one", b"two"]


def test_another_token_is_refused() -> None:
    addresses = free_addresses(2)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(connect, addresses, 0, TOKEN, 5.0)
        with pytest.raises(gossamer.GossamerError, match="another token"):
            connect(addresses, 1, "a secret that nobody else knows", 5.0)
        assert isinstance(other.exception(), gossamer.GossamerError)


@pytest.mark.parametrize(("rank", "token"), [(2, TOKEN), (0, "short")])
def test_arguments_are_checked(rank: int, token: str) -> None:
    with pytest.raises(gossamer.ParameterError):
        connect([("127.0.0.1", 1), ("127.0.0.1", 2)], rank, token)


def test_machines_are_those_of_lightgbms_parameters(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(17_000, 3))
    y = x[:, 0] + x[:, 1] ** 2
    expected = gossamer.train(
        {"num_leaves": 5, "verbosity": -1}, gossamer.Dataset(x, label=y), 2
    ).model_to_string()
    listing = tmp_path / "machines.txt"
    for is_file in (False, True):
        addresses = free_addresses(2)
        listing.write_text("".join(f"{host} {port}\n" for host, port in addresses))
        network: dict[str, Any] = {"machines": ",".join(f"{h}:{port}" for h, port in addresses)}
        if is_file:
            network = {"mlist": str(listing), "num_machines": 2}
        ports = [port for _, port in addresses]

        def run(rank: int, network: dict[str, Any] = network, ports: list[int] = ports) -> str:
            rows = slice(0, 9_000) if rank == 0 else slice(9_000, None)
            params = {
                "num_leaves": 5,
                "verbosity": -1,
                "tree_learner": "data",
                "local_listen_port": ports[rank],
                "time_out": 1,
                **network,
            }
            shard = ShardData([x[rows]], label=y[rows])
            return train(None, params, shard, 2, token=TOKEN).model_to_string()

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(run, range(2))) == [expected] * 2


@pytest.mark.parametrize(
    ("network", "token", "message"),
    [
        ({}, TOKEN, "there are no machines"),
        ({"machines": "127.0.0.1"}, TOKEN, "a machine cannot be read"),
        ({"machines": "127.0.0.1:1,127.0.0.1:2", "num_machines": 3}, TOKEN, "not the number"),
        ({"machines": "127.0.0.1:1,127.0.0.1:2"}, TOKEN, "not one of the machines"),
        ({"machines": "127.0.0.1:1", "local_listen_port": 1}, None, "need a token"),
        ({"machines": "127.0.0.1:1", "local_listen_port": 1}, "short", "token is too short"),
        ({"machines": "192.0.2.7:5", "local_listen_port": 5}, TOKEN, "not one of the machines"),
    ],
)
def test_machines_that_cannot_be_used(network: dict[str, Any], token: Any, message: str) -> None:
    shard = ShardData([np.ones((2, 1))], label=np.ones(2))
    with pytest.raises(gossamer.ParameterError, match=message):
        train(None, network, shard, 1, token=token)
