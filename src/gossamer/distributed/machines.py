"""`connect_machines`: LightGBM's parameters for a network, as a `Group`."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gossamer.distributed.tcp import TcpGroup, connect
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.params import CANONICAL, TABLE, Params
from gossamer.params.coerce import coerce
from gossamer.params.given import as_dict

_NAMES: Final = (
    "machines",
    "num_machines",
    "local_listen_port",
    "time_out",
    "machine_list_filename",
)
# Parameters of the learner: no part of the model, as there is no choice on one machine.
LEARNER: Final = ("tree_learner", "top_k")
_MINUTE: Final = 60.0


def take_network(params: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split off the parameters of the network, by LightGBM's first names.

    Example:
        >>> take_network({"workers": "a:1,b:1", "num_leaves": 5})
        ({'machines': 'a:1,b:1'}, {'num_leaves': 5})
    """
    network: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in as_dict(params).items():
        first = CANONICAL.get(name, name)
        if first in _NAMES:
            network[first] = value
        elif first in LEARNER:
            network[first] = coerce(TABLE[first], value, first)
        else:
            others[name] = value
    return network, others


def find_top_k(network: Mapping[str, Any], params: Params) -> int:
    """Return how many features a worker proposes for a leaf; 0: there is no vote.

    Raises:
        NotSupportedError: If leaves have several values, or levels one split.

    Example:
        >>> from gossamer.params import resolve
        >>> find_top_k({"tree_learner": "voting", "top_k": 5}, resolve({}))
        5
        >>> find_top_k({"tree_learner": "data"}, resolve({}))
        0
    """
    if network.get("tree_learner") != "voting":
        return 0
    if params.multi_strategy == "multi_output_tree":
        raise NotSupportedError.because(
            "tree_learner=voting cannot be combined with multi_strategy=multi_output_tree",
            hint='Use tree_learner="data", or one tree for each output.',
        )
    if params.grow_policy == "symmetric":
        raise NotSupportedError.because(
            "tree_learner=voting cannot be combined with grow_policy=symmetric",
            hint='Use tree_learner="data".',
        )
    return int(network.get("top_k", TABLE["top_k"].default))


def connect_machines(network: Mapping[str, Any], token: str | None) -> TcpGroup:
    """Connect this process with the other machines that the parameters name.

    This process is the machine whose port is `local_listen_port`, and whose address belongs to
    this computer; it listens there and nowhere else.

    Args:
        network: `machines` ("10.0.0.1:12400,10.0.0.2:12400") or `machine_list_filename` (a line
            "10.0.0.1 12400" for each), `num_machines`, `local_listen_port` and `time_out` (in
            minutes), as in LightGBM.
        token: A secret that all machines share, at least 16 characters.

    Raises:
        ParameterError: If the machines cannot be read, or this process is none of them.
    """
    given: dict[str, Any] = {name: TABLE[name].default for name in _NAMES}
    given |= {name: coerce(TABLE[name], value, name) for name, value in network.items()}
    machines = _read_machines(given["machines"], given["machine_list_filename"])
    if "num_machines" in network and given["num_machines"] != len(machines):
        raise ParameterError.because(
            "num_machines is not the number of machines",
            got=given["num_machines"],
            expected=str(len(machines)),
        )
    if token is None:
        raise ParameterError.because(
            "machines need a token, a secret that keeps others out",
            expected="train(..., token='...')",
            hint="Make one with secrets.token_hex(), and give it to all machines.",
        )
    rank = _find_own(machines, given["local_listen_port"])
    return connect(machines, rank, token, given["time_out"] * _MINUTE)


def _read_machines(text: str, path: str) -> list[tuple[str, int]]:
    lines = text.split(",") if text else Path(path).read_text().splitlines() if path else []
    machines: list[tuple[str, int]] = []
    for line in filter(None, map(str.strip, lines)):
        host, _, port = line.replace(" ", ":", 1).rpartition(":")
        if not host or not port.strip().isdigit():
            raise ParameterError.because(
                "a machine cannot be read", got=line, expected="address:port"
            )
        machines.append((host.strip(), int(port)))
    if not machines:
        raise ParameterError.because(
            "there are no machines",
            expected="machines='10.0.0.1:12400,10.0.0.2:12400', or machine_list_filename",
            hint="Pass a group instead if the workers are connected already.",
        )
    return machines


def _find_own(machines: list[tuple[str, int]], port: int) -> int:
    """Return which of the machines this process is."""
    found = [i for i, (host, own) in enumerate(machines) if own == port and _is_here(host)]
    if len(found) == 1:
        return found[0]
    raise ParameterError.because(
        "this process is not one of the machines" if not found else "two machines are the same",
        got=f"local_listen_port={port}",
        expected="one of them has this port and an address of this computer",
        hint=f"The machines are {', '.join(f'{host}:{own}' for host, own in machines)}.",
    )


def _is_here(host: str) -> bool:
    """Whether an address belongs to this computer."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, number) as end:
            end.bind(address)
    except OSError:
        return False
    return True
